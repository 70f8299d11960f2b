"""The question bank of limits: what a larger batch buys, what paging does not, and what more GPUs leave as it was."""

from __future__ import annotations

from llmserving.exercises.bank_kinds import argument, true_or_false
from llmserving.exercises.draws import variant
from llmserving.exercises.exercise import Option

_NOTEBOOK = "L4/limits"

TF9 = true_or_false(
    "TF9",
    _NOTEBOOK,
    "As long as there is HBM to spare, a larger batch always gives more tokens a second.",
    (
        Option("always_shared", "one read of the weights serves them all, so each request adds its tokens for free"),
        Option("ceiling", "past the ceiling of bandwidth or arithmetic, more requests just wait longer"),
        Option("falls_at_once", "every request lengthens the step for all, so tokens a second fall from the start"),
        Option("padding", "a batch is padded to its longest request, and that eats what it gains"),
    ),
    "One read of the weights serves everybody. What else does each request add to a decode step?",
    "L4.ceiling",
    importance=4,
    variants=(
        variant("negated", "With HBM to spare, a larger batch can leave the tokens a second where they were."),
        variant("doubled", "As long as there is HBM to spare, doubling the batch doubles the tokens a second."),
    ),
)

WH5 = argument(
    "WH5",
    "Why 24 times the throughput, and no request faster?",
    _NOTEBOOK,
    4,
    (
        Option("faster_reads", "Blocks are read faster than one long stretch of memory, so each step is shorter."),
        Option("fewer_products", "Attention over blocks computes fewer products for each token that it gives."),
        Option("larger_batch", "So the same HBM holds the caches of many more requests at once."),
        Option("little_waste", "In blocks, hardly any memory of the KV cache is reserved in vain."),
        Option("same_path", "A request by itself takes the same steps, with the same reads and the same products."),
        Option("shared_read", "So one read of the weights gives a token to many more requests."),
        Option("smaller_tokens", "A token's keys and values take fewer bytes in a block than outside of one."),
    ),
    (
        "Three links follow each other, from where the cache lies to tokens a second; one is about a single request.",
        "What does PagedAttention change: where the cache lies, or what attention computes?",
    ),
    question=(
        "Against a plain loop over a Transformers model, vLLM gave up to 24 times the tokens a second; a request that "
        "runs alone is no faster. Why?"
    ),
    importance=4,
)

WH6 = argument(
    "WH6",
    "Why does tensor parallelism leave decode memory-bound?",
    _NOTEBOOK,
    4,
    (
        Option("adds_messages", "On top, the GPUs add up partial results twice a layer, and wait for each other."),
        Option("fetches_weights", "One GPU keeps the weights, and the others fetch them over the link at each step."),
        Option("more_arithmetic", "More GPUs bring more arithmetic to a step, so it comes to wait for arithmetic."),
        Option("ratio_stays", "So bytes and products shrink alike, and a step still waits for its bytes."),
        Option("splits_both", "Each GPU holds a share of every matrix, and computes that share of the products."),
        Option("streams_share", "At each step it streams its whole share from HBM, for one token a request."),
        Option("whole_copies", "Each GPU holds all of the weights, and serves its own part of the requests."),
    ),
    (
        "Begin with what one of the GPUs holds, then ask what it reads and computes in a step.",
        "The roofline compares two numbers. What becomes of their ratio when both are halved?",
    ),
    importance=3,
)

EXERCISES_HERE = (TF9, WH5, WH6)
