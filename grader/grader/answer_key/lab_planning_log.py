"""Key of LAB4.4: the budget of a start line by line, and the reasons why plan and log part."""

from __future__ import annotations

from llmserving.engine_budget import ENGINE_BUDGETS
from llmserving.exercises import lab_planning_log
from llmserving.exercises.draws import Numbers
from llmserving.hardware import GPUS
from llmserving.units import GB, GiB

from grader.answer_key.key import (
    THREE_FIGURES,
    Answers,
    ChoiceKey,
    Formula,
    Key,
    Misconception,
    Trap,
    ValueKey,
    times,
)

_ROOM, _PART = "What is left of the memory", "Where plan and log part"
_DEFAULT_UTILIZATION = 0.9


def _budget(n: Numbers, a: Answers) -> float:
    return n["reported_gib"] * n["utilization"]  # type: ignore[no-any-return]


def _left(n: Numbers, a: Answers) -> float:
    return a["budget_gib"] - n["weights_gib"] - n["activations_gib"] - n["other_gib"]  # type: ignore[no-any-return]


def _given_up(n: Numbers) -> float:
    """GiB between the two shares of the memory."""
    return n["reported_gib"] * (n["utilization"] - n["other_utilization"])  # type: ignore[no-any-return]


def _other_left(n: Numbers, a: Answers) -> float:
    return a["left_gib"] - _given_up(n)


def _wrong(name: str, formula: Formula, sentence: str) -> Misconception:
    return Misconception(name, formula, sentence, _ROOM)


_BUDGET = ValueKey(
    _budget,
    THREE_FIGURES,
    (
        _wrong(
            "whole_memory",
            lambda n, a: n["reported_gib"],
            "That is all the card reports. The engine was given a share of it.",
        ),
        _wrong(
            "sold_for_reported",
            lambda n, a: GPUS["h100-80gb"].sold_bytes / GB * n["utilization"],
            "That is the share of the size that the card is sold with. The engine takes its share of what the card reports.",
        ),
        _wrong(
            "default_share",
            lambda n, a: n["reported_gib"] * _DEFAULT_UTILIZATION,
            "That is the share an engine takes where nobody says otherwise. This one was told another.",
        ),
        Misconception(
            "gb_for_gib",
            times(_budget, GiB / GB),
            "That is the right size in GB. The answer is asked for in GiB, as logs print it.",
            _ROOM,
            in_other_unit=True,
        ),
    ),
)
_LEFT = ValueKey(
    _left,
    THREE_FIGURES,
    (
        _wrong(
            "graphs_taken_off",
            lambda n, a: _left(n, a) - n["graphs_gib"],
            "That subtracts the CUDA graphs as well. The cache is laid out before they are captured.",
        ),
        _wrong(
            "whole_memory",
            lambda n, a: _left(n, {"budget_gib": n["reported_gib"]}),
            "That starts from the whole memory. What the engine was not given cannot go to the cache.",
        ),
        _wrong(
            "activations_forgotten",
            lambda n, a: _left(n, a) + n["activations_gib"],
            "That leaves out the activations. Before the cache is laid out a step is profiled, and its memory is set aside.",
        ),
        _wrong(
            "weights_alone_forgotten",
            lambda n, a: _left(n, a) + n["weights_gib"],
            "That leaves out the weights, which are loaded first.",
        ),
    ),
)
_OTHER_LEFT = ValueKey(
    _other_left,
    THREE_FIGURES,
    (
        _wrong(
            "all_lines_scaled",
            lambda n, a: a["left_gib"] * n["other_utilization"] / n["utilization"],
            "That shrinks the cache as the share shrinks. Weights and activations stay as they are, so the cache gives up all of "
            "the difference.",
        ),
        _wrong(
            "given_back",
            lambda n, a: a["left_gib"] + _given_up(n),
            "The wrong way: a smaller share leaves less.",
        ),
        _wrong(
            "graphs_taken_off",
            lambda n, a: _other_left(n, a) - n["graphs_gib"],
            "That subtracts the CUDA graphs as well. At any share they come after the cache.",
        ),
        _wrong("share_for_all", lambda n, a: a["left_gib"], "That is as before. A smaller share is a smaller budget."),
    ),
)


def _whole_weights(n: Numbers) -> str:
    model = ENGINE_BUDGETS[n["start"]].log.model
    return f"Here: {n['weights_gib']:g} GiB for {model.parameters:,} weights in {n['weights']}."


def _contexts(n: Numbers) -> str:
    short, long = ENGINE_BUDGETS["LLMD-22"], ENGINE_BUDGETS["LLMD-30"]
    return (
        f"Two logs of {short.log.model.name}, started for {short.log.max_model_len:,} and for {long.log.max_model_len:,} tokens, "
        f"have {short.activations_gib:g} and {long.activations_gib:g} GiB for activations."
    )


_TRAPS = {
    "empty_block": Trap(
        "empty_block",
        "An engine does keep an empty block, but it is among the blocks that are printed, so no count lacks it.",
        _PART,
    ),
    "graphs_later": Trap(
        "graphs_for_this",
        "That is about CUDA graphs. They come last, and change neither how blocks are cut nor what was profiled before.",
        _PART,
    ),
    "longest_context": Trap(
        "context_for_sequences",
        "The profiled step has as many tokens as the engine ever puts into one (max_num_batched_tokens), however long a "
        "context may grow.",
        _PART,
        _contexts,
    ),
    "printed_rounding": Trap(
        "rounding_for_this",
        "What two decimals hide is a few MiB at most, and this is a matter of gigabytes.",
        _PART,
    ),
    "sequences": Trap(
        "profile_for_this",
        "That is about activations. They are profiled before the cache is laid out, and have a line of their own in both.",
        _PART,
    ),
    "tail_blocks": Trap(
        "tail_blocks",
        "Half-empty blocks come with requests. At the start there are none, and a block counts as a whole, full or not.",
        _PART,
    ),
    "within_weights": Trap(
        "within_weights",
        "The line of the weights is what parameters times bytes make, and nothing else is in it.",
        _PART,
        _whole_weights,
    ),
}


def _reason(right: str) -> ChoiceKey:
    return ChoiceKey(right, {option: trap for option, trap in _TRAPS.items() if option != right})


KEYS_HERE = (
    Key(
        lab_planning_log.LAB4_4,
        {
            "budget_gib": _BUDGET,
            "left_gib": _LEFT,
            "other_left_gib": _OTHER_LEFT,
            "graphs": _reason("graphs_later"),
            "blocks_off": _reason("printed_rounding"),
            "profile": _reason("sequences"),
        },
    ),
)
