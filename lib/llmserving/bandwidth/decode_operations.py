"""A decode step as an operation to be measured: the whole of it, and what it is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from llmserving.bandwidth.decode_work import DecodeModel, Matmul
from llmserving.bandwidth.operation import Operation, Rotation
from llmserving.tinylm.contiguous_cache import ContiguousKvCache
from llmserving.tinylm.generation import decode
from llmserving.tinylm.model import Decoder, attend

TOKENS = 200  # token ids to choose from; every vocabulary here has more


def random_decoder(model: DecodeModel, seed: int = 0) -> Decoder:
    """A decoder of that shape with random weights: what it says is nothing, how long it takes is real."""
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(seed)
        decoder = Decoder(model.config)
        for parameter in decoder.parameters():
            if parameter.dim() > 1:
                parameter.normal_(std=parameter.shape[-1] ** -0.5)
    return decoder.to(getattr(torch, model.dtype)).requires_grad_(False).eval()


def filled_cache(model: DecodeModel, batch: int, context: int, layers: int | None = None) -> ContiguousKvCache:
    """A cache in which `batch` requests, named 0, 1 …, have `context` tokens each, with random keys and values.

    Zeros would be wrong: untouched pages are all the same page, which never leaves the cache.
    """
    config = replace(model.config, layers=layers or model.config.layers)
    cache = ContiguousKvCache(config, batch, context, getattr(torch, model.dtype))
    cache.store.uniform_(-1, 1)
    for request in range(batch):
        cache.allocate(request, range(context))
    return cache


def step_operation(decoder: Any, model: DecodeModel, cache: ContiguousKvCache, name: str = "decode step") -> Operation:
    """One step of all requests of `cache`; it takes in the last token again, so that the context stays what it is."""
    requests = len(cache.requests)
    last = {request: 17 * (index + 1) % TOKENS for index, request in enumerate(cache.requests)}
    context = cache.num_tokens(cache.requests[0])
    language_model: Any = SimpleNamespace(decoder=decoder)
    shape = (requests, model.config.vocab_size)

    def is_right(_: int, scores: Tensor) -> bool:
        return tuple(scores.shape) == shape and bool(torch.isfinite(scores).all())

    num_bytes = model.step_bytes(requests, context)
    flops = sum(count * work.flops for _, count, work in model.parts(requests, context))
    run = no_grad(lambda _: decode(language_model, cache, last))
    return _operation(name, model, num_bytes, int(flops), num_bytes, Rotation(1), run, is_right, requests)


def matmul_operation(model: DecodeModel, matmul: Matmul, batch: int, store: Tensor) -> Operation:
    """x [batch, 1, in] by weights [out, in], another part of `store`, random values [elements], each time."""
    copies = store[: store.numel() // matmul.weights * matmul.weights].view(-1, matmul.outputs, matmul.inputs)
    x = torch.rand(batch, 1, matmul.inputs, generator=torch.Generator().manual_seed(1)).to(store.dtype)

    def is_right(slot: int, found: Tensor) -> bool:
        exact = x[:, 0].double() @ copies[slot].double().T
        return bool((found[:, 0].double() - exact).abs().max() <= 0.02 * exact.abs().max())

    work = matmul.work(batch, model.bytes_each)
    run = no_grad(lambda slot: functional.linear(x, copies[slot]))
    size = copies.numel() * copies.itemsize
    return _operation(
        matmul.name, model, int(work.num_bytes), int(work.flops), size, Rotation(len(copies)), run, is_right, batch
    )


def attention_operation(model: DecodeModel, cache: ContiguousKvCache) -> Operation:
    """What a layer does with its cache, the layers of `cache` in turn: store the new token, find all, attend to them."""
    c, batch = model.config, len(cache.requests)
    context, layers = cache.num_tokens(cache.requests[0]), len(cache.store)
    step = cache.step(cache.requests)
    generator = torch.Generator().manual_seed(1)
    dtype = cache.store.dtype
    queries = torch.rand(batch, c.heads, 1, c.head_dim, generator=generator).to(dtype)
    new = torch.rand(batch, 1, c.kv_heads, c.head_dim, generator=generator).to(dtype)
    mask = torch.arange(context) <= step.positions[:, None, :, None]

    def run(slot: int) -> Tensor:
        keys, values = step.extend(slot, new, new)
        return attend(queries, keys.transpose(1, 2), values.transpose(1, 2), mask)

    def is_right(slot: int, found: Tensor) -> bool:
        keys, values = (part.double().transpose(1, 2) for part in step.extend(slot, new, new))
        exact = attend(queries.double(), keys, values, mask)
        return bool((found.double() - exact).abs().max() <= 0.02)

    work = model.attention_work(batch, context)
    size = int(work.num_bytes) * layers
    return _operation(
        "attention", model, int(work.num_bytes), int(work.flops), size, Rotation(layers), no_grad(run), is_right, batch
    )


def no_grad(run: Callable[[int], Tensor]) -> Callable[[int], Tensor]:
    return torch.no_grad()(run)


def _operation(
    name: str, model: DecodeModel, num_bytes: int, flops: int, buffer_bytes: int, rotation: Rotation,
    run: Callable[[int], Any], is_right: Callable[[int, Any], bool], batch: int,
) -> Operation:  # fmt: skip
    return Operation(
        name, "weights, keys and values, each once", model.dtype, num_bytes, num_bytes, flops, buffer_bytes, rotation, run,
        is_right, batch,
    )  # fmt: skip
