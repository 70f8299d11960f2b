"""Going on a tour with the keyboard alone: the tests look at what it shows, and the README's pictures are taken on it."""

from __future__ import annotations

from grader.answer_key.solutions import reference_inputs, wrong_inputs
from llmserving.exercises import EXERCISES, GROUPS, Exercise
from llmserving.exercises.draws import DEFAULT_LEARNER
from playwright.sync_api import Locator, expect

from tests.browser.notebook_page import NotebookPage
from tests.browser.tours import Tour


def exercises_of(tour: Tour) -> list[Exercise]:
    return [EXERCISES[name] for name in GROUPS[tour.check]]


def move_the_control(notebook: NotebookPage, tour: Tour) -> Locator:
    """Run the explorer and move its control until it says so; its figure changes too. What the cell shows."""
    output = notebook.run(tour.explorer)
    said, figure = output.get_by_role("status"), output.get_by_role("img")
    expect(said).to_contain_text(tour.before)
    drawn = figure.get_attribute("aria-label")
    notebook.walk_to(tour.explorer)
    notebook.tab_to(output.get_by_label(tour.control, exact=True))
    notebook.press(*tour.keys)
    expect(said).to_contain_text(tour.after)
    expect(figure).not_to_have_attribute("aria-label", drawn or "")
    return output


def leave_the_explorer(notebook: NotebookPage, tour: Tour) -> None:
    notebook.tab_to(notebook.cell(tour.explorer), "Shift+Tab")


def answer_wrongly(notebook: NotebookPage, tour: Tour) -> tuple[Locator, str]:
    """All is right but for the first mistake that has a name: the card of its exercise, and the sentence it has to say."""
    first = exercises_of(tour)[0]
    wrong = wrong_inputs(first, DEFAULT_LEARNER)[0]
    answers = {**_right(tour), first.part_by_name[wrong.part].variable: wrong.written}
    return _checked(notebook, tour, answers).first, wrong.sentence.replace("`", "")


def answer_rightly(notebook: NotebookPage, tour: Tour) -> Locator:
    """The cards of the check, one for each exercise."""
    return _checked(notebook, tour, _right(tour))


def _right(tour: Tour) -> dict[str, object]:
    return {
        exercise.part_by_name[part].variable: written
        for exercise in exercises_of(tour)
        for part, written in reference_inputs(exercise, DEFAULT_LEARNER).items()
    }


def _checked(notebook: NotebookPage, tour: Tour, answers: dict[str, object]) -> Locator:
    answer, check = (f"{tour.check.lower().replace('.', '-')}-{role}" for role in ("answer", "check"))
    notebook.write_answers(answer, {variable: repr(written) for variable, written in answers.items()})
    notebook.run_active(answer)
    return notebook.run_active(check).get_by_role("group")
