"""What the lab of level 3 shows: the learner's quantizer here and now where torch is, and else the record, which it then says."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from llmserving.paging.learners_code import pass_stop_on
from llmserving.quantization import MatmulTiming, bench_matmul
from llmserving.tinylm import lab_measured
from llmserving.tinylm.lab_record import lab_record, recorded_timings, timed_on
from llmserving.tinylm.missing import OWN, ModelMissing, need

if TYPE_CHECKING:
    from llmserving.figures import LessonFigure

SIZE, ROWS, ROUNDS = 2048, (1, 512), 5
_SMALL = np.array([[1.0, 4.0, 0.5], [1.0, -4.0, 0.5]])


def three_perplexities(round_trip: Callable[..., Any], model: str = OWN) -> dict[str, float] | None:
    """The model as it is, with one step a matrix, and in groups, by the names to record; None where round_trip fails.

    Without torch the course's own model is shown from the record; of any other model nothing is.
    """
    if not _rounds(round_trip):
        return None
    found: dict[str, float] = {}
    try:
        for name, value in lab_measured.perplexities(round_trip, model):
            found[name] = value
            print(f"{name:>8}: perplexity {value:,.2f}, measured live")
        return found
    except ModelMissing as missing:
        if model != OWN:
            print(missing)
            return None
        _tell(missing)
    for name, value in lab_record().perplexities.items():
        print(f"{name:>8}: perplexity {value:,.2f}, recorded")
    return dict(lab_record().perplexities)


def where_weights_fall() -> None:
    """The usual step of a matrix and what comes back as 0, with one step and in groups of 64."""
    try:
        fallen, told = lab_measured.fallen(), "counted live"
    except ModelMissing as missing:
        _tell(missing)
        fallen, told = lab_record().fallen, "recorded"
    print(f"the usual weight {fallen.usual:.3g}, the largest {fallen.largest:.3g}, {told}")
    for name, step, zeros in (
        ("one step", fallen.one_step, fallen.zeros_one_step),
        (f"groups of {lab_measured.GROUP_SIZE}", fallen.groups_step, fallen.zeros_groups),
    ):
        print(f"{name:<12}   a usual step {step:.3g}, {100 * zeros:.1f} % of the weights come back as 0")


def protected_channels(round_trip: Callable[..., Any], input_scales: Callable[..., Any]) -> LessonFigure | None:
    """Each input channel's size, and the error of its weights without and with scales; None where a function fails."""
    if not _rounds(round_trip) or not _works(input_scales, _SMALL, lab_measured.ALPHA):
        return None
    try:
        found, title = lab_measured.protected(round_trip, input_scales), "Your quantizer, without and with your scales"
        told, whose = "measured live", "your scales"
    except ModelMissing as missing:
        _tell(missing)
        found, title = lab_record().protected, "The library's quantizer, without and with scales, recorded"
        told, whose = "recorded", "scales"
    from llmserving.figures import awq_channels

    print(f"the outputs' error, {told}: {found.plain.sum():.3g} as it is, {found.scaled.sum():.3g} with {whose}")
    return awq_channels(found.magnitude, found.plain, found.scaled, title=title)


def timed_matmuls() -> list[MatmulTiming]:
    """Every kernel at M = 1 and 512, on this machine, or recorded where there is no torch; and a line for each."""
    try:
        need("torch")
        timings, told = bench_matmul(SIZE, rows=ROWS, rounds=ROUNDS), "measured live, on one thread"
    except ModelMissing as missing:
        print(f"{missing} What follows was recorded on another machine: {timed_on()}.\n")
        timings, told = list(recorded_timings()), "recorded, on one thread"
    print(told, *timings, sep="\n")
    return timings


def _rounds(round_trip: Callable[..., Any]) -> bool:
    return all(_works(round_trip, _SMALL, lab_measured.BITS, group_size) for group_size in (None, 2))


def _works(function: Callable[..., Any], *given: Any) -> bool:
    """Whether a learner's function gives anything for a small input; else a sentence says why, before a model is loaded."""
    name = getattr(function, "__name__", "the function")
    try:
        function(*given)
    except NotImplementedError as missing:
        print(f"{name} is not written yet: {missing}.")
    except BaseException as error:
        pass_stop_on(error)
        said = f"{type(error).__name__}: {error}".rstrip(": ")
        print(f"{name} stopped with {said}. Its check says at which line.")
    else:
        return True
    return False


def _tell(missing: ModelMissing) -> None:
    record = lab_record()
    where = f"{record.machine}, {record.date}"
    print(f"{missing} What follows was recorded on another machine, with the library's quantizer: {where}.\n")
