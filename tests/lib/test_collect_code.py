"""What a learner's function or class becomes: plain, bounded data of every call and play, whatever the code does."""

from __future__ import annotations

import functools
import json
import math
import sysconfig
from collections.abc import Callable
from typing import Any

import llmserving
import numpy as np
import pytest
import torch
from grader.selftest.as_run import run_cell
from hypothesis import given
from hypothesis import strategies as st
from llmserving.exercises import EXERCISES, collect
from llmserving.exercises.calls import outcomes
from llmserving.exercises.faults import fault_sentence
from llmserving.exercises.plain_values import MOST_ITEMS, is_plain, plain
from llmserving.exercises.verdict_card import recorded
from llmserving.paging import PagedAllocator

SIZE_LIMIT = 100_000
SIX = "layers, query_heads, kv_heads, head_dim, bits, latent_dim=None"


def of_function(body: str, before: str = "", arguments: str = SIX) -> Any:
    """The data of a kv_bytes_per_token with this body."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    names = run_cell(f"{before}\ndef kv_bytes_per_token({arguments}):\n{lines}")
    return collect("LAB2.1", names)["parts"]["kv_bytes_per_token"]


def sentence(exercise_id: str, data: Any) -> str:
    [part] = EXERCISES[exercise_id].parts
    return fault_sentence(part, data)


def test_each_call_is_told_with_its_result() -> None:
    data = of_function("return 2 * layers * kv_heads * head_dim * bits / 8")
    assert (data["kind"], data["library"]) == ("function", None)
    assert data["calls"][0] == {"returned": 524_288.0}
    assert len(data["calls"]) == len(EXERCISES["LAB2.1"].parts[0].probes)
    assert "return 2 * layers" in data["source"]


def test_inputs_that_are_given_take_the_place_of_the_public_ones() -> None:
    names = run_cell("def kv_bytes_per_token(n):\n    return n + 1")
    data = collect("LAB2.1", names, {"kv_bytes_per_token": [{"n": 1}, {"n": 2}]})["parts"]["kv_bytes_per_token"]
    assert data["calls"] == [{"returned": 2}, {"returned": 3}]


@pytest.mark.parametrize(
    "inputs", [[{}], {"another": []}, "kv_bytes_per_token", 7], ids=["list", "other part", "text", "number"]
)
def test_inputs_for_no_part_are_refused(inputs: Any) -> None:
    with pytest.raises(ValueError, match=r"LAB2\.1 takes inputs as a dict by part"):
        collect("LAB2.1", {}, inputs)


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ("return np.int32(7)", {"returned": 7}),
        ("return np.float32(0.5)", {"returned": 0.5}),
        ("return np.array([[1, 2], [3, 4]])", {"returned": [[1, 2], [3, 4]]}),
        ("return torch.tensor([1.5, 2.5])", {"returned": [1.5, 2.5]}),
        ("return True", {"returned": True}),
        ("return (1, 'a', None)", {"returned": [1, "a", None]}),
        ("return {'b': 1}", {"returned": {"dict": [["b", 1]]}}),
        ("return float('nan')", {"returned": {"float": "nan"}}),
        ("return [-math.inf]", {"returned": [{"float": "-inf"}]}),
        ("return 10**500", {"too_large": True}),
        ("return [0] * 10**6", {"too_large": True}),
        ("return np.zeros(10**6)", {"too_large": True}),
        ("x = []\nx.append(x)\nreturn x", {"too_large": True}),
        ("yield 1", {"unreadable": "generator"}),
        ("return kv_bytes_per_token", {"unreadable": "function"}),
        ("return {1, 2}", {"unreadable": "set"}),
        ("return np.array([object()])", {"unreadable": "object"}),
    ],
)
def test_a_result_is_plain_or_said_not_to_be(body: str, outcome: Any) -> None:
    assert of_function(body, "import math\nimport numpy as np\nimport torch")["calls"][0] == outcome


def test_an_error_is_told_with_its_line_in_the_learner_s_cell() -> None:
    call = of_function("share = 1 / (kv_heads - kv_heads)\nreturn share")["calls"][0]
    assert call["raised"]["type"] == "ZeroDivisionError"
    assert call["raised"]["where"] == ", in kv_bytes_per_token, line 3: share = 1 / (kv_heads - kv_heads)"


@pytest.mark.parametrize(
    "how",
    ["raise SystemExit", "exit(3)", "raise GeneratorExit", "raise KeyboardInterrupt", "kv_bytes_per_token(**locals())"],
)
def test_code_that_leaves_or_never_comes_back_is_told_too(how: str) -> None:
    assert "raised" in of_function(how)["calls"][0]


def test_an_interrupt_goes_through_since_nothing_else_ends_a_loop() -> None:
    with pytest.raises(KeyboardInterrupt):
        of_function("signal.raise_signal(signal.SIGINT)", "import signal")


def test_an_interrupt_that_the_learner_s_code_raises_is_an_error_of_its_own() -> None:
    assert of_function("raise KeyboardInterrupt")["calls"][0] == {
        "raised": {
            "type": "KeyboardInterrupt", "said": "", "where": ", in kv_bytes_per_token, line 3: raise KeyboardInterrupt",
        }
    }  # fmt: skip
    made = run_cell(
        "class PagedKV:\n    def __init__(self, num_blocks, block_size):\n        raise KeyboardInterrupt('no')"
    )
    [part] = collect("LAB3A.2", made)["parts"].values()
    assert len(part["plays"]) == len(EXERCISES["LAB3A.2"].parts[0].probes)
    for played in part["plays"]:
        assert (played["broken"]["name"], played["broken"]["operation"]) == ("bug", 0)
        said = "stopped with a bug, KeyboardInterrupt: no, in __init__, line 3: raise KeyboardInterrupt('no')."
        assert played["broken"]["sentence"].endswith(f", 4) {said}")


def test_an_interrupt_that_others_code_raises_goes_through_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel asks for input in Python, and who presses stop there is told by a `raise` of the kernel's."""
    names: dict[str, Any] = {}
    exec(
        compile("def asked():\n    raise KeyboardInterrupt", f"{sysconfig.get_path('purelib')}/kernelbase.py", "exec"),
        names,
    )
    monkeypatch.setattr("builtins.input", names["asked"])
    with pytest.raises(KeyboardInterrupt):
        of_function("return input()")


def test_a_stub_and_a_name_that_is_not_a_function_are_told_apart() -> None:
    [part] = EXERCISES["LAB2.1"].parts
    assert part.stub is not None
    stub = collect("LAB2.1", run_cell(part.stub))["parts"]["kv_bytes_per_token"]
    assert (
        sentence("LAB2.1", stub)
        == "`kv_bytes_per_token` is not written yet; write it in the answer cell, and run that."
    )
    number = collect("LAB2.1", {"kv_bytes_per_token": 7})["parts"]["kv_bytes_per_token"]
    assert "holds a value of type int, not a function" in sentence("LAB2.1", number)
    assert collect("LAB2.1", {})["parts"]["kv_bytes_per_token"]["fault"] == "not_run"
    assert collect("LAB2.1", {"kv_bytes_per_token": ...})["parts"]["kv_bytes_per_token"]["fault"] == "placeholder"


def test_other_arguments_than_asked_are_told_before_any_call() -> None:
    data = of_function("return 1", arguments="model, tokens")
    assert data["fault"] == "signature"
    told = sentence("LAB2.1", data)
    assert "kv_bytes_per_token(layers, query_heads, kv_heads, head_dim, bits, latent_dim)" in told
    assert "missing a required argument: 'model'" in told


def test_every_call_has_arguments_of_its_own_and_a_change_to_them_is_noticed() -> None:
    given: list[dict[str, Any]] = [{"rows": [3, 1], "n": 1}, {"rows": [2], "n": 2}]

    def sorts(rows: list[int], n: int) -> list[int]:
        rows.sort()
        return rows

    assert outcomes(sorts, given) == [{"returned": [1, 3], "changed": ["rows"]}, {"returned": [2]}]
    assert given[0] == {"rows": [3, 1], "n": 1}


def test_an_array_is_handed_over_as_one() -> None:
    def kind(x: Any) -> Any:
        return [str(x.dtype), x.shape[0]]

    given: list[dict[str, Any]] = [{"x": {"array": [1, 2], "dtype": "float32"}}, {"x": {"array": [1.0]}}]
    assert outcomes(kind, given) == [{"returned": ["float32", 2]}, {"returned": ["float64", 1]}]


def test_what_it_prints_is_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    of_function("print('x' * 10**6)\nreturn 1")
    assert capsys.readouterr() == ("", "")


LIBRARY_WAYS = {
    "a from-import": "from llmserving import kv_bytes_per_token as theirs|return theirs('llama-2-13b')",
    "a module": "import llmserving as course|return course.kv_bytes(1, 1, layers, 4, 2)",
    "a module of the package": "import llmserving.kv_cache|return llmserving.kv_cache.kv_bytes(1, 1, layers, 4, 2)",
    "an import inside": "|from llmserving.kv_cache import kv_bytes\nreturn kv_bytes(1, 1, layers, 4, 2)",
    "a module inside": "|import llmserving.kv_cache as k\nreturn k.kv_bytes(1, 1, layers, 4, 2)",
    "a helper": "from llmserving import kv_bytes\ndef help_me(n):\n    return kv_bytes(1, 1, n, 4, 2)|return help_me(layers)",
}


@pytest.mark.parametrize("way", LIBRARY_WAYS)
def test_a_function_that_comes_down_to_the_library_s_is_noticed(way: str) -> None:
    before, body = LIBRARY_WAYS[way].split("|")
    assert str(of_function(body, before)["library"]).startswith("llmserving.kv_bytes")


@pytest.mark.parametrize(
    "made",
    [
        llmserving.kv_bytes_per_token,
        functools.partial(llmserving.kv_bytes, S=1),
        functools.lru_cache(llmserving.kv_bytes),
        run_cell("from llmserving import kv_bytes\nf = lambda **given: kv_bytes(1, 1, 1, 1)")["f"],
    ],
)
def test_the_library_s_own_under_another_name_is_noticed(made: Any) -> None:
    inputs: dict[str, Any] = {"kv_bytes_per_token": [{}]}
    data = collect("LAB2.1", {"kv_bytes_per_token": made}, inputs)["parts"]["kv_bytes_per_token"]
    assert data.get("library", "a fault") is not None


@pytest.mark.parametrize(
    ("before", "body"),
    [
        ("from llmserving import GB, MODELS", "return len(MODELS) * GB"),
        ("def kv_bytes(n):\n    return n", "return kv_bytes(layers)"),
        ("from llmserving import kv_bytes", "return layers  # not kv_bytes"),
        ("", "kv_bytes = layers\nreturn kv_bytes"),
    ],
    ids=["other names", "a function of the learner's own", "a comment", "a variable"],
)
def test_what_is_no_call_of_it_is_not_taken_for_one(before: str, body: str) -> None:
    assert of_function(body, before)["library"] is None


def test_a_class_based_on_the_library_s_or_holding_it_is_noticed() -> None:
    based = "from llmserving import PagedAllocator\nclass PagedKV(PagedAllocator):\n    pass"
    holding = (
        "from llmserving.paging import PagedAllocator\nclass PagedKV:\n    def __init__(self, n, size):\n"
        "        self.inner = PagedAllocator(n, size)\n    def __getattr__(self, name):\n"
        "        return getattr(self.inner, name)"
    )
    for source in (based, holding):
        assert collect("LAB3A.2", run_cell(source))["parts"]["allocator"]["library"] == "llmserving.PagedAllocator"


def test_a_class_that_only_inherits_from_the_library_s_is_not_written_yet() -> None:
    head = "from llmserving.faults import Ash\n"
    for body in ("pass", '"""Mended."""', "..."):
        data = collect("LAB5B.1", run_cell(f"{head}class MendedAsh(Ash):\n    {body}"))["parts"]["mended"]
        told = fault_sentence(EXERCISES["LAB5B.1"].part_by_name["mended"], data)
        assert told.startswith("`MendedAsh` has nothing of its own yet, so it does what Ash does.")
    # Whose own class stands between may have written everything there, and a constant may be what was to be changed.
    for body in (
        "class First(Ash):\n    def free(self, request):\n        pass\n\nclass MendedAsh(First):\n    pass",
        "class MendedAsh(Ash):\n    limit = 3",
    ):
        assert collect("LAB5B.1", run_cell(head + body))["parts"]["mended"]["kind"] == "object"


def test_a_play_is_told_step_by_step_up_to_what_broke_first() -> None:
    data = collect("LAB3A.2", {"PagedKV": PagedAllocator})["parts"]["allocator"]
    assert all(play["broken"] is None for play in data["plays"])
    fork = next(
        event for play in data["plays"] for step in play["steps"] for event in step["events"] if event["kind"] == "fork"
    )
    assert fork["source"] == "a"
    assert (fork["request"], fork["blocks"]) == ("b", [0, 1])
    [part] = EXERCISES["LAB3A.2"].parts
    assert part.stub is not None
    assert collect("LAB3A.2", run_cell(part.stub))["parts"]["allocator"]["fault"] == "stub"
    instance = collect("LAB3A.2", {"PagedKV": PagedAllocator(8, 4)})["parts"]["allocator"]
    assert "not a class" in sentence("LAB3A.2", instance)


def test_half_a_class_is_told_which_method_is_missing() -> None:
    [part] = EXERCISES["LAB3A.2"].parts
    assert part.stub is not None
    names = run_cell(part.stub)

    def allocate(self: Any, request: Any, tokens: list[int]) -> None:
        needed = -(-len(tokens) // self.block_size)
        self.tables[request] = [self.free_blocks.pop(0) for _ in range(needed)]

    names["PagedKV"].allocate = allocate
    broken = collect("LAB3A.2", names)["parts"]["allocator"]["plays"][1]["broken"]
    assert "fork is not written yet: LAB3A.2: fork" in broken["sentence"]


@pytest.mark.parametrize(
    "source",
    [
        "class PagedKV:\n    def __init__(self, n, size):\n        raise SystemExit",
        "class PagedKV:\n    free_blocks = property(lambda self: exit())\n    table = allocate = None",
        "class Meta(type):\n    def __call__(self, *a):\n        raise BaseException\nclass PagedKV(metaclass=Meta):\n    pass",
    ],
)
def test_a_class_that_leaves_the_session_is_told_as_a_bug(source: str) -> None:
    plays = collect("LAB3A.2", run_cell(source))["parts"]["allocator"]["plays"]
    assert {play["broken"]["name"] for play in plays} == {"bug"}


def test_without_a_key_faults_of_form_are_told_and_the_rest_is_recorded() -> None:
    exercise = EXERCISES["LAB2.1"]

    def state(body: str) -> tuple[str, str]:
        data = {"parts": {"kv_bytes_per_token": of_function(body, "from llmserving import kv_bytes")}}
        [part] = recorded(exercise, data).parts.values()
        return part.state, part.message

    assert state("return 1")[0] == "recorded"
    assert state("1")[1].endswith("A function without `return` gives None; is it missing, or on one way through only?")
    assert "stopped with NameError: name 'n' is not defined" in state("return n")[1]
    assert "comes down to `llmserving.kv_bytes`" in state("return kv_bytes(1, 1, 1, 1)")[1]
    allocator = collect("LAB3A.2", run_cell("class PagedKV:\n    pass"))
    [part] = recorded(EXERCISES["LAB3A.2"], allocator).parts.values()
    assert (part.state, "PagedKV(6, 4) cannot be called as the script calls it" in part.message) == (
        "unreadable",
        True,
    )


forgetful = run_cell(
    "def forgetful(**given):\n    for name in list(globals()):\n        del globals()[name]\n    return 1"
)["forgetful"]


async def later(**given: Any) -> int:
    return 1


def spoiled(**given: Any) -> Any:
    for name in list(given):
        given[name] = object()
    raise type("Odd", (Exception,), {"__str__": lambda self: 1 / 0})


class Odd:
    def __call__(self, **given: Any) -> Any:
        return self

    def __getattr__(self, name: str) -> Any:
        raise SystemExit(name)


FUNCTIONS: list[Any] = [
    forgetful, later, spoiled, Odd(), Odd, print, len, np.add, np.vectorize(len), functools.partial(max, 1), math.sqrt,
    torch.nn.Identity(), lambda *a, **k: iter(a), lambda layers: layers, lambda **k: k["nothing"], globals, dict, type, ...,
    None, 7, "f", [],
]  # fmt: skip


@given(st.sampled_from(FUNCTIONS) | st.functions(like=lambda **given: None, returns=st.from_type(object)))
def test_whatever_the_name_holds_there_is_small_json_and_no_exception(made: Callable[..., Any]) -> None:
    for exercise_id, name in (("LAB2.1", "kv_bytes_per_token"), ("LAB3A.2", "PagedKV")):
        data = collect(exercise_id, {name: made})
        text = json.dumps(data, allow_nan=False)
        assert json.loads(text) == data
        assert len(text) < SIZE_LIMIT


JSON_LIKE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text() | st.tuples(st.integers()), inner)
    ),
    max_leaves=30,
)


@given(JSON_LIKE)
def test_a_plain_value_is_json_and_is_known_as_plain(value: Any) -> None:
    found = plain(value)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert is_plain(found)


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        2**4000,
        "x" * 10**5,
        [0] * (MOST_ITEMS + 1),
        {"a": 1},
        {"float": "1"},
        {"dict": [[1]]},
        (1,),
        {"dict": {}},
    ],
    ids=str,
)
def test_what_plain_never_gives_is_not_plain(value: Any) -> None:
    assert not is_plain(value)
    assert not is_plain([value])


def test_a_list_that_is_too_deep_is_not_plain() -> None:
    deep: Any = []
    for _ in range(10_000):
        deep = [deep]
    assert not is_plain(deep)
