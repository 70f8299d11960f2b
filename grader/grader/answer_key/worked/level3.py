"""Worked solutions of level 3: reservations and blocks, steps and ceilings, bytes and arithmetic of a prefill."""

from __future__ import annotations

from llmserving import GB, weight_bytes
from llmserving.exercises.draws import Numbers

from grader.answer_key.key import Answers
from grader.answer_key.worked.steps import Steps, StepsOf, ungrouped, written


def _blocks(n: Numbers, a: Answers, answer: str) -> str:
    full, left = divmod(n["used"], n["block_size"])
    return (
        f"{n['used']} tokens fill {full} blocks of {n['block_size']} and leave {left} tokens over. Those need a block too, "
        f"however empty it stays: {answer}"
    )


def _step(bits: int) -> Steps:
    def steps(n: Numbers, a: Answers, answer: str) -> str:
        width = n["r_max"] - n["r_min"]
        return (
            f"The range is {written(n['r_max'])} - ({written(n['r_min'])}) = {written(width)} wide. {bits} bits tell "
            f"{2**bits} values apart, with {2**bits - 1} gaps between them: {written(width)} / {2**bits - 1} = {answer}"
        )

    return steps


def _ceiling(step: str) -> Steps:
    return lambda n, a, answer: (
        "The nearer of two levels is at most half a step away, and from the middle between them it is: "
        f"{written(a[step])} / 2 = {answer}"
    )


def _read(n: Numbers, a: Answers, answer: str) -> str:
    size = weight_bytes(n["billions"] * 1e9, 16) / GB
    return (
        f"{n['billions']} billion weights × 2 bytes = {written(size)} GB, read once for all tokens of the pass: "
        f"{written(size)} GB / {written(n['bandwidth_tb'] * 1000)} GB/s = {written(a['read_ms'] / 1000)} s = {answer}"
    )


def _multiply(n: Numbers, a: Answers, answer: str) -> str:
    billions = 2 * n["billions"] * n["tokens"]
    tera = written(billions / 1000)
    return (
        f"Each weight meets each token in a multiplication and an addition: 2 × {n['billions']} billion × {n['tokens']:,} = "
        f"{billions:,} billion operations = {tera} TFLOP.\n"
        f"{tera} TFLOP / {written(n['fp16_tflops'])} TFLOP/s = {written(a['compute_ms'] / 1000)} s = {answer}"
    )


STEPS_HERE: StepsOf = {
    "L3.1": {
        "reserved_share": lambda n, a, answer: (
            f"The request holds {n['max_len']:,} slots, and {n['max_len']:,} - {n['used']} = {n['max_len'] - n['used']:,} of "
            f"them hold no token: {n['max_len'] - n['used']:,} / {n['max_len']:,} = {answer}"
        ),
        "blocks": _blocks,
        "empty": lambda n, a, answer: (
            f"{written(a['blocks'])} × {n['block_size']} slots - {n['used']} tokens = {answer}"
        ),
        "worst": lambda n, a, answer: (
            f"A block is taken for a token, so at worst the last one holds a single token: {n['block_size']} - 1 = {answer}"
        ),
        "blocks_share": lambda n, a, answer: (
            f"The request holds {written(a['blocks'])} × {n['block_size']} = {written(a['blocks'] * n['block_size'])} slots: "
            f"{written(a['empty'])} / {written(a['blocks'] * n['block_size'])} = {answer}"
        ),
    },
    "L3.2": {
        "int8_step": _step(8),
        "int4_step": _step(4),
        "ratio": lambda n, a, answer: (
            f"The range is the same and cancels; what is left are the gaps: {2**8 - 1} / {2**4 - 1} = {answer}"
        ),
        "int8_ceiling": _ceiling("int8_step"),
        "int4_ceiling": _ceiling("int4_step"),
    },
    "L3.3": {
        "read_ms": _read,
        "saved_ms": lambda n, a, answer: (
            "4 bits in place of 16 leave a quarter of the reading, so three quarters are saved: "
            f"{ungrouped(a['read_ms'])} ms × 3 / 4 = {answer}"
        ),
        "compute_ms": _multiply,
        "w8a8_ms": lambda n, a, answer: (
            "As many products, at the peak of INT8: "
            f"{ungrouped(a['compute_ms'])} ms × {written(n['fp16_tflops'])} / {written(n['int8_tops'])} = {answer}"
        ),
    },
}
