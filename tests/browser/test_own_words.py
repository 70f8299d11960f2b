"""Own words in JupyterLab: the checklist opens after the argument, is ticked with the keyboard, and is kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Locator, expect

from tests.browser.jupyter import THEMES, Lab, Theme
from tests.browser.looking import hard_to_read
from tests.browser.notebook_page import open_notebook

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("quiet_and_at_home")]


@pytest.mark.parametrize("theme", THEMES)
def test_reasons_are_ticked_with_the_keyboard(context: BrowserContext, lab: Lab, learn: Path, theme: Theme) -> None:
    lab.use_theme(theme)
    notebook = open_notebook(context, lab, learn, f"{theme}/L1/two_phases.ipynb")
    expect(notebook.run("wh1-reasons").get_by_role("group")).to_contain_text("WH1 · in your own words · closed")
    notebook.write_answer("wh1-answer", '"CGEA"')
    notebook.run_active("wh1-answer")
    notebook.run_active("wh1-check")
    output = notebook.run("wh1-reasons")
    boxes, count = output.get_by_role("checkbox"), output.get_by_role("status")
    expect(boxes).to_have_count(3)
    assert [label for label in output.locator("label").all() if _is_cut_off(label)] == []
    assert hard_to_read(output.locator(".jp-OutputArea-output").first) == {}

    notebook.walk_to("wh1-reasons")
    notebook.tab_to(boxes.nth(1))
    notebook.press(" ")
    expect(boxes.nth(1)).to_be_checked()
    expect(count).to_have_text("1 of 3 ticked")
    records = json.loads((learn / theme / ".llmserving" / "progress.json").read_text())
    assert records["exercises"]["WH1"]["ticked"] == [1]
    notebook.page.close()
    lab.stop_kernels()


def _is_cut_off(label: Locator) -> bool:
    return bool(label.evaluate("element => element.scrollWidth > element.clientWidth"))
