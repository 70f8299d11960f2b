"""Collect reads whatever a learner's session holds: an answer, or a fault with its own sentence, never an exception."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from llmserving import GB, GiB
from llmserving.exercises import EXERCISES, collect
from llmserving.exercises.collect import data_of_answer
from llmserving.exercises.faults import fault_sentence

SIZE_LIMIT = 2000


def read(raw: Any, variable: str = "L2_1_kv_gb", exercise: str = "L2.1") -> dict[str, Any]:
    data = collect(exercise, {variable: raw})
    part = next(part for part in EXERCISES[exercise].parts if part.variable == variable)
    return dict(data["parts"][part.name])


def sentence(raw: Any, variable: str = "L2_1_kv_gb", exercise: str = "L2.1") -> str:
    found = read(raw, variable, exercise)
    assert found["kind"] == "fault", found
    part = next(part for part in EXERCISES[exercise].parts if part.variable == variable)
    return fault_sentence(part, found)


@pytest.mark.parametrize(
    ("raw", "number", "unit"),
    [
        (1, 1, None),
        (1.07, 1.07, None),
        (np.float64(1.25), 1.25, None),
        (np.float32(1.25), 1.25, None),
        (np.int16(3), 3, None),
        (np.array(1.25), 1.25, None),
        (torch.tensor(1.25), 1.25, None),
        (torch.tensor(3), 3, None),
        (Fraction(5, 4), 1.25, None),
        ("1.07", 1.07, None),
        ("1.07 GB", 1.07, "GB"),
        ("1.07GB", 1.07, "GB"),
        (" 1.07 gb ", 1.07, "GB"),
        ("1 GiB", 1, "GiB"),
        ("1,073,741,824 bytes", GiB, "bytes"),
        ("1_073_741_824 B", GiB, "bytes"),
        ("1.073741824e9 bytes", 1.073741824 * GB, "bytes"),
        ("1 073 741 824 bytes", GiB, "bytes"),
        ("1\u202f073\u00a0741 824", GiB, None),
        ("= 1.07 GB", 1.07, "GB"),
        ("1,07", 1.07, None),
        ("1,07 GB", 1.07, "GB"),
        ("-0,537", -0.537, None),
        ("1,0737e9 bytes", 1.0737e9, "bytes"),
        ("-1", -1, None),
    ],
)
def test_a_size_is_read_from_numbers_and_text(raw: Any, number: float, unit: str | None) -> None:
    found = read(raw)
    assert (found["kind"], found["number"], found["unit"]) == ("value", number, unit)
    assert type(found["number"]) in (int, float)


@pytest.mark.parametrize("raw", ["1_073_741_824", "1,073,741,824", "524,288", "524,288 bytes"])
def test_whole_bytes_may_be_grouped(raw: str) -> None:
    assert read(raw, "EC8_kv_bytes", "EC8")["number"] in (GiB, 524_288)


@pytest.mark.parametrize(
    "raw",
    [
        "4x",
        "4 times",
        "4×",
        "4-fold",
        "x4",
        "× 4",
        "4:1",
        "4 : 1",
        "4 times fewer",
        "4,0",
        "4",
        4,
        "4 times larger",
        "4 times as large",
        "4 times as large as",
        "4 Times more",
        "4 x smaller",
        "4-fold less",
    ],
)
def test_a_ratio_may_say_times(raw: Any) -> None:
    assert read(raw, "L2_3_shrink", "L2.3")["number"] == 4


@pytest.mark.parametrize("raw", ["37 requests", "37 request", "37", 37, 37.0, np.int64(37)])
def test_a_count_may_name_what_it_counts(raw: Any) -> None:
    assert read(raw, "L2_2_requests", "L2.2")["number"] == 37


SHARE, STEP, READ_MS = ("L3_1_blocks_share", "L3.1"), ("L3_2_int8_step", "L3.2"), ("L3_3_read_ms", "L3.3")


@pytest.mark.parametrize(
    ("raw", "number", "place"),
    [
        ("1928/2048", 1928 / 2048, SHARE),
        ("1/16", 1 / 16, SHARE),
        (" 1 / 16 ", 1 / 16, SHARE),
        ("-1/16", -1 / 16, STEP),
        ("1.5/255", 1.5 / 255, STEP),
        ("2e-1/.5", 0.4, STEP),
        ("255/15", 17, ("SC3", "SC3")),
        ("255/15x", 17, ("SC3", "SC3")),
        ("26/2 ms", 13, READ_MS),
        ("128/16 blocks", 8, ("L3_1_blocks", "L3.1")),
        ("26/2 GB", 13, ("L2_1_kv_gb", "L2.1")),
        ("1,048,576/2", 524_288, ("EC8_kv_bytes", "EC8")),
    ],
)
def test_a_fraction_as_text_is_the_number_that_it_stands_for(raw: str, number: float, place: tuple[str, str]) -> None:
    found = read(raw, *place)
    assert (found["kind"], found["number"], found["written"]) == ("value", number, raw.strip())


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ("1/0", "is 1/0, too large to be an answer here: was something divided by zero?"),
        ("0/0", "is NaN, not a number"),
        ("1e300/1e-300", "too large to be an answer"),
        ("9" * 300 + "/1e-9", "too large to be an answer"),
        ("1/2,500", "its comma can be read in two ways"),
        (
            "1/2/3",
            "is the calculation '1/2/3' as text. Write it without quotes, with `*` for times and `**` for powers",
        ),
        ("2*3", "is the calculation '`2*3`' as text"),
        ("2^30", "is the calculation '2^30' as text"),
        ("2³⁰", "is the calculation '2³⁰' as text"),
        ("1.07 x 10^9", "is the calculation '1.07 x 10^9' as text"),
        ("1.07·10⁹ bytes", "is the calculation '1.07·10⁹ bytes' as text"),
        ("1/x", "carries the unit '/x', which does not fit"),
    ],
)
def test_what_is_no_fraction_is_told_why(raw: str, said: str) -> None:
    assert said in sentence(raw, *STEP)


@pytest.mark.parametrize(
    ("raw", "unit"),
    [
        ("12.75 ms", "ms"),
        ("12.75 milliseconds", "ms"),
        ("12.75 s", "s"),
        ("12.75 sec", "s"),
        ("12.75 Seconds", "s"),
        ("12.75 us", "µs"),
        ("12.75 µs", "µs"),
        ("12.75 μs", "µs"),
        ("12.75 msec", "ms"),
        ("12.75 msecs", "ms"),
        ("12.75 usec", "µs"),
        ("12.75 μsec", "µs"),
        ("12.75 nsec", "ns"),
    ],
)
def test_a_time_may_be_in_any_unit_of_time(raw: str, unit: str) -> None:
    found = read(raw, *READ_MS)
    assert (found["number"], found["unit"]) == (12.75, unit)


RIDGE, RATE, KNEE = ("LAB4_2_ridge", "LAB4.2"), ("LAB4_2_rate", "LAB4.2"), ("LAB4_2_knee", "LAB4.2")


@pytest.mark.parametrize(
    ("raw", "place"),
    [
        ("295 FLOP/byte", RIDGE),
        ("295 FLOPs/byte", RIDGE),
        ("295 flops / byte", RIDGE),
        ("295 FLOP per byte", RIDGE),
        ("295 FLOPs a byte", RIDGE),
        ("295 FLOP/B", RIDGE),
        ("295 ops/byte", RIDGE),
        ("295 operations per byte", RIDGE),
        ("295/byte", RIDGE),
        ("295 tokens/s", RATE),
        ("295 tok/s", RATE),
        ("295 toks/sec", RATE),
        ("295/s", RATE),
        ("295 / s", RATE),
        ("295 per second", RATE),
        ("295 tokens per second", RATE),
        ("295 token/sec", RATE),
        ("295 requests", KNEE),
        ("295 reqs", KNEE),
        ("295 request", KNEE),
    ],
)
def test_a_rate_may_name_its_unit_as_people_write_it(raw: str, place: tuple[str, str]) -> None:
    found = read(raw, *place)
    assert (found["kind"], found["number"], found["unit"]) == ("value", 295, None)


@pytest.mark.parametrize(
    ("raw", "place"),
    [
        ("295 byte/FLOP", RIDGE),
        ("295 FLOP", RIDGE),
        ("295 FLOP/s", RIDGE),
        ("295 tokens/ms", RATE),
        ("295 /ms", RATE),
        ("295 tok", RATE),
        ("295 /s", RIDGE),
    ],
)
def test_a_rate_of_something_else_does_not_fit(raw: str, place: tuple[str, str]) -> None:
    assert f"carries the unit '{raw[4:]}', which does not fit" in sentence(raw, *place)


@pytest.mark.parametrize(
    ("raw", "number", "unit", "place"),
    [
        ("1.073.741.824 bytes", GiB, "bytes", ("EC8_kv_bytes", "EC8")),
        ("1.073.741.824", GiB, None, ("EC8_kv_bytes", "EC8")),
        ("-1.000.000,5", -1_000_000.5, None, STEP),
        ("1.07 GB,", 1.07, "GB", ("L2_1_kv_gb", "L2.1")),
        ("1.000,5 GB", 1000.5, "GB", ("L2_1_kv_gb", "L2.1")),
        ("1,000.5 GB", 1000.5, "GB", ("L2_1_kv_gb", "L2.1")),
        ("1.073 GB", 1.073, "GB", ("L2_1_kv_gb", "L2.1")),
        ("±0.05", 0.05, None, STEP),
        ("+/-0.05", 0.05, None, STEP),
        ("± 0,05", 0.05, None, STEP),
        ("+0.05", 0.05, None, STEP),
        ("-0.05", -0.05, None, STEP),
    ],
)
def test_points_and_signs_are_read_as_people_write_them(
    raw: str, number: float, unit: str | None, place: tuple[str, str]
) -> None:
    found = read(raw, *place)
    assert (found["kind"], found["number"], found["unit"], found["written"]) == ("value", number, unit, raw)


@pytest.mark.parametrize(
    "raw", ["1,07-1,08", "1.07 to 1.08", "1.5.2", "26 13", "1 GB - 2 GB", "1.07 ± 0.01 GB", "2, 3"]
)
def test_what_holds_more_than_one_number_is_told_so_whole(raw: str) -> None:
    assert f"is '{raw}', which reads as more than one number. Set it to one number in GB" in sentence(raw)


@pytest.mark.parametrize("raw", ["x", "~", "±", "×", "≈ "])
def test_a_sign_without_a_number_is_quoted(raw: str) -> None:
    assert f"is the text '{raw.strip()}', which does not start with a number" in sentence(raw, "L2_3_shrink", "L2.3")


BYTES, REQUESTS, SIZE, SHRINK = (
    ("EC8_kv_bytes", "EC8"),
    ("L2_2_requests", "L2.2"),
    ("L2_1_kv_gb", "L2.1"),
    ("SC3", "SC3"),
)
GROUPS, DECIMALS = "If a comma groups thousands, leave it out: ", "If that is a decimal comma, write a point: "
EITHER = " If it groups thousands, leave it out: "


@pytest.mark.parametrize(
    ("raw", "place", "said"),
    [
        ((524, 288), BYTES, f"is 524, 288, two numbers to Python. {GROUPS}524288."),
        ((16, 0), REQUESTS, f"is 16, 0, two numbers to Python. {GROUPS}16000."),
        ((1, 500, 0), BYTES, f"is 1, 500, 0, three numbers to Python. {GROUPS}1500000."),
        ((1, 500, 0, 0), SIZE, f"four numbers to Python. {GROUPS}1500000000."),
        ((16, 0), SHRINK, f"{DECIMALS}16.0.{EITHER}16000."),
        ((16, 125), SHRINK, f"{DECIMALS}16.125.{EITHER}16125."),
        ((1, 273), SIZE, f"{DECIMALS}1.273.{EITHER}1273."),
        ((-1, 273), SIZE, f"{DECIMALS}-1.273.{EITHER}-1273."),
        ((16, 12), REQUESTS, f"is 16, 12, two numbers to Python. {DECIMALS}16.12."),
        ((1073, 741), SIZE, f"is 1073, 741, two numbers to Python. {DECIMALS}1073.741."),
    ],
)
def test_a_comma_in_code_is_told_what_it_may_have_meant(
    raw: tuple[int, ...], place: tuple[str, str], said: str
) -> None:
    assert sentence(raw, *place).endswith(said)


@pytest.mark.parametrize("raw", [(1, 2, 3), (6, -5), (1.5, 2), (1,)])
def test_other_tuples_are_tuples(raw: tuple[Any, ...]) -> None:
    assert f"is a tuple of {len(raw)}. Set it to one number in GB" in sentence(raw)


def test_another_unit_than_one_of_time_is_told_the_unit_that_is_asked() -> None:
    told = sentence("12.75 GB", *READ_MS)
    assert told.endswith('Set it to one number in ms, such as 2.5, or text with a unit, such as "2.5 ms".')


def test_a_code_is_asked_for_as_a_whole_number() -> None:
    assert sentence("high", "EC3_code", "EC3").endswith("Set it to one whole number, such as 12.")
    assert read(-7, "EC4_code", "EC4")["number"] == -7


@pytest.mark.parametrize("raw", ["none", "None", "zero", "no tokens", "0", "none."])
def test_a_count_of_none_may_be_said_in_words(raw: str) -> None:
    assert read(raw, "EC1_empty", "EC1")["number"] == 0


def test_other_words_are_no_count() -> None:
    assert "does not start with a number" in sentence("no idea", "EC1_empty", "EC1")
    assert "does not start with a number" in sentence("none", *STEP)


@pytest.mark.parametrize("raw", ["b", "B", " B ", "(b)", "B."])
def test_a_letter_may_be_small_or_bracketed(raw: str) -> None:
    assert read(raw, "SC1", "SC1") == {"kind": "choice", "letter": "B"}


@pytest.mark.parametrize("raw", [False, np.False_, "F", "f", "false", "False"])
def test_false_may_be_a_truth_value(raw: Any) -> None:
    assert read(raw, "TF1_verdict", "TF1") == {"kind": "choice", "letter": "F"}


@pytest.mark.parametrize("raw", ["CAB", "c, a, b", "C -> A -> B", "C→A→B", ["C", "a", "B"], ("c", "a", "b")])
def test_letters_in_order_may_be_text_or_a_list(raw: Any) -> None:
    assert read(raw, "WH1", "WH1") == {"kind": "chain", "letters": ["C", "A", "B"]}


class Hostile:
    """An object whose every look raises."""

    def __repr__(self) -> str:
        raise RuntimeError("no repr")

    def __float__(self) -> float:
        raise RuntimeError("no float")

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("no attribute")


class HostileFloat(float):
    def __repr__(self) -> str:
        raise RuntimeError("no repr")

    def __float__(self) -> float:
        raise RuntimeError("no float")


class TwoFacedInt(int):
    def __float__(self) -> float:
        return 1.0


class HostileCallable(Hostile):
    def __call__(self) -> None: ...


class HostileText(str):
    def strip(self, chars: str | None = None) -> str:
        raise RuntimeError("no strip")


FAULTS: list[tuple[str, Any, str]] = [
    ("three dots", ..., "still holds `...`;"),
    ("three dots as text", "...", "still holds `...`;"),
    ("empty text", "  ", "is empty text;"),
    ("None", None, "is None"),
    ("NaN", math.nan, "is NaN, not a number"),
    ("NaN as text", "nan", "is NaN, not a number"),
    ("infinity", math.inf, "is inf, too large"),
    ("a huge int", 10**400, "too large to be an answer"),
    ("an int too long to write out", 10**5000, "too large to be an answer"),
    ("a huge fraction", Fraction(10**400), "too large to be an answer"),
    ("a huge number as text", "1e999", "is 1e999, too large"),
    ("bool", True, "is True, a truth value"),
    ("numpy bool", np.True_, "is True, a truth value"),
    ("array", np.array([1.07]), "is an array of shape (1,)"),
    ("tensor", torch.ones(2, 3), "is an array of shape (2, 3)"),
    ("list", [1.07], "is a list of 1"),
    ("dict", {"GB": 1.07}, "is a dict of 1"),
    ("complex", 1 + 2j, "is of type complex"),
    ("numpy complex", np.complex64(1), "is of type complex"),
    ("bytes", b"1.07", "is of type bytes"),
    ("function", lambda: 1.07, "holds the function <lambda>, not an answer"),
    ("builtin", sum, "holds the function sum, not an answer"),
    ("module", math, "holds the module math, not an answer"),
    ("class", dict, "holds the class dict, not an answer"),
    ("words", "about a gigabyte", "is the text 'about a gigabyte', which does not start with a number"),
    ("a comma in code", (6, 5), "is 6, 5, two numbers to Python. If that is a decimal comma, write a point: 6.5."),
    ("a comma that may group", "1,073 MB", "its comma can be read in two ways"),
    ("bits", "8.59 Gb", "carries the unit Gb, which reads as bits"),
    ("bits in full", "8.59 GBit", "carries the unit GBit, which reads as bits"),
    ("bits in small letters", "8.59 gbit", "carries the unit gbit, which reads as bits"),
    ("another unit", "3 apples", "carries the unit 'apples', which does not fit"),
    ("an object that raises", Hostile(), "is of type Hostile"),
    ("a callable that raises", HostileCallable(), "is of type HostileCallable"),
    ("a float that raises", HostileFloat(1.07), "is of type HostileFloat"),
    ("a text that raises", HostileText("1.07"), "is of type HostileText"),
    ("an int that hides its size", TwoFacedInt(10**400), "too large to be an answer"),
]


@pytest.mark.parametrize(("raw", "said"), [case[1:] for case in FAULTS], ids=[case[0] for case in FAULTS])
def test_each_fault_has_its_own_sentence(raw: Any, said: str) -> None:
    told = sentence(raw)
    assert told.startswith("`L2_1_kv_gb` ")
    assert said in told
    assert len(told) < 300


def test_gigabytes_are_no_number_of_requests() -> None:
    told = sentence("37 GB", "L2_2_requests", "L2.2")
    assert "carries the unit 'GB', which does not fit. Set it to one whole number of requests" in told


@pytest.mark.parametrize("raw", ["E", "AB", "()", "1", "ß"])
def test_what_is_no_letter_of_the_list_is_told_the_letters(raw: str) -> None:
    assert "which is not one of the letters ABCD" in sentence(raw, "SC1", "SC1")


@pytest.mark.parametrize("raw", [2, ["B"], 1.5, True])
def test_a_choice_that_is_no_text_is_told_to_use_quotes(raw: Any) -> None:
    assert 'Set it to one letter in quotes, such as "B"' in sentence(raw, "SC1", "SC1")


def test_the_faults_of_a_chain() -> None:
    assert "uses the letter C more than once" in sentence("CAC", "WH1", "WH1")
    assert "'CAX', which holds more than the letters ABCDEFG" in sentence("CAX", "WH1", "WH1")
    assert "'C then A', which holds more than the letters" in sentence("C then A", "WH1", "WH1")
    assert 'letters in order in quotes, such as "CAB"' in sentence(3, "WH1", "WH1")
    assert 'letters in order in quotes, such as "CAB"' in sentence([1, 2], "WH1", "WH1")


@pytest.mark.parametrize(
    ("namespace", "said"),
    [
        ({}, "is not set. Run the answer cell, then this one."),
        ({"l2_1_KV_gb": 1.07}, "is not set, but `l2_1_KV_gb` is."),
        ({"L21_kvgb": 1.07}, "is not set, but `L21_kvgb` is."),
        ({"In": ["", "L2_1_kv_gb = 1.07", "del L2_1_kv_gb"]}, "was named in a cell that ran, but it is not set now"),
        ({"In": "overwritten"}, "is not set. Run the answer cell"),
        ({3: "not a name"}, "is not set. Run the answer cell"),
    ],
)
def test_a_missing_variable_is_misspelt_gone_or_not_run(namespace: Any, said: str) -> None:
    [part] = EXERCISES["L2.1"].parts
    assert said in fault_sentence(part, collect("L2.1", namespace)["parts"]["kv_gb"])


HOSTILE = (Hostile(), HostileCallable(), HostileFloat(2), HostileText("A"))

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.integers(10**300, 10**320) | st.floats() | st.text() | st.binary()
    | st.complex_numbers() | st.fractions() | st.decimals() | st.dates() | st.just(...) | st.functions()
    | st.sampled_from([math, int, print]) | st.sampled_from(range(4)).map(lambda index: HOSTILE[index])
    | st.sampled_from([np.array([]), np.float16(2), np.datetime64("2024-01-01"), torch.tensor([[1]]), np.array(None)])
    | st.from_regex(r"[+-]?[\d,._]{1,12} ?[A-Za-z%×-]{0,5}", fullmatch=True),
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=5,
)  # fmt: skip


@given(st.sampled_from(sorted(EXERCISES)), anything)
def test_any_object_becomes_small_json_and_never_an_exception(exercise_id: str, raw: Any) -> None:
    exercise = EXERCISES[exercise_id]
    data = collect(exercise_id, {part.variable: raw for part in exercise.parts})
    text = json.dumps(data)
    assert json.loads(text) == data
    assert "NaN" not in text
    assert len(text) < SIZE_LIMIT
    for part in exercise.parts:
        found = data["parts"][part.name]
        if found["kind"] == "fault":
            assert len(fault_sentence(part, found)) < 400


def test_collect_asks_for_a_known_id_and_takes_no_inputs() -> None:
    with pytest.raises(KeyError, match="did you mean L2.1"):
        collect("L2.11", {})
    with pytest.raises(ValueError, match="takes no inputs"):
        collect("L2.1", {}, inputs=[1])


@pytest.mark.parametrize(
    ("raw", "number", "unit"),
    [
        (Decimal("1.07"), 1.07, None),
        ("1.07 gigabytes", 1.07, "GB"),
        ("1 gibibyte", 1, "GiB"),
        ("1.07 GB.", 1.07, "GB"),
        ("~1.07", 1.07, None),
        ("≈ 1.07 GB", 1.07, "GB"),
    ],
)
def test_a_size_may_be_written_as_people_write_it(raw: Any, number: float, unit: str | None) -> None:
    read = collect("L2.1", {"L2_1_kv_gb": raw})["parts"]["kv_gb"]
    assert (read["number"], read["unit"]) == (number, unit)


@pytest.mark.parametrize(
    "raw", ["CGEA", "c, g, e, a", "C=>G=>E=>A", "C -> G -> E -> A", "C/G/E/A", ["C", "G", "E", "A"]]
)
def test_a_chain_may_be_written_as_people_write_it(raw: Any) -> None:
    assert collect("WH1", {"WH1": raw})["parts"]["argument"] == {"kind": "chain", "letters": ["C", "G", "E", "A"]}


@pytest.mark.parametrize("raw", ["29 slots", "29 slot", "29 tokens"])
def test_slots_and_tokens_are_counted_alike(raw: str) -> None:
    assert data_of_answer("EC1", raw)["parts"]["empty"]["number"] == 29


def test_a_count_may_have_its_thousands_set_apart_and_a_size_may_not() -> None:
    assert data_of_answer("LAB4.2", {"fit": "1,519"})["parts"]["fit"]["number"] == 1519
    assert data_of_answer("L2.1", "1,074")["parts"]["kv_gb"]["fault"] == "comma"
