"""A cell that names what is not set: a sentence for answers and for the course's calls, and IPython's own trace for the rest."""

from __future__ import annotations

from typing import Any

import pytest
from llmserving.exercises.missing_names import CALLS, said_of_missing

from tests.lib.kernels import kernel_in


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A function that runs a cell in a kernel and gives back what it shows of errors."""
    with kernel_in(tmp_path_factory.mktemp("learn")) as errors_of:
        yield lambda source: [text for _, text in errors_of(source)]


def test_an_answer_that_is_not_set_says_which_cell_sets_it() -> None:
    assert said_of_missing("LAB4_2_knee") == (
        "LAB4_2_knee is not set yet: the answer cell of LAB4.2 sets it.\nRun that cell first, or all above by "
        "Run > Run All Above Selected Cell."
    )
    assert str(said_of_missing("kv_bytes_per_token")).startswith(
        "kv_bytes_per_token is not set yet: the answer cell of LAB2.1"
    )
    assert said_of_missing("anything") is None


def test_in_a_kernel_a_missing_name_is_a_sentence_and_other_errors_stay_as_they_are(kernel: Any) -> None:
    kernel("import llmserving")
    assert kernel("print(LAB4_2_knee)") == [said_of_missing("LAB4_2_knee")]
    assert kernel("hint('L2.1')") == [said_of_missing("hint")]
    assert kernel("1\nprint(nobody_knows_this)") == [
        "nobody_knows_this is not set (line 2 of this cell).\nIf a cell above sets it, run that one first, or all above by "
        "Run > Run All Above Selected Cell."
    ]
    [within] = kernel("def own():\n    return nobody_knows_this\nown()")
    assert within.endswith("name 'nobody_knows_this' is not defined")
    assert "Traceback" in within
    [division] = kernel("1 / 0")
    assert "ZeroDivisionError" in division


def test_after_a_check_the_calls_that_a_card_names_are_there_and_nothing_of_the_learner_s_is_replaced(
    kernel: Any,
) -> None:
    kernel("status = 'mine'\nfrom llmserving import check\ncheck('L2.1')")
    calls = [name for name in CALLS if name != "status"]
    assert kernel(f"assert all(map(callable, [{', '.join(calls)}]))") == []
    assert kernel("assert status == 'mine'") == []
    assert kernel("hint('L2.1'), solution('L2.1')") == []
