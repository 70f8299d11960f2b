"""Where `make lab` begins, and where it leads."""

from __future__ import annotations

from pathlib import Path

import pytest
from llmserving.exercises.course import LEVELS
from playwright.sync_api import BrowserContext, expect

from tests.browser.jupyter import Lab
from tests.browser.notebook_page import PATIENCE_MS, START_HERE, NotebookPage

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("quiet_and_at_home")]


def test_the_lab_begins_at_start_here_which_leads_to_the_notebooks(
    context: BrowserContext, lab: Lab, learn: Path
) -> None:
    page = context.new_page()
    lab.forget_open_tabs()
    page.goto(lab.address("/"), timeout=PATIENCE_MS)
    page.wait_for_url(f"**{START_HERE}*", timeout=PATIENCE_MS)
    start_here = NotebookPage(page, learn / "START_HERE.ipynb")
    start_here.wait_until_ready()
    links = start_here.cell("overview").get_by_role("link")
    leads_to = [path.removeprefix("/files/") for path in links.evaluate_all("links => links.map(a => a.pathname)")]
    assert leads_to == [f"{notebook.path}.ipynb" for level in LEVELS for notebook in level.every_notebook]
    assert all((learn / path).is_file() for path in leads_to)

    links.get_by_text("The size of the KV cache").press("Enter")
    opened = NotebookPage(page, learn / "L2" / "kv_size.ipynb")
    opened.wait_until_ready()
    expect(opened.panel.get_by_role("heading", name="L2 · The size of the KV cache")).to_be_visible()
    page.close()
    lab.stop_kernels()
