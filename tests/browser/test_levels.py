"""One explorer and one check of every level, in both themes, with the keyboard alone, and looked at by axe."""

from __future__ import annotations

from pathlib import Path

import pytest
from llmserving.exercises.card import points_of
from llmserving.exercises.course import LEVELS
from playwright.sync_api import BrowserContext, Locator, expect

from tests.browser.jupyter import THEMES, Lab, Theme
from tests.browser.looking import faults, hard_to_read, pictures_without_words
from tests.browser.notebook_page import open_notebook
from tests.browser.touring import (
    answer_rightly,
    answer_wrongly,
    exercises_of,
    leave_the_explorer,
    move_the_control,
)
from tests.browser.tours import TOURS


def test_every_level_has_a_tour_through_one_of_its_notebooks() -> None:
    places = {level.name: [notebook.path for notebook in level.notebooks] for level in LEVELS}
    assert list(TOURS) == list(places)
    for level, tour in TOURS.items():
        assert tour.notebook in places[level]
        assert {exercise.notebook for exercise in exercises_of(tour)} == {tour.notebook}


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
    look_at(move_the_control(notebook, tour).locator(".jp-OutputArea-output"))
    leave_the_explorer(notebook, tour)

    first, *_ = exercises = exercises_of(tour)
    card, sentence = answer_wrongly(notebook, tour)
    expect(card).to_contain_text(sentence)
    expect(card).not_to_contain_text(points_of(first.points, first.points))
    look_at(card)

    cards = answer_rightly(notebook, tour)
    expect(cards).to_have_count(len(exercises))
    for card, exercise in zip(cards.all(), exercises, strict=True):
        expect(card).to_contain_text(f"{exercise.id} · right · {points_of(exercise.points, exercise.points)}")
        look_at(card)
    notebook.page.close()
    lab.stop_kernels()


def look_at(shown: Locator) -> None:
    """Free of serious faults, easy to read, and with words for its pictures."""
    assert faults(shown) == []
    assert hard_to_read(shown) == {}
    assert pictures_without_words(shown) == []
