"""Trains the small checkpoint that is shipped with the course; its recipe and licence stand in CHECKPOINT.md.

    python -m llmserving.tinylm.train FOLDER --to lib/llmserving/tinylm

FOLDER holds the two Debian packages that corpus.py names. Writes checkpoint/ and texts/, on one thread, in about 20
minutes; the same weights for the same seed on the same machine.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

from llmserving.tinylm import corpus
from llmserving.tinylm.config import DecoderConfig
from llmserving.tinylm.missing import need
from llmserving.tinylm.model import Decoder

CONFIG = DecoderConfig(
    vocab_size=256, width=256, ffn=768, layers=4, heads=8, kv_heads=2, head_dim=32, context=256, name="austen-bierce"
)
STEPS, WARM_UP = 3500, 200
WINDOWS = {"austen": 6, "devil": 2}  # a step; the dictionary is a twelfth of the text, and has more to learn
LEARNING_RATE, LAST_LEARNING_RATE, WEIGHT_DECAY = 2e-3, 1e-4, 0.1
SEED = 5
HELD_OUT_BYTES, CALIBRATION_BYTES = 64_001, 32_000  # 250 windows of 256, and the byte that the last one foretells


def windows(text: Tensor, count: int, length: int, generator: torch.Generator) -> Tensor:
    """[count, length + 1] stretches of a text [bytes], drawn at random with replacement."""
    starts = torch.randint(len(text) - length, (count,), generator=generator)
    return torch.stack([text[start : start + length + 1] for start in starts.tolist()])


def loss_of(model: Decoder, batch: Tensor) -> Tensor:
    """Mean nats a byte of [B, T + 1] stretches. bfloat16 products, float32 sums: what a CPU with AMX does fastest."""
    with torch.autocast("cpu", torch.bfloat16), sdpa_kernel(SDPBackend.MATH):
        logits = model(batch[:, :-1])
    return functional.cross_entropy(logits.float().flatten(0, 1), batch[:, 1:].flatten())


def learning_rate(step: int) -> float:
    """A linear rise, then half a cosine down."""
    if step < WARM_UP:
        return LEARNING_RATE * (step + 1) / WARM_UP
    done = (step - WARM_UP) / (STEPS - WARM_UP)
    return LAST_LEARNING_RATE + (LEARNING_RATE - LAST_LEARNING_RATE) * (1 + math.cos(math.pi * done)) / 2


def held_out_loss(model: Decoder, text: Tensor, most: int = 200) -> float:
    """Nats a byte over windows side by side."""
    length = model.config.context
    cut = text[: (len(text) - 1) // length * length + 1].unfold(0, length + 1, length)[:most]
    with torch.no_grad():
        return sum(float(loss_of(model, part)) * len(part) for part in cut.split(8)) / len(cut)


def as_bytes(text: str) -> Tensor:
    return torch.tensor(list(text.encode("ascii")), dtype=torch.long)


def train(texts: corpus.Corpus) -> tuple[Decoder, dict[str, float]]:
    """The trained decoder, and its held-out loss on each text in nats a byte."""
    torch.manual_seed(SEED)
    generator = torch.Generator().manual_seed(SEED)
    model = Decoder(CONFIG)
    for parameter in model.parameters():
        if parameter.dim() == 2:
            torch.nn.init.normal_(parameter, std=0.02)
    matrices = [parameter for parameter in model.parameters() if parameter.dim() == 2]
    gains = [parameter for parameter in model.parameters() if parameter.dim() == 1]
    groups = [{"params": matrices, "weight_decay": WEIGHT_DECAY}, {"params": gains, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.95), fused=True)
    texts_as_bytes = {name: as_bytes(text) for name, text in texts.train.items()}
    progress = need("tqdm", "tqdm.auto").tqdm(range(STEPS), unit="step")
    for step in progress:
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step)
        batch = torch.cat(
            [windows(texts_as_bytes[name], count, CONFIG.context, generator) for name, count in WINDOWS.items()]
        )
        loss = loss_of(model, batch)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 50 == 0:
            progress.set_postfix(nats=f"{loss.item():.3f}")
    return model, {name: held_out_loss(model, as_bytes(text)) for name, text in texts.held_out.items()}


def save(model: Decoder, folder: Path) -> None:
    """A Llama-style directory: config.json, and the weights in float16 as safetensors."""
    folder.mkdir(parents=True, exist_ok=True)
    config = model.config
    values = {
        "_name_or_path": config.name,
        "model_type": "llama",
        "vocab_size": config.vocab_size,
        "hidden_size": config.width,
        "intermediate_size": config.ffn,
        "num_hidden_layers": config.layers,
        "num_attention_heads": config.heads,
        "num_key_value_heads": config.kv_heads,
        "head_dim": config.head_dim,
        "max_position_embeddings": config.context,
        "rope_theta": config.rope_theta,
        "rms_norm_eps": config.norm_eps,
        "tie_word_embeddings": config.tied,
        "torch_dtype": "float16",
    }
    (folder / "config.json").write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")
    state = model.state_dict()
    if config.tied:
        del state["lm_head.weight"]
    halves = {f"model.{name}": tensor.to(torch.float16).contiguous() for name, tensor in state.items()}
    need("safetensors", "safetensors.torch").save_file(halves, folder / "model.safetensors", metadata={"format": "pt"})


def write_texts(texts: corpus.Corpus, folder: Path) -> None:
    """What the course measures and calibrates with: the start of what is held out, the middle of what is trained on."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.held_out.items():
        (folder / f"held_out_{name}.txt").write_text(text[:HELD_OUT_BYTES], encoding="ascii")
    for name, text in texts.train.items():
        middle = text[len(text) // 2 :][:CALIBRATION_BYTES]
        (folder / f"calibration_{name}.txt").write_text(middle, encoding="ascii")


def main() -> None:
    parser = argparse.ArgumentParser(description="Trains the small checkpoint of the course.")
    parser.add_argument("folder", type=Path, help="where the two Debian packages lie")
    parser.add_argument("--to", type=Path, required=True, help="where checkpoint/ and texts/ go")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    began = time.perf_counter()
    texts = corpus.read(arguments.folder)
    write_texts(texts, arguments.to / "texts")
    model, losses = train(texts)
    save(model, arguments.to / "checkpoint")
    minutes = (time.perf_counter() - began) / 60
    told = ", ".join(f"{name} {loss:.4f}" for name, loss in losses.items())
    print(f"held out, nats a byte: {told}; {minutes:.1f} minutes")


if __name__ == "__main__":
    main()
