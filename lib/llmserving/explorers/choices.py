"""The controls of the explorers around a real model on a real GPU: one row of data each, with the stops it offers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import ipywidgets

from llmserving import arguments
from llmserving.explorers.slider import Slider
from llmserving.hardware import GPUS
from llmserving.kv_formats import kv_dtype_named
from llmserving.models import MODELS
from llmserving.named import gpu_of, model_of
from llmserving.planner import VIEWS
from llmserving.units import format_number
from llmserving.weight_formats import WEIGHT_FORMATS, weight_dtype_named


@dataclass(frozen=True)
class Choice:
    """A quantity that can be moved: its label, its stops in order, how a stop is written, and how a start is checked."""

    label: str
    stops: tuple[Any, ...]
    checked: Callable[[Any], Any]
    written: Callable[[Any], str] = str
    dropdown: bool = False

    def widget(self, start: Any) -> Any:
        """A slider, or a drop-down list for names; `start` becomes a stop of its own if it is none."""
        stops = list(self.stops)
        if start not in stops:
            stops = [*stops, start] if self.dropdown else sorted([*stops, start])
        kind = ipywidgets.Dropdown if self.dropdown else Slider
        return kind(
            options=[(self.written(stop), stop) for stop in stops],
            value=start,
            description=self.label,
            style={"description_width": "11em"},
            layout={"width": "34em", "max_width": "100%"},
        )


def _count(name: str, meaning: str) -> Callable[[Any], int]:
    return lambda value: arguments.count(name, meaning, value)


def _share(value: Any) -> float:
    meaning = "the share of the memory that the engine may use"
    return arguments.share("gpu_memory_utilization", meaning, value)


def _view(value: Any) -> Any:
    if not (isinstance(value, str) and value in VIEWS):
        raise ValueError(f"view {arguments.shown(value)} is not known; choose one of {', '.join(VIEWS)}")
    return value


def _whole(value: int) -> str:
    return f"{value:,}"


def _name(item: Any) -> str:
    return str(item.name)


POWERS_OF_TWO = tuple(2**k for k in range(18))
CHOICES: Mapping[str, Choice] = {
    "model": Choice("Model", tuple(MODELS.values()), model_of, _name, dropdown=True),
    "gpu": Choice("GPU", tuple(GPUS.values()), gpu_of, _name, dropdown=True),
    "weight_dtype": Choice("Weights", tuple(WEIGHT_FORMATS), weight_dtype_named, str.upper, dropdown=True),
    "kv_dtype": Choice("KV cache", ("fp16", "fp8"), kv_dtype_named, str.upper, dropdown=True),
    "context": Choice("Tokens a request", POWERS_OF_TWO[7:], _count("context", "the number of tokens a request"), _whole),
    "requests": Choice("Requests", POWERS_OF_TWO[:11], _count("requests", "the number of requests at once"), _whole),
    "tensor_parallel": Choice(
        "GPUs a layer (TP)", (1, 2, 4, 8), _count("tensor_parallel", "the number of GPUs that split each layer"), _whole
    ),
    "gpu_memory_utilization": Choice("Utilization", (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0), _share, format_number),
    "view": Choice("View", VIEWS, _view, str, dropdown=True),
}  # fmt: skip


def widgets(start: Mapping[str, Any]) -> dict[str, Any]:
    """A control for each name, at its checked start."""
    return {name: CHOICES[name].widget(CHOICES[name].checked(value)) for name, value in start.items()}


def checked_names(names: Any, known: Iterable[str]) -> tuple[str, ...]:
    """The names of the controls to show, in their order and each once, or a sentence that lists what there is."""
    there = ", ".join(known)
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise TypeError(f'controls is a tuple of names such as ("model", "context"), but got {names!r}; names: {there}')
    wanted = tuple(names)
    for name in wanted:
        if not isinstance(name, str) or name not in there.split(", "):
            raise ValueError(f"controls names a control that is not known, {name!r}; the names are {there}")
    return tuple(dict.fromkeys(wanted))
