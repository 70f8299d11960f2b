"""The learner's side: check, hint, another, status. Each shows a card; none of them ends in a traceback."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from llmserving.exercises import session
from llmserving.exercises.asking import Asked, Refused, gather
from llmserving.exercises.card import Card, Score, Shown, points_of
from llmserving.exercises.catalogue import EXERCISES
from llmserving.exercises.course import LEVELS
from llmserving.exercises.exercise import Exercise
from llmserving.exercises.hints import next_hint, part_in_need
from llmserving.exercises.progress import Progress, Record
from llmserving.exercises.statement import question_blocks
from llmserving.exercises.verdict_card import recorded, verdict_card

PROGRESS = Progress()


def check(exercise_id: Any = None, *answers: Any, learner: str | None = None) -> Score:
    """Points earned for an exercise, with a card that says what is right and which mistake it looks like.

    check("L2.1") reads the variables that the answer cell set. check("L2.1", 1.07) takes the answer itself, one for each
    part. check("L2.1#3", 2.1) answers the practice draw that another("L2.1") has shown. learner: whose numbers; the
    learner of this folder where it is not given.
    """
    try:
        asked = Asked(exercise_id, learner)
        data = gather(asked, answers)
        key = _answer_key()
    except Refused as refusal:
        return _printed(Score(0.0, (Card("Nothing was checked", "plain", (str(refusal),)),)))
    graded = key.grade(data, learner=asked.learner) if key is not None else {}
    cards, verdicts = [], []
    for name in asked.ids:
        exercise = EXERCISES[name]
        verdict = graded[name] if key is not None else recorded(exercise, data[name], asked.practice)
        if not asked.practice:
            PROGRESS.note_attempt(verdict)
        hint_for = None if asked.practice else partial(next_hint, PROGRESS, exercise, learner=asked.learner)
        cards.append(verdict_card(asked.name_of(name), exercise, verdict, hint_for))
        verdicts.append(verdict)
    score = sum(min(max(verdict.score, 0.0), verdict.points) for verdict in verdicts)
    return _printed(Score(score, (*cards, *_warning()), tuple(verdicts)))


def hint(exercise_id: Any = None) -> Shown:
    """The next hint, for the part that was off in the last check, or for the first part before any."""

    def cards() -> list[Card]:
        asked = Asked(exercise_id, None)
        still_open = [name for name in asked.ids if PROGRESS.record(name).solved is None]
        exercise = EXERCISES[(still_open or asked.ids)[0]]
        text = next_hint(PROGRESS, exercise, part_in_need(PROGRESS, exercise), asked.learner)
        return [Card(f"{exercise.id} · hint", "plain", (text,))]

    return _shown(cards)


def another(exercise_id: Any = None) -> Shown:
    """Fresh numbers for practice, and the call that checks them. Practice earns nothing and has no end."""

    def cards() -> list[Card]:
        asked = Asked(exercise_id, None)
        if asked.practice:
            raise Refused(f"ask for another({exercise_id.split('#')[0]!r}), without the # and its number")
        return [_practice_card(EXERCISES[name], asked.learner) for name in asked.ids]

    return _shown(cards)


def status() -> Shown:
    """A table of what is right first time, right after hints or more tries, and open; kept in this learner's folder."""

    def cards() -> list[Card]:
        rows = [("notebook", "exercise", "state", "points")]
        records = PROGRESS.records()
        for exercise in (exercise for level in LEVELS for exercise in level.exercises):
            record = records.get(exercise.id, Record())
            rows.append(
                (exercise.notebook, exercise.id, _state(exercise, record), points_of(record.best, exercise.points))
            )
        solved = sum(name in EXERCISES and record.solved is not None for name, record in records.items())
        kept = (
            ()
            if session.records_folder()
            else ("No records folder was found, so this is kept until the kernel stops.",)
        )
        return [Card(f"{solved} of {len(EXERCISES)} solved", "plain", kept, tuple(rows))]

    return _shown(cards)


def _answer_key() -> Any | None:
    try:
        return session.answer_key()
    except Exception as error:
        raise Refused(f"the answer key is installed but cannot be loaded ({type(error).__name__}: {error})") from None


def _practice_card(exercise: Exercise, learner: str) -> Card:
    number = PROGRESS.note_practice(exercise.id)
    name = f"{exercise.id}#{number}"
    blocks = question_blocks(exercise, f"{learner}#{number}")
    question = [re.sub(r"^- ", "", block, flags=re.MULTILINE) for block in blocks]
    answers = ", ".join("..." for _ in exercise.parts)
    return Card(f"{name} · practice", "plain", (*question, f'Answer with `check("{name}", {answers})`.'))


def _state(exercise: Exercise, record: Record) -> str:
    if record.solved is not None:
        return record.solved
    if record.best >= exercise.points:
        return "full points, carried on from an earlier answer"
    return "open, tried" if record.attempts else "open"


def _warning() -> tuple[Card, ...]:
    warning, PROGRESS.warning = PROGRESS.warning, None
    return (Card("Records", "plain", (warning,)),) if warning else ()


def _shown(cards: Callable[[], list[Card]]) -> Shown:
    try:
        return Shown(*cards(), *_warning())
    except Refused as refusal:
        return Shown(Card("Nothing to show", "plain", (str(refusal),)))


def _printed(score: Score) -> Score:
    """Outside a notebook nothing shows a value as HTML, so the cards are printed."""
    if not session.in_notebook():
        print("\n".join(card.text() for card in score.cards))
    return score
