"""A notebook open in JupyterLab, seen as a learner sees it: cells by their id, keys pressed, outputs read.

Nothing here waits for a fixed time: every wait is for something that appears on the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect, sync_playwright

from tests.browser.jupyter import Lab

PATIENCE_MS = 120_000

_DONE = re.compile(r"\[\d+\]:")


@contextmanager
def chromium(executable: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable)
        yield browser
        browser.close()


class Watched:
    """What a browser context asked for and complained about, from the moment it is watched."""

    def __init__(self, context: BrowserContext) -> None:
        self.hosts: set[str] = set()
        self.complaints: list[str] = []
        context.on("request", lambda request: self._note(request.url))
        context.on("weberror", lambda error: self.complaints.append(str(error.error)))
        context.on(
            "console", lambda message: self.complaints.append(message.text) if message.type == "error" else None
        )
        context.on("page", lambda page: page.on("websocket", lambda socket: self._note(socket.url)))

    def _note(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("data", "blob"):
            self.hosts.add(parts.hostname or url)


class NotebookPage:
    """One open notebook. Cells are found by their id in the file, so none may be inserted before one that is used."""

    def __init__(self, page: Page, file: Path) -> None:
        self.page = page
        self.panel = page.locator(f'.jp-NotebookPanel:not(.lm-mod-hidden):has([title^="{file.name}"])')
        self.panel = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
        self.cells = self.panel.locator(".jp-Notebook .jp-Cell")
        self._ids = [cell.id for cell in nbformat.read(file, as_version=4).cells]

    def cell(self, cell_id: str) -> Locator:
        return self.cells.nth(self._ids.index(cell_id))

    def wait_until_ready(self) -> None:
        """Every cell is there, and the kernel waits for work."""
        expect(self.cells).to_have_count(len(self._ids), timeout=PATIENCE_MS)
        self.wait_until_idle()

    def wait_until_idle(self) -> None:
        idle = self.panel.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]')
        expect(idle).to_be_visible(timeout=PATIENCE_MS)

    def select(self, cell_id: str) -> Locator:
        """Make the cell the active one, in command mode."""
        cell = self.cell(cell_id)
        cell.locator(".jp-InputPrompt").click()
        expect(cell).to_have_class(re.compile("jp-mod-active"))
        return cell

    def run(self, cell_id: str) -> Locator:
        """Run the cell, whatever happened to it before, and return its output area once it is done."""
        self.select(cell_id)
        return self.run_active(cell_id)

    def run_active(self, cell_id: str) -> Locator:
        """Shift+Enter in the cell that is active already."""
        cell = self.cell(cell_id)
        expect(cell).to_have_class(re.compile("jp-mod-active"))
        prompt = cell.locator(".jp-InputPrompt")
        before = prompt.inner_text()
        self.page.keyboard.press("Shift+Enter")
        expect(prompt).not_to_have_text(before, timeout=PATIENCE_MS)
        expect(prompt).to_have_text(_DONE, timeout=PATIENCE_MS)
        return cell.locator(".jp-OutputArea").first

    def write_answer(self, cell_id: str, answer: str) -> None:
        """Put `answer` in the place of what stands behind the last = of the active cell, by keyboard, and stay in it."""
        cell = self.cell(cell_id)
        expect(cell).to_have_class(re.compile("jp-mod-active"))
        self.page.keyboard.press("Enter")
        line = cell.locator(".cm-line").last
        variable, _, old = line.inner_text().rpartition(" = ")
        self.page.keyboard.press("Control+End")
        for _ in old:
            self.page.keyboard.press("Backspace")
        self.page.keyboard.type(answer)
        expect(line).to_have_text(f"{variable} = {answer}")

    def source(self, cell_id: str) -> str:
        return "\n".join(self.cell(cell_id).locator(".cm-line").all_inner_texts())


def open_notebook(context: BrowserContext, lab: Lab, root: Path, path: str) -> NotebookPage:
    """Open root/path in a new page, wait for its kernel, and shut the side bar."""
    page = context.new_page()
    page.goto(lab.address(f"/lab/tree/{path}"), timeout=PATIENCE_MS)
    opened = NotebookPage(page, root / path)
    opened.wait_until_ready()
    shut_side_bar(page)
    return opened


def shut_side_bar(page: Page) -> None:
    current = page.locator(".jp-SideBar.jp-mod-left .lm-TabBar-tab.lm-mod-current")
    if current.count():
        current.click()
        expect(page.locator("#jp-left-stack")).to_be_hidden()
