"""The last choice of LAB4.2: how many requests to let in, and what the wrong limits stand for."""

from __future__ import annotations

from llmserving.exercises.draws import Numbers
from llmserving.units import format_number

from grader.answer_key.key import ChoiceKey, Trap
from grader.answer_key.lab_planning_steps import fit, ridge, step_at

_BATCH = "Where tokens a second stop growing"


def _later(n: Numbers) -> str:
    knee, full = ridge(n, {}), fit(n, {})
    return (
        f"With all that fit here, each token takes {format_number(step_at(n, full) / step_at(n, knee), 2)} times as long as at "
        "that batch, for the same tokens a second."
    )


def _shared(n: Numbers) -> str:
    knee = ridge(n, {})
    longer = step_at(n, knee) / step_at(n, 8)
    return (
        f"Here that batch gives {format_number(knee / 8 / longer, 2)} times the tokens a second of a batch of 8, in steps "
        f"{format_number(longer, 2)} times as long."
    )


MAX_NUM_SEQS = ChoiceKey(
    "at_the_knee",
    {
        "all_that_fit": Trap(
            "memory_for_rate",
            "Memory lets requests in, and does not make them fast: past the ridge each one takes its time from the others.",
            _BATCH,
            _later,
        ),
        "few": Trap(
            "each_request_costs_alike",
            "While a step waits for the weights, one more request adds the reading of its own cache and nothing else.",
            _BATCH,
            _shared,
        ),
        "more_than_fit": Trap(
            "gaps_in_a_step",
            "A step has no gaps for those that do not fit: they wait, or push others out whose cache is then computed again.",
            _BATCH,
        ),
    },
)
