"""Runs that take turns, so that a busy minute slows all of them and a ratio of two is still a ratio."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from llmserving.timing.clocks import Clock, HostClock, Sample
from llmserving.timing.samples import Samples

Key = TypeVar("Key")


def take_turns(runs: Mapping[Key, Callable[[int], Any]], rounds: int, clock: Clock | None = None) -> dict[Key, Samples]:
    """Samples of each run, one a round. Round 0 is a warm-up: code is loaded and buffers are allocated in it.

    Each run is called with the number of the round, to choose its data by.
    """
    clock = clock or HostClock()
    samples: dict[Key, list[Sample]] = {key: [] for key in runs}
    for index in range(rounds + 1):
        for key, run in runs.items():
            sample = clock.time(lambda run=run, index=index: run(index))  # type: ignore[misc]
            if index:
                samples[key].append(sample)
    return {key: samples_of(taken, clock.threads) for key, taken in samples.items()}


def samples_of(taken: list[Sample], threads: int = 1) -> Samples:
    """The record of what a clock gave."""
    busies = [sample.busy for sample in taken if sample.busy is not None]
    return Samples(
        tuple(sample.wall for sample in taken), tuple(busies) if len(busies) == len(taken) else None, threads
    )
