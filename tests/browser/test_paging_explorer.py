"""Stepping through paging and scheduling in JupyterLab with the keyboard alone: the course's own, and a learner's wrong one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from playwright.sync_api import BrowserContext, Locator, expect

from tests.browser.jupyter import THEMES, Lab, Theme
from tests.browser.looking import Watched, hard_to_read, pictures_without_words
from tests.browser.notebook_page import NotebookPage, open_notebook

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("quiet_and_at_home")]

OURS = "from llmserving.explorers import paging_explorer\npaging_explorer()"
LEARNERS = """\
class MyAllocator:
    def __init__(self, num_blocks, block_size):
        self.free_blocks, self.block_size = list(range(num_blocks)), block_size
        self.tables, self.lengths = {}, {}

    def table(self, request):
        return self.tables[request]

    def allocate(self, request, tokens):
        self.tables[request] = [self.free_blocks.pop(0) for _ in range(0, len(tokens), self.block_size)]
        self.lengths[request] = len(tokens)

    def fork(self, parent, child):
        self.tables[child], self.lengths[child] = list(self.tables[parent]), self.lengths[parent]

    def append(self, request, token):
        if self.lengths[request] % self.block_size == 0:
            self.tables[request].append(self.free_blocks.pop(0))
        self.lengths[request] += 1

paging_explorer(allocator=MyAllocator)"""

SCHEDULE = "from llmserving.explorers import schedule_explorer\nschedule_explorer()"
LEARNERS_SCHEDULE = """\
class MyScheduler:
    def schedule(self, engine):
        for sequence in list(engine.running):
            if not engine.can_decode(sequence):
                engine.preempt(engine.running[0])
            elif sequence in engine.running:
                engine.decode(sequence)
        while engine.can_admit():
            sequence = engine.admit()
            engine.prefill(sequence, sequence.left)

schedule_explorer(policy=MyScheduler)"""

START = ("Nothing has happened yet: all 8 blocks are free.", "No request has a block table.")
STEPS = [
    (
        "Operation 1 of 8, allocate 'a': a gets blocks 0 and 1 for its 6 tokens. 6 blocks are free.",
        "Block tables, logical to physical: a with 6 tokens, 0 to 0, 1 to 1.",
    ),
    (
        "Operation 2 of 8, fork 'a' as 'b': b shares blocks 0 and 1 of a; nothing is copied. 6 blocks are free.",
        "Block tables, logical to physical: a with 6 tokens, 0 to 0, 1 to 1; b with 6 tokens, 0 to 0, 1 to 1.",
    ),
    (
        "Operation 3 of 8, append to 'b': b copies block 1 into block 2 before it writes: two requests held block 1. "
        "5 blocks are free.",
        "Block tables, logical to physical: a with 6 tokens, 0 to 0, 1 to 1; b with 7 tokens, 0 to 0, 1 to 2.",
    ),
]
BROKEN = "Operation 3, append to 'b': block 1 was written while 'a' still reads it; copy it first (copy-on-write)."

FULL = (
    "Step 1, event 6 of 11: request 1 has its first token at 0.01278 s: its prompt is complete. 0 blocks are free.",
    "Runs: 0, 1. Waits: nobody. KV blocks held: 2 of 2.",
)
SENT_BACK = (
    "Step 2, event 7 of 11: request 1 is sent back: request 0 needs a block for its next token, and none is free. It "
    "waits in front of all others; its cache is lost, and will be computed again. 1 block is free.",
    "Runs: 0. Waits: 1. KV blocks held: 1 of 2.",
)
BROKEN_RULE = (
    "Step 2, after event 7: request 0 was sent back, and request 1, which came later, runs on. This breaks the rule "
    "'victim'."
)


@pytest.fixture(params=THEMES, scope="module")
def notebook(
    request: pytest.FixtureRequest, context: BrowserContext, watched: Watched, lab: Lab, learn: Path
) -> Iterator[NotebookPage]:
    theme: Theme = request.param
    lab.use_theme(theme)
    path = f"{theme}/steps.ipynb"
    sources = {"ours": OURS, "learners": LEARNERS, "schedule": SCHEDULE, "learners-schedule": LEARNERS_SCHEDULE}
    end = new_markdown_cell("The end: to run the last cell would add one.", id="end")
    cells = [*(new_code_cell(source, id=name) for name, source in sources.items()), end]
    python = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(new_notebook(cells=cells, metadata=python), learn / path)
    opened = open_notebook(context, lab, learn, path)
    yield opened
    opened.page.close()
    lab.stop_kernels()


def test_a_fork_and_a_copy_on_write_are_stepped_through_and_back(notebook: NotebookPage) -> None:
    output = notebook.run("ours")
    shows(output, *START)
    notebook.walk_to("ours")
    slider, forward, back = (
        output.get_by_role("slider"),
        output.get_by_role("button", name="Forward"),
        output.get_by_role("button", name="Back"),
    )
    notebook.tab_to(forward)
    for key, step in zip(("Enter", "Space", "Enter"), STEPS, strict=True):
        notebook.press(key)
        shows(output, *step)
        expect(forward).to_be_focused()
    assert hard_to_read(output.locator(".jp-OutputArea-output")) == {}
    assert pictures_without_words(output) == []

    notebook.tab_to(back, "Shift+Tab")
    for key, step in zip(("Space", "Enter"), STEPS[1::-1], strict=True):
        notebook.press(key)
        shows(output, *step)

    notebook.tab_to(slider, "Shift+Tab")
    notebook.press("ArrowLeft")
    shows(output, *START)
    notebook.press("ArrowRight", "ArrowRight", "ArrowRight")
    shows(output, *STEPS[2])
    expect(output.locator(".widget-readout")).to_have_text("3 of 8")
    notebook.tab_to(notebook.cell("ours"), "Shift+Tab")


def test_a_learners_broken_allocator_is_stepped_to_the_invariant_that_it_breaks(notebook: NotebookPage) -> None:
    output = notebook.run("learners")
    shows(output, *START)
    notebook.walk_to("learners")
    notebook.tab_to(output.get_by_role("button", name="Forward"))
    for step in STEPS[:2]:
        notebook.press("Enter")
        shows(output, *step)
    notebook.press("Enter")
    shows(output, BROKEN, "The pool before operation 3.")
    expect(output.locator(".widget-readout")).to_have_text("3 of 3")
    notebook.press("Enter")  # there is no step after it
    shows(output, BROKEN, "b with 6 tokens, 0 to 0, 1 to 1.")
    assert hard_to_read(output.locator(".jp-OutputArea-output")) == {}
    notebook.tab_to(notebook.cell("learners"), "Shift+Tab")


def test_a_schedule_is_stepped_through_to_a_request_that_is_sent_back(notebook: NotebookPage) -> None:
    output = notebook.run("schedule")
    shows(output, "Nothing has happened yet: 2 blocks are free, and no request has arrived.", "KV blocks held: 0 of 2.")
    notebook.walk_to("schedule")
    slider, forward = output.get_by_role("slider"), output.get_by_role("button", name="Forward")
    notebook.tab_to(slider)
    notebook.press(*["ArrowRight"] * 6)
    shows(output, *FULL)
    notebook.tab_to(forward)
    notebook.press("Enter")
    shows(output, *SENT_BACK)
    assert hard_to_read(output.locator(".jp-OutputArea-output")) == {}
    assert pictures_without_words(output) == []
    notebook.tab_to(output.get_by_role("button", name="Back"), "Shift+Tab")
    notebook.press("Space")
    shows(output, *FULL)
    notebook.tab_to(notebook.cell("schedule"), "Shift+Tab")


def test_a_learners_wrong_scheduler_is_stepped_to_the_rule_that_it_breaks(notebook: NotebookPage) -> None:
    output = notebook.run("learners-schedule")
    notebook.walk_to("learners-schedule")
    notebook.tab_to(output.get_by_role("slider"))
    notebook.press("End")
    shows(output, BROKEN_RULE, "Runs: 1. Waits: 0. KV blocks held: 1 of 2.")
    expect(output.locator(".widget-readout")).to_have_text("8 of 8")
    assert hard_to_read(output.locator(".jp-OutputArea-output")) == {}


def shows(output: Locator, sentence: str, in_figure: str) -> None:
    """The live sentence, and what the figure says of itself."""
    expect(output.get_by_role("status")).to_have_text(sentence)
    expect(output.get_by_role("img")).to_have_attribute("aria-label", re.compile(re.escape(in_figure)))
