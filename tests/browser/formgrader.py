"""nbgrader's Formgrader, opened in JupyterLab from its menu."""

from __future__ import annotations

from playwright.sync_api import FrameLocator, Page, expect

from tests.browser.jupyter import Lab
from tests.browser.notebook_page import PATIENCE_MS


def open_formgrader(page: Page, lab: Lab) -> FrameLocator:
    """The page of assignments, which stands in a frame of its own."""
    page.goto(lab.address("/lab"), timeout=PATIENCE_MS)
    page.get_by_role("menuitem", name="Nbgrader").click()
    page.get_by_role("menuitem", name="Formgrader").click()
    frame = page.frame_locator("iframe")
    expect(frame.get_by_role("heading", name="Manage Assignments")).to_be_visible()
    return frame


def open_submissions(frame: FrameLocator, level: str, submissions: int) -> None:
    """From the assignments to the submissions of one of them, by the number that stands in its row."""
    row = frame.get_by_role("row", name=level)
    row.get_by_role("link", name=str(submissions), exact=True).click()
    expect(frame.get_by_role("heading", name="Manage Submissions")).to_be_visible()
    expect(frame.locator("tbody").get_by_role("row")).to_have_count(submissions)
