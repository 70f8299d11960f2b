"""Key of L3.3: the numbers of a large-batch prefill, the lever, and the argument."""

from __future__ import annotations

from llmserving import weight_bytes
from llmserving.exercises import level3_recipe
from llmserving.exercises.draws import Numbers
from llmserving.units import format_bytes, format_number

from grader.answer_key.bank_kinds import named_traps
from grader.answer_key.key import (
    THREE_FIGURES,
    Answers,
    ChainKey,
    ChoiceKey,
    Formula,
    Key,
    Misconception,
    Trap,
    ValueKey,
    times,
)
from grader.answer_key.product_mistakes import int8_product_mistakes, product_mistakes
from grader.answer_key.time_units import seconds_for_ms

_NAMES = "Two names, two walls"
_WORK = "Bytes and arithmetic"


def _parameters(n: Numbers) -> float:
    return n["billions"] * 1e9  # type: ignore[no-any-return]


def _read_ms(n: Numbers, a: Answers) -> float:
    return weight_bytes(_parameters(n), 16) / (n["bandwidth_tb"] * 1e12) * 1e3  # type: ignore[no-any-return]


def _compute_ms(n: Numbers, a: Answers) -> float:
    return 2 * _parameters(n) * n["tokens"] / (n["fp16_tflops"] * 1e12) * 1e3  # type: ignore[no-any-return]


def _wrong(name: str, formula: Formula, sentence: str) -> Misconception:
    return Misconception(name, formula, sentence, _WORK)


def _saved_ms(n: Numbers, a: Answers) -> float:
    return a["read_ms"] * 3 / 4


def _w8a8_ms(n: Numbers, a: Answers) -> float:
    return a["compute_ms"] * n["fp16_tflops"] / n["int8_tops"]  # type: ignore[no-any-return]


_READ = ValueKey(
    _read_ms,
    THREE_FIGURES,
    (
        _wrong(
            "int8_for_fp16", times(_read_ms, 1 / 2), "That counts one byte a weight, which is INT8. FP16 takes two."
        ),
        _wrong("int4_for_fp16", times(_read_ms, 1 / 4), "That is INT4. The question begins with the weights in FP16."),
        _wrong("bits_for_bytes", times(_read_ms, 8), "That counts bits. The bandwidth is in bytes a second."),
        _wrong(
            "read_for_each_token",
            times(_read_ms, lambda n, a: n["tokens"]),
            "That reads the weights again for each token. One read serves all tokens of the pass.",
        ),
        _wrong(
            "read_for_each_prompt",
            times(_read_ms, lambda n, a: n["prompts"]),
            "That reads the weights again for each prompt. One read serves all prompts of the pass.",
        ),
        seconds_for_ms(_read_ms, _WORK),
    ),
)

_SAVED = ValueKey(
    _saved_ms,
    THREE_FIGURES,
    (
        _wrong(
            "left_for_saved",
            lambda n, a: a["read_ms"] / 4,
            "That is what is left of the reading. The question asks for what is saved.",
        ),
        _wrong("all_saved", lambda n, a: a["read_ms"], "That is the whole reading. The packed weights are still read."),
        _wrong("saved_by_int8", lambda n, a: a["read_ms"] / 2, "That is what INT8 weights would save."),
        _wrong(
            "arithmetic_saved",
            lambda n, a: a["compute_ms"] * 3 / 4,
            "That takes the arithmetic to be shorter as well. W4A16 multiplies in sixteen bits, as before.",
        ),
        seconds_for_ms(_saved_ms, _WORK),
    ),
)

_COMPUTE = ValueKey(
    _compute_ms, THREE_FIGURES, (*product_mistakes(_compute_ms, _WORK), seconds_for_ms(_compute_ms, _WORK))
)

_W8A8 = ValueKey(
    _w8a8_ms,
    THREE_FIGURES,
    (
        *int8_product_mistakes("compute_ms", _WORK),
        _wrong(
            "reading_for_arithmetic",
            lambda n, a: a["read_ms"] / 2,
            "That is the time to read the weights in INT8. The question asks for the time of the products.",
        ),
        seconds_for_ms(_w8a8_ms, _WORK),
    ),
)


def _share_saved(n: Numbers) -> str:
    """What W4A16 saves, against the pass: a share, which tells neither of the two times."""
    saved = weight_bytes(_parameters(n), 16) - weight_bytes(_parameters(n), 4)
    share = _saved_ms(n, {"read_ms": _read_ms(n, {})}) / _compute_ms(n, {})
    return (
        f"Here it reads {format_bytes(saved)} less a pass, and that reading takes {format_number(100 * share, 2)} % of the time "
        "that the products take."
    )


def _tokens_in_pass(n: Numbers) -> str:
    ridge = n["fp16_tflops"] / n["bandwidth_tb"]
    return (
        f"This pass has {n['tokens']:,} tokens for each weight that is read; about {format_number(ridge, 2)} would be enough to "
        "keep the arithmetic busy."
    )


def _prompt_slots(n: Numbers) -> str:
    return (
        f"These prompts have {n['length']:,} tokens each, all of them there from the start: blocks of 16 leave "
        f"{-n['length'] % 16 or 'no'} slots of the last one empty, and there is next to no output to reserve for."
    )


_LEVER = ChoiceKey(
    "w8a8",
    {
        "w4a16": Trap(
            "bytes_in_every_phase",
            "W4A16 saves bytes, and in decode they are what is waited for.",
            _NAMES,
            _share_saved,
        ),
        "paged_attention": Trap(
            "memory_for_time",
            "PagedAttention saves memory that was reserved in vain, and no time.",
            _NAMES,
            _prompt_slots,
        ),
        "continuous_batching": Trap(
            "batching_for_arithmetic",
            "Continuous batching fills places that would be idle, and brings more tokens to each read.",
            _NAMES,
            _tokens_in_pass,
        ),
    },
)

_ARGUMENT = ChainKey(
    {
        "many_tokens": (),
        "bytes_do_not_matter": ("many_tokens",),
        "expands": (),
        "int8_rate": ("bytes_do_not_matter",),
    },
    named_traps(
        {
            "int4_math": ("int4_arithmetic", "W4A16 multiplies in sixteen bits: the A16 of its name."),
            "read_for_each": (
                "read_for_each_token",
                "One read serves all tokens of the pass. That is what makes it prefill.",
            ),
            "smaller_cache": ("cache_shrinks_with_weights", "The cache holds keys and values, and no weights."),
        },
        _NAMES,
    ),
    _NAMES,
)

KEYS_HERE = (
    Key(
        level3_recipe.L3_3,
        {
            "read_ms": _READ,
            "saved_ms": _SAVED,
            "compute_ms": _COMPUTE,
            "w8a8_ms": _W8A8,
            "lever": _LEVER,
            "argument": _ARGUMENT,
        },
    ),
)
