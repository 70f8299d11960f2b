"""Run a case with other settings, on the simulator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from llmserving.clinic.case import Case
from llmserving.clinic.outcome import Outcome
from llmserving.paging.learners_code import pass_stop_on
from llmserving.scheduling import ChunkedPrefill, ContinuousBatching, StaticBatching
from llmserving.scheduling.simulate import Simulation, simulate

AS_IT_IS: Mapping[str, Any] = {}


def serve(case: Case, settings: Mapping[str, Any] = AS_IT_IS) -> Outcome:
    """What becomes of the case with these levers moved, the others left where they are.

    TypeError or ValueError for levers or values that the case does not offer. The same settings are simulated once.
    """
    return _served(case, tuple(case.settings(settings).items()))


def run(case: Case, settings: Mapping[str, Any] = AS_IT_IS) -> Simulation:
    """The same with every event, for figures."""
    return _simulated(case, case.settings(settings))


def serve_each(case: Case, named: Mapping[str, Mapping[str, Any]]) -> dict[str, Outcome]:
    """Name -> what becomes of the case with the levers of that name; those that it does not offer leave a printed sentence."""
    served = {}
    for name, settings in named.items():
        try:
            served[name] = serve(case, settings)
        except (TypeError, ValueError) as refusal:
            print(f"{name}: cannot be served, {refusal}.")
    return served


def serve_yours(case: Case, levers: Callable[[], Any]) -> dict[str, Outcome]:
    """{"yours": the outcome}; nothing, and a printed sentence, where a learner's function gives no settings yet."""
    try:
        return {"yours": serve(case, levers())}
    except BaseException as error:  # the learner's function may raise anything
        pass_stop_on(error)
        why = str(error) or type(error).__name__
        print(f"{case.title}: no levers of yours to serve with yet ({why}). Write them, then run this again.")
        return {}


@lru_cache(maxsize=256)
def _served(case: Case, settings: tuple[tuple[str, Any], ...]) -> Outcome:
    summary = _simulated(case, dict(settings)).summary
    first, each = summary.time_to_first_token, summary.time_per_output_token
    return Outcome(
        case,
        dict(settings),
        first.p95 if first else float("inf"),
        each.p95 if each else float("inf"),
        summary.rejected,
        summary.preemptions,
        summary.mean_batch,
    )


def _simulated(case: Case, settings: Mapping[str, Any]) -> Simulation:
    return simulate(
        case.workload,
        _policy(settings),
        case.model,
        settings["gpu"],
        weight_dtype=settings["weight_dtype"],
        compute_dtype="int8" if settings["weight_dtype"] == "int8" else None,
        kv_dtype=settings["kv_dtype"],
        tensor_parallel=settings["gpus"],
        link_bytes_per_s=case.link_bytes_per_s,
    )


def _policy(settings: Mapping[str, Any]) -> StaticBatching | ContinuousBatching:
    most, watermark = settings["max_num_seqs"], settings["watermark"]
    if settings["policy"] == "static":
        return StaticBatching(most)
    if settings["policy"] == "chunked":
        return ChunkedPrefill(most, watermark=watermark, token_budget=settings["token_budget"])
    return ContinuousBatching(most, watermark=watermark)
