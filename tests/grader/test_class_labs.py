"""All seven labs in a class, from outside: released, handed in by three students, graded and reported by the commands."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from grader.answer_key.solutions import reference_inputs, wrong_inputs
from llmserving.exercises import EXERCISES, GROUPS, recordings, session
from llmserving.exercises.draws import DEFAULT_LEARNER

from tests.grader.submissions import Change, command, hand_in, record_beside, small_course

pytestmark = pytest.mark.slow

LEVELS = ("L1", "L2", "L3", "L4", "L5")
LABS = (
    "L1/lab_two_phases",
    "L2/lab_kv_bytes",
    "L3/lab_paging",
    "L3/lab_quantization",
    "L4/lab_planning",
    "L5/lab_clinic",
    "L5/lab_faults",
)
IDS = [name for name, exercise in EXERCISES.items() if exercise.lab]

# Exercise -> the part that is wrong, the mistake that it is, and the points that are left; all else is right.
MISTAKES: dict[str, tuple[str, str, float]] = {
    "LAB1.1": ("read", "weights_for_bytes", 3),
    "LAB1.2": ("tokens_per_s", "seconds_for_rate", 1),
    "LAB1.3": ("reason", "blames_python", 2),
    "LAB1.4": ("side", "phases_swapped", 2),
    "LAB2.1": ("kv_bytes_per_token", "latent_doubled", 3),
    "LAB2.2": ("heads", "group_size", 1),
    "LAB2.3": ("latent", "latent_doubled", 2),
    "LAB2.4": ("shared", "queries_cached", 2),
    "LAB3A.1": ("growing", "never_given_back", 0),
    "LAB3A.2": ("allocator", "written_in_place", 2),
    "LAB3A.3": ("first", "asked_too_late", 0),
    "LAB3A.4": ("names", "key_forgotten", 2),
    "LAB3A.5": ("tail", "worst_case_for_mean", 3),
    "LAB3A.6": ("ratio", "ratio_inverted", 2),
    "LAB3B.1": ("to_codes", "not_clipped", 4),
    "LAB3B.2": ("round_trip", "wrong_axis", 1),
    "LAB3B.3": ("broken", "the_other_scheme", 4),
    "LAB3B.4": ("input_scales", "largest_input", 3),
    "LAB3B.5": ("w8a8_one", "no_gain", 3),
    "LAB3B.6": ("one", "faster_codes", 6),
    "LAB4.1": ("blocks_and_tokens", "gb_for_gib", 0),
    "LAB4.2": ("fit", "rounded_up", 7),
    "LAB4.3": ("grew", "one_pool", 5),
    "LAB4.4": ("budget_gib", "whole_memory", 5),
    "LAB5A.1": ("levers", "pieces_too_long", 5),
    "LAB5A.2": ("levers", "bought_out", 5),
    "LAB5A.3": ("levers", "batching_for_one", 7),  # it keeps one of the two promises, and earns that one's share
    "LAB5B.1": ("mended", "counts_itself", 2),
    "LAB5B.2": ("mended", "now_early", 2),
    "LAB5B.3": ("mended", "still_stale", 2),
    "LAB5B.4": ("mended", "number_only", 2),
    "LAB5B.5": ("mended", "given_back_twice", 3),
}

# Exercise -> what the damaged one wrote there, and what the instructor or the learner reads of it.
DAMAGES = {
    "LAB2.1": (
        "def kv_bytes_per_token(layers, query_heads, kv_heads, head_dim, bits, latent_dim=None):\n    return layers / 0",
        "stopped with ZeroDivisionError: division by zero",
    ),
    "LAB3A.1": (
        "from llmserving.paging import PagedAllocator\n\n\nclass GrowingKV(PagedAllocator):\n    pass",
        "comes down to llmserving.PagedAllocator , which is the library's own",
    ),
    "LAB3A.2": (
        "class PagedKV:\n    def __init__(self, num_blocks, block_size):\n        raise SystemExit('enough')",
        "PagedKV(6, 4) stopped with a bug, SystemExit: enough, in __init__, line",
    ),
    "LAB3A.4": (
        "import os\n\n\ndef block_names(prompts, block_size):\n    os._exit(1)",
        "LAB3A.4: the check calls `block_names`, which ended the kernel, so it counts as 0",
    ),
    "LAB3B.2": ("round_trip = 7", "holds a value of type int, not a function"),
    "LAB4.1": (
        "def blocks_and_tokens(kv_gib, layers, kv_heads, head_dim, bits, gpus, block_size):\n    print('working')",
        "gave None. A function without return gives None",
    ),
    "LAB5A.1": (
        "def clinic_1():\n    return 'faster'",
        "settings are a dict of levers, such as {'max_num_seqs': 32}, but got 'faster'",
    ),
    "LAB5A.2": ("clinic_2(", "LAB5A.2: the answer cell stopped with SyntaxError"),
    "LAB5B.1": (
        "from llmserving.faults import Ash\n\n\nclass MendedAsh(Ash):\n    def free(self, request):\n        raise KeyError",
        "free 'a': it was refused (KeyError), although it needs no block",
    ),
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The class folder, what `grade` said, and the points and the mistakes of `report`: (student, id) -> (points, line)."""
    base = tmp_path_factory.mktemp("labs")
    root, course = base / "class", small_course(base / "course", *LABS)
    assert command("init", str(root), "--notebooks", str(course)).returncode == 0
    assert command("release", *LEVELS, cwd=root).returncode == 0
    assert command("solutions", *LEVELS, cwd=root).returncode == 0
    worked = from_worked_solutions(root / "solutions")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(session.RECORDS_VARIABLE, raising=False)
        patch.setattr(recordings, "_in_memory", [])
        for level in LEVELS:
            labs = [lab for lab in LABS if lab.startswith(level)]
            for student, answers in (("right", worked), ("wrong", with_mistakes()), ("damaged", damaged())):
                changes = {Path(lab).name: answering(answers) for lab in labs}
                folder = hand_in(root, student, level, changes)
                if student != "damaged":
                    record_beside(folder, *(name for name in IDS if EXERCISES[name].notebook in labs))
    told = command("grade", *LEVELS, cwd=root)
    assert told.returncode == 0, told.stdout + told.stderr
    lines = [line for level in LEVELS for line in command("report", level, cwd=root).stdout.splitlines()]
    rows = [re.fullmatch(r"(\w+) +(LAB\S+) +(\S+) of (\S+) +(.*)", line) for line in lines]
    return root, told.stdout, {(row[1], row[2]): (float(row[3]), float(row[4]), row[5]) for row in rows if row}


def answering(answers: Mapping[str, str]) -> Change:
    """answers: exercise -> what stands in its answer cell, below what was given."""

    def change(notebook: Any) -> None:
        for cell in notebook.cells:
            belongs = cell.metadata.get("llmserving", {})
            for name in GROUPS[belongs["exercise"]] if belongs.get("role") == "answer" else ():
                cell.source = f"{cell.source}\n\n{answers.get(name, '')}".rstrip()

    return change


def from_worked_solutions(folder: Path) -> dict[str, str]:
    """What a student would take over from the files that the instructor hands out: numbers and letters in bold, and code."""
    answers = {}
    for level in LEVELS:
        rows = json.loads((folder / level / f"solutions_{level}.json").read_text())["exercises"]
        for name, row in rows.items():
            parts = [(part, row["steps"][part.name]) for part in EXERCISES[name].parts if part.kind != "measurement"]
            answers[name] = "\n".join(taken_over(part, steps) for part, steps in parts)
    return answers


def taken_over(part: Any, steps: str) -> str:
    if part.kind in ("function", "object"):
        return steps.split("```")[1].strip()
    bold = re.findall(r"\*\*(.+?)\*\*", steps)
    return f"{part.variable} = {bold[-1 if part.kind == 'value' else 0]!r}"


def with_mistakes() -> dict[str, str]:
    answers = {}
    for name, (where, mistake, _) in MISTAKES.items():
        exercise = EXERCISES[name]
        made = reference_inputs(exercise, DEFAULT_LEARNER)
        [made[where]] = [
            wrong.written
            for wrong in wrong_inputs(exercise, DEFAULT_LEARNER)
            if (wrong.part, wrong.name) == (where, mistake)
        ]
        answers[name] = "\n".join(
            str(made[part.name]) if part.kind in ("function", "object") else f"{part.variable} = {made[part.name]!r}"
            for part in exercise.parts
            if part.kind != "measurement"
        )
    return answers


def damaged() -> dict[str, str]:
    return {name: source for name, (source, _) in DAMAGES.items()}


def feedback(root: Path, student: str, name: str) -> str:
    """What the learner reads in the notebook of an exercise, without markup."""
    level, notebook = EXERCISES[name].notebook.split("/")
    text = (root / "feedback" / student / level / f"{notebook}.html").read_text()
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text).replace("&#39;", "'").replace("&#x27;", "'"))


def test_the_labs_are_those_of_the_course() -> None:
    assert {EXERCISES[name].notebook for name in IDS} == set(LABS)
    assert set(MISTAKES) == set(IDS)


def test_answers_from_the_worked_solutions_earn_everything(graded: Any) -> None:
    _, _, points = graded
    earned = {name: points["right", name][:2] for name in IDS}
    assert earned == {name: (EXERCISES[name].points, EXERCISES[name].points) for name in IDS}


def test_a_mistake_costs_its_points_and_is_named(graded: Any) -> None:
    _, _, points = graded
    assert {name: points["wrong", name][0] for name in IDS} == {name: MISTAKES[name][2] for name in IDS}
    unnamed = {
        name: points["wrong", name][2] for name in IDS if not points["wrong", name][2].endswith(MISTAKES[name][1])
    }
    assert not unnamed


def test_the_learner_reads_the_sentence_on_the_mistake(graded: Any) -> None:
    root, _, _ = graded
    assert "That counts the latent twice, as if it were a key and a value." in feedback(root, "wrong", "LAB2.1")
    assert "Blocks that nobody else holds never come back" in feedback(root, "wrong", "LAB5B.1")


def test_what_is_damaged_costs_itself_and_is_told(graded: Any) -> None:
    root, said, points = graded
    assert {name: points["damaged", name][0] for name in IDS} == dict.fromkeys(IDS, 0)
    for name, (_, sentence) in DAMAGES.items():
        assert sentence in feedback(root, "damaged", name), name
    assert "damaged  L1  0 of 12" in said
    assert "Needs attention" not in said
