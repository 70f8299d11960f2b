"""The controls of the HBM explorer: one row of data each, with the stops it offers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import ipywidgets

from llmserving import arguments
from llmserving.explorers.slider import Slider
from llmserving.kv_cache import kv_bytes
from llmserving.units import format_number

DTYPE_OF_BYTES = {2: "FP16", 1: "INT8"}
DTYPE_OF_BITS = {16: "FP16", 8: "INT8", 4: "INT4"}


@dataclass(frozen=True)
class Control:
    """A quantity that can be moved: its label, what it means, its stops in order, and how a stop is written."""

    label: str
    meaning: str
    stops: tuple[float, ...]
    written: Callable[[float], str]
    dropdown: bool = False

    def widget(self, start: float) -> Any:
        """A slider, or a drop-down list for a few named choices; `start` becomes a stop of its own if it is none."""
        stops = sorted({*self.stops, start})
        kind = ipywidgets.Dropdown if self.dropdown else Slider
        return kind(
            options=[(self.written(stop), stop) for stop in stops],
            value=start,
            description=self.label,
            tooltip=self.meaning,
            style={"description_width": "11em"},
            layout={"width": "34em", "max_width": "100%"},
        )


def _whole(value: float) -> str:
    return f"{value:,}"


def _billions(value: float) -> str:
    return f"{format_number(value / 1e9)} billion"


def _bytes_each(value: float) -> str:
    unit = "byte" if value == 1 else "bytes"
    return " · ".join([*([DTYPE_OF_BYTES[int(value)]] if value in DTYPE_OF_BYTES else []), f"{value} {unit}"])


def _bits_each(value: float) -> str:
    return " · ".join([*([DTYPE_OF_BITS[int(value)]] if value in DTYPE_OF_BITS else []), f"{value} bits"])


def _gigabytes(value: float) -> str:
    return f"{format_number(value)} GB"


POWERS_OF_TWO = tuple(2**k for k in range(18))
CONTROLS: Mapping[str, Control] = {
    "B": Control("B, requests", "the number of requests batched", POWERS_OF_TWO[:11], _whole),
    "S": Control("S, tokens a request", "the number of cached tokens a request", POWERS_OF_TWO[7:], _whole),
    "L": Control("L, layers", "the number of layers", (12, 24, 32, 40, 48, 60, 80, 96, 126), _whole),
    "d_model": Control(
        "d_model, hidden size", "the hidden size", (768, 1024, 2048, 4096, 5120, 6656, 8192, 12288, 16384), _whole
    ),
    "p": Control("p, bytes an element", "the number of bytes a cached element", (1, 2), _bytes_each, dropdown=True),
    "parameters": Control(
        "Parameters", "the number of weights", tuple(n * 10**9 for n in (1, 3, 7, 8, 13, 30, 70, 175, 405)), _billions
    ),
    "weight_bits": Control("Bits a weight", "the number of bits a weight", (4, 8, 16), _bits_each, dropdown=True),
    "memory_gb": Control("GPU memory", "the GPU's memory in GB", (24, 40, 80, 141), _gigabytes, dropdown=True),
}


def checked_start(name: str, value: Any) -> float:
    """`value` as a start for the control `name`, or a TypeError or ValueError that says what would be right."""
    meaning = CONTROLS[name].meaning
    if name == "p":
        kv_bytes(1, 1, 1, 1, value)  # what leaves no part of a byte in the smallest cache leaves none in any
    if name in ("p", "memory_gb"):
        return arguments.positive_real(name, meaning, value)
    return arguments.count(name, meaning, value, whole_floats=name == "parameters")


def checked_names(names: Any) -> tuple[str, ...]:
    """The names of the controls to show, in their order and each once, or a ValueError that lists what there is."""
    known = ", ".join(CONTROLS)
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise TypeError(f'controls is a tuple of names such as ("B", "S"), but got {names!r}; the names are {known}')
    wanted = tuple(names)
    for name in wanted:
        if not isinstance(name, str) or name not in CONTROLS:
            raise ValueError(f"controls names a control that is not known, {name!r}; the names are {known}")
    return tuple(dict.fromkeys(wanted))
