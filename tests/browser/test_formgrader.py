"""A class graded by our command is there, with its scores, in nbgrader's own Formgrader."""

from __future__ import annotations

from pathlib import Path

import pytest
from llmserving.exercises.course import LEVELS
from llmserving.units import format_number
from playwright.sync_api import BrowserContext, expect

from tests.browser.formgrader import open_formgrader, open_submissions
from tests.browser.jupyter import jupyter_lab
from tests.browser.looking import Watched
from tests.browser.small_class import LEVEL, make_class, say

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.usefixtures("quiet_and_at_home")]

POINTS = format_number(sum(exercise.points for exercise in LEVELS[1].every_exercise))
SCORES = {
    "ada": f"{POINTS} / {POINTS}", "ben": f"5 / {POINTS}", "chen": f"0 / {POINTS}", "dora": f"{POINTS} / {POINTS}",
}  # fmt: skip


def test_the_formgrader_shows_the_submissions_and_their_scores(
    context: BrowserContext, watched: Watched, tmp_path: Path
) -> None:
    folder = make_class(tmp_path / "class")
    say(folder, "grader", "grade", LEVEL)
    page = context.new_page()
    with jupyter_lab(folder, tmp_path / "jupyter", cwd=folder) as lab:
        frame = open_formgrader(page, lab)
        open_submissions(frame, LEVEL, len(SCORES))
        for student, score in SCORES.items():
            row = frame.get_by_role("row", name=student)
            expect(row).to_contain_text("graded")
            expect(row.get_by_text(score, exact=True)).to_be_visible()
        page.close()
