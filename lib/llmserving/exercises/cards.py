"""Quick self-check cards: one question, one letter."""

from __future__ import annotations

from llmserving.exercises.bank_kinds import Words, in_variants
from llmserving.exercises.draws import Draw, Numbers, variant
from llmserving.exercises.exercise import Exercise, Option, Part


def _card(
    id: str,
    title: str,
    notebook: str,
    question: str,
    options: tuple[Option, ...],
    hint: str,
    group: str | None,
    *,
    importance: int,
    words: Words | None = None,
    variants: tuple[Numbers, ...],
) -> Exercise:
    return Exercise(
        id,
        title,
        notebook,
        "{text}",
        (Part("answer", id, "choice", "the letter of the answer", (hint,), options=options),),
        in_variants(id, question, words, variants),
        difficulty=1,
        minutes=1,
        importance=importance,
        group=group,
    )


SC1 = _card(
    "SC1",
    "The bottleneck",
    "L1/two_phases",
    "What is the bottleneck of decode at a small batch?",
    (
        Option("arithmetic", "arithmetic: {arithmetic}"),
        Option("capacity", "memory capacity: {phase} has to stop whenever HBM is full"),
        Option("host_link", "the link to the host: weights travel over PCIe for every token"),
        Option("memory", "memory bandwidth: all weights and the whole KV cache are read for every token"),
    ),
    "Ask what has to move in one pass, and how much is computed with it.",
    group=None,
    importance=5,
    words={"phase": "decode", "arithmetic": "every token needs more multiply-adds than the GPU can do in time"},
    variants=(
        variant(
            "prefill",
            "What is the bottleneck of prefill, with a prompt of thousands of tokens?",
            phase="prefill",
            arithmetic="each weight that is read has all the tokens of the prompt to serve",
        ),
    ),
)


def _blocks_of(size: int) -> Numbers:
    question = f"With blocks of {size} tokens, how many token slots can one request waste at worst?"
    return variant(f"blocks_of_{size}", question, size=f"{size} slots", less_one=f"{size - 1} slots")


SC2 = _card(
    "SC2",
    "Waste with blocks",
    "L1/three_levers",
    "With blocks of `block_size` tokens, how many token slots can one request waste at worst?",
    (
        Option("every_block", "{less_one} in each of its blocks"),
        Option("reservation", "the maximum length less the tokens used"),
        Option("size", "{size}, since a whole block can stand empty"),
        Option("size_minus_one", "{less_one}, in its last block only"),
    ),
    "A block is taken only when a token needs it. How empty can it then be?",
    group="L1.levers",
    importance=4,
    words={"size": "`block_size`", "less_one": "`block_size` - 1"},
    variants=tuple(_blocks_of(size) for size in (32, 8, 16)),
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
    importance=4,
    group="L3.step",
)

SC4 = _card(
    "SC4",
    "The name of a recipe",
    "L1/three_levers",
    "What does the name W4A16 say?",
    (
        Option("both_small", "{bits}-bit weights, and activations quantized in groups of 16"),
        Option("bytes", "{bits}-byte weights, and activations of 16 bytes each"),
        Option("swapped", "{bits}-bit activations, and weights that keep 16 bits"),
        Option("weight_only", "{bits}-bit weights, and activations that keep 16 bits"),
    ),
    "W stands for weights, A for activations; the number behind each counts bits.",
    group="L1.levers",
    importance=4,
    words={"bits": 4},
    variants=(variant("w8a16", "What does the name W8A16 say?", bits=8),),
)

SC5 = _card(
    "SC5",
    "The lever for a phase",
    "L3/recipes",
    "Prefill of a large batch is compute-bound. Which lever shortens it?",
    (
        Option("int4_weights", "weight-only INT4: a quarter of the bytes to read"),
        Option("kv_int8", "an INT8 KV cache: half the bytes a token leaves"),
        Option("paged", "PagedAttention: no memory reserved in vain"),
        Option("w8a8", "W8A8: weights and activations, both in INT8"),
    ),
    "What does this phase wait for, and which of the four leaves it less of that?",
    group="L3.names",
    importance=5,
    variants=(
        variant("decode", "Decode of one request with a short context is memory-bound. Which lever shortens it most?"),
    ),
)

SC6 = _card(
    "SC6",
    "Fewer bits a weight, and the KV cache",
    "L2/weights",
    "Weights go from FP16 to INT4, nothing else changes. What happens to the KV cache?",
    (
        Option("grows", "it grows, since the scales of the groups are cached"),
        Option("half", "it shrinks to {keys_only}: keys are computed from weights, values are not"),
        Option("quarter", "it shrinks to {share}, like the weights"),
        Option("unchanged", "nothing: keys and values are stored in their own format"),
    ),
    "Look for the bits of the weights among the six factors.",
    group=None,
    importance=5,
    words={"share": "a quarter", "keys_only": "a half"},
    variants=(
        variant(
            "int8",
            "Weights go from FP16 to INT8, nothing else changes. What happens to the KV cache?",
            share="a half",
            keys_only="three quarters",
        ),
    ),
)

EXERCISES_HERE = (SC1, SC2, SC3, SC4, SC5, SC6)
