"""Keys of the question bank of limits."""

from __future__ import annotations

from llmserving.exercises import bank_limits as bank

from grader.answer_key.bank_kinds import SAME, Changed, argument, claim

_WALLS = "Two walls"
_THROUGHPUT = "Room becomes throughput"
_MORE_GPUS = "More GPUs"

TF9 = claim(
    bank.TF9,
    "ceiling",
    "Follow the curve to the right: see where tokens a second go flat, and what the time per token does there.",
    {
        "always_shared": (
            "requests_are_free",
            "The reading of the weights is shared. Each request's own cache is read as well, and its products are computed.",
        ),
        "falls_at_once": (
            "batching_costs_from_the_start",
            "A step does get a little longer with each request, but it gives one more token. At a small batch that pays well.",
        ),
        "padding": (
            "padding_is_the_limit",
            "Padding is what static batching wastes. A continuous batch has none, and meets a limit all the same.",
        ),
    },
    _WALLS,
    variants={"negated": Changed(true=True), "doubled": SAME},
)

WH5 = argument(
    bank.WH5,
    {
        "little_waste": (),
        "larger_batch": ("little_waste",),
        "shared_read": ("larger_batch",),
        "same_path": (),
    },
    {
        "faster_reads": (
            "paging_reads_faster",
            "Blocks are looked up in a table, which costs the attention kernel a little. It makes no step shorter.",
        ),
        "fewer_products": (
            "paging_computes_less",
            "Every cached token is attended to, whichever block it lies in. Paging changes addresses only.",
        ),
        "smaller_tokens": (
            "paging_compresses",
            "A slot holds the same keys and values, in a block or outside. Fewer bytes a token is quantization.",
        ),
    },
    _THROUGHPUT,
)

WH6 = argument(
    bank.WH6,
    {
        "splits_both": (),
        "streams_share": ("splits_both",),
        "ratio_stays": ("streams_share",),
        "adds_messages": ("splits_both",),
    },
    {
        "fetches_weights": (
            "weights_over_the_link",
            "Weights stay where they were put. What travels between GPUs are partial results, a vector for each token.",
        ),
        "more_arithmetic": (
            "arithmetic_grows",
            "The products of a step are as many as before, shared out among the GPUs.",
        ),
        "whole_copies": (
            "data_parallelism",
            "That is data parallelism: whole copies side by side. Here every GPU works on every request.",
        ),
    },
    _MORE_GPUS,
)

KEYS_HERE = (TF9, WH5, WH6)
