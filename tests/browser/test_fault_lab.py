"""The fault lab in JupyterLab: a trace, a mend that mends something else, and its play up to the rule that it breaks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.jupyter import Lab
from tests.browser.looking import Watched, pictures_without_words
from tests.browser.notebook_page import NotebookPage, open_notebook

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("quiet_and_at_home")]

WRONG = """
class MendedAsh(Ash):
    def free(self, request):
        self.free_blocks += [block for block in self.tables[request] if self.holders(block) == 0]
        del self.tables[request], self.lengths[request]

check("LAB5B.1")
"""
STEP_THROUGH = """
from llmserving.explorers import paging_explorer
paging_explorer(ash_day(), MendedAsh)
"""


@pytest.fixture(scope="module")
def fault_lab(context: BrowserContext, watched: Watched, lab: Lab, learn: Path) -> Iterator[NotebookPage]:
    notebook = open_notebook(context, lab, learn, "L5/lab_faults.ipynb")
    yield notebook
    notebook.page.close()
    lab.stop_kernels()


def test_a_trace_is_a_table_and_the_source_is_folded_away(fault_lab: NotebookPage) -> None:
    fault_lab.run("a-sound-allocator")
    output = fault_lab.run("trace-ash")
    expect(output.get_by_role("columnheader", name="block 7")).to_be_visible()
    expect(output.get_by_text("class Ash:")).to_be_hidden()
    output.get_by_text("The source, once you know what to look for").click()
    expect(output.get_by_text("class Ash:")).to_be_visible()


def test_a_broken_allocator_is_stepped_through_to_the_rule_that_it_breaks(fault_lab: NotebookPage) -> None:
    """Its card names the mistake; then it moves, a block at a time, and the page says what does not hold."""
    fault_lab.run("lab5b-1-answer")
    expect(fault_lab.run("lab5b-1-check")).to_contain_text("LAB5B.1 · not answered yet")
    card = fault_lab.run_in_own_cell(WRONG)
    expect(card).to_contain_text("Blocks that nobody else holds never come back")
    fault_lab.press("Escape", "End")
    output = fault_lab.run_in_own_cell(STEP_THROUGH)
    figure, sentence = output.get_by_role("img"), output.get_by_role("status")
    expect(sentence).to_have_text("Nothing has happened yet: all 8 blocks are free.")
    before = figure.get_attribute("aria-label")
    forward = output.get_by_role("button", name="Forward")
    for _ in range(7):
        forward.click()
    expect(sentence).to_contain_text("block 2 is in no table and not free: it has leaked")
    expect(output).to_contain_text(re.compile(r"→ 7 free 'b' \(the playback ends here\)"))
    assert figure.get_attribute("aria-label") != before
    assert pictures_without_words(output) == []
