"""Key of LAB5A.3: low traffic, and one user who waits for each token."""

from __future__ import annotations

from llmserving.clinic import ONE_AT_A_TIME, serve
from llmserving.exercises import lab_clinic_single
from llmserving.exercises.draws import Numbers
from llmserving.units import format_number, format_seconds

from grader.answer_key import lab_clinic_single_levers as made
from grader.answer_key.bank_kinds import named_traps
from grader.answer_key.key import (
    THREE_FIGURES,
    Answers,
    ChainKey,
    ChoiceKey,
    Key,
    Misconception,
    Trap,
    ValueKey,
    times,
)
from grader.answer_key.lab_clinic_kinds import THE_WALLS, lever_key, levers_key
from grader.answer_key.time_units import seconds_for_ms

_CASE = "One at a time"


def _least_ms(n: Numbers, a: Answers) -> float:
    return _read_ms(n, n["bytes_each"])


def _read_ms(n: Numbers, bytes_each: float) -> float:
    """Milliseconds to read the weights once, at so many bytes each."""
    return n["billions"] * 1e9 * bytes_each / (n["bandwidth_tb"] * 1e12) * 1e3  # type: ignore[no-any-return]


_LEAST = ValueKey(
    _least_ms,
    THREE_FIGURES,
    (
        Misconception(
            "two_bytes_a_weight",
            lambda n, a: _read_ms(n, 2),
            "That reads two bytes a weight, which is FP16.",
            THE_WALLS,
        ),
        Misconception(
            "a_byte_a_weight",
            lambda n, a: _read_ms(n, 1),
            "That reads a whole byte a weight, which is INT8.",
            THE_WALLS,
        ),
        Misconception(
            "half_a_byte_a_weight",
            lambda n, a: _read_ms(n, 1 / 2),
            "That reads half a byte a weight, which is INT4.",
            THE_WALLS,
        ),
        Misconception(
            "bits_for_bytes", times(_least_ms, 8), "That counts bits. The bandwidth is in bytes a second.", THE_WALLS
        ),
        Misconception(
            "products_for_reading",
            lambda n, a: 2 * n["billions"] * 1e9 / (n["tflops"] * 1e12) * 1e3,
            "That is the time of the products of one token. The question is how long it takes to read the weights.",
            THE_WALLS,
        ),
        seconds_for_ms(_least_ms, THE_WALLS),
    ),
)


def _products(n: Numbers) -> str:
    return f"The products of one token take {format_seconds(2 * n['billions'] * 1e9 / (n['tflops'] * 1e12))} here."


def _at_once(n: Numbers) -> str:
    return (
        f"Here {format_number(serve(ONE_AT_A_TIME).mean_batch)} requests run at once on average, and all of them fit."
    )


_WALL = ChoiceKey(
    "bandwidth",
    {
        "arithmetic": Trap(
            "prefill_s_wall",
            "A step waits for arithmetic where thousands of tokens meet each weight.",
            THE_WALLS,
            _products,
        ),
        "capacity": Trap(
            "full_without_a_sign",
            "A full memory shows: requests are preempted or wait for room.",
            THE_WALLS,
            _at_once,
        ),
    },
)

_LEVER = lever_key(
    ONE_AT_A_TIME,
    "int4",
    {
        "continuous": (
            "batching_for_one",
            "It lets newcomers in at once, and reads as much at each step.",
            {"policy": "continuous"},
        ),
        "paged": (
            "memory_for_time",
            "Blocks make room for more requests, and there is room enough. On this simulator they come with the policy that "
            "admits between steps.",
            {"policy": "continuous"},
        ),
        "two": (
            "half_for_each",
            "Each of the two reads half of the weights, for twice the money, and that is not enough.",
            {"gpus": 2},
        ),
    },
)

_ARGUMENT = ChainKey(
    {"alone": (), "bytes": ("alone",), "quarter": (), "sooner": ("bytes", "quarter")},
    named_traps(
        {
            "four_bit_products": (
                "int4_arithmetic",
                "W4A16 computes in sixteen bits, and the products are not what is waited for.",
            ),
            "reserved": (
                "empty_slots_are_read",
                "Attention reads the tokens that are there. Empty slots cost room, and no time.",
            ),
            "shared": (
                "batch_speeds_each",
                "A shared read serves more requests in the same time. None of them gets its tokens faster.",
            ),
        },
        _CASE,
    ),
    _CASE,
)

LAB5A_3 = Key(
    lab_clinic_single.LAB5A_3,
    {
        "least_ms": _LEAST,
        "levers": levers_key(ONE_AT_A_TIME, made.four_bit_weights, made.two_gpus_and_eight_bits, made.WRONG),
        "wall": _WALL,
        "lever": _LEVER,
        "argument": _ARGUMENT,
    },
)
