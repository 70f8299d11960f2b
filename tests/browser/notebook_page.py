"""A notebook open in JupyterLab, worked as a learner can work it: with the keyboard alone.

Nothing here waits for a fixed time: every wait is for something that appears on the page.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import nbformat
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.jupyter import Lab

START_HERE = "/lab/tree/START_HERE.ipynb"
PATIENCE_MS = 60_000

expect.set_options(timeout=PATIENCE_MS)

_DONE = re.compile(r"^\[\d+\]:$")
_ACTIVE = re.compile(r"\bjp-mod-active\b")


class NotebookPage:
    """The notebook in front. Cells are found by their id in the file, so new cells may only be added at the end."""

    def __init__(self, page: Page, file: Path) -> None:
        self.page = page
        self.panel = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
        self.cells = self.panel.locator(".jp-Notebook .jp-Cell")
        self.ids = [cell.id for cell in nbformat.read(file, as_version=4).cells]

    def wait_until_ready(self) -> None:
        """Every cell is there, and the kernel waits for work."""
        expect(self.cells).to_have_count(len(self.ids))
        expect(self.page.get_by_role("contentinfo").get_by_role("button", name="| Idle")).to_be_visible()

    def cell(self, cell_id: str) -> Locator:
        return self.cells.nth(self.ids.index(cell_id))

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def walk_to(self, cell_id: str) -> Locator:
        """Make the cell the active one, with the arrow keys."""
        states = self.cells.evaluate_all("cells => cells.map(cell => cell.classList.contains('jp-mod-active'))")
        at, goal = states.index(True), self.ids.index(cell_id)
        for position in range(at, goal, 1 if goal > at else -1):
            self.press("ArrowDown" if goal > at else "ArrowUp")
            expect(self.cells.nth(position + (1 if goal > at else -1))).to_have_class(_ACTIVE)
        cell = self.cell(cell_id)
        expect(cell).to_be_focused()
        return cell

    def tab_to(self, goal: Locator, key: str = "Tab", at_most: int = 12) -> None:
        """Press Tab until `goal` has the focus; what lies between, such as a cell's toolbar, is JupyterLab's matter."""
        for _ in range(at_most):
            self.press(key)
            if goal.evaluate("element => element === document.activeElement"):
                return
        raise AssertionError(f"{key} did not reach {goal}, pressed {at_most} times")

    def run(self, cell_id: str) -> Locator:
        """Walk to the cell, run it, and return its output once it is done."""
        self.walk_to(cell_id)
        return self.run_active(cell_id)

    def run_active(self, cell_id: str) -> Locator:
        """Run the cell, which is the active one already, and return its output once it is done."""
        expect(self.cell(cell_id)).to_have_class(_ACTIVE)
        return self._run(self.cell(cell_id), "Shift+Enter")

    def _run(self, cell: Locator, keys: str) -> Locator:
        prompt = cell.locator(".jp-InputPrompt")
        before = prompt.inner_text()
        self.press(keys)
        expect(prompt).not_to_have_text(before)
        expect(prompt).to_have_text(_DONE)
        return cell.locator(".jp-Cell-outputArea")

    def write_answer(self, cell_id: str, answer: str) -> None:
        """In the answer cell, put `answer` in the place of what stands behind the last = sign."""
        variable = self.cell(cell_id).locator(".cm-line").last.inner_text().split(" = ")[0]
        self.write_answers(cell_id, {variable: answer})

    def write_answers(self, cell_id: str, answers: Mapping[str, str]) -> None:
        """In the answer cell, put each answer in the place of what stands behind its variable's = sign."""
        self.walk_to(cell_id)
        self.press("Enter")
        lines = self.cell(cell_id).locator(".cm-line")
        variables = [text.split(" = ")[0] for text in lines.all_inner_texts()]
        for variable, answer in answers.items():
            line = lines.nth(variables.index(variable))
            old = line.inner_text().removeprefix(f"{variable} = ")
            down = ["ArrowDown"] * variables.index(variable)
            self.press("Control+Home", *down, "End", *["Backspace"] * len(old))
            self.page.keyboard.type(answer)
            expect(line).to_have_text(f"{variable} = {answer}")

    def add_cell(self, source: str) -> Locator:
        """Add a cell with this source at the end; it is then the active one."""
        self.walk_to(self.ids[-1])
        before = self.cells.count()
        self.press("b")
        expect(self.cells).to_have_count(before + 1)
        own = self.cells.nth(len(self.ids))
        expect(own).to_have_class(_ACTIVE)
        self.press("Enter")
        self.page.keyboard.insert_text(source)
        self.press("Escape")
        expect(own).to_be_focused()
        return own

    def run_in_own_cell(self, source: str) -> Locator:
        """Add a cell at the end, run `source` in it, and return its output."""
        own = self.add_cell(source)
        self.press("Enter")
        return self._run(own, "Control+Enter")


def source_of(cell: Locator) -> str:
    """What stands in the cell, also where it lies so far off that the browser does not lay it out."""
    return "\n".join(cell.locator(".cm-line").all_text_contents())


def open_notebook(context: BrowserContext, lab: Lab, root: Path, path: str) -> NotebookPage:
    """Open root/path in a new page, alone, and wait for its kernel."""
    lab.forget_open_tabs()
    page = context.new_page()
    page.goto(lab.address(f"/lab/tree/{path}"), timeout=PATIENCE_MS)
    opened = NotebookPage(page, root / path)
    opened.wait_until_ready()
    return opened


def shut_side_bar(page: Page) -> None:
    current = page.locator(".jp-SideBar.jp-mod-left .lm-TabBar-tab.lm-mod-current")
    if current.count():
        current.click()
        expect(page.locator("#jp-left-stack")).to_be_hidden()
