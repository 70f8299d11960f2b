"""Claims about stepping through a script of paging: figure and words move together, and a broken invariant ends it."""

from __future__ import annotations

import html
from typing import Any

import ipywidgets
import pytest
from llmserving.explorers import PagingExplorer, paging_explorer
from llmserving.paging import FORK_AND_COPY, FULL_POOL, SCRIPTS, Script, allocate, free

from tests.figure_texts import text_boxes
from tests.lib.allocators import Caching, Naive

COPY = (
    "Operation 3 of 8, append to 'b': b copies block 1 into block 2 before it writes: two requests held block 1. 5 blocks "
    "are free."
)
OVERWRITTEN = "Operation 3, append to 'b': block 1 was written while 'a' still reads it; copy it first (copy-on-write)."


class NoCopyOnWrite(Naive):
    def append(self, request: Any, token: int) -> None:
        if self.lengths[request] % self.block_size == 0:
            self.tables[request].append(self.take())
        self.lengths[request] += 1


class Unwritten(Naive):
    def fork(self, parent: Any, child: Any) -> None:
        raise NotImplementedError("write fork")


def at(explorer: PagingExplorer, moment: int) -> str:
    explorer.controls["moment"].value = moment
    return explorer.sentence


def shown_state(explorer: PagingExplorer) -> tuple[Any, ...]:
    return explorer.controls["moment"].value, explorer.sentence, explorer.arithmetic, explorer.figure.svg()


def test_it_starts_before_the_first_operation() -> None:
    explorer = paging_explorer()
    assert explorer.sentence == "Nothing has happened yet: all 8 blocks are free."
    assert explorer.figure.alt_text.startswith("Block map. Nothing has happened yet")
    assert explorer.controls["moment"].options[0] == ("0 of 8", 0)


def test_a_step_forward_moves_the_figure_and_the_words() -> None:
    explorer = paging_explorer()
    seen = [shown_state(explorer)]
    for _ in range(3):
        explorer.forward.click()
        seen.append(shown_state(explorer))
    assert len({state[1] for state in seen}) == len({state[3] for state in seen}) == 4
    assert explorer.sentence == COPY
    assert "Block tables, logical to physical: a with 6 tokens, 0 to 0, 1 to 1; b with 7 tokens, 0 to 0, 1 to 2." in (
        explorer.figure.alt_text
    )


def test_steps_back_show_what_was_shown_before() -> None:
    explorer = paging_explorer()
    seen = [shown_state(explorer)]
    for _ in range(8):
        explorer.forward.click()
        seen.append(shown_state(explorer))
    for state in reversed(seen):
        assert shown_state(explorer) == state
        explorer.back.click()


def test_at_either_end_a_step_changes_nothing() -> None:
    explorer = paging_explorer()
    before = shown_state(explorer)
    explorer.back.click()
    assert shown_state(explorer) == before
    at(explorer, 8)
    before = shown_state(explorer)
    explorer.forward.click()
    assert shown_state(explorer) == before
    assert not explorer.back.disabled
    assert not explorer.forward.disabled


def test_a_refusal_is_told_and_leaves_the_map_as_it_is() -> None:
    explorer = paging_explorer(FULL_POOL)
    at(explorer, 2)
    before = explorer.figure.svg()
    assert at(explorer, 3) == (
        "Operation 3 of 9, allocate 'c': refused, and nothing changed: request 'c' needs 2 blocks and 0 blocks are free. "
        "0 blocks are free."
    )
    assert explorer.figure.svg() == before


def test_the_script_is_listed_with_a_mark_at_the_present_operation() -> None:
    explorer = paging_explorer()
    assert explorer.arithmetic[:3] == ("The script:", "· 1 allocate 'a'", "· 2 fork 'a' as 'b'")
    at(explorer, 3)
    assert [line for line in explorer.arithmetic if line.startswith("→")] == ["→ 3 append to 'b'"]


def test_of_a_long_script_the_operations_around_the_present_one_are_listed() -> None:
    names = [f"r{number}" for number in range(15)]
    script = Script("long", tuple(operation for name in names for operation in (allocate(name, [1]), free(name))), 4, 4)
    explorer = paging_explorer(script)
    for moment in (0, 3, 15, 30):
        at(explorer, moment)
        assert len(explorer.arithmetic) == 13
        assert [line.split()[1] for line in explorer.arithmetic if line.startswith("→")] == [str(moment)] * bool(moment)


def test_a_broken_invariant_ends_it_and_is_named() -> None:
    explorer = paging_explorer(FORK_AND_COPY, NoCopyOnWrite)
    assert explorer.controls["moment"].options[-1] == ("3 of 3", 3)
    assert at(explorer, 2).startswith("Operation 2 of 8, fork")
    assert at(explorer, 3) == OVERWRITTEN
    assert explorer.figure.alt_text.startswith("The pool before operation 3. Block map. After event 2 of 3.")
    assert "→ 3 append to 'b' (the playback ends here)" in explorer.arithmetic


def test_a_bug_ends_it_and_is_told() -> None:
    explorer = paging_explorer(FORK_AND_COPY, Unwritten)
    assert at(explorer, 2) == "Operation 2, fork 'a' as 'b': fork is not written yet: write fork."
    assert explorer.figure.alt_text.startswith("The pool before operation 2. Block map. After event 1 of 1.")


def test_what_is_wrong_from_the_start_is_told_at_once() -> None:
    used = Naive(8, 4)
    used.allocate("z", [1])
    explorer = paging_explorer(FORK_AND_COPY, used)
    told = "Before operation 1: 7 blocks are free, of 8; all of them should be."
    assert explorer.sentence == at(explorer, 1) == told


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.title)
@pytest.mark.parametrize("allocator", [None, Caching])
def test_every_moment_of_every_script_is_told(script: Script, allocator: Any) -> None:
    explorer = paging_explorer(script, allocator)
    for moment in range(len(explorer.moments)):
        view = explorer.look({"moment": moment})
        assert view.sentence.startswith(f"Operation {explorer.moments[moment].operation} of " if moment else "Nothing")
        assert view.figure.alt_text.startswith("Block map.")


def test_the_pool_can_be_chosen() -> None:
    explorer = paging_explorer(FORK_AND_COPY, num_blocks=12, block_size=16)
    assert "Pool: 12 blocks of 16 tokens" in explorer.figure.alt_text


def test_a_pool_that_is_too_large_to_be_stepped_through_is_refused_at_once() -> None:
    with pytest.raises(
        ValueError, match="num_blocks is 1000000, more than the 10,000 blocks that can be stepped through"
    ):
        paging_explorer(num_blocks=10**6)
    with pytest.raises(ValueError, match=r"play\(script, allocator, num_blocks\)"):
        paging_explorer(Script("large", (allocate("a", [1]),), 10_001, 4))
    assert paging_explorer(num_blocks=10_000).sentence == "Nothing has happened yet: all 10,000 blocks are free."


def test_what_the_sentence_says_is_not_drawn_above_the_map_too() -> None:
    explorer = paging_explorer()
    at(explorer, 3)
    drawn = " ".join(key.split(" ", 1)[1] for key in text_boxes(explorer.figure))
    assert "copies block 1 into block 2" in explorer.sentence
    assert "copies block 1 into block 2" in explorer.figure.alt_text
    assert "copies" not in drawn


def test_it_can_be_named_and_worked_by_keyboard() -> None:
    explorer = paging_explorer()
    slider, buttons = explorer.children[:2]
    assert slider.description == "Step"
    assert [button.description for button in buttons.children] == ["Back", "Forward"]
    assert all(button.tooltip for button in buttons.children)


def test_the_sentence_stands_in_a_live_region() -> None:
    explorer = paging_explorer()
    at(explorer, 3)
    values = [child.value for child in explorer.children if isinstance(child, ipywidgets.HTML)]
    regions = [value for value in values if 'role="status" aria-live="polite"' in value]
    assert len(regions) == 1
    assert html.escape(COPY) in regions[0]


def test_where_widgets_cannot_load_all_steps_are_told_beside_the_figure() -> None:
    explorer = paging_explorer(FORK_AND_COPY, NoCopyOnWrite)
    bundle = explorer._repr_mimebundle_()
    assert explorer.figure.svg() in bundle["text/html"]
    for words in (explorer.sentence, "Operation 1 of 8, allocate 'a'", OVERWRITTEN):
        assert html.escape(words) in bundle["text/html"]
        assert words in bundle["text/plain"]
    assert "application/vnd.jupyter.widget-view+json" in bundle


def test_stored_outputs_are_the_same_from_run_to_run() -> None:
    one, other = paging_explorer()._repr_mimebundle_(), paging_explorer()._repr_mimebundle_()
    for kind in ("text/plain", "text/html"):
        assert one[kind] == other[kind]


def test_what_cannot_be_played_is_refused_in_a_sentence() -> None:
    with pytest.raises(TypeError, match="allocator is a class"):
        paging_explorer(FORK_AND_COPY, "mine")
    with pytest.raises(TypeError, match="a script is made of operations"):
        paging_explorer("fork", None, 8, 4)
