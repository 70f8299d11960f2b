"""`python -m llmserving plan`: does a model fit into a GPU, as text, as JSON and as a figure."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from llmserving.memory_plan import MemoryPlan
from llmserving.picture_file import checked_picture, write_picture
from llmserving.planner import ENGINE_DEFAULTS, VIEWS, plan

NUMBERS = (
    "view", "weight_dtype", "kv_dtype", "context", "requests", "tensor_parallel", "pipeline_parallel",
    "gpu_memory_utilization", "max_num_seqs", "max_num_batched_tokens", "memory_bytes", "budget_bytes", "weight_bytes",
    "activation_bytes", "other_bytes", "kv_bytes_available", "kv_bytes_per_request", "kv_bytes_needed",
    "reserved_bytes", "headroom_bytes", "block_size", "kv_blocks", "kv_tokens", "max_concurrency", "max_requests",
    "extra_requests", "longest_context", "fits", "limit", "verdict",
)  # fmt: skip


def add_parser(commands: Any) -> None:
    """Add `plan` to the commands of a parser."""
    parser = commands.add_parser("plan", help="does a model fit into a GPU's memory, and how many requests with it")
    parser.add_argument("model", help="such as llama-3.1-8b")
    parser.add_argument("gpu", help="such as h100-80gb")
    parser.add_argument("--context", type=int, default=4096, metavar="N", help="tokens a request (4096)")
    parser.add_argument("--requests", type=int, default=16, metavar="N", help="requests at once (16)")
    parser.add_argument("--weights", default="fp16", metavar="DTYPE", help="fp16, fp8, int8, int4, mxfp4 …")
    parser.add_argument("--kv", default="fp16", metavar="DTYPE", help="dtype of the KV cache: fp16, fp8 …")
    for flag, name, kind, meaning in (
        ("--tp", "tensor_parallel", int, "GPUs that split each layer"),
        ("--pp", "pipeline_parallel", int, "stages that split the layers"),
        ("--utilization", "gpu_memory_utilization", float, "share of the memory that the engine may use"),
        ("--block-size", "block_size", int, "tokens a block"),
        ("--max-num-seqs", "max_num_seqs", int, "requests that the engine runs at once"),
    ):
        default = ENGINE_DEFAULTS[name]
        parser.add_argument(flag, dest=name, type=kind, default=default, metavar="X", help=f"{meaning} ({default})")
    parser.add_argument("--view", default="engine", help=f"{' or '.join(VIEWS)}: the course's two buckets")
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    parser.add_argument("--figure", type=Path, metavar="FILE", help="also write a figure, .svg or .png")
    parser.set_defaults(run=_run)


def plan_numbers(plan: MemoryPlan) -> dict[str, Any]:
    """The plan's settings and results by name, in bytes and counts."""
    names = {"model": plan.model.name, "gpu": plan.gpu.name}
    return names | {name: getattr(plan, name) for name in NUMBERS}


def _run(asked: argparse.Namespace) -> str:
    engine = ("tensor_parallel", "pipeline_parallel", "gpu_memory_utilization", "block_size", "max_num_seqs")
    made = plan(
        asked.model, asked.gpu, asked.weights, asked.kv, asked.context, asked.requests, view=asked.view,
        **{name: getattr(asked, name) for name in engine},
    )  # fmt: skip
    if asked.figure:
        _write_figure(made, asked.figure)
    return json.dumps(plan_numbers(made), indent=2, ensure_ascii=False) if asked.json else made.explain()


def _write_figure(made: MemoryPlan, path: Path) -> None:
    checked_picture(path)
    from llmserving.figures import budget_bars

    write_picture(budget_bars(made), path)
