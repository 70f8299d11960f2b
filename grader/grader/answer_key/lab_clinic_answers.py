"""Key of LAB5A.2: long answers that fill the cache and send each other back."""

from __future__ import annotations

from llmserving.clinic import LONG_ANSWERS, serve
from llmserving.exercises import lab_clinic_answers
from llmserving.exercises.draws import Numbers

from grader.answer_key import lab_clinic_answers_levers as made
from grader.answer_key.bank_kinds import named_traps
from grader.answer_key.key import EXACT, Answers, ChainKey, ChoiceKey, Key, Misconception, Trap, ValueKey
from grader.answer_key.lab_clinic_kinds import EACH_LEVER, THE_WALLS, lever_key, levers_key

_CASE = "Long answers"


def _held(n: Numbers, a: Answers) -> float:
    return 2 * n["room"] // n["grown"]  # type: ignore[no-any-return]


_HELD = ValueKey(
    _held,
    EXACT,
    (
        Misconception(
            "as_before",
            lambda n, a: n["room"] // n["grown"],
            "That is how many it holds in FP16. In 8 bits a token takes fewer bytes.",
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
            "That is how many it would hold in four bits.",
            EACH_LEVER,
        ),
        Misconception(
            "rounded_up",
            lambda n, a: -(-2 * n["room"] // n["grown"]),
            "That is rounded up, and the last of them does not fit whole.",
            EACH_LEVER,
        ),
        Misconception(
            "not_rounded",
            lambda n, a: 2 * n["room"] / n["grown"],
            "That is the quotient. A part of a request cannot be held: only whole ones count.",
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
            "Arithmetic is what long prompts and very large batches wait for. A server short of it is slow, but sends nobody "
            "back.",
            THE_WALLS,
            _sent_back,
        ),
        "bandwidth": Trap(
            "decode_s_own_wall",
            "Every step of decode waits for it, and would do so with a tenth of the requests. A server short of it is slow, but "
            "sends nobody back.",
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
            "It takes from the smaller bucket, and the room it makes fills up as well.",
            {"weight_dtype": "int4"},
        ),
        "more": ("more_at_once", "More come in, and more are sent back.", {"max_num_seqs": 512}),
        "watermark": (
            "watermark_for_room",
            "Fewer are sent back, because fewer are let in; the others wait outside.",
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
                "How many bits the weights have says nothing about the cache, which has a format of its own.",
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
        "levers": levers_key(LONG_ANSWERS, made.eight_bit_cache, made.eight_bit_cache_and_more, made.WRONG),
        "wall": _WALL,
        "lever": _LEVER,
        "argument": _ARGUMENT,
    },
)
