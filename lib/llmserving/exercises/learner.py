"""The learner's side: check, hint, another, recall, status, placement. Each shows a card; none of them ends in a traceback."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

from llmserving.exercises import session
from llmserving.exercises.asking import Asked, Refused, gather, whose
from llmserving.exercises.card import Card, Score, Shown
from llmserving.exercises.catalogue import EXERCISES
from llmserving.exercises.course_call import course_call
from llmserving.exercises.dashboard import dashboard
from llmserving.exercises.hints import next_hint, part_in_need
from llmserving.exercises.missing_names import offer_calls
from llmserving.exercises.opening import digest, invitation, unread_parts
from llmserving.exercises.placing import placement_card
from llmserving.exercises.practice import NO_PRACTICE, how_often_it_differs, practice_card, require_shown
from llmserving.exercises.progress import Progress
from llmserving.exercises.recalling import after_recall, end_of_level, recall_cards
from llmserving.exercises.standing import closed_ids
from llmserving.exercises.verdict_card import recorded, verdict_card

PROGRESS = Progress()


@course_call(
    '`check("L2.1")`, or `check("L2.1", 1.07)` with the answer itself',
    "Nothing was checked",
    lambda card: _printed(Score(0.0, (card,))),
)
def check(exercise_id: Any = None, *answers: Any, learner: str | None = None) -> Score:
    """Points earned for an exercise, with a card that says what is right and which mistake it looks like.

    check("L2.1") reads the variables that the answer cell set. check("L2.1", 1.07) takes the answer itself, one for each
    part. check("L2.1#3", 2.1) answers the practice draw that another("L2.1") has shown. learner: whose numbers; the
    learner of this folder where it is not given.
    """
    offer_calls()
    asked = Asked(exercise_id, learner)
    require_shown(asked, PROGRESS)
    key = _answer_key()
    data = gather(asked, answers, key)
    graded = key.grade(data, learner=asked.learner) if key is not None else {}
    closing = set() if asked.practice else {name for name, verdict in graded.items() if verdict.earns_all} & {*asked.ids}
    # A level is more than one kernel sees, so its end is told only where records are kept.
    closed_before = closed_ids(PROGRESS.records()) if closing and PROGRESS.is_kept else None
    cards, verdicts = [], []
    for name in asked.ids:
        exercise = EXERCISES[name]
        verdict = graded[name] if key is not None else recorded(exercise, data[name], asked.practice)
        if not asked.practice:
            PROGRESS.note_attempt(verdict)
            PROGRESS.note_answers(name, digest(exercise, data[name]), unread_parts(exercise, data[name]))
        hint_for = None if asked.practice else partial(next_hint, PROGRESS, exercise, learner=asked.learner)
        card = verdict_card(asked.name_of(name), exercise, verdict, hint_for)
        if asked.practice and PROGRESS.note_recalled(verdict, asked.draw):
            card = _with_line(card, after_recall(exercise, verdict))
        if not asked.practice and not verdict.earns_all:
            card = _with_line(card, invitation(exercise, PROGRESS.record(name)))
        cards.append(card)
        verdicts.append(verdict)
    if closed_before is not None:
        cards[-1] = _with_line(cards[-1], end_of_level(closed_before, closed_before | closing))
    score = sum(min(max(verdict.score, 0.0), verdict.points) for verdict in verdicts)
    return _printed(Score(score, (*cards, *warning_cards()), tuple(verdicts)))


@course_call('`hint("L2.1")`')
def hint(exercise_id: Any = None) -> Shown:
    """The next hint, for the part that was off in the last check, or for the first part before any."""
    asked = Asked(exercise_id, None)
    still_open = [name for name in asked.ids if PROGRESS.record(name).solved is None]
    failed = [name for name in still_open if PROGRESS.record(name).attempts]
    exercise = EXERCISES[(failed or still_open or asked.ids)[0]]
    text = next_hint(PROGRESS, exercise, part_in_need(PROGRESS, exercise), asked.learner)
    return _shown([Card(f"{exercise.id} · hint", "plain", (text,))])


@course_call('`another("L2.1")`')
def another(exercise_id: Any = None) -> Shown:
    """Fresh numbers for practice, and the call that checks them. Practice earns nothing and has no end."""
    asked = Asked(exercise_id, None)
    if asked.practice:
        raise Refused(f"ask for another({asked.name!r}), without the # and its number")
    if not all(EXERCISES[name].has_practice for name in asked.ids):
        raise Refused(f"{asked.name} has no practice: {NO_PRACTICE}")
    exercises = [EXERCISES[name] for name in asked.ids]
    return _shown(
        practice_card(one, asked.learner, PROGRESS.note_practice(one.id), "practice", how_often_it_differs(one))
        for one in exercises
    )


@course_call('`recall("L3")`, or `recall("SC6")` for that one')
def recall(*ids: Any) -> Shown:
    """Earlier questions again, with fresh numbers, and the call that checks each; like practice, it earns nothing.

    recall("SC6") asks that one. recall("L3"), at the end of level 3, asks one of each level before it, first what was not
    right first time or is longest ago; recall() takes the level that you have reached.
    """
    return _shown(recall_cards(PROGRESS, ids, whose(None)))


@course_call("`status()`")
def status() -> Shown:
    """How each level stands, what is open in each notebook, and what to do next; kept in this learner's folder."""
    whose(None)  # as everywhere, nothing is told while nobody knows for whom
    nowhere = "No records folder was found, so this is kept until the kernel stops."
    return _shown(dashboard(PROGRESS.records(), () if session.records_folder() else (nowhere,)))


@course_call("`placement()`")
def placement(*, learner: str | None = None) -> Shown:
    """Where to begin, by the answers to the questions of START_HERE. Nothing of it is graded or recorded."""
    own, key = whose(learner), _answer_key()
    if key is None:
        raise Refused("placement needs the answer key, which is not installed here; choose by 'Where to begin' in START_HERE")
    return _shown([placement_card(key, session.namespace(), own)])


def _answer_key() -> Any | None:
    try:
        return session.answer_key()
    except Exception as error:
        raise Refused(f"the answer key is installed but cannot be loaded ({type(error).__name__}: {error})") from None


def _with_line(card: Card, line: str | None) -> Card:
    return card if line is None else replace(card, paragraphs=(*card.paragraphs, line))


def warning_cards() -> tuple[Card, ...]:
    """What there is to say of the files in the folder, under what was asked for."""
    return tuple(Card("Records", "plain", (warning,)) for warning in PROGRESS.warnings())


def _shown(cards: Iterable[Card]) -> Shown:
    return Shown(*cards, *warning_cards())


def _printed(score: Score) -> Score:
    """Outside a notebook nothing shows a value as HTML, so the cards are printed."""
    if not session.in_notebook():
        print("\n".join(card.text() for card in score.cards))
    return score
