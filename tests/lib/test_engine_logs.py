"""What engines printed is what this library says, within the rounding of the print, or the reason why it cannot be."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from llmserving import data
from llmserving.data import table
from llmserving.engine_logs import ENGINE_LOGS, NOT_REPRODUCED, EngineLog
from llmserving.kv_pool import KvPool
from llmserving.units import GiB

DOCS = Path(__file__).parents[2] / "docs" / "engines.md"
MAY_BE_LISTED = {"ISS-07", "ISS-18", "PUB-09", "ISS-23", "ISS-24", "PUB-13"}
ROWS = data.rows("engine_logs.csv")
REPRODUCED = [log for log in ENGINE_LOGS.values() if log.id not in NOT_REPRODUCED]


def test_all_rows_are_there_with_their_sources() -> None:
    assert len(ROWS) == len(ENGINE_LOGS) == 69
    assert all(log.source for log in ENGINE_LOGS.values())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_the_model_a_row_names_has_the_sizes_that_it_states(row: dict[str, str]) -> None:
    model = ENGINE_LOGS[row["id"]].model
    assert (model.layers, model.hidden_size) == (int(row["L"]), int(row["hidden_size"]))
    if model.is_latent:
        assert row["n_kv_heads"] == f"MLA(1 latent {model.latent_dim})"
        assert model.latent_dim == int(row["head_dim"])
    else:
        assert (model.kv_heads, model.head_dim) == (int(row["n_kv_heads"]), int(row["head_dim"]))
    assert str(model.window_layers or "") == row["window_layers"]
    assert str(model.window or "") == row["window"].removeprefix("chunk ")
    assert (model.window_kind == "chunked") == row["window"].startswith("chunk")
    assert model.inferred == row["model_identity"].startswith("inferred")


@pytest.mark.parametrize("log", REPRODUCED, ids=lambda log: log.id)
def test_every_number_that_a_log_prints_is_reproduced_within_its_rounding(log: EngineLog) -> None:
    checks = list(log.checks())
    assert checks
    for check in checks:
        assert check.holds, check


@pytest.mark.parametrize("row", [row for row in ROWS if row["rounding_tol_rel"]], ids=lambda row: row["id"])
def test_the_printed_memory_gives_the_printed_tokens_within_the_stated_tolerance(row: dict[str, str]) -> None:
    log = ENGINE_LOGS[row["id"]]
    if log.id in NOT_REPRODUCED or log.printed_gib is None:
        return
    assert abs(table.error(table.tokens_in_full(log), log)) <= float(row["rounding_tol_rel"]) + 1e-6
    assert table.tokens_in_full(log) == int(row["full_prediction"])


def test_the_logs_print_over_two_hundred_numbers() -> None:
    kinds = [check.what for log in REPRODUCED for check in log.checks()]
    assert {kind: kinds.count(kind) for kind in sorted(set(kinds))} == {
        "CPU blocks": 12, "GiB needed": 3, "blocks": 48, "concurrency": 48, "tokens": 54, "tokens of the blocks": 54,
    }  # fmt: skip


def test_what_cannot_be_reproduced_is_listed_with_its_reason_and_really_is_not() -> None:
    assert set(NOT_REPRODUCED) <= MAY_BE_LISTED
    assert all(reason for reason in NOT_REPRODUCED.values())
    for log_id in NOT_REPRODUCED:
        log = ENGINE_LOGS[log_id]
        assert log.printed_gib is None or not all(check.holds for check in log.checks()), log_id


@pytest.mark.parametrize(
    "log_id", ["LLMD-01", "LLMD-02", "LLMD-06", "LLMD-31", "LLMD-25", "ISS-12", "CPU-02", "ISS-13"]
)
def test_a_wrong_number_would_be_noticed(log_id: str) -> None:
    log = ENGINE_LOGS[log_id]
    wrong = [
        replace(log, tokens=(log.tokens or 0) + 16 * 20),
        replace(log, tensor_parallel=2 * log.tensor_parallel)
        if not log.model.is_latent
        else replace(log, kv_dtype="fp8"),
        replace(log, kv_dtype="fp32"),
    ]
    if log.kind == "needed GiB":
        wrong[0] = replace(log, printed_gib=(log.printed_gib or 0) + Fraction(1, 100))
    for other in wrong:
        assert not all(check.holds for check in other.checks())


def test_two_ranks_of_one_stage_can_have_different_memory() -> None:
    for log_id, gib in (("ISS-07", Fraction("8.02")), ("ISS-18", Fraction("7.47"))):
        poorest = replace(ENGINE_LOGS[log_id], printed_gib=gib)
        assert all(check.holds for check in poorest.checks())


def test_heads_split_over_four_ranks_are_four_times_the_pool() -> None:
    before, after = ENGINE_LOGS["ISS-23"], ENGINE_LOGS["ISS-24"]
    assert before.tokens is not None
    assert after.tokens is not None
    assert before.layout.block_bytes / after.layout.block_bytes == 4.00
    assert after.tokens / before.tokens == pytest.approx(4.00, abs=0.005)
    for log in (before, after):
        assert KvPool(log.layout, log.blocks or 0).tokens == log.tokens


def test_a_padded_latent_is_859_cpu_blocks_and_an_unpadded_one_954() -> None:
    log = ENGINE_LOGS["PUB-13"]
    assert log.padded_latent == 640
    assert log.predicted_cpu_blocks() == log.cpu_blocks == 859
    assert replace(log, padded_latent=None).predicted_cpu_blocks() == 954
    assert all(check.holds for check in log.checks())


def test_a_reserved_block_is_printed_but_not_used() -> None:
    log = ENGINE_LOGS["ISS-19"]
    assert KvPool(log.layout, log.blocks or 0).usable_tokens == 86_144
    assert (log.blocks or 0) * log.layout.block_bytes == 12_116.25 * 2**20


def test_pixtral_s_request_of_8192_tokens_is_printed_as_1_25_gib() -> None:
    layout = ENGINE_LOGS["ISS-05"].layout
    assert layout.request_blocks(8192) * layout.block_bytes == 1.25 * GiB


def test_the_table_in_the_docs_is_what_the_code_renders() -> None:
    assert DOCS.read_text(encoding="utf-8") == table.rendered(), "run python -m llmserving.data.table docs/engines.md"


def test_the_command_prints_the_table_or_writes_it(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "llmserving.data.table"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8").stdout
    subprocess.run([*command, str(tmp_path / "engines.md")], check=True)
    assert printed == (tmp_path / "engines.md").read_text(encoding="utf-8") == table.rendered()


def test_the_course_s_formula_is_near_for_few_and_the_full_model_for_all() -> None:
    scored = [log for log in table.scored_logs() if log.id not in NOT_REPRODUCED]

    def near(predict: object) -> int:
        return sum(abs(table.error(predict(log), log)) <= 0.01 for log in scored)  # type: ignore[operator]

    assert near(table.tokens_by_course) == 3
    assert near(table.tokens_by_gqa) == 55
    assert near(table.tokens_in_full) == len(scored) == 57
