"""Worked solutions of the labs' numbers that are drawn: no recording is in them."""

from __future__ import annotations

from llmserving.exercises.draws import Numbers
from llmserving.units import GiB

from grader.answer_key.key import Answers
from grader.answer_key.worked.steps import StepsOf, written


def _knee_step(n: Numbers, a: Answers, answer: str) -> str:
    weights = 2 * n["billions"] / n["bandwidth_tb"]
    cache = n["context"] * n["token_bytes"] / n["bandwidth_tb"] / 1e9
    return (
        f"The weights: {n['billions']} billion × 2 bytes at {n['bandwidth_tb']} TB/s are {written(weights)} ms. One request's "
        f"cache: {n['context']} × {n['token_bytes']:,} bytes are {cache:.5f} ms.\n"
        f"{written(weights)} + {written(a['knee'])} × {cache:.5f} = {answer}"
    )


STEPS_HERE: StepsOf = {
    "LAB2.2": {
        "token_bytes": lambda n, a, answer: (
            f"{n['gib']} GiB are {float(n['gib']) * GiB:,.0f} bytes, for {n['tokens']:,} tokens: "
            f"{float(n['gib']) * GiB:,.0f} / {n['tokens']:,} = {answer}"
        ),
        "heads": lambda n, a, answer: (
            "A head leaves a key and a value of FP16 in each layer: "
            f"{n['layers']} × 2 × {n['head_dim']} × 2 = {n['layers'] * 4 * n['head_dim']:,} bytes a token.\n"
            f"{a['token_bytes']:,.0f} / {n['layers'] * 4 * n['head_dim']:,} = "
            f"{written(a['token_bytes'] / (n['layers'] * 4 * n['head_dim']))}, so {answer}"
        ),
    },
    "LAB2.3": {
        "grouped": lambda n, a, answer: (
            f"It counts {n['grouped_queries']} heads, and {n['grouped_kv']} leave keys and values: "
            f"{n['grouped_queries']} / {n['grouped_kv']} = {answer}"
        ),
        "multi_query": lambda n, a, answer: (
            f"It counts {n['mqa_queries']} heads, and all of them share one head of keys and values: {answer}"
        ),
        "latent": lambda n, a, answer: (
            f"It counts 2 × {n['mla_queries']} × {n['mla_dim']} = {2 * n['mla_queries'] * n['mla_dim']:,} elements a layer, "
            f"and one latent of {n['latent']} is kept:\n"
            f"{2 * n['mla_queries'] * n['mla_dim']:,} / {n['latent']} = {answer}"
        ),
    },
    "LAB3A.5": {
        "reserved": lambda n, a, answer: (
            f"Of {n['max_len']:,} slots, {n['mean']:,} are used on average: 1 - {n['mean']:,} / {n['max_len']:,} = {answer}"
        ),
        "tail": lambda n, a, answer: (
            f"From none to {n['small'] - 1}, each as likely as the other: ({n['small']} - 1) / 2 = {answer}"
        ),
        "share": lambda n, a, answer: (
            f"({n['large']} - 1) / 2 = {written((n['large'] - 1) / 2)} slots are empty, beside {n['mean']:,} used ones: "
            f"{written((n['large'] - 1) / 2)} / ({n['mean']:,} + {written((n['large'] - 1) / 2)}) = {answer}"
        ),
        "largest": lambda n, a, answer: (
            f"The share is (size - 1) / 2 over {n['mean']:,} + (size - 1) / 2. Doubling the size from 1 on, the last that stays "
            f"within {n['percent']} % is {answer}"
        ),
    },
    "LAB3B.4": {
        "before": lambda n, a, answer: (
            f"A weight is off by half a step at most, and the input multiplies that: {n['step']} / 2 * {n['large']} = {answer}"
        ),
        "after": lambda n, a, answer: (
            f"The step is as before, and the input is {n['factor']} times smaller: {written(a['before'])} / {n['factor']} = "
            f"{answer}"
        ),
    },
    "LAB3B.5": {
        "w4a16_one": lambda n, a, answer: (
            f"A group of {n['group']} shares a scale and a zero-point of 16 bits each: 4 + 2 * 16 / {n['group']} = "
            f"{written(4 + 32 / n['group'])} bits a weight, where 16 were read.\n16 / {written(4 + 32 / n['group'])} = {answer}"
        ),
        "w8a8_one": lambda n, a, answer: f"Half the bytes are read, and bytes are waited for: 16 / 8 = {answer}",
        "w4a16_many": lambda n, a, answer: (
            f"Arithmetic is waited for, and it is the same, in 16 bits: no faster at all, {answer}"
        ),
        "w8a8_many": lambda n, a, answer: (
            f"Arithmetic is waited for, and integers of 8 bits are multiplied at twice the rate: {answer}"
        ),
    },
    "LAB4.2": {
        "ridge": lambda n, a, answer: f"{n['tflops']} TFLOP/s / {n['bandwidth_tb']} TB/s = {answer}",
        "knee": lambda n, a, answer: (
            "A weight of two bytes takes two FLOPs for each request, one FLOP a byte and request: the batch is the ridge point, "
            f"{answer}"
        ),
        "knee_int4": lambda n, a, answer: (
            f"A quarter of the bytes are read in a quarter of the time, and the products are as many: {written(a['knee'])} / 4 = "
            f"{answer}"
        ),
        "step_ms": _knee_step,
        "rate": lambda n, a, answer: (
            f"A token for each request and step: 1000 × {written(a['knee'])} / {written(a['step_ms'])} = {answer}"
        ),
        "fit": lambda n, a, answer: (
            f"{n['cache_tokens']:,} / {n['context']} = {written(n['cache_tokens'] / n['context'])}, and requests come whole: "
            f"{answer}"
        ),
    },
    "LAB4.3": {
        "read_gb": lambda n, a, answer: (
            f"Weights and all caches, {written(n['billions'] * n['weight_bytes'])} GB and "
            f"{written(n['batch'] * n['context'] * n['token_bytes'] / 1e9)} GB, are split over {n['many']} GPUs: {answer} each."
        ),
        "intensity": lambda n, a, answer: (
            f"Two FLOPs for each weight and request, a share of them each: 2 × {n['billions']} × {n['batch']} / {n['many']} = "
            f"{written(2 * n['billions'] * n['batch'] / n['many'])} billion FLOP.\n"
            f"{written(2 * n['billions'] * n['batch'] / n['many'])} / {a['read_gb']:.5g} = {answer}"
        ),
        "change": lambda n, a, answer: (
            f"Products and bytes are both divided by the number of GPUs, so their ratio stays: {answer}"
        ),
        "tokens": lambda n, a, answer: (
            f"A GPU keeps its part of a token, {n['token_bytes'] // n['many']:,} bytes, and {n['many_gib']} GiB are "
            f"{n['many_gib'] * GiB:,.0f} bytes, handed out in blocks of 16: {answer}"
        ),
    },
    "LAB4.4": {
        "budget_gib": lambda n, a, answer: f"{n['reported_gib']} × {n['utilization']} = {answer}",
        "left_gib": lambda n, a, answer: (
            "Weights, activations and the rest come off; CUDA graphs are recorded after the cache was laid out, in the margin:\n"
            f"{written(a['budget_gib'])} - {n['weights_gib']} - {n['activations_gib']} - {n['other_gib']} = {answer}"
        ),
        "other_left_gib": lambda n, a, answer: (
            f"The share is smaller by {n['reported_gib']} × {written(n['utilization'] - n['other_utilization'])} = "
            f"{written(n['reported_gib'] * (n['utilization'] - n['other_utilization']))} GiB, and the cache loses all of it: "
            f"{written(a['left_gib'])} - {written(n['reported_gib'] * (n['utilization'] - n['other_utilization']))} = {answer}"
        ),
    },
    "LAB5A.1": {
        "stall_s": lambda n, a, answer: (
            f"2 × {written(n['billions'])} billion × {n['document']:,} = "
            f"{written(2 * n['billions'] * n['document'])} billion FLOP.\n"
            f"{written(2 * n['billions'] * n['document'] / 1000)} TFLOP / {n['tflops']} TFLOP/s = {answer}"
        )
    },
    "LAB5A.2": {
        "held": lambda n, a, answer: (
            f"In 8 bits a token takes half the bytes, so the memory holds 2 × {n['room']:,} = {2 * n['room']:,} tokens: "
            f"{2 * n['room']:,} / {n['grown']:,} = {written(2 * n['room'] / n['grown'])}, and requests come whole: {answer}"
        )
    },
    "LAB5A.3": {
        "least_ms": lambda n, a, answer: (
            f"{written(n['billions'])} billion weights of {n['each']} are {written(n['billions'] * n['bytes_each'])} GB.\n"
            f"{written(n['billions'] * n['bytes_each'])} / {n['bandwidth_tb']} = {answer}"
        )
    },
}
