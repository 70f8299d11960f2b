"""A lab from the learner's chair, in a kernel: code in the answer cell, a card below it, and the same verdict in a class."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from grader.selftest.kernel_session import kernel
from llmserving import another, status
from llmserving.exercises import EXERCISES
from nbgrader.api import Gradebook

from tests.grader.submissions import auto_scores, command, hand_in, right, small_course, written

Run = Callable[[str], dict[str, Any]]

HEAD = "def kv_bytes_per_token(layers, query_heads, kv_heads, head_dim, bits, latent_dim=None):\n"


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    with kernel() as run:
        yield run


def card(run: Run, source: str, exercise_id: str = "LAB2.1") -> str:
    run(source)
    shown = run(f'from llmserving import check\n\ncheck("{exercise_id}")')
    assert "error" not in shown, shown
    return html.unescape(re.sub(r"<[^>]+>", " ", shown["text/html"]))


def test_a_stub_is_open_and_not_wrong(run: Run) -> None:
    stub = EXERCISES["LAB2.1"].parts[0].stub
    assert stub is not None
    told = card(run, stub)
    assert "LAB2.1 · not answered yet · 0 of 4 points" in told


def test_a_wrong_function_is_told_its_mistake_and_where_to_reread(run: Run) -> None:
    told = card(run, f"{HEAD}    return layers * 2 * kv_heads * head_dim * bits / 8")
    assert "LAB2.1 · partly right · 3 of 4 points" in told
    assert "The latent is cached in their place. Reread 'One latent'." in told


def test_an_error_is_told_with_the_line_of_the_cell_as_it_stands_there(run: Run) -> None:
    told = card(run, f"{HEAD}    return 2*layers*kv_head*head_dim")
    assert "stopped with NameError: name 'kv_head' is not defined, in kv_bytes_per_token, line 2:" in told
    assert "return 2*layers*kv_head*head_dim" in told


def test_the_library_s_function_is_seen_through_another_cell(run: Run) -> None:
    run("from llmserving import kv_bytes as sizes\n\ndef mine(n):\n    return sizes(1, 1, n, 2)")
    assert "comes down to  llmserving.kv_bytes , which is the library's own" in card(
        run, f"{HEAD}    return mine(layers)"
    )


def test_a_wrong_allocator_is_told_the_operation_and_its_name(run: Run) -> None:
    source = """
class PagedKV:
    def __init__(self, num_blocks, block_size):
        self.free_blocks, self.size, self.held = list(range(num_blocks)), block_size, {}
    def table(self, request):
        return self.held[request][0]
    def allocate(self, request, tokens):
        count = -(-len(tokens) // self.size)
        if request in self.held or count > len(self.free_blocks):
            raise RuntimeError("no")
        self.held[request] = [self.free_blocks.pop() for _ in range(count)], list(tokens)
    def append(self, request, token):
        blocks, tokens = self.held[request]
        if len(tokens) % self.size == 0:
            if not self.free_blocks:
                raise RuntimeError("no")
            blocks.append(self.free_blocks.pop())
        tokens.append(token)
    def fork(self, parent, child):
        if child in self.held:
            raise RuntimeError("no")
        self.held[child] = tuple(map(list, self.held[parent]))
    def free(self, request):
        blocks, _ = self.held.pop(request)
        self.free_blocks += [block for block in blocks if not any(block in other for other, _ in self.held.values())]
"""
    told = card(run, source, "LAB3A.2")
    assert (
        "Right: growing, refusing. Not yet: sharing. A block that another request holds too is written in place" in told
    )
    assert "In the script 'Fork and copy on write': Operation 3, append to 'b': block" in told


def test_labs_are_counted_apart_and_have_no_practice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    labs = [exercise for exercise in EXERCISES.values() if exercise.lab]
    assert {exercise.id for exercise in labs} >= {"LAB2.1", "LAB3A.1"}
    assert f"0 of {len(EXERCISES) - len(labs)} solved, and 0 of {len(labs)} in labs" in repr(status())
    assert "LAB2.1 has no practice" in repr(another("LAB2.1"))


@pytest.mark.slow
def test_a_class_is_graded_by_the_same_inputs_and_words(tmp_path: Path) -> None:
    root = tmp_path / "class"
    course = small_course(tmp_path, "L2/lab_kv_bytes")
    assert command("init", str(root), "--notebooks", str(course)).returncode == 0
    assert command("release", "L2", cwd=root).returncode == 0
    hand_in(root, "right", "L2", {"lab_kv_bytes": right()})
    half = f"{HEAD}    return 2 * layers * kv_heads * head_dim * bits // 8"
    hand_in(root, "half", "L2", {"lab_kv_bytes": written("LAB2.1", half)})
    hand_in(root, "untouched", "L2", {})
    ran = command("grade", "L2", cwd=root)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    with Gradebook(f"sqlite:///{root}/gradebook.db") as gradebook:
        scores = {name: auto_scores(gradebook, "L2", name)["LAB2_1"] for name in ("right", "half", "untouched")}
    assert scores == {"right": 4, "half": 3, "untouched": 0}
