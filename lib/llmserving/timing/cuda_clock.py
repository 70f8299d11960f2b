"""The GPU's own clock: two events in its stream, with at least ten launches between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llmserving.timing.clocks import Sample

# The stream is held up for about as long as launching takes, so that the GPU never waits for the next launch. In cycles
# of a clock of 1 to 2 GHz: 1 ms or half of one.
HOLD_CYCLES = 1_000_000


class CudaClock:
    """Times what `work` launches, from its first kernel's start to its last one's end, without the launching.

    cuda: `torch.cuda`. A GPU tells no busy time of one process, so that a sample is judged by the others beside it.
    """

    least_calls = 10
    threads = 1

    def __init__(self, cuda: Any) -> None:
        self._cuda = cuda
        self._hold: Callable[[int], Any] | None = getattr(cuda, "_sleep", None)

    def time(self, work: Callable[[], Any]) -> Sample:
        start, end = (self._cuda.Event(enable_timing=True) for _ in range(2))
        self._cuda.synchronize()
        if self._hold is not None:
            self._hold(HOLD_CYCLES)
        start.record()
        work()
        end.record()
        self._cuda.synchronize()
        return Sample(start.elapsed_time(end) / 1e3, None)  # events count milliseconds
