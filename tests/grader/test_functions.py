"""A learner's function, from the cell to the sentence: named mistakes, points by group, and nothing trusted in the data."""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

import pytest
from grader.answer_key import KEY, Key, grade, inputs
from grader.answer_key.functions import _text_for_a_number, same_outcome
from grader.answer_key.key import THREE_FIGURES
from grader.answer_key.lab_keys import FunctionKey
from grader.selftest.as_run import run_cell
from hypothesis import given
from hypothesis import strategies as st
from llmserving.exercises import EXERCISES, collect
from llmserving.exercises.exercise import Probe
from llmserving.exercises.verdict import PartVerdict

HEAD = "def kv_bytes_per_token(layers, query_heads, kv_heads, head_dim, bits, latent_dim=None):\n"
RIGHT = "    return layers * (latent_dim or 2 * kv_heads * head_dim) * bits // 8"


def data_of(body: str, before: str = "", learner: str = "default", secret: str | None = None) -> dict[str, Any]:
    return collect("LAB2.1", run_cell(f"{before}\n{HEAD}{body}"), inputs("LAB2.1", learner, secret))


def verdict_on(body: str, before: str = "") -> PartVerdict:
    [part] = grade({"LAB2.1": data_of(body, before)})["LAB2.1"].parts.values()
    return part


def test_right_is_right_for_every_learner_and_class() -> None:
    for learner in ("default", "ada", "grace"):
        for secret in (None, "of the class"):
            data = {"LAB2.1": data_of(RIGHT, learner=learner, secret=secret)}
            assert grade(data, learner, secret)["LAB2.1"].score == 4


def test_hidden_inputs_are_the_learner_s_and_the_class_s_own() -> None:
    drawn = [str(inputs("LAB2.1", learner, secret)) for learner in ("ada", "grace") for secret in (None, "a", "b")]
    assert len(set(drawn)) == 6
    assert inputs("LAB2.1", "ada", "a") == inputs("LAB2.1", "ada", "a")
    assert inputs("L2.1", "ada") is None


def test_results_for_other_inputs_than_asked_are_malformed() -> None:
    for learner, secret in (("grace", "a"), ("ada", "b"), ("ada", None)):
        verdict = grade({"LAB2.1": data_of(RIGHT, learner=learner, secret=secret)}, "ada", "a")["LAB2.1"]
        assert (verdict.score, verdict.parts["kv_bytes_per_token"].state) == (0, "unreadable")


def test_a_group_that_holds_earns_its_points_and_the_others_are_named() -> None:
    part = verdict_on("    return layers * 2 * kv_heads * head_dim * bits / 8")
    assert (part.score, part.state, part.diagnoses) == (3, "partly", ("latent_ignored",))
    assert part.message.startswith(
        "Right: multi-head, grouped-query, multi-query. Not yet: latent. That caches keys and values"
    )


def test_two_mistakes_in_two_groups_are_both_named() -> None:
    part = verdict_on("    return layers * (2 * latent_dim if latent_dim else 2 * query_heads * head_dim) * bits // 8")
    assert (part.score, part.diagnoses) == (1, ("query_heads_for_kv_heads", "latent_doubled"))


def test_bits_that_are_divided_too_early_are_named() -> None:
    part = verdict_on("    return layers * (latent_dim or 2 * kv_heads * head_dim) * (bits // 8)")
    assert part.diagnoses == ("bits_rounded_down",)
    assert "grouped-query" in part.groups_off


def test_a_mistake_that_is_written_differently_is_the_same_mistake() -> None:
    part = verdict_on(
        "    if latent_dim:\n        return latent_dim * bits / 8 * layers\n"
        "    return sum(query_heads * head_dim * bits / 8 for _ in range(2 * layers))"
    )
    assert part.diagnoses == ("query_heads_for_kv_heads",)


def test_what_no_name_fits_is_shown_with_the_first_input_that_is_off() -> None:
    part = verdict_on("    return 17 + 0 * layers")
    assert (part.score, part.diagnoses) == (0, ())
    assert part.message == (
        "`kv_bytes_per_token(layers=32, query_heads=32, kv_heads=32, head_dim=128, bits=16, latent_dim=None)` gave `17`, and "
        "`524288` is right."
    )


def test_an_input_that_is_hidden_is_shown_without_what_is_right_there() -> None:
    [part] = EXERCISES["LAB2.1"].parts
    public = {tuple(probe.given.values()): None for probe in part.probes}
    body = f"    known = {list(public)}\n    given = (layers, query_heads, kv_heads, head_dim, bits, latent_dim)\n"
    told = verdict_on(f"{body}    if given not in known:\n        return 1\n{RIGHT}")
    hidden = inputs("LAB2.1")["kv_bytes_per_token"][len(part.probes)]  # type: ignore[index]
    right = hidden["layers"] * 2 * hidden["kv_heads"] * hidden["head_dim"] * hidden["bits"] // 8
    assert told.message.endswith("gave `1`, which is not right; due is another whole number.")
    assert f"layers={hidden['layers']}" in told.message
    assert str(right) not in told.message
    assert told.score == 0


@pytest.mark.parametrize(
    ("body", "diagnosis", "said"),
    [
        ("    layers * 2", "stopped", "gave None. A function without `return` gives None"),
        (
            "    return layers / 0",
            "stopped",
            "stopped with ZeroDivisionError: division by zero, in kv_bytes_per_token, line 3",
        ),
        ("    yield layers", "stopped", "gave a generator: `yield` hands out one value after the other"),
        ("    return print", "stopped", "gave a value of type builtin_function_or_method."),
        ("    return 10 ** 1000", "stopped", "gave more than a result of this exercise can be."),
    ],
)
def test_a_call_without_a_result_is_told_why(body: str, diagnosis: str, said: str) -> None:
    part = verdict_on(body)
    assert (part.score, part.diagnoses) == (0, (diagnosis,))
    assert said in part.message


def test_text_in_the_place_of_a_number_is_told_as_text() -> None:
    expression = RIGHT.removeprefix("    return ")
    part = verdict_on(f"    return f'{{{expression}}} bytes'")
    assert (part.score, part.diagnoses) == (0, ("text_for_a_number",)), "so that no hint on the formula follows"
    assert part.message.endswith(
        " gave `'524288 bytes'`: text where a number belongs. Return the number itself, without quotes or a unit."
    )


@pytest.mark.parametrize("text", ["524288", " 1.07 GB", "-.5", "1,024", "1e9 bytes", "4 x"])
def test_a_number_as_text_is_known(text: str) -> None:
    assert _text_for_a_number([1, 2], [1, text])


@pytest.mark.parametrize(
    "text", ["6e85f473d9d9", "two", "", "1-2", "1" * 10**5 + "a1", "1" + "," * 10**5 + "a1", "1" + " " * 10**5 + "1"]
)
def test_another_text_is_no_number_however_long_it_is(text: str) -> None:
    assert not _text_for_a_number(1, text)


def test_half_a_function_gets_its_half_and_is_told_what_stopped() -> None:
    part = verdict_on(f"    if latent_dim:\n        raise NotImplementedError('the latent')\n{RIGHT}")
    assert (part.score, part.diagnoses) == (3, ("stopped",))
    assert "is not written yet: the latent." in part.message


def test_the_library_s_own_function_earns_nothing() -> None:
    part = verdict_on(
        "    return kv_bytes(B=1, S=1, L=layers, d_model=kv_heads * head_dim, p=bits / 8)",
        "from llmserving import kv_bytes",
    )
    assert (part.score, part.diagnoses) == (0, ("library_call",))
    assert part.message.startswith(
        "`kv_bytes_per_token` comes down to `llmserving.kv_bytes`, which is the library's own."
    )


def test_an_answer_given_in_the_call_is_tried_on_the_same_inputs() -> None:
    made = run_cell(HEAD + RIGHT)["kv_bytes_per_token"]
    assert KEY["LAB2.1"].grade(made).score == 4
    assert KEY["LAB2.1"].grade(lambda **given: 0).score == 0


REFUSING = dataclasses.replace(
    EXERCISES["LAB2.1"],
    parts=(
        dataclasses.replace(
            EXERCISES["LAB2.1"].parts[0],
            points=1,
            probes=(Probe("all", {"n": [1, 2]}), Probe("all", {"n": []})),
        ),
    ),
)


def mean(n: list[float]) -> float:
    if not n:
        raise ValueError("there is nothing to take the mean of")
    return sum(n) / len(n)


MEAN = Key(
    REFUSING, {"kv_bytes_per_token": FunctionKey(mean, mean, {"all": 1}, lambda rng: (), (), "One", THREE_FIGURES)}
)


@pytest.fixture
def mean_key(monkeypatch: pytest.MonkeyPatch) -> Key:
    monkeypatch.setitem(KEY, "LAB2.1", MEAN)
    monkeypatch.setitem(EXERCISES, "LAB2.1", REFUSING)
    return MEAN


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return sum(n) / len(n)", "Right."),
        ("assert n\n    return 1.499", "Right."),
        (
            "return sum(n) / len(n) if n else 0",
            "gave a result, and should refuse by raising an error: there is nothing",
        ),
        ("assert n\n    return [1.5]", "gave `[1.5]`, and `1.5` is right."),
        ("n.append(1)\n    return 1.5", "changes its argument `n`, which is the caller's: work on a copy."),
        ("assert n\n    return True", "gave `True`, and `1.5` is right."),
    ],
)
def test_refusals_tolerance_and_changed_arguments(mean_key: Key, body: str, said: str) -> None:
    verdict = mean_key.grade(run_cell(f"def f(n):\n    {body}")["f"])
    assert said in verdict.message
    assert (verdict.score == 1) == (said == "Right.")


NUMBERS = FunctionKey(mean, mean, {}, lambda rng: (), (), "")
STRICT = dataclasses.replace(NUMBERS, same_type=True)


@pytest.mark.parametrize(
    ("expected", "got", "same"),
    [
        (1, 1.0, True), (1, True, False), (0, None, False), (2, 3, False), ("a", "a", True), ([1, [2]], [1.0, [2]], True),
        ([1], [1, 1], False), ([1], 1, False), ({"float": "nan"}, {"float": "nan"}, True), ({"float": "nan"}, 0.0, False),
        ({"dict": [["a", 1], ["b", 2]]}, {"dict": [["b", 2.0], ["a", 1]]}, True), ({"dict": [["a", 1]]}, {"dict": []}, False),
    ],
)  # fmt: skip
def test_equal_is_by_value_and_a_truth_value_is_no_number(expected: Any, got: Any, same: bool) -> None:
    assert same_outcome(NUMBERS, {"returned": expected}, {"returned": got}) is same


def test_a_key_may_tell_a_whole_number_from_a_float() -> None:
    assert not same_outcome(STRICT, {"returned": 1}, {"returned": 1.0})
    assert same_outcome(STRICT, {"returned": [1]}, {"returned": [1]})


def test_groups_that_do_not_make_up_the_points_are_refused() -> None:
    with pytest.raises(ValueError, match="the groups earn 3, and the part has 1 points"):
        Key(REFUSING, {"kv_bytes_per_token": dataclasses.replace(NUMBERS, groups={"all": 3})})
    with pytest.raises(ValueError, match="each group needs a probe that all may see"):
        Key(REFUSING, {"kv_bytes_per_token": dataclasses.replace(NUMBERS, groups={"all": 0.5, "none": 0.5})})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**400), 10**400) | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["returned", "raised", "unreadable", "too_large", "changed", "type", "said", "float", "dict"]
            ),
            inner,
        )
    ),
)


@given(st.data())
def test_bent_results_cost_the_part_and_never_raise(data: st.DataObject) -> None:
    sound = copy.deepcopy(SOUND)
    part = sound["parts"]["kv_bytes_per_token"]
    where = data.draw(st.sampled_from(["call", "calls", "library", "source", "inputs", "kind"]))
    if where == "call":
        part["calls"][data.draw(st.integers(0, len(part["calls"]) - 1))] = data.draw(JSON)
    else:
        part[where] = data.draw(JSON)
    verdict = grade({"LAB2.1": sound})["LAB2.1"]
    assert 0 <= verdict.score <= 4
    assert verdict.message
    assert len(verdict.message) < 4000


SOUND = data_of(RIGHT)
