"""The paging lab as a learner answers it: code of their own, in the cell, and what they are told about it."""

from __future__ import annotations

from typing import Any

import pytest
from grader.answer_key import KEY, grade, inputs
from grader.selftest.as_run import run_cell
from llmserving.exercises import EXERCISES, collect
from llmserving.exercises.lab_paging_waste import POWERS, tail_share
from llmserving.exercises.statement import answer_stub
from llmserving.exercises.verdict import PartVerdict
from llmserving.paging import FORK_AND_COPY, PagedAllocator, play

from tests.lib.allocators import Counting, Naive

HASHED = """
import hashlib

def block_names(prompts, block_size):
    numbers, result = {}, []
    for tokens, key in prompts:
        names, digest = [], b""
        while len(tokens) >= block_size:
            own, tokens = tokens[:block_size], tokens[block_size:]
            digest = hashlib.sha256(digest + repr((own, key)).encode()).digest()
            names.append(numbers.setdefault(digest, len(numbers)))
        result.append(names)
    return result
"""


def verdict(exercise_id: str, names: dict[str, Any], learner: str = "default") -> PartVerdict:
    data = collect(exercise_id, names, inputs(exercise_id, learner))
    return next(iter(grade({exercise_id: data}, learner)[exercise_id].parts.values()))


@pytest.mark.parametrize("made", [Naive, Counting])
def test_whoever_can_do_more_than_grow_is_right_too(made: Any) -> None:
    part = verdict("LAB3A.1", {"GrowingKV": made})
    assert (part.score, part.message) == (3, "Right.")


def test_a_step_that_is_right_counts_before_the_next_is_written() -> None:
    class GrowsOnly(Naive):
        def free(self, request: Any) -> None:
            raise NotImplementedError("LAB3A.1: free")

    part = verdict("LAB3A.1", {"GrowingKV": GrowsOnly})
    assert part.score == 0
    assert "In the script 'From one block to the next': Operation 10, free 'b': free is not written yet" in part.message


def test_who_counts_the_token_before_asking_for_room_is_told_one_mistake_and_not_two_opposite_ones() -> None:
    class CountsFirst(Naive):
        def append(self, request: Any, token: int) -> None:
            self.lengths[request] += 1
            if self.lengths[request] % self.block_size == 0:
                self.tables[request].append(self.take())

        def can_append(self, request: Any) -> bool:
            raise NotImplementedError

    part = verdict("LAB3A.1", {"GrowingKV": CountsFirst})
    assert part.diagnoses == ("counted_before_asked",)
    assert "Look first." in part.message


def test_the_second_class_may_stand_on_the_first() -> None:
    first = EXERCISES["LAB3A.1"].parts[0].stub
    assert first is not None
    part = verdict("LAB3A.2", run_cell(f"{first}\n\nclass PagedKV(GrowingKV):\n    pass"))
    assert part.state == "open", "nothing is written in either"


def test_of_a_class_that_is_begun_the_method_that_is_left_is_named() -> None:
    """A stub that was left standing hides the method of the class below; "not written yet" alone would not say which."""

    class Hides(Naive):
        def allocate(self, request: Any, tokens: list[int], key: Any = None) -> Any:
            raise NotImplementedError("LAB3A.2: allocate")

    part = verdict("LAB3A.2", {"PagedKV": Hides})
    assert part.score == 0
    assert "Operation 1, allocate 'a': allocate is not written yet: LAB3A.2: allocate" in part.message


def test_the_library_s_allocator_in_a_class_of_one_s_own_is_seen() -> None:
    source = "from llmserving.paging import PagedAllocator\n\nclass GrowingKV(PagedAllocator):\n    pass"
    assert verdict("LAB3A.1", run_cell(source)).diagnoses == ("library_call",)


@pytest.mark.parametrize("learner", ["default", "ada", "bob"])
def test_names_that_are_hashes_underneath_are_right(learner: str) -> None:
    part = verdict("LAB3A.4", run_cell(HASHED), learner)
    assert (part.score, part.message) == (3, "Right.")


@pytest.mark.parametrize(
    ("line", "instead", "diagnosis", "score"),
    [
        ("digest + repr((own, key))", "repr((own, key))", "block_alone", 2),
        ("repr((own, key))", "repr(own)", "key_forgotten", 2),
        ("while len(tokens) >= block_size", "while tokens", "partial_block_named", 2),
        ("while len(tokens) >= block_size", "while len(tokens) > block_size", "last_full_block_left_out", 0),
    ],
)
def test_a_name_that_says_too_little_or_too_much_is_told_which(
    line: str, instead: str, diagnosis: str, score: float
) -> None:
    assert line in HASHED
    part = verdict("LAB3A.4", run_cell(HASHED.replace(line, instead)))
    assert diagnosis in part.diagnoses
    assert part.score == score


def test_hashes_that_are_no_numbers_are_answered_with_what_is_right_on_an_input_that_all_may_see() -> None:
    part = verdict("LAB3A.4", run_cell(HASHED.replace("numbers.setdefault(digest, len(numbers))", "digest.hex()")))
    assert "`[[0], [0]]` is right" in part.message


def test_what_is_foretold_of_the_broken_allocator_is_what_comes() -> None:
    class FreesShared(PagedAllocator):
        def free(self, request: Any) -> None:
            for block in self.table(request):
                self._pool.owners[block] = 1
            super().free(request)

    broken = play(FORK_AND_COPY, FreesShared).broken
    assert broken is not None
    assert (broken.name, broken.sentence[:19]) == ("free while held", "Operation 7, free '")
    [part] = EXERCISES["LAB3A.3"].parts
    options = EXERCISES["LAB3A.3"].lettered_options(part, "default")
    right = {name for name, option in options.items() if KEY["LAB3A.3"].grade(name).score}
    assert [options[letter].name for letter in right] == ["while_held"]


@pytest.mark.parametrize("learner", ["default", *(f"learner-{number}" for number in range(40))])
def test_the_largest_block_size_keeps_its_point_on_every_draw(learner: str) -> None:
    """The limit is no nearer to a power of two than a rounding of the share could move it."""
    n = EXERCISES["LAB3A.5"].numbers(learner)
    rights = [size for size in POWERS if KEY["LAB3A.5"].grade({"largest": size}, learner).parts["largest"].score]
    assert len(rights) == 1
    [right] = rights
    assert tail_share(n["mean"], right) < 0.97 * n["percent"] / 100
    assert tail_share(n["mean"], 2 * right) > 1.03 * n["percent"] / 100


def test_the_answer_cell_of_a_recording_ends_in_it_so_that_its_card_is_shown() -> None:
    """A refusal that nobody sees, since other lines come after it, looks like a recording that was made."""
    stub = answer_stub(EXERCISES["LAB3A.6"])
    assert stub.splitlines()[-1] == 'record("L3.lab.waste", requests=..., share_16=..., share_256=...)'
    names = run_cell(stub)
    assert {part.state for part in grade({"LAB3A.6": collect("LAB3A.6", names)})["LAB3A.6"].parts.values()} == {"open"}
