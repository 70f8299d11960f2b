"""The dashboard behind status(): how each level stands, what is open in which notebook, the labs, and what to do next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from llmserving.exercises.attempts import Record
from llmserving.exercises.card import Card
from llmserving.exercises.course import LEVELS, Level, Notebook
from llmserving.exercises.exercise import Exercise
from llmserving.exercises.standing import OPEN, STANDINGS, standing
from llmserving.units import format_number

Records = Mapping[str, Record]

_HEAD = ("level", *STANDINGS, "points", "minutes left", "recalled")
_LAB_HEAD = ("lab", "exercises", "points", "minutes left")


def dashboard(records: Records, kept: tuple[str, ...] = ()) -> list[Card]:
    """kept: what there is to say of where the records lie."""
    solved = _solved([exercise for level in LEVELS for exercise in level.exercises], records)
    labs = [lab for level in LEVELS for lab in level.labs]
    if labs:
        solved += f", and {_solved([exercise for lab in labs for exercise in lab.exercises], records, '')} in labs"
    levels = [_row(f"{level.name} {level.title}", (level,), records) for level in LEVELS]
    table = (_HEAD, *levels, _row("all", LEVELS, records))
    cards = [Card(solved, "plain", kept, table)]
    books = [(book.path, _what_is_open(book, records)) for level in LEVELS for book in _books_left(level, records)]
    if books:
        cards.append(Card("What is open", "plain", (), (("notebook", "exercises"), *books)))
    if labs:
        rows = tuple(_lab_row(lab, records) for lab in labs)
        cards.append(Card("Labs, beside the levels", "plain", (), (_LAB_HEAD, *rows)))
    return [*cards, Card(what_next(records), "plain")]


def what_next(records: Records) -> str:
    """What to do: the first open exercise of the notebook that was worked in last, or of one after it."""
    books = [book for level in LEVELS for book in level.notebooks]
    turns = [max((_of(exercise, records).turn for exercise in book.exercises), default=0) for book in books]
    begun = any(_of(exercise, records).attempts for book in books for exercise in book.exercises)
    here = turns.index(max(turns))
    for book in books[here:] + books[:here]:
        for exercise in _open(book.exercises, records):
            step = f"Next: {exercise.id} in {book.path}, about {exercise.minutes} "
            step += "minute" if exercise.minutes == 1 else "minutes"
            return step if begun else f"{step}. Not new to all of this? `placement()` says where to begin."
    reading = ", ".join(book.path for book in books if not book.exercises)
    labs = ", ".join(lab.path for level in LEVELS for lab in level.labs if _open(lab.exercises, records))
    told = ["Nothing is open.", *([f"To read: {reading}."] if reading else []), *([f"Labs: {labs}."] if labs else [])]
    return " ".join([*told, "`recall()` asks earlier questions again."])


def _solved(exercises: list[Exercise], records: Records, word: str = " solved") -> str:
    solved = sum(_of(exercise, records).solved is not None for exercise in exercises)
    return f"{solved} of {len(exercises)}{word}"


def _lab_row(lab: Notebook, records: Records) -> tuple[str, ...]:
    exercises = lab.exercises
    standings = ", ".join(f"{exercise.id}: {standing(exercise, records)}" for exercise in exercises)
    left = _minutes_left(lab, records) if _open(exercises, records) else 0
    return lab.path, standings, _points(exercises, records), str(left)


def _points(exercises: Iterable[Exercise], records: Records) -> str:
    pairs = [(min(_of(exercise, records).best, exercise.points), exercise.points) for exercise in exercises]
    return f"{format_number(sum(best for best, _ in pairs))} of {format_number(sum(points for _, points in pairs))}"


def _row(name: str, levels: tuple[Level, ...], records: Records) -> tuple[str, ...]:
    exercises = [exercise for level in levels for exercise in level.exercises]
    counts = Counter(standing(exercise, records) for exercise in exercises)
    recalled = sum(_of(exercise, records).recalled for exercise in exercises)
    rightly = sum(_of(exercise, records).recalled_right for exercise in exercises)
    minutes = sum(_minutes_left(book, records) for level in levels for book in _books_left(level, records))
    return (
        name,
        *(str(counts[state]) for state in STANDINGS),
        _points(exercises, records),
        str(minutes),
        f"{rightly} of {recalled} right" if recalled else "not yet",
    )


def _books_left(level: Level, records: Records) -> list[Notebook]:
    """The notebooks with something open; one that is for reading is left as long as its level has anything open."""
    if not _open(level.exercises, records):
        return []
    return [book for book in level.notebooks if not book.exercises or _open(book.exercises, records)]


def _minutes_left(book: Notebook, records: Records) -> int:
    """Those of what is open, and of the reading where nothing of the notebook was tried yet."""
    tried = any(_of(exercise, records).attempts for exercise in book.exercises)
    return sum(exercise.minutes for exercise in _open(book.exercises, records)) + (0 if tried else book.reading_minutes)


def _what_is_open(book: Notebook, records: Records) -> str:
    tried = {exercise.id for exercise in book.exercises if _of(exercise, records).attempts}
    ids = [exercise.id for exercise in _open(book.exercises, records)]
    return ", ".join(f"{name} (tried)" if name in tried else name for name in ids) or "to read"


def _open(exercises: Iterable[Exercise], records: Records) -> list[Exercise]:
    return [exercise for exercise in exercises if standing(exercise, records) == OPEN]


def _of(exercise: Exercise, records: Records) -> Record:
    return records.get(exercise.id, Record())
