"""Prefill and decode as two dots on the roofline: move the batches and the recipe, and see who waits for what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from llmserving import arguments
from llmserving.explorers.choices import CHOICES as OF_MODELS
from llmserving.explorers.choices import POWERS_OF_TWO, Choice, checked_names
from llmserving.explorers.live import LiveExplorer, View
from llmserving.figures.roofline_dots import roofline_dots
from llmserving.roofline import predict_decode, predict_prefill
from llmserving.step_prediction import StepPrediction
from llmserving.units import format_seconds

RECIPES: Mapping[str, dict[str, str]] = {
    "FP16": {"weight_dtype": "fp16"},
    "W8A16": {"weight_dtype": "int8"},
    "W4A16": {"weight_dtype": "int4"},
    "W8A8": {"weight_dtype": "int8", "compute_dtype": "int8"},
}


def _recipe(value: Any) -> str:
    if value not in RECIPES:
        raise ValueError(f"recipe {arguments.shown(value)} is not known; choose one of {', '.join(RECIPES)}")
    return str(value)


def _whole(label: str, stops: tuple[int, ...], name: str, meaning: str) -> Choice:
    return Choice(label, stops, lambda value: arguments.count(name, meaning, value), "{:,}".format)


CHOICES: Mapping[str, Choice] = {
    "recipe": Choice("Recipe", tuple(RECIPES), _recipe, dropdown=True),
    "prompt_tokens": _whole("Prompt tokens", POWERS_OF_TWO[4:15], "prompt_tokens", "the tokens in a prefill"),
    "requests": _whole("Decode requests", POWERS_OF_TWO[:11], "requests", "the requests in a decode step"),
    "context": OF_MODELS["context"],
    "model": OF_MODELS["model"],
    "gpu": OF_MODELS["gpu"],
}  # fmt: skip


class RooflineExplorer(LiveExplorer):
    """Two dots under one roof; `.steps` are the two predictions."""

    steps: dict[str, StepPrediction]

    def look(self, value: dict[str, Any]) -> View:
        where, recipe = (value["model"], value["gpu"]), RECIPES[value["recipe"]]
        self.steps = {
            "prefill": predict_prefill(*where, tokens=value["prompt_tokens"], **recipe),
            "decode": predict_decode(*where, batch=value["requests"], context=value["context"], **recipe),
        }
        told = [f"{name} is {step.bound} and takes {format_seconds(step.seconds)} at best"
                for name, step in self.steps.items()]  # fmt: skip
        arithmetic = [line for step in self.steps.values() for line in step.explain().split("\n")]
        return View(roofline_dots(self.steps), f"{value['recipe']}: {'; '.join(told)}.", tuple(arithmetic))


def roofline_explorer(
    model: Any = "llama-3.1-8b",
    gpu: Any = "h100-80gb",
    *,
    recipe: Any = "FP16",
    prompt_tokens: Any = 2048,
    requests: Any = 4,
    context: Any = 2048,
    controls: Iterable[str] = ("recipe", "prompt_tokens", "requests", "context"),
) -> RooflineExplorer:
    """An explorer of `predict_prefill` and `predict_decode` that starts at these values.

    recipe: one of RECIPES. A quantity whose control is not shown stays at its start.
    """
    shown = checked_names(controls, CHOICES)
    start = {
        "recipe": recipe, "prompt_tokens": prompt_tokens, "requests": requests, "context": context, "model": model,
        "gpu": gpu,
    }  # fmt: skip
    widgets = {name: CHOICES[name].widget(CHOICES[name].checked(value)) for name, value in start.items()}
    return RooflineExplorer(widgets, shown)
