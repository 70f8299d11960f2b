"""What the three cases of the clinic ask alike: the levers, the wall, the one lever, and the argument."""

from __future__ import annotations

from llmserving.clinic import Case
from llmserving.exercises.draws import Numbers
from llmserving.exercises.exercise import Option, Part, Probe
from llmserving.hardware import GPUS
from llmserving.models import MODELS

WALLS = (
    Option("arithmetic", "arithmetic: operations that the GPU computes a second"),
    Option("bandwidth", "bandwidth: bytes that the GPU reads from HBM a second"),
    Option("capacity", "capacity: bytes that the GPU's memory can hold at once"),
)


def case_numbers(case: Case) -> Numbers:
    """What a statement says of a case, all of it from the case itself."""
    card, promised = GPUS[case.start["gpu"]], case.promises
    return {
        "gpu": card.name,
        "model": case.model,
        "billions": MODELS[case.model].parameters / 1e9,
        "tflops": card.peak_flops["fp16"] / 1e12,
        "bandwidth_tb": card.bandwidth_bytes_per_s / 1e12,
        "first_s": promised.first_token_s,
        "each_ms": promised.each_token_s * 1e3,
        "dollars": promised.dollars_an_hour,
    }


PROMISED = (
    "Promised, for 95 % of the requests: {first_s} s to the first token, {each_ms} ms for each further one; and at most "
    "{dollars} dollars an hour."
)


def levers_part(number: int, hints: tuple[str, ...]) -> Part:
    """The settings, as a function without arguments that gives a dict."""
    variable = f"clinic_{number}"
    return Part(
        "levers",
        variable,
        "function",
        "a function that returns the levers you move, as a dict; the simulator serves the case with them",
        hints,
        points=4,
        stub=(
            f"def {variable}():\n"
            '    """The levers that you move and where to, as a dict; what it does not name stays as it is."""\n'
            f'    raise NotImplementedError("LAB5A.{number}: the levers")'
        ),
        probes=(Probe("every promise", {}),),
    )


def wall_part(number: int, asks: str, hints: tuple[str, ...]) -> Part:
    return Part("wall", f"LAB5A_{number}_wall", "choice", asks, hints, options=WALLS)


def lever_part(number: int, hints: tuple[str, ...], options: tuple[Option, ...]) -> Part:
    return Part(
        "lever", f"LAB5A_{number}_lever", "choice", "the one lever for that wall, taken alone", hints, options=options
    )


def argument_part(number: int, hints: tuple[str, ...], options: tuple[Option, ...]) -> Part:
    asks = "the letters of four links, in order, that carry the choice"
    return Part("argument", f"LAB5A_{number}_argument", "chain", asks, hints, points=2, options=options)
