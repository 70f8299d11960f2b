"""Decode measured, step by step on a real model, and everything that a prediction of it needs, one operation at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from llmserving.bandwidth.calibration import Calibration, typical_seconds
from llmserving.bandwidth.decode_operations import (
    attention_operation,
    filled_cache,
    matmul_operation,
    step_operation,
)
from llmserving.bandwidth.decode_rest import Reader, rest_operations
from llmserving.bandwidth.decode_work import DecodeModel
from llmserving.bandwidth.matmuls import peak_operation
from llmserving.bandwidth.measure import measure_operations
from llmserving.bandwidth.measurement import Measurement
from llmserving.bandwidth.operation import Operation
from llmserving.bandwidth.operations import FLOAT32, memory_operations, random_buffer, slots_of
from llmserving.timing.clocks import Clock, HostClock
from llmserving.timing.threads import torch_threads
from llmserving.units import GiB, MiB

PEAK_SIZE = 1024
MOST_BYTES = GiB  # to rotate over: far beyond what caches keep
SLOT = 6 * MiB
SECONDS = 0.5  # an operation, in the calibration


def measure_decode(
    decoder: Any, model: DecodeModel, batch: int, context: int, *, clock: Clock | None = None, samples: int = 20
) -> Measurement:
    """Steps of `batch` requests with `context` tokens each, on one thread; the cache is the contiguous one, filled."""
    cache = filled_cache(model, batch, context)
    with torch_threads(torch, 1):
        operation = step_operation(decoder, model, cache)
        return measure_operations([operation], clock or HostClock(), samples=samples, seconds=SECONDS)[0]


def calibrate(
    model: DecodeModel,
    batches: Sequence[int],
    contexts: Sequence[int],
    *,
    clock: Clock | None = None,
    samples: int = 20,
) -> Calibration:
    """Each of the model's operations, measured alone on data that have left the caches as far as they do in a step."""
    clock = clock or HostClock()
    with torch_threads(torch, 1):
        return _Bench(model, clock, samples).calibration(batches, contexts)


class _Bench:
    def __init__(self, model: DecodeModel, clock: Clock, samples: int) -> None:
        self.model, self.clock, self.samples, self.cpu_time = model, clock, samples, False

    def calibration(self, batches: Sequence[int], contexts: Sequence[int]) -> Calibration:
        model = self.model
        cells = [(batch, context) for batch in batches for context in contexts]
        store = random_buffer(_rotated(model.step_bytes(max(batches), max(contexts))))
        rates = self._reading(store, [model.step_bytes(*cell) for cell in cells])
        in_dtype = store[: _rotated(model.weight_bytes) // FLOAT32].to(getattr(torch, model.dtype))
        matmul_seconds = {
            (batch, matmul.outputs, matmul.inputs): self._seconds(matmul_operation(model, matmul, batch, in_dtype))
            for batch in batches
            for matmul in model.matmuls
        }
        del in_dtype
        return Calibration(
            flops_per_s=self._peak(),
            read_bytes_per_s=rates,
            matmul_seconds=matmul_seconds,
            attention_seconds={cell: self._attention(*cell) for cell in cells},
            rest_seconds={cell: self._rest(*cell, store) for cell in cells},
            cpu_time=self.cpu_time,
        )

    def _reading(self, store: Tensor, sizes: Sequence[int]) -> dict[int, float]:
        """The best rate of reading, over buffers as large as the steps; the largest of all stands for what is larger."""
        rates = {}
        for size in sorted({min(_rotated(size), store.numel() * FLOAT32) for size in sizes}):
            found = self._measured(memory_operations(slots_of(store[: size // FLOAT32], SLOT), ("read",))[0])
            best = found.samples.best or found.samples.core_seconds
            rates[size] = found.bytes_counted / (best or typical_seconds(found)[0] * found.calls)
        return rates

    def _peak(self) -> float:
        found = self._measured(peak_operation(self.model.dtype, PEAK_SIZE))
        return found.flops / (found.samples.best or typical_seconds(found)[0] * found.calls)

    def _attention(self, batch: int, context: int) -> float:
        a_layer = int(self.model.attention_work(batch, context).num_bytes)
        # As many layers as push one another out of the caches like the step's weights and other layers do.
        layers = max(2, _rotated(self.model.step_bytes(batch, context)) // a_layer)
        return self._seconds(attention_operation(self.model, filled_cache(self.model, batch, context, layers)))

    def _rest(self, batch: int, context: int, store: Tensor) -> float:
        """The difference of two; never less than nothing, which noise on a large model could make of it."""
        with_reading, reading = measure_operations(
            rest_operations(self.model, batch, context, Reader(store)),
            self.clock,
            samples=self.samples,
            seconds=SECONDS,
        )
        return max(0.0, self._typical(with_reading) - self._typical(reading))

    def _seconds(self, operation: Operation) -> float:
        return self._typical(self._measured(operation))

    def _typical(self, found: Measurement) -> float:
        seconds, is_cpu_time = typical_seconds(found)
        self.cpu_time = self.cpu_time or is_cpu_time
        return seconds

    def _measured(self, operation: Operation) -> Measurement:
        return measure_operations([operation], self.clock, samples=self.samples, seconds=SECONDS)[0]


def _rotated(num_bytes: int) -> int:
    return min(num_bytes, MOST_BYTES)
