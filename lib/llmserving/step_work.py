"""What one step of a model costs before any clock is read: arithmetic, bytes from HBM and bytes between GPUs.

A step is a prefill (all tokens of each prompt at once) or a decode (one token of each request). All numbers are those
of one GPU of a tensor-parallel group.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from llmserving.kv_cache import kv_bytes_per_token
from llmserving.models import ModelSpec
from llmserving.weights import expert_parameters, model_weight_bytes

ACTIVATION_BYTES = 2
# The least that any kernels move: attention and MLP each read the residual stream and write it back.
RESIDUAL_PASSES = 4
ALL_REDUCES_PER_LAYER = 2  # one after attention, one after the MLP


@dataclass(frozen=True)
class Work:
    """Floating-point operations, and the bytes that they need from HBM."""

    flops: float
    num_bytes: float

    @property
    def intensity(self) -> float:
        """FLOPs for each byte read or written."""
        return self.flops / self.num_bytes


def matmul_work(
    model: ModelSpec, tokens: int, weight_dtype: str, tensor_parallel: int, *, activations: bool = True
) -> Work:
    """The matmuls with the weights, for `tokens` tokens: 2 FLOPs a weight and token, a multiplication and an addition.

    Every weight is read once a step, of experts only those that some token goes to. Tensor parallelism splits weights
    and arithmetic, but not the residual stream: each GPU moves all of that.
    """
    flops = 2 * (model.active_parameters or model.parameters) * tokens / tensor_parallel
    resident = model_weight_bytes(model, weight_dtype, tensor_parallel)
    weights = resident * (1 - _idle_share(model, tokens))
    residual = RESIDUAL_PASSES * model.layers * model.hidden_size * ACTIVATION_BYTES * tokens if activations else 0
    return Work(flops, weights + residual)


def decode_attention_work(model: ModelSpec, batch: int, context: int, kv_dtype: str, tensor_parallel: int) -> Work:
    """Attention of one new token of each request over the `context` tokens cached for it, the new one included."""
    return decode_work(model, batch * attended_tokens(model, context), kv_dtype, tensor_parallel)


def prefill_attention_work(model: ModelSpec, batch: int, tokens: int, kv_dtype: str, tensor_parallel: int) -> Work:
    """Attention of every token of a prompt over those before it; keys and values are written once and read once."""
    return prefill_work(model, batch * attended_pairs(model, tokens), 2 * batch * tokens, kv_dtype, tensor_parallel)


def attended_tokens(model: ModelSpec, context: int) -> int:
    """Tokens that the last of `context` tokens attends to, added up over all layers."""
    return sum(_looked_at(context, model, windowed=windowed) for windowed in model.windowed)


def attended_pairs(model: ModelSpec, tokens: int) -> int:
    """Pairs of a token of a prompt and one that it attends to, added up over all layers."""
    return sum(_causal_pairs(tokens, model, windowed=windowed) for windowed in model.windowed)


def decode_work(model: ModelSpec, attended: int, kv_dtype: str, tensor_parallel: int) -> Work:
    """Attention of new tokens over `attended` cached ones, of all requests and layers: each is read once."""
    flops = attended * _flops_per_pair(model, decode=True) / tensor_parallel
    return Work(flops, attended * _kv_bytes_per_token_and_layer(model, kv_dtype, tensor_parallel))


def prefill_work(model: ModelSpec, pairs: int, tokens_moved: int, kv_dtype: str, tensor_parallel: int) -> Work:
    """Attention of prompt tokens over `pairs` of all layers, with so many tokens written to the cache or read from it."""
    flops = pairs * _flops_per_pair(model, decode=False) / tensor_parallel
    moved = tokens_moved * model.layers * _kv_bytes_per_token_and_layer(model, kv_dtype, tensor_parallel)
    return Work(flops, moved)


def all_reduce_bytes(model: ModelSpec, tokens: int, tensor_parallel: int) -> float:
    """Bytes that each GPU sends in a step to add up the partial results: 0 on one GPU.

    A ring of n GPUs sends 2 (n - 1) / n times the data (Patarasuk and Yuan 2009).
    """
    data = ALL_REDUCES_PER_LAYER * model.layers * tokens * model.hidden_size * ACTIVATION_BYTES
    return 2 * (tensor_parallel - 1) / tensor_parallel * data


def _idle_share(model: ModelSpec, tokens: int) -> float:
    """The part of the weights in experts that none of `tokens` tokens goes to, if each picks its experts at random."""
    if model.experts is None or model.experts_per_token is None:
        return 0.0
    nobody = (1 - model.experts_per_token / model.experts) ** tokens
    return nobody * expert_parameters(model) / model.parameters


def _kv_bytes_per_token_and_layer(model: ModelSpec, kv_dtype: str, tensor_parallel: int) -> float:
    every_layer = replace(model, window=None, window_layers=0, window_kind=None, window_positions=None)
    return kv_bytes_per_token(every_layer, kv_dtype, tensor_parallel=tensor_parallel) / model.layers


def _flops_per_pair(model: ModelSpec, *, decode: bool) -> int:
    """FLOPs of one layer for one query token and one key token: the score, and the value added by its weight."""
    if not model.is_latent:
        return 2 * model.attention_heads * 2 * model.head_dim
    # A latent is attended to directly when decoding, and expanded to keys and values in a prefill.
    wide = model.latent_dim + (model.latent_rank or 0) if decode else 2 * model.head_dim + (model.latent_rope_dim or 0)
    return 2 * model.attention_heads * wide


def _looked_at(context: int, model: ModelSpec, *, windowed: bool) -> int:
    """Tokens that the last of `context` tokens attends to in one layer."""
    if not windowed or model.window is None:
        return context
    if model.window_kind == "chunked":
        return (context - 1) % model.window + 1
    return min(context, model.window)


def _causal_pairs(tokens: int, model: ModelSpec, *, windowed: bool) -> int:
    """Pairs of a token and one that it attends to, over all tokens of a prompt, in one layer."""
    if not windowed or model.window is None or tokens <= model.window:
        return tokens * (tokens + 1) // 2
    window = model.window
    first = window * (window + 1) // 2
    if model.window_kind == "chunked":
        chunks, rest = divmod(tokens, window)
        return chunks * first + rest * (rest + 1) // 2
    return first + (tokens - window) * window
