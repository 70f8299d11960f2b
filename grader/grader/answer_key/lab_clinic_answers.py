"""Key of LAB5A.2: long answers that fill the cache and send each other back."""

from __future__ import annotations

from llmserving.clinic import LONG_ANSWERS, serve
from llmserving.exercises import lab_clinic_answers
from llmserving.exercises.draws import Numbers

from grader.answer_key.bank_kinds import named_traps
from grader.answer_key.key import EXACT, Answers, ChainKey, ChoiceKey, Key, Misconception, Trap, ValueKey
from grader.answer_key.lab_clinic_kinds import EACH_LEVER, THE_WALLS, lever_key, levers_key
from grader.answer_key.lab_keys import Wrong

_CASE = "Long answers"


def eight_bit_cache() -> dict[str, object]:
    return {"kv_dtype": "int8"}


def eight_bit_cache_and_more() -> dict[str, object]:
    settings: dict[str, object] = {"max_num_seqs": 2 * 96, "watermark": 0.05}
    settings.update(kv_dtype="int8")
    return settings


def more_at_once() -> dict[str, object]:
    return {"max_num_seqs": 512}


def fewer_at_once() -> dict[str, object]:
    return {"max_num_seqs": 48}


def a_watermark() -> dict[str, object]:
    return {"watermark": 0.1}


def four_bit_weights() -> dict[str, object]:
    return {"weight_dtype": "int4"}


def in_pieces() -> dict[str, object]:
    return {"policy": "chunked"}


def a_faster_gpu() -> dict[str, object]:
    return {"gpu": "h100-80gb"}


def a_second_gpu() -> dict[str, object]:
    return {"gpus": 2}


def room_and_a_limit() -> dict[str, object]:
    return {"kv_dtype": "int8", "max_num_seqs": 48}


_WRONG = (
    Wrong(
        "more_at_once",
        more_at_once,
        "The more are let in, the sooner the pool is full, and the more are sent back and computed again. It has to hold those "
        "who run, and it does not.",
        _CASE,
    ),
    Wrong(
        "fewer_at_once",
        fewer_at_once,
        "A limit ends the thrashing, and the pace shows it. But more requests come than these places can serve, so the queue "
        "moves to the door.",
        _CASE,
    ),
    Wrong(
        "watermark_for_room",
        a_watermark,
        "A watermark keeps some blocks free for those who run, so fewer are sent back. It makes no room: who is not let in waits "
        "outside.",
        EACH_LEVER,
    ),
    Wrong(
        "the_other_bucket",
        four_bit_weights,
        "That shrinks the weights, which are the smaller of the two buckets here. What fills up is the other one.",
        EACH_LEVER,
    ),
    Wrong(
        "prompts_in_pieces",
        in_pieces,
        "Pieces of prompts help those who wait for somebody's long prompt. The prompts here are short.",
        EACH_LEVER,
    ),
    Wrong(
        "bought_out",
        a_faster_gpu,
        "A faster GPU is done with each answer before the pool is full, and costs more than an hour may.",
        _CASE,
    ),
    Wrong(
        "bought_twice",
        a_second_gpu,
        "A second GPU has room for all of them and reads twice as fast, and two cost more than an hour may.",
        _CASE,
    ),
    Wrong(
        "room_and_a_limit",
        room_and_a_limit,
        "The room is there now, and the limit on those who run at once keeps them out of it.",
        _CASE,
    ),
)


def _held(n: Numbers, a: Answers) -> float:
    return 2 * n["room"] // n["grown"]  # type: ignore[no-any-return]


_HELD = ValueKey(
    _held,
    EXACT,
    (
        Misconception(
            "as_before",
            lambda n, a: n["room"] // n["grown"],
            "That many it holds in FP16. In 8 bits a token takes fewer bytes.",
            EACH_LEVER,
        ),
        Misconception(
            "halved",
            lambda n, a: n["room"] // 2 // n["grown"],
            "Upside down: smaller tokens leave room for more of them.",
            EACH_LEVER,
        ),
        Misconception(
            "as_four_bits",
            lambda n, a: 4 * n["room"] // n["grown"],
            "That many it would hold in four bits.",
            EACH_LEVER,
        ),
        Misconception(
            "rounded_up",
            lambda n, a: -(-2 * n["room"] // n["grown"]),
            "That is rounded up, and the last of them does not fit whole.",
            EACH_LEVER,
        ),
    ),
)


def _sent_back(n: Numbers) -> str:
    return f"Here {serve(LONG_ANSWERS).preemptions:,} times a request had to give its blocks back."


_WALL = ChoiceKey(
    "capacity",
    {
        "arithmetic": Trap(
            "prefill_s_wall",
            "Arithmetic is what long prompts and very large batches wait for. Who lacks it is slow, and is not sent back.",
            THE_WALLS,
            _sent_back,
        ),
        "bandwidth": Trap(
            "decode_s_own_wall",
            "Every step of decode waits for it, and would do so with a tenth of the requests. Who lacks it is slow, and is not "
            "sent back.",
            THE_WALLS,
            _sent_back,
        ),
    },
)

_LEVER = lever_key(
    LONG_ANSWERS,
    "kv_int8",
    {
        "int4": (
            "the_other_bucket",
            "It takes from the smaller bucket, and what that leaves is filled as well.",
            {"weight_dtype": "int4"},
        ),
        "more": ("more_at_once", "More come in, and more are sent back.", {"max_num_seqs": 512}),
        "watermark": (
            "watermark_for_room",
            "Fewer are sent back, since fewer are let in; the others wait outside.",
            {"watermark": 0.1},
        ),
    },
)

_ARGUMENT = ChainKey(
    {"grow": (), "full": ("grow",), "half": (), "fit": ("full", "half")},
    named_traps(
        {
            "prompts": ("prompts_fill_it", "The prompts are the short part here. What grows is what is answered."),
            "smaller": (
                "cache_shrinks_with_weights",
                "How many bits the weights have says nothing of the cache, which has bits of its own.",
            ),
            "sooner": (
                "more_at_once",
                "The more run at once, the more a step has to read, and the later each is done.",
            ),
        },
        _CASE,
    ),
    _CASE,
)

LAB5A_2 = Key(
    lab_clinic_answers.LAB5A_2,
    {
        "held": _HELD,
        "levers": levers_key(LONG_ANSWERS, eight_bit_cache, eight_bit_cache_and_more, _WRONG),
        "wall": _WALL,
        "lever": _LEVER,
        "argument": _ARGUMENT,
    },
)
