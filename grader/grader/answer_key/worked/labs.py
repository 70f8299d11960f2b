"""Worked solutions of the labs: a line on what the code does, above the code."""

from __future__ import annotations

from grader.answer_key.worked.steps import StepsOf

STEPS_HERE: StepsOf = {
    "LAB2.1": {
        "kv_bytes_per_token": lambda n, a, code: (
            "Count the elements that a token leaves in one layer: a key and a value for each KV head, or the latent alone. "
            f"Multiply by the layers and the bits, and divide by 8 last, so that two elements of 4 bits share a byte.\n{code}"
        )
    },
    "LAB3A.1": {
        "allocator": lambda n, a, code: (
            "The blocks that are needed are counted before any is taken, so a refusal changes nothing. A token goes into a "
            "fresh block where the table is full, and into a copy where the last block is in another table too; a block is "
            f"free again once it is in no table.\n{code}"
        )
    },
}
