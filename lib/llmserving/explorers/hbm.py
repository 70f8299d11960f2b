"""Move a slider and see whether the weights and the KV cache still fit into one GPU."""

from __future__ import annotations

import html
import time
from collections.abc import Iterable
from typing import Any

import ipywidgets

from llmserving.explorers.controls import CONTROLS, checked_names, checked_start
from llmserving.figures import HbmBudget, LessonFigure, hbm_bar
from llmserving.kv_cache import kv_bytes
from llmserving.planner import weight_bytes
from llmserving.units import GB, format_seconds

CACHE_NAMES = ("B", "S", "L", "d_model", "p")


class HbmExplorer(ipywidgets.VBox):  # type: ignore[misc]  # ipywidgets has no types
    """Controls, the bar of GPU memory, and the same in words.

    `.controls[name].value` moves a quantity, shown or not; `.budget`, `.figure`, `.sentence` and `.arithmetic` then say
    what is on the screen. A value that is no stop of its control is refused by ipywidgets and changes nothing.
    """

    def __init__(self, start: dict[str, float], shown: tuple[str, ...]) -> None:
        self.controls: dict[str, Any] = {name: CONTROLS[name].widget(value) for name, value in start.items()}
        # The redraw time stands apart from the sentence: a screen reader announces a new sentence, and nothing else.
        self._figure, self._sentence, self._arithmetic, self._timing = (ipywidgets.HTML() for _ in range(4))
        self._redraw()
        for control in self.controls.values():
            control.observe(self._redraw, names="value")
        words = [self._figure, self._sentence, self._arithmetic, self._timing]
        super().__init__([*(self.controls[name] for name in shown), *words])

    def _redraw(self, _change: object = None) -> None:
        began = time.perf_counter()
        value = {name: control.value for name, control in self.controls.items()}
        self.budget = HbmBudget(
            memory_bytes=round(value["memory_gb"] * GB),
            weight_bytes=weight_bytes(value["parameters"], value["weight_bits"]),
            kv_bytes=kv_bytes(**{name: value[name] for name in CACHE_NAMES}),
        )
        self.figure: LessonFigure = hbm_bar(self.budget.memory_bytes, self.budget.weight_bytes, self.budget.kv_bytes)
        self.sentence = _sentence(self.budget)
        self.arithmetic = _arithmetic(self.budget, value)
        self._figure.value = self.figure._repr_html_()
        self._sentence.value = _status(self.sentence)
        self._arithmetic.value = _lines(*self.arithmetic)
        self._timing.value = _lines(f"redrawn in {format_seconds(round(time.perf_counter() - began, 3))}", small=True)

    def __repr__(self) -> str:
        return f"{self.sentence} {self.figure.alt_text}"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        """The live widget, and for a page where widgets cannot load the same figure and words, standing still."""
        bundle: dict[str, Any] = super()._repr_mimebundle_(**kwargs) or {}
        still = f"{_lines(self.sentence, bold=True)}{self.figure._repr_html_()}{self._arithmetic.value}"
        return {**bundle, "text/html": still, "text/plain": repr(self)}


def hbm_explorer(
    *,
    B: Any = 4,
    S: Any = 2048,
    L: Any = 40,
    d_model: Any = 5120,
    p: Any = 2,
    parameters: Any = 13e9,
    weight_bits: Any = 16,
    memory_gb: Any = 80,
    controls: Iterable[str] = tuple(CONTROLS),
) -> HbmExplorer:
    """An explorer that starts at these numbers and shows the controls named, by default all of them.

    B: requests. S: cached tokens a request. L: layers. d_model: hidden size. p: bytes a cached element. parameters:
    number of weights. weight_bits: bits a weight. memory_gb: the GPU's memory in GB. A quantity whose control is not
    shown stays at its start. TypeError or ValueError names the argument, what it got and what would be right.
    """
    shown = checked_names(controls)
    start = {
        "B": B, "S": S, "L": L, "d_model": d_model, "p": p,
        "parameters": parameters, "weight_bits": weight_bits, "memory_gb": memory_gb,
    }  # fmt: skip
    return HbmExplorer({name: checked_start(name, value) for name, value in start.items()}, shown)


def _sentence(budget: HbmBudget) -> str:
    if budget.fits:
        return budget.verdict
    sizes = (budget.size(n) for n in (budget.kv_bytes, budget.weight_bytes, budget.memory_bytes))
    return "{} The KV cache is {}, the weights are {}, and the GPU has {}.".format(budget.verdict, *sizes)


def _arithmetic(budget: HbmBudget, value: dict[str, Any]) -> tuple[str, str]:
    """How the two sizes come about, with the numbers of the moment in the formulas."""
    cache = " × ".join(f"{value[name]:,}" for name in CACHE_NAMES)
    weights = f"{value['parameters']:,} × {value['weight_bits']} / 8"
    return (
        f"KV cache: 2 × {' × '.join(CACHE_NAMES)} = 2 × {cache} = {budget.kv_bytes:,} bytes",
        f"Weights: parameters × bits / 8 = {weights} = {budget.weight_bytes:,} bytes",
    )


def _status(sentence: str) -> str:
    return f'<div role="status" aria-live="polite">{_lines(sentence, bold=True)}</div>'


def _lines(*lines: str, small: bool = False, bold: bool = False) -> str:
    style = "line-height:1.5" + ";font-size:smaller" * small + ";font-weight:600" * bold
    return f'<div style="{style}">{"<br>".join(html.escape(line) for line in lines)}</div>'
