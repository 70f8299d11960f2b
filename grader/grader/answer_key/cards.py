"""Keys of the quick self-check cards."""

from __future__ import annotations

from llmserving.exercises import cards

from grader.answer_key.bank_kinds import SAME, Changed, choice
from grader.answer_key.key import THREE_FIGURES, Key, Misconception, ValueKey

_PHASES = "Two phases"
_LEVERS = "Three levers"
_WEIGHTS = "Bytes a weight"

_STEP = "The step"
_NAMES = "Two names, two walls"


def _gaps(bits: int) -> int:
    return int(2**bits - 1)


_SC3 = ValueKey(
    lambda n, a: _gaps(n["many"]) / _gaps(n["few"]),
    THREE_FIGURES,
    (
        Misconception(
            "ratio_of_bits",
            lambda n, a: n["many"] / n["few"],
            "That is the ratio of the bits. Each bit less halves the number of values.",
            _STEP,
        ),
        Misconception(
            "ratio_of_levels",
            lambda n, a: 2 ** n["many"] / 2 ** n["few"],
            "That is the ratio of the numbers of values. Between so many values there is one gap fewer.",
            _STEP,
        ),
        Misconception(
            "ratio_inverted",
            lambda n, a: _gaps(n["few"]) / _gaps(n["many"]),
            "Upside down: with fewer bits the step is larger.",
            _STEP,
        ),
        Misconception(
            "gaps_subtracted",
            lambda n, a: _gaps(n["many"]) - _gaps(n["few"]),
            "That is how many gaps are lost. The question asks how many times larger each becomes: divide.",
            _STEP,
        ),
    ),
)

KEYS_HERE = (
    Key(cards.SC3, {"ratio": _SC3}),
    choice(
        cards.SC5,
        "w8a8",
        {
            "int4_weights": (
                "bytes_in_every_phase",
                "It saves bytes, which this phase does not wait for, and adds the work of expanding the weights.",
            ),
            "kv_int8": (
                "cache_for_arithmetic",
                "It saves memory and the reading of the cache. The products stay as many.",
            ),
            "paged": ("memory_for_time", "It saves memory, not arithmetic."),
        },
        _NAMES,
        variants={
            "decode": Changed(
                right="int4_weights",
                traps={
                    "kv_int8": (
                        "cache_for_weights",
                        "With a short context, the cache of one request is small beside the weights that each token reads.",
                    ),
                    "paged": ("memory_for_time", "It frees memory, and leaves each step as many bytes to read."),
                    "w8a8": (
                        "half_for_a_quarter",
                        "It halves the bytes of a weight. Another of the four leaves fewer.",
                    ),
                },
            )
        },
    ),
    choice(
        cards.SC1,
        "memory",
        {
            "arithmetic": (
                "decode_is_compute_bound",
                "With one token per request there is little to compute: each weight that is read serves a multiply-add or two.",
            ),
            "host_link": (
                "weights_over_pcie",
                "The weights stay in HBM, beside the GPU. They are read from there, not sent from the host.",
            ),
            "capacity": (
                "capacity_for_bandwidth",
                "Capacity limits how many requests fit. It does not set the pace of a pass.",
            ),
        },
        _PHASES,
        variants={
            "prefill": Changed(
                right="arithmetic",
                traps={
                    "memory": (
                        "prefill_is_memory_bound",
                        "The whole prompt goes through in one pass: weights are read once for it, not once for each token.",
                    ),
                    "capacity": (
                        "capacity_for_arithmetic",
                        "Capacity limits how many requests fit. It does not set the pace of a pass.",
                    ),
                },
            )
        },
    ),
    choice(
        cards.SC2,
        "size_minus_one",
        {
            "size": (
                "whole_block_empty",
                "No block is ever completely empty: it is taken when a token needs it, so it holds at least that token.",
            ),
            "every_block": (
                "waste_in_every_block",
                "A new block is taken only when the one before is full.",
            ),
            "reservation": (
                "waste_of_reservation",
                "That is the waste of reserving the maximum length. Blocks are taken as the request grows.",
            ),
        },
        _LEVERS,
        variants={"blocks_of_32": SAME, "blocks_of_8": SAME, "blocks_of_16": SAME},
    ),
    choice(
        cards.SC4,
        "weight_only",
        {
            "swapped": ("w_and_a_swapped", "The other way round: W stands for weights, A for activations."),
            "bytes": ("bytes_for_bits", "The numbers count bits. Four bytes would be FP32."),
            "both_small": (
                "a16_as_groups",
                "A16 says that activations keep 16 bits. The name says nothing about groups.",
            ),
        },
        _LEVERS,
        variants={
            "w8a16": Changed(
                traps={"bytes": ("bytes_for_bits", "The numbers count bits. Eight bytes would be double precision.")}
            )
        },
    ),
    choice(
        cards.SC6,
        "unchanged",
        {
            "quarter": (
                "kv_shrinks_with_weights",
                "The cache holds keys and values, which are activations. Its element size p is set apart from the "
                "weights' bits.",
            ),
            "half": (
                "keys_shrink_with_weights",
                "Keys and values are both computed with weights, and both are stored in the cache's own format.",
            ),
            "grows": (
                "scales_in_cache",
                "The scales of the groups belong to the weights and lie beside them, not in the cache.",
            ),
        },
        _WEIGHTS,
        variants={"int8": SAME},
    ),
)
