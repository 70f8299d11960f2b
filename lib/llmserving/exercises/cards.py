"""Quick self-check cards: one question, one letter."""

from __future__ import annotations

from llmserving.exercises.draws import Draw, Numbers
from llmserving.exercises.exercise import Exercise, Option, Part


def _card(
    id: str, title: str, notebook: str, question: str, options: tuple[Option, ...], hint: str, group: str | None
) -> Exercise:
    part = Part("answer", id, "choice", "the letter of the answer", (hint,), options=options)
    return Exercise(id, title, notebook, question, (part,), Draw(id), difficulty=1, minutes=1, group=group)


SC1 = _card(
    "SC1",
    "What holds decode back?",
    "L1/two_phases",
    "What is the bottleneck of decode at a small batch?",
    (
        Option("arithmetic", "arithmetic: every token needs more multiply-adds than the GPU can do in time"),
        Option("capacity", "memory capacity: decode has to stop whenever HBM is full"),
        Option("host_link", "the link to the host: weights travel over PCIe for every token"),
        Option("memory", "memory bandwidth: all weights and the whole KV cache are read for every token"),
    ),
    "Ask what has to move for one token, and how much is computed with it.",
    group=None,
)

SC2 = _card(
    "SC2",
    "Waste with blocks",
    "L1/three_levers",
    "With blocks of `block_size` tokens, how many token slots can one request waste at worst?",
    (
        Option("every_block", "`block_size` - 1 in each of its blocks"),
        Option("reservation", "the maximum length less the tokens used"),
        Option("size", "`block_size`, since a whole block can stand empty"),
        Option("size_minus_one", "`block_size` - 1, in its last block only"),
    ),
    "A block is taken only when a token needs it. How empty can it then be?",
    group="L1.levers",
)

_BITS = ((4, 6), (3, 6), (4, 7), (5, 8), (3, 8), (2, 6), (4, 8))


def _two_formats(few: int, many: int) -> Numbers:
    return {"few": few, "many": many}


SC3 = Exercise(
    "SC3",
    "A coarser step",
    "L3/quantization",
    "The same range, once in INT{many} and once in INT{few}.",
    (
        Part(
            "ratio",
            "SC3",
            "value",
            "how many times larger the step of INT{few} is",
            ("The range cancels. What is left are the gaps that each has.",),
            quantity="ratio",
        ),
    ),
    Draw("SC3", _two_formats(4, 8), lambda rng: _two_formats(*rng.choice(_BITS))),
    difficulty=1,
    minutes=1,
    group="L3.step",
)

SC4 = _card(
    "SC4",
    "W4A16",
    "L1/three_levers",
    "What does the name W4A16 say?",
    (
        Option("both_small", "4-bit weights, and activations quantized in groups of 16"),
        Option("bytes", "4-byte weights, and activations of 16 bytes each"),
        Option("swapped", "4-bit activations, and weights that keep 16 bits"),
        Option("weight_only", "4-bit weights, and activations that keep 16 bits"),
    ),
    "W stands for weights, A for activations; the number behind each counts bits.",
    group="L1.levers",
)

SC5 = _card(
    "SC5",
    "A lever for large-batch prefill",
    "L3/recipes",
    "Prefill of a large batch is compute-bound. Which lever shortens it?",
    (
        Option("int4_weights", "weight-only INT4: a quarter of the bytes to read"),
        Option("kv_int8", "an INT8 KV cache: half the bytes a token leaves"),
        Option("paged", "PagedAttention: no memory reserved in vain"),
        Option("w8a8", "W8A8: weights and activations, both in INT8"),
    ),
    "Three of the four save bytes or memory. What does this phase wait for?",
    group="L3.names",
)

SC6 = _card(
    "SC6",
    "Weights in INT4, and the KV cache",
    "L2/weights",
    "Weights go from FP16 to INT4, nothing else changes. What happens to the KV cache?",
    (
        Option("grows", "it grows, since the scales of the groups are cached"),
        Option("half", "it shrinks to a half: keys are computed from weights, values are not"),
        Option("quarter", "it shrinks to a quarter, like the weights"),
        Option("unchanged", "nothing: keys and values are stored in their own format"),
    ),
    "Look for the bits of the weights among the six factors.",
    group=None,
)

EXERCISES_HERE = (SC1, SC2, SC3, SC4, SC5, SC6)
