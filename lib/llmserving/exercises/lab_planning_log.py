"""The lab of level 4, last part: where the plan and the engine's log part, and why."""

from __future__ import annotations

import random

from llmserving.engine_budget import ENGINE_BUDGETS
from llmserving.exercises.draws import Draw, Numbers
from llmserving.exercises.exercise import Exercise, Option, Part
from llmserving.planner import plan
from llmserving.units import GiB

# Starts on one GPU whose printed memory gives a block more or less than they print, and the dtype of their weights.
STARTS = {"LLMD-19": "fp8", "LLMD-32": "fp16", "LLMD-33": "fp16", "LLMD-43": "fp16", "LLMD-57": "int4"}


def log_numbers(start: str, other_utilization: float) -> Numbers:
    budget = ENGINE_BUDGETS[start]
    made = plan(
        budget.log.model, "h100-80gb", STARTS[start], budget.log.kv_dtype, requests=1,
        gpu_memory_utilization=budget.utilization,
    )  # fmt: skip
    return {
        "start": start,
        "model": budget.log.model.name,
        "weights": STARTS[start].upper(),
        "reported_gib": budget.reported_gib,
        "utilization": budget.utilization,
        "weights_gib": budget.weights_gib,
        "activations_gib": budget.activations_gib,
        "planned_activations_gib": round(made.activation_bytes / GiB, 2),
        "other_gib": budget.other_gib,
        "graphs_gib": budget.graphs_gib,
        "reported": f"{budget.reported_gib:.2f}",
        "logged": (
            f"{budget.weights_gib:.2f} GiB of weights, {budget.activations_gib:.2f} GiB for activations, "
            f"{budget.other_gib:.2f} GiB of other memory, {budget.graphs_gib:.2f} GiB of CUDA graphs"
        ),
        "blocks": budget.log.blocks or 0,
        "blocks_off": abs((budget.log.blocks or 0) - budget.log.pool().blocks),
        "block_mib": f"{budget.log.layout.block_bytes / 2**20:g}",
        "other_utilization": other_utilization,
    }


def _draw(rng: random.Random) -> Numbers:
    return log_numbers(rng.choice(list(STARTS)), rng.choice([0.8, 0.85, 0.9]))


_REASONS = (
    Option("empty_block", "one block is kept empty and goes to no request"),
    Option("graphs_later", "it is taken after the cache is laid out, from what gpu_memory_utilization leaves free"),
    Option("longest_context", "profiling runs one step as long as the longest context allowed"),
    Option("printed_rounding", "the memory is printed to two decimals, and blocks are cut from all of it"),
    Option("sequences", "profiling runs logits for as many sequences as may run at once"),
    Option("tail_blocks", "the last block of each request is, on average, half empty"),
    Option("within_weights", "it is counted with the weights, as soon as they are loaded"),
)


def _reason(name: str, asks: str, hint: str) -> Part:
    return Part(name, f"LAB4_4_{name}", "choice", asks, (hint,), options=_REASONS)


LAB4_4 = Exercise(
    id="LAB4.4",
    title="Where plan and log part",
    notebook="L4/lab_planning",
    statement=(
        "{model} ({weights} weights) was started on an H100 that reports {reported} GiB of memory, with gpu_memory_utilization "
        "{utilization}. The log has {logged}, and {blocks} blocks of {block_mib} MiB. The library's plan has "
        "{planned_activations_gib} GiB for activations, and no line for graphs. Work in GiB, and keep all the digits."
    ),
    parts=(
        Part(
            "budget_gib",
            "LAB4_4_budget_gib",
            "value",
            "GiB of memory in the share that the engine was given",
            ("Take the share of what the card reports, not of what it is sold with.",),
            quantity="bytes",
            unit="GiB",
        ),
        Part(
            "left_gib",
            "LAB4_4_left_gib",
            "value",
            "GiB that its log must show for the KV cache",
            (
                "What of these lines is in memory when the cache is laid out?",
                "A similar case: of 20 GiB, with 8 of weights, 2 for activations and 0.5 of other memory, 9.5 are left.",
            ),
            quantity="bytes",
            unit="GiB",
        ),
        Part(
            "other_left_gib",
            "LAB4_4_other_left_gib",
            "value",
            "GiB for the KV cache with gpu_memory_utilization {other_utilization}, all else the same",
            ("Which of the lines change with the share, and which are as large as before?",),
            quantity="bytes",
            unit="GiB",
        ),
        _reason(
            "graphs",
            "why plan and log agree on the KV cache though the plan has no line for CUDA graphs",
            "Work out the budget with the graphs subtracted, and without. Which of the two leaves what the blocks take?",
        ),
        _reason(
            "blocks_off",
            "why your function, given the GiB that the log prints for the KV cache, is {blocks_off} off these blocks",
            "How much memory does a block take, and how much can hide behind the last digit that is printed?",
        ),
        _reason(
            "profile",
            "what sets the size of the line for activations",
            "What does a model give out at the end of a step, and for how many at once?",
        ),
    ),
    draw=Draw("LAB4.4", log_numbers("LLMD-33", 0.9), _draw),
    difficulty=4,
    minutes=12,
    importance=4,
)

EXERCISES_HERE = (LAB4_4,)
