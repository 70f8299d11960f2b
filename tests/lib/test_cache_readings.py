"""What a token takes by a log or by a decoder, and what becomes of a function that is held against it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from llmserving import kv_bytes_per_token
from llmserving.cache_readings import LOG_OF, all_readings, attention_of, decoder_here, one_of_each, read
from llmserving.engine_logs import ENGINE_LOGS
from llmserving.figures.off_by import off_by
from llmserving.held_against import Comparison, Held, hold_against, said_by

from tests.lib.test_imports import BLOCK_TORCH, python
from tests.skips import need_torch

LOGS = [read(ENGINE_LOGS[log_id]) for log_id in LOG_OF.values()]


def multi_head(layers: int, query_heads: int, kv_heads: int, head_dim: int, bits: int, latent_dim: Any) -> float:
    return 2 * layers * query_heads * head_dim * bits / 8


def repaired(layers: int, query_heads: int, kv_heads: int, head_dim: int, bits: int, latent_dim: Any) -> float:
    return layers * (latent_dim or 2 * kv_heads * head_dim) * bits / 8


@pytest.mark.parametrize("reading", all_readings(), ids=lambda reading: reading.name)
def test_the_library_lies_within_the_bounds_of_every_log(reading: Any) -> None:
    dtype = "fp8_ds_mla" if reading.name == "ISS-21" else {8: "fp8", 16: "fp16", 32: "fp32"}[reading.bits]
    grown = kv_bytes_per_token(replace(reading.model, window=None, window_layers=0, window_kind=None), dtype)
    assert reading.least < grown <= reading.most
    assert reading.most / reading.least < 1.05


def test_bounds_are_so_narrow_that_one_head_or_element_more_is_seen() -> None:
    for reading in LOGS:
        model = reading.model
        latent = model.latent_dim + 1 if model.is_latent else None
        more = repaired(model.layers, model.attention_heads, model.kv_heads + 1, model.head_dim, reading.bits, latent)
        assert more > reading.most


def test_there_is_a_log_of_each_kind_but_multi_query() -> None:
    assert {attention_of(read(ENGINE_LOGS[log_id]).model) for log_id in LOG_OF.values()} == set(LOG_OF)
    assert "multi-query" not in {attention_of(log.model) for log in ENGINE_LOGS.values()}
    assert len(all_readings()) > 40


@pytest.mark.parametrize(("log_id", "said"), [("ISS-12", "prints no memory"), ("LLMD-27", "is of several GPUs")])
def test_what_settles_nothing_is_refused(log_id: str, said: str) -> None:
    with pytest.raises(ValueError, match=f"{log_id} {said}"):
        read(ENGINE_LOGS[log_id])


def test_a_decoder_keeps_what_its_heads_leave() -> None:
    need_torch()
    for name in ("gemma-2b", "qwen2.5-0.5b"):
        reading = decoder_here(name)
        assert reading.least == reading.most == kv_bytes_per_token(name)
        assert reading.source == "live"
    with pytest.raises(ValueError, match="keeps a latent"):
        decoder_here("deepseek-v2-lite")


def test_one_of_each_is_four_kinds() -> None:
    need_torch()
    readings, missing = one_of_each()
    assert [reading.attention for reading in readings] == ["multi-head", "grouped-query", "multi-query", "latent"]
    assert missing == ""


def test_without_torch_the_logs_are_there_and_a_sentence() -> None:
    told = python(
        f"{BLOCK_TORCH}\nfrom llmserving.cache_readings import one_of_each\n"
        "readings, missing = one_of_each()\nprint(len(readings), missing)"
    )
    assert told.startswith("3 No multi-query model is shown: the language model runs on torch, which is not installed")


def test_a_formula_for_multi_head_is_off_by_the_heads_that_share() -> None:
    told = {row.reading.attention: row.verdict for row in hold_against(multi_head, LOGS).rows}
    assert told == {"multi-head": "agrees", "grouped-query": "4 × too large", "latent": "7.11 × too large"}


def test_the_repaired_function_agrees_with_all_logs_but_the_packed_one() -> None:
    held = hold_against(repaired, all_readings())
    assert [row.reading.name for row in held.rows if not row.agrees] == ["ISS-21"]
    assert held.agreeing == len(held.rows) - 1


@pytest.mark.parametrize(
    ("factor", "verdict"), [(Fraction(1, 2), "2 × too small"), (Fraction(21, 20), "5 % too large"), (Fraction(1), "agrees")]
)  # fmt: skip
def test_a_verdict_says_how_far_and_which_way(factor: Fraction, verdict: str) -> None:
    assert Held(LOGS[0], float(LOGS[0].middle * factor)).verdict == verdict


def raising(**given: Any) -> Any:
    raise given["error"]


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: raising(error=NotImplementedError("LAB2.1")), "not written yet"),
        (lambda: 1 / 0, "stopped with ZeroDivisionError: division by zero"),
        (lambda: raising(error=KeyboardInterrupt()), "stopped with KeyboardInterrupt"),
        (lambda: None, "gave a value of type NoneType, not a number"),
        (lambda: True, "gave a value of type bool, not a number"),
        (lambda: float("nan"), "gave nan, which no cache takes"),
        (lambda: 0, "gave 0, which no cache takes"),
    ],
)
def test_a_function_that_gives_no_size_is_told_so_and_the_table_still_stands(made: Any, said: str) -> None:
    assert said_by(lambda **given: made(), LOGS[0].arguments) == (None, said)
    held = hold_against(lambda **given: made(), LOGS)
    assert repr(held).count(said) == len(LOGS)
    assert said in off_by(held).alt_text


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(TypeError, match="function is your kv_bytes_per_token, but got 7"):
        hold_against(7, LOGS)  # type: ignore[arg-type]


def test_the_table_has_a_line_a_reading_and_the_note_below() -> None:
    lines = repr(hold_against(multi_head, LOGS, "A note.")).splitlines()
    assert len(lines) == len(LOGS) + 2
    assert lines[2].split() == [
        "LLMD-18", "(recorded)", "llama-3.1-8b", "16", "131,080", "±", "14", "524,288", "4", "×", "too", "large",
    ]  # fmt: skip
    assert lines[-1] == "A note."


def test_the_figure_says_in_words_what_it_draws() -> None:
    figure = off_by(hold_against(multi_head, LOGS), title="Yours")
    assert figure.alt_text.startswith("Yours. Bars of your bytes a token over what was read off, from a line at 1.")
    assert "llama-3.1-8b, grouped-query (recorded): 4 × too large." in figure.alt_text
    assert "4 × too large" in figure.svg()
    with pytest.raises(ValueError, match="has no rows"):
        off_by(Comparison(()))


def test_a_factor_beyond_the_axis_is_drawn_within_the_figure() -> None:
    for factor in (1e-6, 1e6):
        figure = off_by(Comparison((Held(LOGS[0], float(LOGS[0].middle) * factor),)))
        boxes = [artist.get_bbox() for artist in figure.artists + figure.patches if hasattr(artist, "get_bbox")]
        assert boxes
        assert all(box.x0 >= 0 and box.x1 <= figure.width for box in boxes)


def test_the_table_is_narrow_enough_for_a_notebook() -> None:
    told = repr(hold_against(multi_head, LOGS))
    assert max(len(line) for line in told.splitlines()) <= 90
