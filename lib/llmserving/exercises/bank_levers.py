"""The question bank of the levers of level 1: what PagedAttention and continuous batching do, and what not."""

from __future__ import annotations

from llmserving.exercises.bank_kinds import true_or_false
from llmserving.exercises.draws import variant
from llmserving.exercises.exercise import Option

_NOTEBOOK = "L1/three_levers"

TF1 = true_or_false(
    "TF1",
    _NOTEBOOK,
    "PagedAttention cuts the FLOPs of attention.",
    (
        Option("approximates", "attention over blocks leaves out the tokens that matter least"),
        Option("layout", "it changes where keys and values lie; the dot products and the softmax are the same"),
        Option("prefill_only", "it saves dot products, though only those of the prompt"),
        Option(
            "skips_empty", "slots reserved for a request and never used are skipped, which saves their dot products"
        ),
    ),
    "Does any query meet fewer keys because the keys lie elsewhere?",
    group="L1.levers",
    importance=4,
    variants=(
        variant("negated", "PagedAttention leaves the FLOPs of attention as they are."),
        variant("a_sixteenth", "With blocks of 16 tokens, attention needs only a sixteenth of the dot products."),
    ),
)

TF4 = true_or_false(
    "TF4",
    _NOTEBOOK,
    "Continuous batching and PagedAttention are two names for one mechanism.",
    (
        Option("both_fill", "both fill the memory that padding in a batch would waste"),
        Option("orthogonal", "one picks who runs in a step, the other where their KV lies"),
        Option("part_of", "PagedAttention is the part of continuous batching that works on the KV cache"),
        Option("phases", "one works in prefill and the other in decode, side by side"),
    ),
    "What would each of them do in an engine that lacks the other?",
    group="L1.levers",
    importance=4,
    variants=(
        variant("negated", "Continuous batching and PagedAttention are two mechanisms, each of use without the other."),
        variant("one_needs_the_other", "An engine without PagedAttention cannot batch continuously."),
    ),
)

EXERCISES_HERE = (TF1, TF4)
