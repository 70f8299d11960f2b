"""Key of LAB5A.3: low traffic, and one user who waits for each token."""

from __future__ import annotations

from llmserving.clinic import ONE_AT_A_TIME, serve
from llmserving.exercises import lab_clinic_single
from llmserving.exercises.draws import Numbers
from llmserving.units import format_number, format_seconds

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
from grader.answer_key.lab_clinic_kinds import EACH_LEVER, THE_WALLS, lever_key, levers_key
from grader.answer_key.lab_keys import Wrong

_CASE = "One at a time"


def four_bit_weights() -> dict[str, object]:
    return {"weight_dtype": "int4"}


def two_gpus_and_eight_bits() -> dict[str, object]:
    settings: dict[str, object] = {"gpus": 1 + 1}
    settings["weight_dtype"] = "int8"
    return settings


def continuous_batching() -> dict[str, object]:
    return {"policy": "continuous"}


def in_pieces() -> dict[str, object]:
    return {"policy": "chunked"}


def more_at_once() -> dict[str, object]:
    return {"max_num_seqs": 64}


def eight_bit_cache() -> dict[str, object]:
    return {"kv_dtype": "int8"}


def eight_bit_weights() -> dict[str, object]:
    return {"weight_dtype": "int8"}


def a_second_gpu() -> dict[str, object]:
    return {"gpus": 2}


def four_gpus() -> dict[str, object]:
    return {"gpus": 4}


def more_bandwidth() -> dict[str, object]:
    return {"gpu": "h200-141gb"}


_WRONG = (
    Wrong(
        "batching_for_one",
        continuous_batching,
        "It mends the wait, since nobody stands before a batch that runs. It does nothing for the pace: with one request in a "
        "step there is nobody to share a read of the weights with.",
        THE_WALLS,
    ),
    Wrong(
        "prompts_in_pieces",
        in_pieces,
        "Nobody else decodes while a prompt is read here, so there is nobody whom pieces would spare.",
        EACH_LEVER,
    ),
    Wrong(
        "more_at_once",
        more_at_once,
        "Larger batches are for many who come at once. Here they hardly ever form, and each request is as slow as before.",
        EACH_LEVER,
    ),
    Wrong(
        "the_other_bucket",
        eight_bit_cache,
        "The cache of one request is small beside the weights, and both are read at each token. Take the larger.",
        THE_WALLS,
    ),
    Wrong(
        "half_of_the_bytes",
        eight_bit_weights,
        "The right bytes, and not few enough: in eight bits half of the reading is left.",
        EACH_LEVER,
    ),
    Wrong(
        "half_for_each",
        a_second_gpu,
        "Two GPUs read half of the weights each, at twice the price, and half of the reading is not few enough.",
        EACH_LEVER,
    ),
    Wrong(
        "bought_out",
        four_gpus,
        "Four GPUs read a quarter of the weights each, which is fast enough, and cost more than an hour may.",
        EACH_LEVER,
    ),
    Wrong(
        "bandwidth_bought",
        more_bandwidth,
        "The right wall: it reads faster, and by itself not fast enough.",
        EACH_LEVER,
    ),
)


def _least_ms(n: Numbers, a: Answers) -> float:
    return n["billions"] * 1e9 / 2 / (n["bandwidth_tb"] * 1e12) * 1e3  # type: ignore[no-any-return]


_LEAST = ValueKey(
    _least_ms,
    THREE_FIGURES,
    (
        Misconception("fp16_for_int4", times(_least_ms, 4), "That reads two bytes a weight, which is FP16.", THE_WALLS),
        Misconception(
            "int8_for_int4", times(_least_ms, 2), "That reads a whole byte a weight, which is INT8.", THE_WALLS
        ),
        Misconception(
            "bits_for_bytes", times(_least_ms, 8), "That counts bits. The bandwidth is in bytes a second.", THE_WALLS
        ),
        Misconception(
            "products_for_reading",
            lambda n, a: 2 * n["billions"] * 1e9 / (n["tflops"] * 1e12) * 1e3,
            "That is the time of the products of one token. Asked is the time to read the weights.",
            THE_WALLS,
        ),
        Misconception(
            "seconds_for_ms", times(_least_ms, 1e-3), "That is in seconds. Asked are milliseconds.", THE_WALLS
        ),
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
            "Arithmetic is waited for where thousands of tokens meet each weight.",
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
        "levers": levers_key(ONE_AT_A_TIME, four_bit_weights, two_gpus_and_eight_bits, _WRONG),
        "wall": _WALL,
        "lever": _LEVER,
        "argument": _ARGUMENT,
    },
)
