"""All that a decode step does beside its matmuls and its attention: norms, rotations, additions, and what Python needs.

Alone, in a loop of its own, this runs out of the fastest caches. In a step, weights and cached keys pass through these caches
between any two calls and push its code and data out, and a small model then spends twice as long on it. So it is measured
as the difference of two: a step that only reads in the place of each matmul and attention, and the reading alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from llmserving.bandwidth.decode_operations import TOKENS, filled_cache, no_grad, step_operation
from llmserving.bandwidth.decode_work import DecodeModel
from llmserving.bandwidth.operation import Operation
from llmserving.bandwidth.operations import FLOAT32
from llmserving.tinylm.model import Attention, Decoder, RmsNorm, Step
from llmserving.units import MiB

# As much of each matrix is read; more would push nothing further out, and would drown what is to be measured.
ENOUGH_TO_EVICT = MiB // 2


class Reader:
    """Reads on through a store, float32 [elements], so that what it reads has left the caches as far as a step's weights have."""

    def __init__(self, store: Tensor) -> None:
        self.store, self.start, self.part, self.sum = store, 0, store[:1], store[:1]

    def read(self, num_bytes: float) -> None:
        elements = min(int(num_bytes), ENOUGH_TO_EVICT, self.store.numel() * FLOAT32) // FLOAT32
        if self.start + elements > self.store.numel():
            self.start = 0
        self.part = self.store[self.start : self.start + elements]
        self.start += elements
        self.sum = torch.dot(self.part, self.part)

    def last_is_right(self) -> bool:
        exact = float(self.part.double().square().sum())
        return abs(float(self.sum) - exact) <= 1e-3 * exact


def rest_operations(model: DecodeModel, batch: int, context: int, reader: Reader) -> tuple[Operation, Operation]:
    """The step that only reads, and its reading alone."""
    in_a_step = [work.num_bytes for _, count, work in model.parts(batch, context) for _ in range(count)]
    decoder = _hollow(model, batch, context, reader)

    def without_cache(tokens: Tensor, step: Step) -> Tensor:
        return decoder(tokens, _Unread(step.positions))  # type: ignore[no-any-return]

    cache = filled_cache(model, batch, context, layers=1)
    step = step_operation(without_cache, model, cache, "everything else, with reading")

    def read_all(_: int) -> Tensor:
        for num_bytes in in_a_step:
            reader.read(num_bytes)
        return reader.sum

    alone = replace(step, name="reading alone", run=no_grad(read_all), is_right=lambda *_: reader.last_is_right())
    return step, alone


def _hollow(model: DecodeModel, batch: int, context: int, reader: Reader) -> Decoder:
    """The decoder with a reading in the place of each matmul and attention."""
    config, dtype = replace(model.config, tied=False), getattr(torch, model.dtype)
    with torch.device("meta"):
        decoder = Decoder(config)
    cached = model.attention_work(batch, context).num_bytes
    for parent in list(decoder.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, nn.Linear):
                result = torch.rand(batch, 1, child.out_features).to(dtype)
                num_bytes = child.in_features * child.out_features * model.bytes_each
                setattr(parent, name, _Ready(result, partial(reader.read, num_bytes)))
            elif isinstance(child, RmsNorm):
                child.weight = nn.Parameter(torch.ones(config.width, dtype=dtype))
        if isinstance(parent, Attention):
            parent.mix = _reads_first(partial(reader.read, cached))
    decoder.embed_tokens = nn.Embedding(TOKENS, config.width).to(dtype)
    return decoder


def _reads_first(read: Callable[[], None]) -> Callable[..., Tensor]:
    def mix(queries: Tensor, *_: Any) -> Tensor:
        read()
        return queries

    return mix


class _Ready(nn.Module):
    """In the place of a matmul: its result is there already, and as many bytes are read as it has weights."""

    def __init__(self, result: Tensor, read: Callable[[], None]) -> None:
        super().__init__()
        self.result, self.read = result, read

    def forward(self, _: Tensor) -> Tensor:
        self.read()
        return self.result


class _Unread:
    """In the place of a step over the cache: positions, but no keys and values beside the new ones."""

    def __init__(self, positions: Tensor) -> None:
        self.positions = positions

    def extend(self, _: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        return keys, values
