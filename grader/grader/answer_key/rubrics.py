"""Rubrics: the reasons that an answer in a learner's own words must hold; for self-study a checklist, in a class for the
grader. Short enough to stand beside a box.
"""

from __future__ import annotations

RUBRICS: dict[str, tuple[str, ...]] = {
    "WH1": (
        "a pass reads every weight once, whichever phase it is",
        "in prefill that reading serves all tokens of the prompt, so the arithmetic takes longer",
        "in decode it serves one token a request, so the pass waits for the bytes",
    ),
    "WH2": (
        "decode waits for bytes, and most of them are weights",
        "INT4 weights are a quarter of the bytes of FP16 weights",
        "expanding them for the FP16 matmul is cheap beside the transfer that is saved",
    ),
    "WH3": (
        "rounding keeps the error within half a step, inside the range",
        "outside the range rounding alone gives a code that b bits cannot hold: it would wrap around",
        "clipping holds such a value at the end of the range, and moves nothing inside it",
    ),
    "WH4": (
        "4 bits have 15 gaps, so a wide range makes the step large",
        "a single outlier sets the range, and the step of all that share its scale",
        "a group with a scale of its own has a step after its own values, so an outlier costs its group alone",
    ),
    "WH5": (
        "paging leaves hardly any reserved memory empty, so the same HBM holds many more requests at once",
        "a larger batch gets more tokens out of each reading of the weights",
        "one request alone goes the same way: the same steps, reads and products",
    ),
    "WH6": (
        "each GPU reads its own share of the weights from HBM at every step",
        "it computes the products of that share alone, so bytes and arithmetic shrink together",
        "the GPUs exchange partial results in every layer, which comes on top",
    ),
    "ST1": (
        "weight-only quantization reads fewer bytes a weight, and decode waits for bytes",
        "the weights are expanded before each product, which adds work",
        "prefill waits for arithmetic: the bytes saved gain no time there, and the added work costs some",
    ),
}
"""Exercise id -> its reasons."""
