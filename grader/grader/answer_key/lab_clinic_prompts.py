"""Key of LAB5A.1: chats that stall behind long prompts."""

from __future__ import annotations

from llmserving.clinic import LONG_PROMPTS
from llmserving.exercises import lab_clinic_prompts
from llmserving.exercises.draws import Numbers
from llmserving.units import format_seconds

from grader.answer_key import lab_clinic_prompts_levers as made
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
from grader.answer_key.time_units import ms_for_seconds

_CASE = "Long prompts among chats"


def _stall_s(n: Numbers, a: Answers) -> float:
    return 2 * n["billions"] * 1e9 * n["document"] / (n["tflops"] * 1e12)  # type: ignore[no-any-return]


def _read_s(n: Numbers) -> float:
    """Seconds to read the FP16 weights once."""
    return 2 * n["billions"] * 1e9 / (n["bandwidth_tb"] * 1e12)  # type: ignore[no-any-return]


_STALL = ValueKey(
    _stall_s,
    THREE_FIGURES,
    (
        Misconception(
            "one_flop_a_weight",
            times(_stall_s, 1 / 2),
            "Half of it: each weight does two operations with each token, a multiplication and an addition.",
            THE_WALLS,
        ),
        Misconception(
            "reading_for_products",
            lambda n, a: _read_s(n),
            "That is the time to read the weights once. The question is how long the products with all the tokens take.",
            THE_WALLS,
        ),
        Misconception(
            "read_for_each_token",
            lambda n, a: _read_s(n) * n["document"],
            "That reads the weights again for each token. In a prompt they are read once for all.",
            THE_WALLS,
        ),
        ms_for_seconds(_stall_s, THE_WALLS),
    ),
)

_WALL = ChoiceKey(
    "arithmetic",
    {
        "bandwidth": Trap(
            "decode_s_own_wall",
            "That is what a chat waits for while no document is read.",
            THE_WALLS,
            lambda n: f"To read the weights once takes {format_seconds(_read_s(n))} here, and a stall is far longer.",
        ),
        "capacity": Trap(
            "full_without_a_sign",
            "A full memory shows: requests are preempted or wait for room. Nobody is preempted here.",
            THE_WALLS,
        ),
    },
)

_LEVER = lever_key(
    LONG_PROMPTS,
    "chunked",
    {
        "a100": (
            "bandwidth_for_arithmetic",
            "It reads faster and computes no faster, and the stall is arithmetic.",
            {"gpu": "a100-80gb"},
        ),
        "int4": (
            "fewer_bytes_for_arithmetic",
            "There is less to read at every step, and as much to compute in the step that stalls.",
            {"weight_dtype": "int4"},
        ),
        "more": ("more_at_once", "Nobody was waiting for a place.", {"max_num_seqs": 512}),
    },
)

_ARGUMENT = ChainKey(
    {"whole": (), "waits": ("whole",), "pieces": ("whole",), "bounded": ("waits", "pieces")},
    named_traps(
        {
            "less_work": (
                "pieces_are_less_work",
                "The products are as many, whether a document is computed whole or in pieces.",
            ),
            "room": ("pieces_make_room", "The keys and values of a document take as much of the cache either way."),
            "weights": ("read_for_each_token", "One read of the weights serves all tokens of a prompt."),
        },
        _CASE,
    ),
    _CASE,
)

LAB5A_1 = Key(
    lab_clinic_prompts.LAB5A_1,
    {
        "stall_s": _STALL,
        "levers": levers_key(LONG_PROMPTS, made.pieces_between, made.shorter_pieces_fewer_bits, made.WRONG),
        "wall": _WALL,
        "lever": _LEVER,
        "argument": _ARGUMENT,
    },
)
