"""The question bank of recipes: what W4A16 and W8A8 shorten, and what GPTQ and AWQ look at."""

from __future__ import annotations

from llmserving.exercises.bank_kinds import argument, find_the_error, true_or_false
from llmserving.exercises.draws import variant
from llmserving.exercises.exercise import Option

_NOTEBOOK = "L3/recipes"

TF2 = true_or_false(
    "TF2",
    _NOTEBOOK,
    "W4A16 always speeds prefill up.",
    (
        Option("activations_too", "it quantizes the activations as well, and those dominate prefill"),
        Option("bytes_everywhere", "{share} of the bytes to read shortens a pass in either phase"),
        Option("four_bit_math", "its products are computed in {bits} bits, at {rate} the rate"),
        Option("waits_for_arithmetic", "prefill waits for arithmetic, and expanding the weights adds some"),
    ),
    "In which number format does {name} multiply?",
    "L3.names",
    importance=5,
    words={"name": "W4A16", "share": "a quarter", "bits": "four", "rate": "four times"},
    variants=(
        variant(
            "negated",
            "W4A16 can leave a long prefill as slow as it was, or make it slower.",
        ),
        variant(
            "w8a16",
            "W8A16 always speeds prefill up.",
            name="W8A16",
            share="half",
            bits="eight",
            rate="twice",
        ),
    ),
)

TF8 = true_or_false(
    "TF8",
    _NOTEBOOK,
    "A server with quantized weights need not keep an FP16 copy of them.",
    (
        Option("codes_and_scales", "16-bit values are made of codes and scales, afresh for each matmul"),
        Option("copy_for_prefill", "prefill multiplies with the FP16 copy, and decode with the codes"),
        Option("for_the_scales", "the scales are worked out from the FP16 weights at each step"),
        Option("no_16_bits", "nothing is ever computed in 16 bits again, prefill or decode"),
    ),
    "What does a matmul read, and what does it make of it on the way?",
    "L3.names",
    importance=4,
    variants=(
        variant("negated", "A server with quantized weights has to keep an FP16 copy of them as well."),
        variant("room_for_both", "To serve 70 billion weights in INT4, there has to be room for them in FP16 too."),
    ),
)

SE4 = find_the_error(
    "SE4",
    _NOTEBOOK,
    "W8A8 quantizes the weights only.",
    (
        Option("activations_as_well", "the activations are quantized as well, for a matmul in INT{bits}"),
        Option("activations_only", "it quantizes the activations only, and the weights stay in 16 bits"),
        Option("cache_as_well", "it quantizes weights and KV cache, and leaves the activations"),
        Option("eight_groups", "the two {number}s count the groups of a row, and not the bits"),
    ),
    "Read the name letter by letter.",
    "L3.names",
    importance=4,
    words={"bits": 8, "number": "eight"},
    variants=(
        variant(
            "fp16_matmul", "W8A8 leaves the activations in 16 bits and multiplies in FP16.", bits=8, number="eight"
        ),
        variant("w4a4", "W4A4 quantizes the weights only.", bits=4, number="four"),
    ),
)

SE3 = find_the_error(
    "SE3",
    _NOTEBOOK,
    "AWQ minimises the error of a layer's outputs with the Hessian of its inputs.",
    (
        Option("gradient", "it needs no Hessian, but a gradient: it trains the weights again"),
        Option("of_the_weights", "it is the Hessian of the weights that it needs, not of the inputs"),
        Option("smooths", "that is SmoothQuant; AWQ moves activations' outliers into the weights"),
        Option("that_is_gptq", "that is GPTQ; AWQ goes by how large each of the input channels is"),
    ),
    "Hold the sentence against the table above, one column after the other, for each of the three methods.",
    None,
    importance=3,
    variants=(
        variant(
            "makes_up_for",
            "AWQ uses the Hessian of a layer's inputs, so that the other weights make up for the rounding of one.",
        ),
    ),
)

WH2 = argument(
    "WH2",
    "Why does INT4 speed decode up, though the matmul is in FP16?",
    _NOTEBOOK,
    4,
    (
        Option(
            "cheap_to_expand", "Expanding the codes to FP16 on the way is cheap beside the time for the bytes saved."
        ),
        Option("four_bit_units", "The arithmetic runs on four-bit units, which are four times as fast."),
        Option("quarter", "INT4 weights are a quarter of the bytes to read."),
        Option("shorter", "So a decode step is shorter, although it computes what it computed before."),
        Option("smaller_cache", "INT4 weights leave a smaller KV cache, and that is what a step reads most."),
        Option("stays_expanded", "Weights are expanded once, at the start, and read in FP16 from then on."),
        Option("waits_for_weights", "A decode step waits for its bytes, at a small batch nearly all of them weights."),
    ),
    (
        "Begin with what a decode step waits for.",
        "Then what becomes of those bytes, what it costs to undo, and what is left of the step.",
    ),
    group="L3.why",
    importance=4,
)

ST1 = argument(
    "ST1",
    "In one sentence",
    _NOTEBOOK,
    4,
    (
        Option("and_expands", "but expands them before every product, which is arithmetic on top,"),
        Option("bytes_in_prefill", "and loses in prefill, which waits for bytes."),
        Option("compute_in_decode", "so it wins in decode, which waits for arithmetic,"),
        Option("fewer_bits_computed", "but multiplies in fewer bits, which is less exact and faster,"),
        Option("loses_prefill", "and can lose in prefill, which waits for arithmetic."),
        Option("reads_less", "Weight-only quantization reads fewer bytes for each weight"),
        Option("wins_decode", "so it wins in decode, which waits for bytes,"),
    ),
    (
        "The sentence has two halves: what is saved and what is added, then who feels the one and who the other.",
        "Two of the links name the wrong wall for their phase.",
    ),
    question="Why does weight-only quantization win in decode, and why can it lose in prefill?",
    group="L3.why",
    importance=5,
)

EXERCISES_HERE = (TF2, TF8, SE4, SE3, WH2, ST1)
