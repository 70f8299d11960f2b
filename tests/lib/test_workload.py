"""Workloads: read from traces in two formats, or drawn so that they have the lengths of real ones."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from llmserving.scheduling.arrivals import bursty_arrivals, poisson_arrivals
from llmserving.scheduling.request import Request, Workload
from llmserving.scheduling.reservation import used_share, used_share_paged
from llmserving.scheduling.traces import azure_trace, mooncake_trace
from llmserving.scheduling.workload import drawn_lengths, synthetic_workload
from llmserving.scheduling.workload_statistics import PUBLISHED, LengthStatistics, statistics

NAN, INF = float("nan"), float("inf")
KINDS = ["conversation", "code"]
AZURE = "TIMESTAMP,ContextTokens,GeneratedTokens\n"
ROW = "2023-11-16 18:15:46.6805900,374,44\n"
LATER = "2023-11-16 18:15:50.9951690,396,109\n"

requests = st.builds(
    Request,
    id=st.integers(0, 99),
    arrival_s=st.just(0.0),
    prompt_tokens=st.integers(1, 200),
    output_tokens=st.integers(1, 80),
)


def written(tmp_path: Path, text: str | bytes, name: str = "trace.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def mooncake_row(**changed: Any) -> str:
    row = {"timestamp": 3000, "input_length": 600, "output_length": 5, "hash_ids": [0, 7], **changed}
    return json.dumps({key: value for key, value in row.items() if value is not ...}) + "\n"


# Traces


def test_an_azure_row_is_a_request_that_arrives_so_many_seconds_after_the_first(tmp_path: Path) -> None:
    workload = azure_trace(written(tmp_path, AZURE + ROW + LATER))
    assert workload.name == "trace"
    first, second = workload
    assert first == Request(0, 0.0, 374, 44)
    assert (second.id, second.prompt_tokens, second.output_tokens) == (1, 396, 109)
    assert second.arrival_s == pytest.approx(4.314579)


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + AZURE + ROW + LATER,
        (AZURE + ROW + LATER).replace("\n", "\r\n"),
        AZURE + ROW + "\n" + LATER + "\n\n",
        (AZURE + ROW + LATER).rstrip("\n"),
        "GeneratedTokens,Region,TIMESTAMP,ContextTokens\n"
        "44,eu,2023-11-16T18:15:46.680590Z,374\n109,us,2023-11-16T18:15:50.995169Z,396\n",
    ],
    ids=["byte order mark", "Windows lines", "blank lines", "no last newline", "other columns and their order"],
)
def test_other_spellings_of_the_same_file_give_the_same_requests(tmp_path: Path, text: str) -> None:
    assert list(azure_trace(written(tmp_path, text))) == list(
        azure_trace(str(written(tmp_path, AZURE + ROW + LATER, "plain")))
    )


def test_a_mooncake_row_is_a_request_with_named_blocks(tmp_path: Path) -> None:
    later = mooncake_row(timestamp=4500, hash_ids=[])
    assert list(mooncake_trace(written(tmp_path, mooncake_row() + "\n" + later))) == [
        Request(0, 0.0, 600, 5, (0, 7)),
        Request(1, 1.5, 600, 5, ()),
    ]


def test_requests_that_arrive_together_keep_the_order_of_their_rows(tmp_path: Path) -> None:
    workload = azure_trace(written(tmp_path, AZURE + ROW + ROW.replace("374", "9")))
    assert [(request.id, request.prompt_tokens) for request in workload] == [(0, 374), (1, 9)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "trace.csv, line 1: the columns should be TIMESTAMP, ContextTokens, .*, but got an empty file"),
        (AZURE, "trace.csv has no rows of requests; it should have one for each"),
        ("TIMESTAMP,ContextTokens\n", "line 1: .* GeneratedTokens, but got TIMESTAMP, ContextTokens$"),
        (ROW, "line 1: the columns should be TIMESTAMP, .* but got 2023-11-16 18:15:46.6805900, 374, 44"),
        (
            AZURE + ROW + ROW.replace(",44", ",0"),
            "line 3: GeneratedTokens should be a whole number .* least 1, but got 0;",
        ),
        (AZURE + ROW.replace("374", "-374"), "line 2: ContextTokens should be .*, but got -374"),
        (AZURE + ROW.replace("374", "many"), "line 2: ContextTokens should be .*, but got 'many'"),
        (AZURE + ROW.replace("374", "37.5"), "line 2: ContextTokens should be .*, but got '37.5'"),
        (AZURE + ROW.replace("374", "9" * 5000), "line 2: ContextTokens should be .*, but got '999"),
        (AZURE + ROW.replace(",44", ""), "line 2: GeneratedTokens should be .*, but got None"),
        (AZURE + ROW.replace("2023-11-16 ", ""), "line 2: TIMESTAMP should be a time such as .*, but got '18:15:46"),
        (AZURE + LATER + ROW, "line 3: its time is 4.31458 s before that of the row above; sort the rows"),
        (AZURE + ROW + LATER.replace(",396", "Z,396"), "line 3: .* only some rows have a time zone"),
        (AZURE + '"2023\n', "trace.csv, line 2: it is not comma-separated text"),
        (b"\x1f\x8b\x08\x00", "trace.csv is not text in UTF-8; unpack it first"),
    ],
)
def test_an_azure_file_that_makes_no_sense_is_refused_with_its_line(
    tmp_path: Path, text: str | bytes, words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        azure_trace(written(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "trace.jsonl has no rows of requests"),
        (mooncake_row() + '{"timestamp": 1', "trace.jsonl, line 2: it should be one JSON object, but is not JSON"),
        ("[" * 100_000, "line 1: it should be one JSON object, but is not JSON"),
        ("[1, 2]", "line 1: it should be an object with timestamp, .*, but got \\[1, 2\\]"),
        (mooncake_row(hash_ids=...), "line 1: it should be an object with timestamp, .*hash_ids, but got"),
        (mooncake_row(output_length=0), "line 1: output_length should be .*, but got 0"),
        (mooncake_row(input_length=2.0), "line 1: input_length should be .*, but got 2.0"),
        (mooncake_row(input_length=True), "line 1: input_length should be .*, but got True"),
        (mooncake_row(input_length=10**10), "line 1: input_length should be .*, but got 10000000000"),
        (mooncake_row(timestamp="now"), "line 1: timestamp should be a number of milliseconds, but got 'now'"),
        (mooncake_row(timestamp=NAN), "line 1: timestamp should be a number of milliseconds, but got nan"),
        (mooncake_row(timestamp=10**400), "line 1: timestamp should be a number of milliseconds, but got 1000"),
        (mooncake_row(hash_ids=["a"]), "line 1: hash_ids should be a list of whole numbers, but got \\['a'\\]"),
        (mooncake_row() + mooncake_row(timestamp=0), "line 2: its time is 3 s before that of the row above"),
    ],
)
def test_a_mooncake_file_that_makes_no_sense_is_refused_with_its_line(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        mooncake_trace(written(tmp_path, text, "trace.jsonl"))


@pytest.mark.parametrize("read", [azure_trace, mooncake_trace])
def test_a_trace_that_is_not_there_is_named(tmp_path: Path, read: Callable[[Any], Workload]) -> None:
    for path in (tmp_path / "none.csv", tmp_path):
        with pytest.raises(FileNotFoundError, match=f"there is no trace at {path}; give the path of a file"):
            read(path)
    with pytest.raises(TypeError, match="path is where the trace lies, a text or a Path, but got 5"):
        read(5)


# Arrivals


@given(st.integers(1, 200), st.floats(1e-6, 1e6), st.floats(0.05, 20), st.integers(0, 2**70))
def test_arrivals_rise_from_0_and_a_longer_series_begins_with_the_shorter(
    n: int, rate: float, burstiness: float, seed: int
) -> None:
    for arrivals, longer in (
        (poisson_arrivals(n, rate, seed), poisson_arrivals(n + 10, rate, seed)),
        (bursty_arrivals(n, rate, burstiness, seed), bursty_arrivals(n + 10, rate, burstiness, seed)),
    ):
        assert arrivals.shape == (n,)
        assert arrivals[0] == 0
        assert (np.diff(arrivals) >= 0).all()
        assert (longer[:n] == arrivals).all()


@given(st.integers(1, 50), st.floats(1e-3, 1e3), st.integers(0, 9))
def test_twice_the_rate_halves_the_times(n: int, rate: float, seed: int) -> None:
    assert poisson_arrivals(n, 2 * rate, seed) == pytest.approx(poisson_arrivals(n, rate, seed) / 2)


@pytest.mark.parametrize(("burstiness", "variation"), [(None, 1), (1, 1), (0.25, 2), (4, 0.5)])
def test_gaps_have_the_mean_and_the_variation_that_are_asked_for(burstiness: float | None, variation: float) -> None:
    n = 40_001
    arrivals = poisson_arrivals(n, 5.0) if burstiness is None else bursty_arrivals(n, 5.0, burstiness)
    gaps = np.diff(arrivals)
    assert gaps.mean() == pytest.approx(0.2, rel=5 * variation / math.sqrt(n))  # five standard errors
    assert gaps.std() / gaps.mean() == pytest.approx(variation, rel=0.05)


def test_the_first_arrivals_of_seed_0_are_these_on_every_platform() -> None:
    assert poisson_arrivals(4, 1.0) == pytest.approx([0, 1.013247, 1.327666, 1.369502], abs=1e-6)
    assert bursty_arrivals(4, 1.0, 0.25) == pytest.approx([0, 0.658435, 0.658447, 2.493096], abs=1e-6)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"n": 0}, "n is the number of requests that arrive and must be at least 1, but got 0"),
        ({"rate_per_s": 0}, "rate_per_s is the requests that arrive in a second, on average and must be above 0"),
        ({"rate_per_s": NAN}, "rate_per_s is .*, but got NaN"),
        ({"rate_per_s": 5e-324}, "rate_per_s is 4.94066e-324, so low that the last request"),
        ({"burstiness": 0}, "burstiness is the shape of the gaps' gamma distribution and must be above 0"),
        ({"burstiness": INF}, "burstiness is .* must be finite"),
        ({"seed": -1}, "seed is the seed of the random numbers and must be at least 0, but got -1"),
        ({"seed": None}, "seed is .*, a whole number"),
    ],
)
def test_arrivals_that_make_no_sense_are_refused(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        bursty_arrivals(**{"n": 100, "rate_per_s": 1.0, "burstiness": 0.5, **arguments})
    if "burstiness" not in arguments:
        with pytest.raises((TypeError, ValueError), match=words):
            poisson_arrivals(**{"n": 100, "rate_per_s": 1.0, **arguments})


# The synthetic workload

UNIFORM = (np.arange(1_000_000) + 0.5) / 1_000_000


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("side", ["prompt", "output"])
def test_the_drawn_distribution_has_the_published_quantiles_and_mean(kind: str, side: str) -> None:
    lengths: LengthStatistics = getattr(PUBLISHED[kind], side)
    drawn = drawn_lengths(lengths, UNIFORM)
    assert drawn.mean() == pytest.approx(lengths.mean, rel=1e-3)
    quantiles = np.quantile(drawn, (0, 0.5, 0.9, 0.95, 0.99, 1), method="inverted_cdf")
    assert quantiles == pytest.approx(np.array(lengths.quantiles), abs=1)
    assert (np.diff(drawn) >= 0).all()
    assert drawn_lengths(lengths, np.array([0.0, 0.5, 0.9])).tolist() == [lengths.min, lengths.p50, lengths.p90]


PINNED = {
    "conversation": (5.5029, (1155.64, 2, 1015, 2735, 3967, 4140, 13930), (209.27, 7, 128, 424, 459, 640, 999)),
    "code": (2.5574, (2041.35, 3, 1464, 5195, 7175, 7433, 7437), (27.58, 6, 13, 55, 90, 252, 1890)),
}
PINNED_SHARES = {
    "conversation": ((38.81, 27.32, 15.63), 99.44),
    "code": ((40.37, 32.62, 25.64), 99.64),
}


@pytest.mark.parametrize("kind", KINDS)
def test_twenty_thousand_synthetic_requests_have_these_figures(kind: str) -> None:
    workload = synthetic_workload(20_000, kind=kind)
    found = statistics(workload)
    rate, prompt, output = PINNED[kind]
    assert found.rate_per_s == pytest.approx(rate, abs=5e-5)
    for lengths, (mean, *quantiles) in ((found.prompt, prompt), (found.output, output)):
        assert lengths.mean == pytest.approx(mean, abs=5e-3)
        assert list(lengths.quantiles) == quantiles
    reserved, paged = PINNED_SHARES[kind]
    assert [100 * used_share(workload, n) for n in (2048, 4096, 8192)] == pytest.approx(reserved, abs=5e-3)
    assert 100 * used_share_paged(workload, 16) == pytest.approx(paged, abs=5e-3)


@given(st.integers(1, 60), st.sampled_from(KINDS), st.integers(0, 2**40))
def test_a_seed_fixes_the_lengths_whatever_the_arrivals(n: int, kind: str, seed: int) -> None:
    poisson, bursty, at_once, longer = (
        synthetic_workload(n, kind=kind, seed=seed),
        synthetic_workload(n, kind=kind, seed=seed, arrivals="bursty"),
        synthetic_workload(n, kind=kind, seed=seed, arrivals="at once"),
        synthetic_workload(n + 5, kind=kind, seed=seed),
    )
    assert list(longer[:n]) == list(poisson) == list(synthetic_workload(n, kind=kind, seed=seed))
    assert list(poisson.at_once()) == list(at_once) == list(bursty.at_once())
    rate = PUBLISHED[kind].rate_per_s
    assert poisson.arrivals_s.tolist() == poisson_arrivals(n, rate, seed).tolist()
    assert bursty.arrivals_s.tolist() == bursty_arrivals(n, rate, 0.25, seed).tolist()
    assert [request.id for request in poisson] == list(range(n))


def test_another_seed_is_another_workload() -> None:
    assert list(synthetic_workload(5, seed=1)) != list(synthetic_workload(5))


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_published_row_has_a_source_a_licence_and_lengths_that_rise(name: str) -> None:
    row = PUBLISHED[name]
    assert row.source
    assert row.licence == "CC-BY 4.0"
    assert date.fromisoformat(row.date) <= date(2026, 11, 30)
    for lengths in (row.prompt, row.output):
        assert list(lengths.quantiles) == sorted(lengths.quantiles)
        assert lengths.min < lengths.mean < lengths.max


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"requests": 0}, "requests is the number of requests and must be at least 1"),
        ({"requests": 2.5}, "requests is the number of requests, a whole number, but got 2.5"),
        ({"kind": "chat"}, "there is no workload 'chat'; the nearest are .*'code'"),
        ({"kind": None}, "a workload is named by text such as 'conversation', but got None"),
        ({"arrivals": "steady"}, "arrivals is one of 'poisson', 'bursty', 'at once', but got 'steady'"),
        ({"rate_per_s": -1}, "rate_per_s is .* must be above 0, but got -1"),
        ({"rate_per_s": 1, "arrivals": "at once"}, "rate_per_s has no meaning where all requests arrive at once"),
        ({"burstiness": 2}, "burstiness shapes arrivals that are 'bursty', but they are 'poisson'"),
        ({"burstiness": -2, "arrivals": "bursty"}, "burstiness is .* must be above 0, but got -2"),
        ({"seed": -1}, "seed is the seed of the random numbers and must be at least 0"),
    ],
)
def test_a_workload_that_makes_no_sense_is_refused(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        synthetic_workload(**{"requests": 10, **arguments})


# Workloads and their statistics


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (([1], 0.0, 1, 1), r"id names the request, by a number or a text, but got \[1\], which cannot be looked up"),
        ((np.array([1]), 0.0, 1, 1), "id names the request, .* cannot be looked up"),
        ((0, 0.0, 1, 1, 7), "prompt_blocks names the blocks of the prompt in order, but got 7"),
        ((0, 0.0, 1, 1, "seven"), "prompt_blocks names the blocks of the prompt in order, but got 'seven'"),
        ((0, "0", 1, 1), "arrival_s is the time of arrival in seconds, 0 or later, but got '0'"),
        ((0, 10**400, 1, 1), "arrival_s is the time of arrival in seconds, 0 or later, but got 1000"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused_when_it_is_made(row: tuple[Any, ...], words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        Request(*row)


def test_a_request_keeps_python_s_own_numbers() -> None:
    one = Request(np.int16(3), np.float32(0.5), np.uint8(200), np.int64(100), [1, 2])  # type: ignore[arg-type]
    assert one == Request(3, 0.5, 200, 100, (1, 2))
    kept = one.id, one.arrival_s, one.prompt_tokens, one.output_tokens, one.prompt_blocks, one.tokens
    assert [type(value) for value in kept] == [int, float, int, int, tuple, int]
    assert hash(one) == hash(Request(3, 0.5, 200, 100, (1, 2)))


SMALL = Workload([Request(i, i / 2, tokens, 2) for i, tokens in enumerate((10, 20, 30, 40, 1000))], "small")


def test_statistics_are_lengths_that_occur() -> None:
    found = statistics(SMALL)
    assert found.prompt == LengthStatistics(220.0, 10, 30, 1000, 1000, 1000, 1000)
    assert found.output == LengthStatistics(2.0, 2, 2, 2, 2, 2, 2)
    assert found.rate_per_s == 2
    assert found.explain().splitlines() == [
        "small: 5 requests, 2.00 a second",
        "tokens   mean  min  p50    p90    p95    p99    max",
        "prompt  220.0   10   30  1,000  1,000  1,000  1,000",
        "output    2.0    2    2      2      2      2      2",
    ]


def test_requests_that_come_at_once_have_no_rate() -> None:
    for workload in (SMALL.at_once(), SMALL[:1]):
        assert statistics(workload).rate_per_s == INF
        assert "all at once\n" in statistics(workload).explain()


def test_at_once_and_scaled_change_the_arrivals_alone() -> None:
    assert SMALL.at_once().arrivals_s.tolist() == [0] * 5
    assert SMALL.scaled(2).arrivals_s.tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert statistics(SMALL.scaled(0.5)).rate_per_s == 1
    for changed in (SMALL.at_once(), SMALL.scaled(2)):
        assert changed.prompt_tokens.tolist() == SMALL.prompt_tokens.tolist()
        assert changed.name.startswith("small, ")
    assert SMALL.arrivals_s.tolist() == [0, 0.5, 1, 1.5, 2]
    with pytest.raises(ValueError, match="rate_factor is how many times as fast .* must be above 0, but got 0"):
        SMALL.scaled(0)


def test_a_workload_out_of_order_and_lengths_of_no_model_are_refused() -> None:
    with pytest.raises(
        ValueError, match="in the order of arrival, but request 4 comes at 1 s, before request 3 at 2 s"
    ):
        Workload([Request(3, 2.0, 1, 1), Request(4, 1.0, 1, 1)], "back")
    with pytest.raises(
        ValueError, match="prompt_tokens is the number of tokens in the prompt, but 10000000000 is more"
    ):
        Request(0, 0.0, 10**10, 1)


# The used share of the memory that is held


def used_step_by_step(workload: Workload, held: Callable[[int], int], max_len: int) -> float:
    """The slow specification: every step of every request."""
    used = reserved = 0
    for request in workload:
        if request.tokens <= max_len:
            for k in range(1, request.output_tokens):
                used += request.prompt_tokens + k
                reserved += held(request.prompt_tokens + k)
    return used / reserved


@given(st.lists(requests, min_size=1), st.integers(1, 40), st.integers(20, 300))
def test_the_formulas_add_up_what_a_loop_over_all_steps_does(drawn: list[Request], block_size: int, limit: int) -> None:
    workload = Workload([*drawn, Request(0, 0.0, 10, 5)], "drawn")
    assert used_share(workload, limit) == pytest.approx(used_step_by_step(workload, lambda _: limit, limit))
    paged = used_step_by_step(workload, lambda tokens: -(-tokens // block_size) * block_size, limit)
    assert used_share_paged(workload, block_size, limit) == pytest.approx(paged)
    assert used_share_paged(workload, block_size) <= used_share_paged(workload, 1) == 1
    assert 0 < used_share(workload, limit) < 1


def test_a_request_s_last_token_never_enters_the_cache() -> None:
    """Prompt 3, output 3: after its two steps of decoding the cache holds 4 and 5 tokens."""
    one = Workload([Request(0, 0.0, 3, 3)], "one")
    assert used_share(one, 6) == (4 + 5) / 12
    assert used_share_paged(one, 4) == (4 + 5) / (4 + 8)
    assert one[0].cached_tokens == 5


def test_the_longest_lengths_that_are_taken_do_not_overflow() -> None:
    longest = Workload([Request(i, 0.0, 10**9, 10**9) for i in range(20)], "longest")
    assert used_share_paged(longest, 1) == 1
    assert used_share_paged(longest, 10**9) == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: used_share(SMALL, 0), "max_len is the number of tokens that each request reserves .* at least 1"),
        (lambda: used_share(SMALL, None), "max_len is .*, a whole number"),  # type: ignore[arg-type]
        (lambda: used_share(SMALL, 11), "small has no request of at most max_len 11 tokens with 2 or more"),
        (lambda: used_share_paged(SMALL[:0]), "small has no request with 2 or more tokens of output"),
        (lambda: used_share_paged(SMALL, 0), "block_size is the number of tokens in a block and must be at least 1"),
        (lambda: used_share_paged(SMALL, 16, 0), "max_len is the number of tokens that a request may have"),
        (lambda: used_share([], 16), "workload is a Workload, such as .*, but got \\[\\]"),  # type: ignore[arg-type]
        (lambda: statistics([]), "workload is a Workload, such as .*, but got \\[\\]"),  # type: ignore[arg-type]
        (lambda: statistics(SMALL[:0]), "small has no requests, so its lengths have no mean"),
    ],
)
def test_questions_without_an_answer_are_refused(call: Callable[[], Any], words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        call()
