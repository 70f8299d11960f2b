"""The quantization lab from the learner's chair: what is written is named, what is measured is the learner's own."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from grader.answer_key import KEY, grade
from grader.course import read_notebook
from grader.selftest.as_run import run_cell
from grader.selftest.kernel_session import kernel
from llmserving.exercises import EXERCISES, collect
from llmserving.exercises.lab_matmul import matmul_fields
from llmserving.exercises.read_recording import checked_fields
from llmserving.quantization import MatmulTiming

Run = Callable[[str], dict[str, Any]]

NOTEBOOK = Path(__file__).parents[2] / "notebooks/L3/lab_quantization.ipynb"
RANGE = "def step_and_zero(low, high, bits):\n"
CODES = "def to_codes(x, scale, zero_point, bits):\n    import numpy as np\n"
VALUES = "def to_values(codes, scale, zero_point):\n    return scale * (codes - zero_point)"


def parts_of(source: str, exercise_id: str = "LAB3B.1") -> dict[str, Any]:
    from grader.answer_key import inputs

    return dict(grade({exercise_id: collect(exercise_id, run_cell(source), inputs(exercise_id))})[exercise_id].parts)


def test_each_of_the_three_functions_is_judged_by_itself() -> None:
    told = parts_of(f"{RANGE}    return (high - low) / 2**bits, 0\n\n{CODES}    return np.trunc(x / scale)\n\n{VALUES}")
    assert (told["to_values"].state, told["step_and_zero"].score, told["to_codes"].score) == ("right", 0, 0)


def test_a_code_that_wraps_as_uint8_does_is_told_to_clip() -> None:
    body = "    return (np.rint(x / scale) + zero_point).astype(np.int64) & (2**bits - 1)"
    told = parts_of(f"{RANGE}    return 1\n\n{CODES}{body}\n\n{VALUES}")["to_codes"]
    assert (told.score, told.diagnoses) == (1, ("wrapped_around",))
    assert told.message.startswith("Right: inside. Not yet: beyond. Codes that do not fit wrap around")


def test_a_range_on_one_side_of_0_costs_its_group_alone() -> None:
    told = parts_of(
        f"{RANGE}    s = (high - low) / (2**bits - 1)\n    return s, round(-low / s)\n\n{CODES}\n\n{VALUES}"
    )
    assert (told["step_and_zero"].score, told["step_and_zero"].diagnoses) == (1, ("range_without_zero",))


def test_a_reshape_that_runs_on_into_the_next_row_is_named() -> None:
    body = """def round_trip(weight, bits, group_size=None):
    import numpy as np
    flat, back = weight.ravel(), []
    for group in np.split(flat, range(group_size or flat.size, flat.size, group_size or flat.size)):
        low, high = min(group.min(), 0), max(group.max(), 0)
        s = (high - low) / (2**bits - 1)
        z = np.rint(-low / s)
        back.append((np.clip(np.rint(group / s) + z, 0, 2**bits - 1) - z) * s)
    return np.concatenate(back).reshape(weight.shape)"""
    [told] = parts_of(body, "LAB3B.2").values()
    assert (told.score, told.diagnoses) == (3, ("across_rows",))


def test_of_long_results_that_begin_alike_the_first_place_where_they_part_is_told() -> None:
    body = """def round_trip(weight, bits, group_size=None):
    import numpy as np
    size, back = group_size or weight.size, np.zeros(weight.shape)
    parts = [np.s_[:]] if group_size is None else [
        np.s_[row, start:start + size] for row in range(len(weight)) for start in range(0, weight.shape[1] - size + 1, size)
    ]
    for part in parts:
        low, high = min(weight[part].min(), 0), max(weight[part].max(), 0)
        s = (high - low) / (2**bits - 1)
        z = np.rint(-low / s)
        back[part] = (np.clip(np.rint(weight[part] / s) + z, 0, 2**bits - 1) - z) * s
    return back"""
    [told] = parts_of(body, "LAB3B.2").values()
    assert told.score == 3
    assert "gave `0.0` in the place `[0][6]` of its result, and `0.09" in told.message


def test_the_library_s_quantizer_is_not_the_learner_s() -> None:
    body = "from llmserving.quantization import quantize_tensor\n\ndef round_trip(weight, bits, group_size=None):\n"
    [told] = parts_of(
        f"{body}    return quantize_tensor(weight, bits, group_size=group_size).dequantize()", "LAB3B.2"
    ).values()
    assert told.diagnoses == ("library_call",)


def timing(kernel: str, rows: int, *seconds: float) -> MatmulTiming:
    return MatmulTiming(kernel, rows, 1, seconds)


def test_of_two_kernels_of_a_kind_the_better_is_recorded_at_each_m() -> None:
    timings = [
        timing(kernel, rows, *(base * rows * factor for factor in (1.0, 1.1, 0.9)))
        for kernel, base in (("float32", 4e-6), ("bfloat16", 3e-6), ("W8A8", 2e-6), ("W4A16, expanded first", 9e-6))
        for rows in (1, 512)
    ]
    timings += [
        timing("W4A16, torch's kernel", 1, 1e-6, 1.2e-6, 1.1e-6),
        timing("W4A16, torch's kernel", 512, 1.0, 1.1, 0.9),
    ]
    fields = matmul_fields(timings)
    assert fields["w4a16_one_s"] == [1e-6, 1.2e-6, 1.1e-6]
    assert fields["w4a16_many_s"][0] == pytest.approx(9e-6 * 512)
    assert checked_fields(EXERCISES["LAB3B.6"].part_by_name["measured"], fields) == (fields, [])


def test_a_machine_on_which_nothing_was_gained_is_as_right_as_any() -> None:
    key = KEY["LAB3B.6"].parts["measured"]
    slow = {name: [0.1 if "one" in name else 0.5, 0.11 if "one" in name else 0.52, 0.12] for name in key.example}  # type: ignore[union-attr]
    slow = {name: [time * (1 + place / 100) for time in times] for place, (name, times) in enumerate(slow.items())}
    assert not [slip.name for slip in key.misconceptions if slip.holds(slow)]  # type: ignore[union-attr]


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    with kernel() as run:
        yield run


def shown(run: Run, cell_id: str) -> dict[str, Any]:
    [cell] = [cell for cell in read_notebook(NOTEBOOK).cells if cell.id == cell_id]
    return run(cell.source)


def words(found: dict[str, Any]) -> str:
    assert "error" not in found, found
    card = html.unescape(re.sub(r"<[^>]+>", " ", found.get("text/html", found.get("text/plain", ""))))
    return f"{found.get('stdout', '')}{card}"


@pytest.mark.slow
def test_nothing_is_measured_before_it_was_foretold_and_then_by_the_learner_s_own_quantizer(run: Run) -> None:
    first = "Record your prediction first"
    assert first in words(shown(run, "measure-model"))
    assert "nothing was recorded" in words(shown(run, "foretell-model"))
    assert first in words(shown(run, "measure-model")), "whoever runs all cells has foretold nothing"
    run('from llmserving import record\n\nrecord("L3.lab.model.predicted", one_step=5, groups=1.2)')
    assert shown(run, "measure-model")["error"] == "NameError: name 'round_trip' is not defined", "before it measures"
    run('def round_trip(weight, bits, group_size=None):\n    raise NotImplementedError("LAB3B.2: the round trip")')
    told = words(shown(run, "measure-model"))
    assert told.strip() == "round_trip is not written yet: LAB3B.2: the round trip."
    for exercise_id in ("LAB3B.1", "LAB3B.2"):
        shown(run, f"{exercise_id.lower().replace('.', '-')}-answer")
    assert "L3.lab.model · recorded" in words(shown(run, "measure-model"))
    told = words(run("from llmserving import check\n\ncheck('LAB3B.3')"))
    assert "this exercise" not in told
    assert "measured_before_predicted" not in told
