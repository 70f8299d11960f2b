"""Keys of the question bank of recipes."""

from __future__ import annotations

from llmserving.exercises import bank_recipes as bank

from grader.answer_key.bank_kinds import SAME, Changed, argument, choice, claim

_NAMES = "Two names, two walls"
_METHODS = "Three ways to choose the codes"

TF2 = claim(
    bank.TF2,
    "waits_for_arithmetic",
    "Look at the prefill rows of the table, and at which of the recipes are shorter there.",
    {
        "bytes_everywhere": (
            "bytes_in_every_phase",
            "Fewer bytes help where bytes are waited for. A long prompt keeps the arithmetic busy.",
        ),
        "four_bit_math": (
            "int4_arithmetic",
            "The A16 says otherwise: the products are computed in sixteen bits, as before.",
        ),
        "activations_too": (
            "activations_quantized",
            "The A stands for activations, and the 16 for the bits that they keep.",
        ),
    },
    _NAMES,
    variants={
        "negated": Changed(true=True),
        "w8a16": Changed(
            why_not="Ask what a long prompt waits for, and whether W8A16 leaves it less of that.",
            traps={
                "four_bit_math": (
                    "int8_arithmetic",
                    "The A16 says otherwise: the products are computed in sixteen bits, as before.",
                )
            },
        ),
    },
)

TF8 = claim(
    bank.TF8,
    "codes_and_scales",
    "Ask what a matmul reads from HBM: the codes, the scales, and nothing else.",
    {
        "copy_for_prefill": (
            "two_copies",
            "Both phases read the same codes. What is expanded for a product is dropped again.",
        ),
        "for_the_scales": (
            "scales_each_step",
            "The scales are worked out once, when the model is quantized, and stored.",
        ),
        "no_16_bits": (
            "int4_arithmetic",
            "Sixteen-bit values are made of the codes for each product. They are just not kept.",
        ),
    },
    _NAMES,
    true=True,
    variants={"negated": Changed(true=False), "room_for_both": Changed(true=False)},
)

SE4 = choice(
    bank.SE4,
    "activations_as_well",
    {
        "activations_only": ("weights_forgotten", "The W stands for weights, and it comes with a number of its own."),
        "cache_as_well": (
            "cache_for_activations",
            "The A stands for activations. The KV cache has a format of its own.",
        ),
        "eight_groups": ("bits_for_groups", "The numbers count bits. How large a group is, the name does not say."),
    },
    _NAMES,
    variants={"fp16_matmul": SAME, "w4a4": SAME},
)

SE3 = choice(
    bank.SE3,
    "that_is_gptq",
    {
        "gradient": ("training_needed", "None of these methods trains. They look at a little text and choose codes."),
        "of_the_weights": (
            "hessian_of_weights",
            "The Hessian in question is that of the inputs. The error is in whose method this is.",
        ),
        "smooths": (
            "smoothquant_for_awq",
            "SmoothQuant does move outliers into the weights, but neither of the two uses a Hessian.",
        ),
    },
    _METHODS,
    variants={"makes_up_for": SAME},
)

WH2 = argument(
    bank.WH2,
    {
        "waits_for_weights": (),
        "quarter": (),
        "cheap_to_expand": ("quarter",),
        "shorter": ("waits_for_weights", "cheap_to_expand"),
    },
    {
        "four_bit_units": ("int4_arithmetic", "W4A16 multiplies in sixteen bits. Nothing is computed in four."),
        "smaller_cache": (
            "cache_shrinks_with_weights",
            "Keys and values are not weights: the cache stays as large as it was.",
        ),
        "stays_expanded": (
            "expanded_once",
            "Then each step would read sixteen bits a weight, and nothing would be saved. Codes are expanded at each product.",
        ),
    },
    _NAMES,
)

ST1 = argument(
    bank.ST1,
    {
        "reads_less": (),
        "wins_decode": ("reads_less",),
        "and_expands": ("reads_less",),
        "loses_prefill": ("wins_decode", "and_expands"),
    },
    {
        "bytes_in_prefill": (
            "walls_swapped",
            "A long prompt makes good use of each weight read: bytes are not waited for.",
        ),
        "compute_in_decode": (
            "walls_swapped_in_decode",
            "A decode step computes little with each weight that it reads.",
        ),
        "fewer_bits_computed": (
            "int4_arithmetic",
            "The products are computed in sixteen bits, after the weights are expanded.",
        ),
    },
    _NAMES,
)

KEYS_HERE = (TF2, TF8, SE4, SE3, WH2, ST1)
