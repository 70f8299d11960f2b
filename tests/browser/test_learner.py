"""What a learner meets in JupyterLab, in the light and the dark theme, with the keyboard alone and no network."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from llmserving.exercises.course import LEVELS
from playwright.sync_api import BrowserContext, Locator, expect

from tests.browser.jupyter import THEMES, Lab, Theme
from tests.browser.looking import Watched, hard_to_read, pictures_without_words
from tests.browser.notebook_page import NotebookPage, open_notebook, source_of

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("quiet_and_at_home")]


@pytest.fixture(params=THEMES, scope="module")
def theme(request: pytest.FixtureRequest, lab: Lab) -> Theme:
    theme: Theme = request.param
    lab.use_theme(theme)
    return theme


@pytest.fixture(scope="module")
def kv_size(context: BrowserContext, watched: Watched, lab: Lab, learn: Path, theme: Theme) -> Iterator[NotebookPage]:
    notebook = open_notebook(context, lab, learn, f"{theme}/L2/kv_size.ipynb")
    yield notebook
    notebook.page.close()
    lab.stop_kernels()


def test_the_first_minute(context: BrowserContext, lab: Lab, learn: Path, theme: Theme) -> None:
    """Shift+Enter, then the arrow keys on the slider, until the memory is full."""
    notebook = open_notebook(context, lab, learn, f"{theme}/L1/two_phases.ipynb")
    assert notebook.page.locator("body").get_attribute("data-jp-theme-light") == str(theme == "light").lower()
    output = notebook.run("first-explorer")
    figure, sentence = output.get_by_role("img"), output.get_by_role("status")
    expect(sentence).to_have_text("Fits: 47.3 GB free.")
    expect(figure).to_have_attribute("aria-label", re.compile("KV cache 6.71 GB .* It fits"))

    notebook.walk_to("first-explorer")
    slider, readout = _slider(output, "B, requests")
    notebook.tab_to(slider)
    for requests in (8, 16, 32, 64):
        notebook.press("ArrowRight")
        expect(readout).to_have_text(str(requests))
    expect(sentence).to_have_text(re.compile("^Does not fit: 53.4 GB too much"))
    expect(figure).to_have_attribute("aria-label", re.compile("KV cache 107 GB .* does not fit: 53.4 GB too much"))
    expect(figure).to_contain_text("does not fit: 53.4 GB too much")

    notebook.tab_to(notebook.cell("first-explorer"), "Shift+Tab")
    drawn = notebook.run("intro-figure")
    expect(drawn.get_by_role("img")).to_be_visible()
    for shown in (output, drawn):
        assert pictures_without_words(shown) == []
        assert hard_to_read(shown.locator(".jp-OutputArea-output")) == {}
    notebook.page.close()
    lab.stop_kernels()


def test_an_answer_is_told_which_mistake_it_looks_like(kv_size: NotebookPage) -> None:
    kv_size.write_answer("l2-1-answer", "0.537")
    kv_size.run_active("l2-1-answer")
    card = kv_size.run_active("l2-1-check").get_by_role("group")
    expect(card).to_contain_text("L2.1 · not yet · 0 of 2 points")
    expect(card).to_contain_text("keys or values alone, where the cache keeps both")
    assert hard_to_read(card) == {}

    kv_size.write_answer("l2-1-answer", "1.07")
    kv_size.run_active("l2-1-answer")
    card = kv_size.run_active("l2-1-check").get_by_role("group")
    expect(card).to_contain_text("L2.1 · right · 2 of 2 points")
    expect(card).not_to_contain_text("keys or values")
    assert hard_to_read(card) == {}


def test_a_locked_cell_takes_no_letter_and_is_not_deleted(kv_size: NotebookPage) -> None:
    own = kv_size.add_cell("mine")
    before = kv_size.cells.count()
    sources = {}
    for cell_id in ("l2-1-statement", "l2-1-check"):
        cell = kv_size.walk_to(cell_id)
        kv_size.press("Enter")
        sources[cell_id] = source_of(cell)
        kv_size.press("Control+End", "w", "Escape", "d", "d")
        expect(kv_size.cells).to_have_count(before)
        expect(cell).to_be_focused()

    own.locator(".jp-InputPrompt").click()  # the same keys on a cell that is not locked
    kv_size.press("Enter", "Control+End", "w")
    assert source_of(own) == "minew"
    assert {cell_id: source_of(kv_size.cell(cell_id)) for cell_id in sources} == sources
    expect(kv_size.cells).to_have_count(before)
    kv_size.press("Escape", "d", "d")
    expect(kv_size.cells).to_have_count(before - 1)


def test_help_in_a_cell_of_ones_own(kv_size: NotebookPage) -> None:
    output = kv_size.run_in_own_cell(
        "from llmserving import another, hint, status\ndisplay(hint('L2.1'), another('L2.1'), status())"
    )
    cards = output.get_by_role("group")
    expect(cards).to_have_count(6)
    expect(cards.nth(0)).to_contain_text("L2.1 · hint")
    expect(cards.nth(0)).to_contain_text("Hint 1 of")
    expect(cards.nth(1)).to_contain_text("L2.1#1 · practice")
    expect(cards.nth(1)).to_contain_text('check("L2.1#1", ...)')
    expect(cards.nth(2).get_by_role("row")).to_have_count(1 + len(LEVELS) + 1)
    expect(cards.nth(2).get_by_role("rowheader")).to_have_count(len(LEVELS) + 1)
    expect(cards.nth(5)).to_contain_text("Next: ")
    assert hard_to_read(output.locator(".jp-OutputArea-output").first) == {}


def _slider(output: Locator, label: str) -> tuple[Locator, Locator]:
    """The slider with this label, and the number beside it."""
    whole = output.locator(".widget-slider", has=output.page.get_by_text(label, exact=True))
    return whole.get_by_role("slider"), whole.locator(".widget-readout")
