"""Levers of LAB5A.2 as learners move them, as functions for the answer cell: right in two ways, and wrong."""

from __future__ import annotations

from grader.answer_key.lab_clinic_kinds import EACH_LEVER
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


WRONG = (
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
        "A watermark keeps some blocks free for those who run, so fewer are sent back. It makes no room: the others wait "
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
        "Cutting prompts into pieces helps those who wait behind a long one. The prompts here are short.",
        EACH_LEVER,
    ),
    Wrong(
        "bought_out",
        a_faster_gpu,
        "A faster GPU is done with each answer before the pool is full, but costs more an hour than the budget allows.",
        _CASE,
    ),
    Wrong(
        "bought_twice",
        a_second_gpu,
        "A second GPU has room for all of them and reads twice as fast, but two cost more an hour than the budget allows.",
        _CASE,
    ),
    Wrong(
        "room_and_a_limit",
        room_and_a_limit,
        "The room is there now, and the limit on those who run at once keeps them out of it.",
        _CASE,
    ),
)
