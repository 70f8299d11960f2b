"""The same requests in static, dynamic and continuous batches: move their arrivals and lengths, and see who waits for whom."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping
from typing import Any

from llmserving import arguments
from llmserving.explorers.choices import Choice, checked_names
from llmserving.explorers.live import LiveExplorer, View
from llmserving.figures.batching_timelines import batching_timelines
from llmserving.scheduling import ContinuousBatching, DynamicBatching, Policy, Simulation, StaticBatching, simulate
from llmserving.scheduling.spaced import spaced_workload
from llmserving.scheduling.summary import Summary
from llmserving.units import format_number, format_seconds

BLOCKS = 10_000  # memory is not what is scarce here


def _spacing(value: Any) -> float:
    if isinstance(value, numbers.Real) and not isinstance(value, bool) and value == 0:
        return 0.0
    return float(arguments.amount("spacing_s", "the seconds between two arrivals", value))


def _window(value: Any) -> float:
    return float(arguments.amount("window_s", "the seconds for which a dynamic batch waits for others", value))


def _count(label: str, stops: tuple[int, ...], name: str, meaning: str) -> Choice:
    return Choice(label, stops, lambda value: arguments.count(name, meaning, value, most=1000), "{:,}".format)


CHOICES: Mapping[str, Choice] = {
    "batch_size": _count("Places in a batch", (1, 2, 3, 4, 6), "batch_size", "the requests in a batch"),
    "spacing_s": Choice("Between arrivals", (0.0, 0.02, 0.05, 0.1, 0.2, 0.5), _spacing, format_seconds),
    "longest": _count("Longest answer", (8, 16, 32, 64), "longest", "the tokens of the longest answer"),
    "window_s": Choice("Dynamic: window", (0.02, 0.05, 0.1, 0.2, 0.5), _window, format_seconds),
    "shortest": _count("Shortest answer", (2, 4, 8), "shortest", "the tokens of the shortest answer"),
}


class BatchingExplorer(LiveExplorer):
    """One workload under three schedules in the same memory; `.runs` are the simulations."""

    runs: dict[str, Simulation]

    def look(self, value: dict[str, Any]) -> View:
        workload = spaced_workload(value["spacing_s"], value["shortest"], value["longest"])
        size = value["batch_size"]
        policies: dict[str, Policy] = {
            "Static": StaticBatching(size),
            "Dynamic": DynamicBatching(size, value["window_s"]),
            "Continuous": ContinuousBatching(size),
        }
        self.runs = {
            name: simulate(workload, policy, num_blocks=BLOCKS, memory="contiguous")
            for name, policy in policies.items()
        }
        ends = ", ".join(f"{name.lower()} {format_seconds(run.summary.duration_s)}" for name, run in self.runs.items())
        figure = batching_timelines({name: run.events for name, run in self.runs.items()})
        return View(
            figure, f"All {len(workload)} requests are served after: {ends}.", tuple(map(_line, self.runs.items()))
        )


def batching_explorer(
    *,
    batch_size: Any = 3,
    spacing_s: Any = 0.05,
    longest: Any = 32,
    shortest: Any = 4,
    window_s: Any = 0.1,
    controls: Iterable[str] = ("batch_size", "spacing_s", "longest", "window_s"),
) -> BatchingExplorer:
    """An explorer of static, dynamic and continuous batching that starts at these values; times are in seconds."""
    shown = checked_names(controls, CHOICES)
    start = {
        "batch_size": batch_size, "spacing_s": spacing_s, "longest": longest, "shortest": shortest, "window_s": window_s,
    }  # fmt: skip
    widgets = {name: CHOICES[name].widget(CHOICES[name].checked(value)) for name, value in start.items()}
    return BatchingExplorer(widgets, shown)


def _line(run: tuple[str, Simulation]) -> str:
    name, summary = run[0], run[1].summary
    return (
        f"{name}: a first token after {_first(summary)} on average, {format_number(summary.throughput_tokens_per_s)} tokens "
        f"a second, {format_number(100 * summary.padding_share)} % of its tokens computed for nobody"
    )


def _first(summary: Summary) -> str:
    first = summary.time_to_first_token
    return format_seconds(first.mean) if first else "no time"
