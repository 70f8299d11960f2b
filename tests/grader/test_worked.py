"""Worked solutions: every exercise has one, in the learner's own numbers and letters, and what it ends in is right."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest
from grader.answer_key import KEY, worked_solution
from grader.answer_key.key import ChainKey, ChoiceKey, ValueKey
from grader.answer_key.lab_keys import FunctionKey, MeasurementKey, ObjectKey
from grader.answer_key.rubrics import RUBRICS
from grader.answer_key.worked.solution import STEPS
from grader.selftest.as_run import run_cell
from llmserving.exercises import EXERCISES
from llmserving.exercises.draws import DEFAULT_LEARNER
from llmserving.exercises.exercise import CODE_KINDS
from llmserving.exercises.markup import CODE_FENCE
from llmserving.exercises.verdict import Verdict
from llmserving.exercises.worked import worked_card

LEARNERS = (DEFAULT_LEARNER, "ada", "bob", "worked-1", "worked-2")

_NUMBER = r"\(?-?\d[\d,]*(?:\.\d+)?\)?"
_BOLD = re.compile(r"\*\*(.+?)\*\*")
_CODE = re.compile(rf"{CODE_FENCE}\n(.*)\n{CODE_FENCE}", re.DOTALL)


def answers_of(name: str, learner: str) -> dict[str, Any]:
    """The answer that each part of the worked solution gives, as a learner would copy it from the card."""
    steps = worked_solution(name, learner).steps
    answers: dict[str, Any] = {}
    for part in EXERCISES[name].parts:
        key = KEY[name].parts[part.name]
        if part.kind in CODE_KINDS:
            line, code, after = _CODE.split(steps[part.name])
            assert len(line) > 20, f"{name}.{part.name} has code without a line on what it does"
            assert after == ""
            answers[part.name] = run_cell(code)[part.variable]
            continue
        if isinstance(key, MeasurementKey):
            answers[part.name] = key.example
            continue
        bold = _BOLD.findall(steps[part.name])
        assert len(bold) == 1, f"{name}.{part.name} has to give one answer in bold, but has {bold}"
        answers[part.name] = bold[0]
    return answers


def graded(name: str, answers: dict[str, Any], learner: str) -> Verdict:
    return KEY[name].grade(answers, learner)


@pytest.mark.parametrize("name", KEY)
def test_an_exercise_has_a_worked_solution_whose_answers_are_right(name: str) -> None:
    missing = [
        part
        for part, key in KEY[name].parts.items()
        if isinstance(key, ValueKey | FunctionKey | ObjectKey) and part not in STEPS.get(name, {})
    ]
    assert not missing, f"{name} lacks worked steps for {', '.join(missing)}: add them below grader/answer_key/worked/"
    for learner in LEARNERS:
        verdict = graded(name, answers_of(name, learner), learner)
        assert verdict.all_right, f"{name} for {learner}: {verdict.message}"


def test_steps_belong_to_parts_that_there_are() -> None:
    for name, parts in STEPS.items():
        assert set(parts) <= {part.name for part in EXERCISES[name].parts}, name


@pytest.mark.parametrize("name", STEPS)
def test_every_equation_of_the_steps_holds(name: str) -> None:
    """What stands left of a sign of equality, worked out again from what is printed, is what stands right of it."""
    found = 0
    for learner in LEARNERS:
        for part, key in KEY[name].parts.items():
            if isinstance(key, ValueKey):
                text = _BOLD.sub(r"\1", worked_solution(name, learner).steps[part]).replace("×", "*")
                for left, right in equations(text):
                    found += 1
                    assert left == pytest.approx(right, rel=0.002), f"{name}.{part} for {learner}: {left} = {right}"
    worked_out = [part for part, key in KEY[name].parts.items() if isinstance(key, ValueKey) and part != "event"]
    assert found or not worked_out, name  # an event of a trace is found, and not computed


def equations(text: str) -> list[tuple[float, float]]:
    """Each product, quotient, sum or difference of numbers in `text` that is followed by = and a number."""
    units = r"(?: (?:GB|KB|MB|TB|TFLOP|ms|s|bytes|bits|billion|weights|slots|tokens|blocks|documents)(?:/s)?)?"
    term = rf"(?:{_NUMBER}|\({_NUMBER} - {_NUMBER}\)|\d+\^\d+){units}"
    expression = rf"((?:{term} [*/+-] )+{term}) = ({_NUMBER})"
    return [(float(eval(_plain(left))), float(_plain(right))) for left, right in re.findall(expression, text)]


def _plain(text: str) -> str:
    text = re.sub(r"(?:billion )?[A-Za-z]+(?:/s)?", "", text)
    return text.replace(",", "").replace("^", "**").strip()


def test_equations_are_found_and_a_false_one_is_told() -> None:
    assert equations("so 2 * 1,024 bytes = 2,048 bytes, and 9.4 / 0.2 + 5 = 52") == [(2048, 2048), (52, 52)]
    assert equations("0.9 - (-0.6) = 1.5 and 0.2 * (15 - 5) = 3") == [(1.5, 1.5), (2, 3)]


@pytest.mark.parametrize("name", [name for name, key in KEY.items() if "chain" in {p.kind for p in key.exercise.parts}])
def test_a_chain_is_listed_link_by_link_with_a_line_on_its_order(name: str) -> None:
    for part, key in KEY[name].parts.items():
        if isinstance(key, ChainKey):
            *links, why = worked_solution(name, "ada").steps[part].split("\n")[1:]
            texts = {option.name: option.text for option in EXERCISES[name].part_by_name[part].options}
            assert [link.split(": ", 1)[1] for link in links] == [texts[link] for link in key.orders[0]]
            assert why.startswith("Why in this order: ")
            assert ("Any other order" in why) == (len(key.orders) > 1)


def test_a_choice_says_what_each_other_option_is_in_the_words_of_its_verdict() -> None:
    key = KEY["L3.3"].parts["lever"]
    assert isinstance(key, ChoiceKey)
    text = worked_solution("L3.3", "ada").steps["lever"]
    assert all(trap.sentence in text for trap in key.traps.values())
    assert "of the time that the products take" in text


def test_a_number_is_grouped_in_one_way_throughout_a_card() -> None:
    steps = worked_solution("L3.3").steps
    assert steps["compute_ms"].endswith("= **1365 ms**")
    assert steps["w8a8_ms"].endswith("INT8: 1365 ms × 312 / 624 = **682.7 ms**")
    for name, learner in itertools.product(KEY, LEARNERS):
        card = "\n".join(worked_solution(name, learner).steps.values())
        for plain in set(re.findall(r"(?<![\d.,])\d{4,}(?![\d.,])", card)):
            grouped = rf"(?<![\d.,]){int(plain):,}(?![\d,]|\.\d)"
            assert not re.search(grouped, card), f"{name} of {learner} has {plain} both grouped and not"


def test_the_course_s_own_numbers_are_worked_out_in_the_open() -> None:
    worked = worked_solution("L2.1")
    assert "2 × 1 × 2,048 × 32 × 4,096 × 2 bytes = 1,073,741,824 bytes = **1.074 GB**" in worked.steps["kv_gb"]
    card = worked_card(EXERCISES["L2.1"], worked)
    assert card.heading == "L2.1 · worked solution"
    assert card.paragraphs[-1] == "To reread: 'The six factors' in L2/kv_size."


def test_code_is_shown_as_lines_of_code_in_both_forms_of_the_card() -> None:
    card = worked_card(EXERCISES["LAB3A.2"], worked_solution("LAB3A.2"))
    assert "<pre" in card.html()
    assert "    def is_shared(self, block: int) -&gt; bool:\n        return sum(" in card.html()
    assert "\n          return sum(block in table for table in self.tables.values()) > 1" in card.text()
    assert CODE_FENCE not in card.html() + card.text()


@pytest.mark.parametrize("name", ["LAB2.1", "LAB3A.1", "LAB3A.2", "LAB3A.4", "LAB3B.2"])
def test_code_is_shown_without_what_only_a_type_checker_reads(name: str) -> None:
    steps = "\n".join(worked_solution(name).steps.values())
    assert "def " in steps
    assert "type: ignore" not in steps


def test_every_question_for_a_reason_has_a_rubric() -> None:
    asked = {name for name in EXERCISES if name.startswith(("WH", "ST"))}
    assert asked <= set(RUBRICS)
    assert all(2 <= len(reasons) <= 4 for reasons in RUBRICS.values())
    assert worked_solution("WH1").reasons == RUBRICS["WH1"]
    assert worked_solution("L2.1").reasons == ()
