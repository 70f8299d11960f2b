"""Key of L5.1B: the numbers of a pass of huge prompts, and the argument; its choices are in level5_batch_choices."""

from __future__ import annotations

from llmserving import GB, weight_bytes
from llmserving.exercises import level5_batch
from llmserving.exercises.draws import Numbers
from llmserving.units import KB, MB

from grader.answer_key.bank_kinds import named_traps
from grader.answer_key.key import THREE_FIGURES, Answers, ChainKey, Formula, Key, Misconception, ValueKey, times
from grader.answer_key.level5_batch_choices import LATENCY, LEVER, LEVERS, PASS, PHASE, WALL
from grader.answer_key.product_mistakes import int8_product_mistakes, product_mistakes
from grader.answer_key.reread import sending_to
from grader.answer_key.sizes import gigabyte_mistakes, megabyte_mistakes
from grader.answer_key.time_units import ms_for_seconds


def _wrong(name: str, formula: Formula, sentence: str) -> Misconception:
    return Misconception(name, formula, sentence, PASS)


def _parameters(n: Numbers) -> float:
    return n["billions"] * 1e9  # type: ignore[no-any-return]


def _ridge(n: Numbers) -> float:
    return n["fp16_tflops"] / n["bandwidth_tb"]  # type: ignore[no-any-return]


def _beyond(n: Numbers, a: Answers) -> float:
    """2 FLOPs a weight and token, 2 bytes a weight: so many FLOPs a byte as there are tokens in the pass."""
    return 2 * n["tokens"] / 2 / _ridge(n)  # type: ignore[no-any-return]


def _fp16_s(n: Numbers, a: Answers) -> float:
    return 2 * _parameters(n) * n["tokens"] / (n["fp16_tflops"] * 1e12)  # type: ignore[no-any-return]


def _int8_s(n: Numbers, a: Answers) -> float:
    return a["fp16_s"] * n["fp16_tflops"] / n["int8_tops"]  # type: ignore[no-any-return]


_BEYOND = ValueKey(
    _beyond,
    THREE_FIGURES,
    (
        _wrong(
            "inverted", lambda n, a: 1 / _beyond(n, a), "Upside down: divide the FLOPs a byte of the pass by the ridge."
        ),
        _wrong(
            "one_flop_a_weight",
            times(_beyond, 1 / 2),
            "Half of it: each weight does two operations with each token, a multiplication and an addition.",
        ),
        _wrong("one_byte_a_weight", times(_beyond, 2), "That takes one byte a weight, which is INT8. FP16 takes two."),
        _wrong(
            "one_prompt",
            times(_beyond, lambda n, a: 1 / n["prompts"]),
            "That is a pass of a single document. All of them share this one.",
        ),
        _wrong(
            "int8_peak",
            times(_beyond, lambda n, a: n["fp16_tflops"] / n["int8_tops"]),
            "That divides by the ridge point of INT8. So far the pass is computed in sixteen bits.",
        ),
        _wrong(
            "not_divided_by_ridge",
            lambda n, a: n["tokens"],
            "That is how many FLOPs the pass does for a byte of weights. Compare it with the ridge point: divide.",
        ),
        _wrong(
            "ridge_itself",
            lambda n, a: _ridge(n),
            "That is the ridge point itself. The question is how many times past it the pass lies.",
        ),
    ),
)


def _reading(bits: int) -> Misconception:
    return _wrong(
        "reading_for_arithmetic",
        lambda n, a: weight_bytes(_parameters(n), bits) / (n["bandwidth_tb"] * 1e12),
        f"That is the time to read the weights once, at {bits} bits each. The question is how long the products take.",
    )


_FP16 = ValueKey(
    _fp16_s, THREE_FIGURES, (*product_mistakes(_fp16_s, PASS), _reading(16), ms_for_seconds(_fp16_s, PASS))
)

_INT8 = ValueKey(
    _int8_s,
    THREE_FIGURES,
    (
        *int8_product_mistakes("fp16_s", PASS),
        _reading(8),
        ms_for_seconds(_int8_s, PASS),
    ),
)


def _freed_gb(n: Numbers, a: Answers) -> float:
    return (weight_bytes(_parameters(n), 16) - weight_bytes(_parameters(n), 8)) / GB


_FREED = ValueKey(
    _freed_gb,
    THREE_FIGURES,
    (
        _wrong("all_freed", times(_freed_gb, 2), "Those are all the weights. In eight bits they still take room."),
        _wrong("freed_by_int4", times(_freed_gb, 3 / 2), "That is what weights of four bits would set free."),
        _wrong("int4_itself", times(_freed_gb, 1 / 2), "That is what weights of four bits take."),
        _wrong(
            "cache_shrinks_with_weights",
            lambda n, a: _freed_gb(n, a) + n["kv_gb"] / 2,
            "That halves the cache as well. W8A8 says how weights and activations are multiplied; keys and values stay as "
            "they are.",
        ),
        *sending_to(LEVERS, gigabyte_mistakes(_freed_gb)),
    ),
)


def _slots_a_document(slots: Formula) -> Formula:
    """MB of the whole batch, where each document leaves so many slots empty."""
    return lambda n, a: slots(n, a) * n["prompts"] * n["slot_kb"] * KB / MB


_tail_mb = _slots_a_document(lambda n, a: -n["length"] % n["block_size"])

_TAIL = ValueKey(
    _tail_mb,
    THREE_FIGURES,
    (
        _wrong(
            "one_document",
            times(_tail_mb, lambda n, a: 1 / n["prompts"]),
            "That is for one document. Each of them has a last block.",
        ),
        _wrong(
            "worst_case_for_this",
            _slots_a_document(lambda n, a: n["block_size"] - 1),
            "That is the worst case. The last block of these documents is fuller.",
        ),
        _wrong(
            "whole_block_empty",
            _slots_a_document(lambda n, a: n["block_size"]),
            "That counts a whole block for each document. A last block is taken when a token needs it, so it holds some.",
        ),
        _wrong(
            "tokens_of_the_tail",
            _slots_a_document(lambda n, a: n["length"] % n["block_size"]),
            "Those are the slots of the last blocks that are used. The question is about the empty ones.",
        ),
        *sending_to(PASS, megabyte_mistakes(_tail_mb)),
    ),
)

_ARGUMENT = ChainKey(
    {
        "many_tokens": (),
        "waits_for_arithmetic": ("many_tokens",),
        "int8_rate": ("waits_for_arithmetic",),
        "halves": (),
        "batch_grows": ("halves",),
    },
    named_traps(
        {
            "decode_dominates": (
                "decode_for_prefill",
                "A summary takes a few passes, each about as short as one read of the weights. The long pass is the documents'.",
            ),
            "expanding_free": (
                "expanding_is_free",
                "Expanding is arithmetic too, once for each weight and pass, on top of products that stay in sixteen bits.",
            ),
            "tail_blocks": (
                "waste_in_every_block",
                "Only a last block can have an empty end. All the others are full.",
            ),
        },
        LEVERS,
    ),
    LEVERS,
)

KEYS_HERE = (
    Key(
        level5_batch.L5_1B,
        {
            "phase": PHASE,
            "wall": WALL,
            "beyond": _BEYOND,
            "fp16_s": _FP16,
            "int8_s": _INT8,
            "freed_gb": _FREED,
            "tail_mb": _TAIL,
            "lever": LEVER,
            "latency": LATENCY,
            "argument": _ARGUMENT,
        },
    ),
)
