"""The learner's side: check, hint, another, status. Each shows a card; none of them ends in a traceback."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from llmserving.exercises import session
from llmserving.exercises.card import Card, Score, Shown, Tone, points_of
from llmserving.exercises.catalogue import EXERCISES, GROUPS, unknown_id
from llmserving.exercises.collect import collect, data_of_answer
from llmserving.exercises.course import LEVELS
from llmserving.exercises.exercise import Exercise
from llmserving.exercises.faults import fault_sentence
from llmserving.exercises.progress import Progress, Record
from llmserving.exercises.statement import fill, statement_markdown
from llmserving.exercises.verdict import PartVerdict, Verdict

PROGRESS = Progress()

RECORDED = "Recorded, graded later. The answer key is not installed here, so there is no verdict yet."

_PRACTICE = re.compile(r"(.+)#(\d{1,4})")


class _Asked:
    """What a name such as 'L2.1', 'L1.cache' or 'L2.1#3' refers to: exercises, and whose numbers they take."""

    def __init__(self, name: Any, learner: str | None) -> None:
        practice = _PRACTICE.fullmatch(name) if isinstance(name, str) else None
        base = practice.group(1) if practice else name
        if not isinstance(base, str) or (base not in GROUPS and base not in EXERCISES):
            raise _Refused(unknown_id(base))
        try:
            own = session.current_learner() if learner is None else session.valid_learner(learner)
        except ValueError as error:
            raise _Refused(str(error)) from None
        self.ids = (base,) if base in EXERCISES else GROUPS[base]
        self.practice = practice is not None
        self.learner = f"{own}#{practice.group(2)}" if practice else own


class _Refused(Exception):
    """A call that cannot be answered; its sentence is shown in place of a card."""


def check(exercise_id: str, *answers: Any, learner: str | None = None) -> Score:
    """Points earned for an exercise, with a card that says what is right and which mistake it looks like.

    check("L2.1") reads the variables that the answer cell set. check("L2.1", 1.07) takes the answer itself, one for each
    part. check("L2.1#3", 2.1) answers the practice draw that another("L2.1") has shown. learner: whose numbers; the
    learner of this folder where it is not given.
    """
    try:
        asked = _Asked(exercise_id, learner)
        data = _gather(asked, answers)
    except _Refused as refusal:
        return _shown_score(Score(0.0, (Card("Nothing was checked", "plain", (str(refusal),)),)))
    key = session.answer_key()
    graded = key.grade(data, learner=asked.learner) if key is not None else {}
    cards, verdicts = [], []
    for exercise_id in asked.ids:
        exercise = EXERCISES[exercise_id]
        verdict = graded[exercise_id] if key is not None else _recorded(exercise, data[exercise_id])
        if not asked.practice:
            PROGRESS.note_attempt(verdict)
        cards.append(_verdict_card(exercise, verdict, asked))
        verdicts.append(verdict)
    score = sum(min(max(verdict.score, 0.0), verdict.points) for verdict in verdicts)
    return _shown_score(Score(score, (*cards, *_warning()), tuple(verdicts)))


def hint(exercise_id: str) -> Shown:
    """The next hint, for the part that was off in the last check, or for the first part before any."""

    def show() -> Shown:
        asked = _Asked(exercise_id, None)
        open_ids = [name for name in asked.ids if not PROGRESS.record(name).solved]
        exercise = EXERCISES[(open_ids or asked.ids)[0]]
        off = [name for name in PROGRESS.record(exercise.id).parts_off if name in exercise.part_by_name]
        off = off or [part.name for part in exercise.parts]
        part_name = next((name for name in off if _hints_left(exercise, name)), off[0])
        return Shown(
            Card(f"{exercise.id} · hint", "plain", (_next_hint(exercise, part_name, asked.learner),)), *_warning()
        )

    return _shown(show)


def another(exercise_id: str) -> Shown:
    """Fresh numbers for practice, and the call that checks them. Practice leaves no record and has no end."""

    def show() -> Shown:
        asked = _Asked(exercise_id, None)
        if asked.practice:
            raise _Refused(f"ask for another({exercise_id.split('#')[0]!r}), without the # and its number")
        cards = []
        for name in asked.ids:
            exercise = EXERCISES[name]
            _draws_shown[name] = number = _draws_shown.get(name, 0) + 1
            practice = f"{name}#{number}"
            answers = ", ".join("..." for _ in exercise.parts)
            cards.append(
                Card(
                    f"{practice} · practice",
                    "plain",
                    (
                        *_statement_lines(exercise, f"{asked.learner}#{number}"),
                        f'Answer with `check("{practice}", {answers})`.',
                    ),
                )
            )
        return Shown(*cards)

    return _shown(show)


def status() -> Shown:
    """A table of what is right first time, right after hints or more tries, and open; kept in this learner's folder."""
    rows = [("notebook", "exercise", "state", "points")]
    for exercise in (exercise for level in LEVELS for exercise in level.exercises):
        record = PROGRESS.record(exercise.id)
        points = points_of(record.best, exercise.points)
        rows.append((exercise.notebook, exercise.id, _state(record), points))
    solved = sum(PROGRESS.record(exercise_id).solved for exercise_id in EXERCISES)
    kept = "" if session.records_folder() else " No records folder was found, so this is kept until the kernel stops."
    heading = f"{solved} of {len(EXERCISES)} solved"
    return _shown(lambda: Shown(Card(heading, "plain", (kept.strip(),) if kept else (), tuple(rows)), *_warning()))


_draws_shown: dict[str, int] = {}


def _gather(asked: _Asked, answers: tuple[Any, ...]) -> dict[str, Any]:
    if not answers:
        if asked.practice:
            raise _Refused("a practice draw takes its answer in the call, after the id")
        namespace = session.namespace()
        earlier = [name for exercise_id in asked.ids for name in EXERCISES[exercise_id].builds_on]
        return {name: collect(name, namespace) for name in (*earlier, *asked.ids)}
    if len(asked.ids) > 1:
        raise _Refused(f"answers can be given for one exercise at a time: one of {', '.join(asked.ids)}")
    try:
        return {asked.ids[0]: data_of_answer(asked.ids[0], answers[0] if len(answers) == 1 else answers)}
    except ValueError as error:
        raise _Refused(str(error)) from None


def _recorded(exercise: Exercise, data: Mapping[str, Any]) -> Verdict:
    """Without a key: faults of form are told, everything else is recorded."""

    def part_verdict(name: str) -> PartVerdict:
        part, answer = exercise.part_by_name[name], data["parts"][name]
        if answer["kind"] == "fault":
            return PartVerdict(0.0, part.points, "unreadable", fault_sentence(part, answer))
        return PartVerdict(0.0, part.points, "recorded", RECORDED)

    return Verdict(exercise.id, {part.name: part_verdict(part.name) for part in exercise.parts})


def _verdict_card(exercise: Exercise, verdict: Verdict, asked: _Asked) -> Card:
    states = {part.state for part in verdict.parts.values()}
    if "recorded" in states:
        heading, tone = f"{exercise.id} · recorded", "plain"
    else:
        tone = "right" if verdict.earns_all else "partly" if verdict.score > 0 else "wrong"
        word = {"right": "right", "partly": "partly right", "wrong": "not yet"}[tone]
        heading = f"{exercise.id} · {word} · {points_of(verdict.score, verdict.points)}"
    return Card(heading, _tone(tone), tuple(_paragraphs(exercise, verdict, asked)))


def _tone(name: str) -> Tone:
    return name  # type: ignore[return-value]


def _paragraphs(exercise: Exercise, verdict: Verdict, asked: _Asked) -> list[str]:
    paragraphs = []
    for name, part in verdict.parts.items():
        if part.state == "right":
            continue
        text = part.message if part.reread is None else f"{part.message} Reread '{part.reread}'."
        label = f"**`{exercise.part_by_name[name].variable}`** " if len(verdict.parts) > 1 else ""
        if part.state in ("wrong", "partly") and not part.diagnoses and not asked.practice:
            text = f"{text} {_next_hint(exercise, name, asked.learner)}"
        paragraphs.append(label + text)
    if verdict.earns_all and len(paragraphs) == 0 and len(verdict.parts) > 1:
        paragraphs.append("Every part is right.")
    return list(dict.fromkeys(paragraphs))


def _next_hint(exercise: Exercise, part_name: str, learner: str) -> str:
    part = exercise.part_by_name[part_name]
    if not _hints_left(exercise, part_name):
        last = fill(part.hints[-1], exercise, learner)
        return f"There is no further hint for `{part.variable}`; the last one was: {last}"
    index = PROGRESS.note_hint(exercise.id, part_name)
    return f"Hint {index + 1} of {len(part.hints)} for `{part.variable}`: {fill(part.hints[index], exercise, learner)}"


def _hints_left(exercise: Exercise, part_name: str) -> bool:
    return PROGRESS.record(exercise.id).hints.get(part_name, 0) < len(exercise.part_by_name[part_name].hints)


def _statement_lines(exercise: Exercise, learner: str) -> list[str]:
    blocks = statement_markdown(exercise, learner).split("\n\n")[2:]
    return [re.sub(r"^- ", "", block, flags=re.MULTILINE) for block in blocks]


def _state(record: Record) -> str:
    if not record.solved:
        return "open, tried" if record.attempts else "open"
    if record.first_try:
        return "right first time"
    return "right after hints" if record.hints else "right after more tries"


def _warning() -> tuple[Card, ...]:
    warning, PROGRESS.warning = PROGRESS.warning, None
    return (Card("Records", "plain", (warning,)),) if warning else ()


def _shown(show: Callable[[], Shown]) -> Shown:
    try:
        shown = show()
    except _Refused as refusal:
        shown = Shown(Card("Nothing to show", "plain", (str(refusal),)))
    return shown


def _shown_score(score: Score) -> Score:
    if not session.in_notebook():
        print("\n".join(card.text() for card in score.cards))
    return score
