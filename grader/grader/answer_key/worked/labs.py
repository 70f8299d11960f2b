"""Worked solutions of the labs: a line on what the code does, above the code."""

from __future__ import annotations

from grader.answer_key.worked.steps import Steps, StepsOf


def _code(does: str) -> Steps:
    return lambda n, a, code: f"{does}\n{code}"


def _event(shows: str) -> Steps:
    return lambda n, a, answer: f"Up to the row before, every table and free list is as it should be. {shows} {answer}"


# What the row of the first event shows, class by class.
_SHOWS = (
    "There `c` ends, and the block that it shared goes into the free list although `a` still holds it.",
    "There `a` has 9 tokens in 2 blocks of 4: the ninth has no slot in its table, and no block was taken for it.",
    "There `c` writes into a block of its own, as it must, but its table still names the shared one: the block that was "
    "taken is in no table, and it is not free.",
    "There all 8 tokens of the prompt are found, so none is left to compute, and the first token has nothing to come from.",
    "There request 3 is sent back to wait, and its three seats are neither its own nor free.",
)
_LEVERS = _code(
    "One of several answers that keep the promise within the price; a lever that is not named stays as it was."
)

STEPS_HERE: StepsOf = {
    "LAB2.1": {
        "kv_bytes_per_token": _code(
            "Count the elements that a token leaves in one layer: a key and a value for each KV head, or the latent alone. "
            "Multiply by the layers and the bits, and divide by 8 last, so that two elements of 4 bits share a byte."
        )
    },
    "LAB3A.1": {
        "growing": _code(
            "The blocks that are needed are counted before any is taken, so a refusal changes nothing. A token takes a fresh "
            "block only where the last one is full; what a request held is free again when it leaves."
        )
    },
    "LAB3A.2": {
        "allocator": _code(
            "A token goes into a fresh block where the table is full, and into a copy where the last block is in another "
            "table too; a block is free again once it is in no table."
        )
    },
    "LAB3A.4": {
        "names": _code(
            "The name of a block is made of its own tokens, of the name of the block before it, and of the key: so equal names "
            "mean equal beginnings. A block that is not full has no name yet, since its tokens may still change."
        )
    },
    "LAB3B.1": {
        "step_and_zero": _code(
            "2^b codes have 2^b - 1 gaps, so the step is the range over those. The zero-point is the code at which 0 lies."
        ),
        "to_codes": _code(
            "Divide by the step, round to the nearest, add the zero-point, and clip to the codes that there are."
        ),
        "to_values": _code("The way back: the distance from the zero-point, in steps."),
    },
    "LAB3B.2": {
        "round_trip": _code(
            "Each group of neighbours in a row is quantized over its own range and taken back, so an outlier makes the step of "
            "its own group large and no other."
        )
    },
    "LAB3B.4": {
        "input_scales": _code(
            "The larger the inputs of a channel, the larger its factor; alpha says how much of the difference is made up for."
        )
    },
    "LAB4.1": {
        "blocks_and_tokens": _code(
            "A block holds keys and values of block_size tokens in every layer, for the heads that this GPU keeps: its share, "
            "and at least one. Whole blocks fit; the log's tokens are theirs."
        )
    },
    **{f"LAB5A.{number}": {"levers": _LEVERS} for number in (1, 2, 3)},
    **{
        f"LAB5B.{number}": {
            "event": _event(shows),
            "mended": _code("The class with the method that was broken written anew; everything else is as it was."),
        }
        for number, shows in enumerate(_SHOWS, 1)
    },
}
