"""The paging lab in JupyterLab, by keyboard: a learner's broken allocator moves, and what it breaks is named on the page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Locator, expect

from tests.browser.jupyter import THEMES, Lab, Theme
from tests.browser.looking import Watched, hard_to_read, pictures_without_words
from tests.browser.notebook_page import NotebookPage, open_notebook

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.usefixtures("quiet_and_at_home")]

# It looks right until two requests share a block that one of them writes.
WRITES_IN_PLACE = """


class PagedKV:
    def __init__(self, num_blocks, block_size):
        self.free_blocks, self.block_size = list(range(num_blocks)), block_size
        self.tables, self.lengths = {}, {}

    def table(self, request):
        return self.tables[request]

    def allocate(self, request, tokens):
        needed = -(-len(tokens) // self.block_size)
        if request in self.tables or needed > len(self.free_blocks):
            raise RuntimeError("no room, or no such name")
        self.tables[request] = [self.free_blocks.pop(0) for _ in range(needed)]
        self.lengths[request] = len(tokens)

    def append(self, request, token):
        if self.lengths[request] % self.block_size == 0:
            self.tables[request].append(self.free_blocks.pop(0))
        self.lengths[request] += 1

    def fork(self, parent, child):
        if child in self.tables:
            raise RuntimeError("that name is taken")
        self.tables[child], self.lengths[child] = list(self.tables[parent]), self.lengths[parent]

    def free(self, request):
        table = self.tables.pop(request)
        del self.lengths[request]
        held = [block for other in self.tables.values() for block in other]
        self.free_blocks += [block for block in table if block not in held]
"""

STEPS = [
    (
        "Operation 1 of 8, allocate 'a': a gets blocks 0 and 1 for its 6 tokens. 6 blocks are free.",
        "a with 6 tokens, 0 to 0, 1 to 1.",
    ),
    (
        "Operation 2 of 8, fork 'a' as 'b': b shares blocks 0 and 1 of a; nothing is copied. 6 blocks are free.",
        "a with 6 tokens, 0 to 0, 1 to 1; b with 6 tokens, 0 to 0, 1 to 1.",
    ),
]
BROKEN = "Operation 3, append to 'b': block 1 was written while 'a' still reads it; copy it first (copy-on-write)."
MISTAKE = "A block that another request holds too is written in place, and the other then reads what it never wrote."
FREED = "Operation 7, free 'a': block 0 is in the free list while 'b' holds it; it would be given out."


@pytest.fixture(params=THEMES, scope="module")
def notebook(
    request: pytest.FixtureRequest, context: BrowserContext, watched: Watched, lab: Lab, learn: Path
) -> Iterator[NotebookPage]:
    theme: Theme = request.param
    lab.use_theme(theme)
    opened = open_notebook(context, lab, learn, f"{theme}/L3/lab_paging.ipynb")
    opened.run("first-explorer")
    yield opened
    opened.page.close()
    lab.stop_kernels()


def test_a_learner_s_allocator_moves_until_the_invariant_that_it_breaks_is_named(notebook: NotebookPage) -> None:
    notebook.walk_to("lab3a-2-answer")
    notebook.press("Enter", "Control+End")
    notebook.page.keyboard.insert_text(WRITES_IN_PLACE)
    notebook.press("Escape")
    notebook.run_active("lab3a-2-answer")
    card = notebook.run("lab3a-2-check")
    expect(card).to_contain_text("Right: growing, refusing. Not yet: sharing.")
    expect(card).to_contain_text(MISTAKE)
    expect(card).to_contain_text(BROKEN)
    assert hard_to_read(card.locator(".jp-OutputArea-output")) == {}

    output = notebook.run("your-explorer")
    notebook.walk_to("your-explorer")
    notebook.tab_to(output.get_by_role("button", name="Forward"))
    for step in STEPS:
        notebook.press("Enter")
        shows(output, *step)
    notebook.press("Enter")
    shows(output, BROKEN, "The pool before operation 3.")
    expect(output.locator(".widget-readout")).to_have_text("3 of 3")
    assert hard_to_read(output.locator(".jp-OutputArea-output")) == {}
    assert pictures_without_words(output) == []
    notebook.tab_to(output.get_by_role("button", name="Back"), "Shift+Tab")
    notebook.press("Enter")
    shows(output, *STEPS[1])
    notebook.tab_to(notebook.cell("your-explorer"), "Shift+Tab")

    scripts = notebook.run("every-script")
    expect(scripts).to_contain_text("From one block to the next: every invariant holds")
    expect(scripts).to_contain_text(f"Fork and copy on write: {BROKEN}")


def test_the_allocator_that_the_lab_breaks_is_stepped_to_a_block_that_is_free_and_held(notebook: NotebookPage) -> None:
    output = notebook.run("broken-explorer")
    notebook.walk_to("broken-explorer")
    notebook.tab_to(output.get_by_role("slider"))
    notebook.press("End")
    shows(output, FREED, "b with 9 tokens")
    assert hard_to_read(output.locator(".jp-OutputArea-output")) == {}
    assert pictures_without_words(output) == []


def shows(output: Locator, sentence: str, in_figure: str) -> None:
    """The live sentence, and what the figure says of itself."""
    expect(output.get_by_role("status")).to_have_text(sentence)
    expect(output.get_by_role("img")).to_have_attribute("aria-label", re.compile(re.escape(in_figure)))
