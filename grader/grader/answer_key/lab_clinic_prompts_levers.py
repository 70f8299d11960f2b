"""Levers of LAB5A.1 as learners move them, as functions for the answer cell: right in two ways, and wrong."""

from __future__ import annotations

from grader.answer_key.lab_clinic_kinds import EACH_LEVER, THE_WALLS
from grader.answer_key.lab_keys import Wrong

_CASE = "Long prompts among chats"


def pieces_between() -> dict[str, object]:
    return {"policy": "chunked", "token_budget": 512}


def shorter_pieces_fewer_bits() -> dict[str, object]:
    settings: dict[str, object] = {"policy": "chunked"}
    settings["token_budget"] = 256 + 128
    settings["weight_dtype"] = "int4"
    return settings


def four_bit_weights() -> dict[str, object]:
    return {"weight_dtype": "int4"}


def more_bandwidth() -> dict[str, object]:
    return {"gpu": "a100-80gb"}


def more_of_everything() -> dict[str, object]:
    return {"gpu": "h100-80gb"}


def more_at_once() -> dict[str, object]:
    return {"max_num_seqs": 512}


def fewer_at_once() -> dict[str, object]:
    return {"max_num_seqs": 8}


def long_pieces() -> dict[str, object]:
    return {"policy": "chunked"}


def short_pieces() -> dict[str, object]:
    return {"policy": "chunked", "token_budget": 256}


def static_batches() -> dict[str, object]:
    return {"policy": "static"}


WRONG = (
    Wrong(
        "fewer_bytes_for_arithmetic",
        four_bit_weights,
        "Weights of fewer bits are read sooner, which speeds the steps between two documents. The step with a document in it "
        "waits for arithmetic, and takes as long as before.",
        THE_WALLS,
    ),
    Wrong(
        "bandwidth_for_arithmetic",
        more_bandwidth,
        "That GPU has more memory and bandwidth, and computes fewer operations a second than the one you have. Look up what the "
        "stall waits for before you buy.",
        THE_WALLS,
    ),
    Wrong(
        "bought_out",
        more_of_everything,
        "A GPU that computes fast enough cures it, but costs more an hour than the budget allows. The stall is a matter of "
        "order, and order is free.",
        _CASE,
    ),
    Wrong(
        "more_at_once",
        more_at_once,
        "There was room for everybody already, and nobody was kept waiting for a place. More places change nothing.",
        THE_WALLS,
    ),
    Wrong(
        "fewer_at_once",
        fewer_at_once,
        "With fewer at once there are fewer to be stalled, but all the others wait for their first token.",
        EACH_LEVER,
    ),
    Wrong(
        "pieces_too_long",
        long_pieces,
        "The document comes in pieces now, but each is still long: a step with one in it takes longer than a token may.",
        _CASE,
    ),
    Wrong(
        "pieces_too_short",
        short_pieces,
        "The pieces are so short that a step reads all weights for few tokens. The document takes far longer, and so does the "
        "queue behind it.",
        _CASE,
    ),
    Wrong(
        "static_batches",
        static_batches,
        "In a static batch nobody is let in until its longest answer is done, so whoever comes in the meantime waits.",
        EACH_LEVER,
    ),
)
