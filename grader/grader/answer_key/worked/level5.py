"""Worked solutions of level 5: short chats in long reservations, and documents in a large batch."""

from __future__ import annotations

from llmserving import weight_bytes
from llmserving.exercises.draws import Numbers
from llmserving.units import GB

from grader.answer_key.key import Answers
from grader.answer_key.worked.level3 import STEPS_HERE as OF_LEVEL_3
from grader.answer_key.worked.steps import StepsOf, written


def _times(n: Numbers, a: Answers, answer: str) -> str:
    held = int(a["blocks"]) * n["block_size"]
    return (
        f"In blocks a chat holds {int(a['blocks'])} × {n['block_size']} = {held} slots, where it holds {n['max_len']:,} now: "
        f"{n['max_len']:,} / {held} = {answer}"
    )


def _beyond(n: Numbers, a: Answers, answer: str) -> str:
    ridge = n["fp16_tflops"] / n["bandwidth_tb"]
    return (
        "A weight of two bytes is read once and takes two operations with each token, so a pass has one FLOP a byte for each "
        f"of its tokens: {n['tokens']:,}.\nThe ridge point: {written(n['fp16_tflops'])} TFLOP/s / "
        f"{written(n['bandwidth_tb'])} TB/s = {written(ridge)} FLOP a byte.\n{n['tokens']:,} / {written(ridge)} = {answer}"
    )


def _products(n: Numbers, a: Answers, answer: str) -> str:
    tera = 2 * n["billions"] * n["tokens"] / 1000
    return (
        f"2 × {n['billions']} billion × {n['tokens']:,} operations = {written(tera)} TFLOP.\n"
        f"{written(tera)} TFLOP / {written(n['fp16_tflops'])} TFLOP/s = {answer}"
    )


def _in_int8(n: Numbers, a: Answers, answer: str) -> str:
    return (
        "As many products, at the peak of INT8: "
        f"{written(a['fp16_s'])} s × {written(n['fp16_tflops'])} / {written(n['int8_tops'])} = {answer}"
    )


def _freed(n: Numbers, a: Answers, answer: str) -> str:
    before, after = (weight_bytes(n["billions"] * 1e9, bits) / GB for bits in (16, 8))
    return (
        f"Each weight gives up one byte of its two: {written(before)} GB - {written(after)} GB = {answer}. The cache stays "
        "as it is."
    )


def _tail(n: Numbers, a: Answers, answer: str) -> str:
    last = n["length"] % n["block_size"]
    empty = n["block_size"] - last
    size_kb = empty * n["prompts"] * n["slot_kb"]
    return (
        f"{n['length']:,} tokens fill {n['length'] // n['block_size']:,} blocks and put {last} into another, which leaves "
        f"{empty} slots empty.\n{empty} × {n['prompts']} documents × {written(n['slot_kb'])} KB = {written(size_kb)} KB, "
        f"so {answer}"
    )


STEPS_HERE: StepsOf = {
    "L5.1A": {
        **{part: OF_LEVEL_3["L3.1"][part] for part in ("reserved_share", "blocks", "empty", "blocks_share")},
        "times": _times,
    },
    "L5.1B": {
        "beyond": _beyond,
        "fp16_s": _products,
        "int8_s": _in_int8,
        "freed_gb": _freed,
        "tail_mb": _tail,
    },
}
