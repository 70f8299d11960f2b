"""The cards in JupyterLab's own colours: what they say can be read in either theme."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from llmserving.exercises import learner, session
from llmserving.exercises.attempts import FIRST_TIME, Record
from llmserving.exercises.dashboard import dashboard
from llmserving.exercises.placing import items
from llmserving.exercises.progress import Progress
from playwright.sync_api import BrowserContext

from tests.browser.looking import contrasts, hard_to_read

pytestmark = pytest.mark.browser

THEMES = Path(sys.prefix) / "share" / "jupyter" / "lab" / "themes" / "@jupyterlab"


@pytest.fixture
def cards(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Each card as a page's HTML, by the call that shows it."""
    names: dict[str, Any] = {item.part.variable: "A" for item in items()}
    monkeypatch.setattr(session, "namespace", lambda: names)
    monkeypatch.setattr(session, "records_folder", lambda: None)
    monkeypatch.setattr(learner, "PROGRESS", Progress())
    records = {"L2.1": Record(1, 2.0, FIRST_TIME), "L2.3": Record(2, 1.0), "SC6": Record(recalled=1)}
    return {
        "status": "".join(card.html() for card in dashboard(records, ("Kept until the kernel stops.",))),
        "placement": learner.placement()._repr_html_(),
        "recall": learner.recall("L3")._repr_html_(),
    }


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_word_of_a_card_can_be_read(context: BrowserContext, theme: str, cards: dict[str, str]) -> None:
    colours = (THEMES / f"theme-{theme}-extension" / "index.css").read_text(encoding="utf-8")
    page, style = context.new_page(), f"{colours} body {{ background: var(--jp-layout-color0) }}"
    for call, card in cards.items():
        page.set_content(f"<!doctype html><style>{style}</style><body>{card}</body>")
        assert len(contrasts(page.locator("body"))) > 5, call
        assert hard_to_read(page.locator("body")) == {}, call
    headers = page.locator("th")
    page.set_content(cards["status"])
    assert headers.evaluate_all("all => all.every(th => ['row', 'col'].includes(th.scope))")
    assert headers.count() > 10
    page.close()
