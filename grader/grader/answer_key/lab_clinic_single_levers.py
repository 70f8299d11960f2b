"""Levers of LAB5A.3 as learners move them, as functions for the answer cell: right in two ways, and wrong."""

from __future__ import annotations

from grader.answer_key.lab_clinic_kinds import EACH_LEVER, THE_WALLS
from grader.answer_key.lab_keys import Wrong


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


WRONG = (
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
        "Hardly anybody else decodes while a prompt is read here, so pieces would spare nobody a wait.",
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
        "Four GPUs read a quarter of the weights each, which is fast enough, but cost more an hour than the budget allows.",
        EACH_LEVER,
    ),
    Wrong(
        "bandwidth_bought",
        more_bandwidth,
        "The right wall: it reads faster, and by itself not fast enough.",
        EACH_LEVER,
    ),
)
