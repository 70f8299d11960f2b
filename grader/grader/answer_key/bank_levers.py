"""Keys of the question bank of the levers of level 1."""

from __future__ import annotations

from llmserving.exercises import bank_levers as bank

from grader.answer_key.bank_kinds import SAME, Changed, claim

_LEVERS = "Three levers"

TF1 = claim(
    bank.TF1,
    "layout",
    "Count the dot products of one new token: one for every cached token, wherever its key lies.",
    {
        "skips_empty": (
            "padding_was_computed",
            "A slot without a token was never part of the dot products, reserved or not. What paging saves is memory.",
        ),
        "approximates": (
            "paging_approximates",
            "PagedAttention leaves nothing out: it gives the same result as attention over one contiguous cache.",
        ),
        "prefill_only": (
            "saves_prefill_flops",
            "The prompt's dot products are all computed too. Paging changes addresses, not arithmetic.",
        ),
    },
    _LEVERS,
    variants={"negated": Changed(true=True), "a_sixteenth": SAME},
)

TF4 = claim(
    bank.TF4,
    "orthogonal",
    "One is about time and one about space: who runs in the next step, and where the cache of a request lies.",
    {
        "both_fill": (
            "padding_is_memory",
            "Padding in a batch wastes time on the GPU; space that is reserved and never used wastes memory. Two "
            "costs, two cures.",
        ),
        "part_of": (
            "paging_needs_batching",
            "Each works without the other: blocks help a static batch, and a continuous batch can reserve contiguous space.",
        ),
        "phases": (
            "levers_by_phase",
            "Both act on whole requests: scheduling and allocation concern the prompt and the generated tokens alike.",
        ),
    },
    _LEVERS,
    variants={"negated": Changed(true=True), "one_needs_the_other": SAME},
)

KEYS_HERE = (TF1, TF4)
