"""docs/traces.md is what the library finds in the public traces, and the figures of the synthetic workload are pinned."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from llmserving.scheduling import synthetic_workload, trace_table
from llmserving.scheduling.trace_table import BLOCK_SIZE, blocks_for_samples, decode_steps

from tests.traces import need_azure, need_mooncake

DOCS = Path(__file__).parents[2] / "docs" / "traces.md"


@pytest.mark.slow
def test_the_table_is_what_the_traces_give() -> None:
    folder = need_azure("conv").parent
    assert need_azure("code").parent == need_mooncake().parent == folder
    again = f"run python -m llmserving.scheduling.trace_table {folder} docs/traces.md"
    assert DOCS.read_text(encoding="utf-8") == trace_table.rendered(folder), again


@pytest.mark.parametrize(
    ("kind", "ratios"), [("conversation", ["2.23", "2.56", "2.94"]), ("code", ["4.19", "5.95", "7.99"])]
)
def test_leaving_the_batch_early_is_worth_this_on_the_synthetic_workload(kind: str, ratios: list[str]) -> None:
    workload = synthetic_workload(2_000, kind=kind)
    counts = [decode_steps(workload, batch) for batch in (8, 16, 32)]
    assert [f"{static / continuous:.2f}" for static, continuous in counts] == ratios
    steps = " | ".join(ratios)
    assert f"| synthetic {kind} | {steps} |" in DOCS.read_text(encoding="utf-8")


@pytest.mark.parametrize(("prompt", "output", "samples"), trace_table.SAMPLES)
def test_forked_samples_hold_the_blocks_that_the_formula_says(prompt: int, output: int, samples: int) -> None:
    full = prompt // BLOCK_SIZE
    at_end = -(-(prompt + output) // BLOCK_SIZE)
    assert blocks_for_samples(prompt, output, samples) == (full + samples * (at_end - full), samples * at_end)


def test_called_wrongly_it_says_how() -> None:
    command = [sys.executable, "-m", "llmserving.scheduling.trace_table"]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 1
    assert ran.stderr.strip() == "usage: python -m llmserving.scheduling.trace_table FOLDER [FILE]"
