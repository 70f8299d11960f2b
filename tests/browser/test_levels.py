"""One explorer and one check of every level, in both themes, with the keyboard alone, and looked at by axe."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from grader.answer_key.solutions import reference_inputs, wrong_inputs
from llmserving.exercises import EXERCISES, GROUPS
from llmserving.exercises.card import points_of
from llmserving.exercises.course import LEVELS
from llmserving.exercises.draws import DEFAULT_LEARNER
from playwright.sync_api import BrowserContext, Locator, expect

from tests.browser.jupyter import THEMES, Lab, Theme
from tests.browser.looking import faults, hard_to_read, pictures_without_words
from tests.browser.notebook_page import NotebookPage, open_notebook
from tests.browser.tours import TOURS, Tour


def test_every_level_has_a_tour_through_one_of_its_notebooks() -> None:
    places = {level.name: [notebook.path for notebook in level.notebooks] for level in LEVELS}
    assert list(TOURS) == list(places)
    for level, tour in TOURS.items():
        assert tour.notebook in places[level]
        assert EXERCISES[GROUPS[tour.check][0]].notebook == tour.notebook


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.usefixtures("quiet_and_at_home")
@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("level", TOURS)
def test_a_level_is_worked_by_keyboard_and_axe_finds_no_serious_fault(
    level: str, theme: Theme, context: BrowserContext, lab: Lab, learn: Path
) -> None:
    tour = TOURS[level]
    lab.use_theme(theme)
    notebook = open_notebook(context, lab, learn, f"{theme}/{tour.notebook}.ipynb")
    assert notebook.page.locator("body").get_attribute("data-jp-theme-light") == str(theme == "light").lower()
    move_the_control(notebook, tour)
    answer_wrongly_then_rightly(notebook, tour.check)
    notebook.page.close()
    lab.stop_kernels()


def move_the_control(notebook: NotebookPage, tour: Tour) -> None:
    output = notebook.run(tour.explorer)
    said, figure = output.get_by_role("status"), output.get_by_role("img")
    expect(said).to_contain_text(tour.before)
    drawn = figure.get_attribute("aria-label")
    notebook.walk_to(tour.explorer)
    notebook.tab_to(output.get_by_label(tour.control))
    notebook.press(*tour.keys)
    expect(said).to_contain_text(tour.after)
    expect(figure).not_to_have_attribute("aria-label", drawn or "")
    look_at(output)
    notebook.tab_to(notebook.cell(tour.explorer), "Shift+Tab")


def answer_wrongly_then_rightly(notebook: NotebookPage, check: str) -> None:
    """Every named mistake has its sentence; the first one of the check's first exercise stands for all."""
    exercises = [EXERCISES[name] for name in GROUPS[check]]
    right = {
        exercise.part_by_name[part].variable: written
        for exercise in exercises
        for part, written in reference_inputs(exercise, DEFAULT_LEARNER).items()
    }
    wrong = wrong_inputs(exercises[0], DEFAULT_LEARNER)[0]
    variable = exercises[0].part_by_name[wrong.part].variable

    cards = checked(notebook, check, {**right, variable: wrong.written})
    expect(cards.first).to_contain_text(wrong.sentence.replace("`", ""))
    expect(cards.first).not_to_contain_text(points_of(exercises[0].points, exercises[0].points))
    look_at(notebook.cell(cell_of(check, "check")))

    cards = checked(notebook, check, {variable: right[variable]})
    for card, exercise in zip(cards.all(), exercises, strict=True):
        expect(card).to_contain_text(f"{exercise.id} · right · {points_of(exercise.points, exercise.points)}")
    look_at(notebook.cell(cell_of(check, "check")))


def checked(notebook: NotebookPage, check: str, values: dict[str, Any]) -> Locator:
    notebook.write_answers(cell_of(check, "answer"), {name: repr(value) for name, value in values.items()})
    notebook.run_active(cell_of(check, "answer"))
    return notebook.run_active(cell_of(check, "check")).get_by_role("group")


def cell_of(check: str, role: str) -> str:
    """The course's notebooks name the cells of a check after it."""
    return f"{check.lower().replace('.', '-')}-{role}"


def look_at(shown: Locator) -> None:
    """Whatever a cell has put out is free of serious faults, easy to read, and has words for its pictures."""
    for output in shown.locator(".jp-OutputArea-output").all():
        assert faults(output) == []
        assert hard_to_read(output) == {}
        assert pictures_without_words(output) == []
