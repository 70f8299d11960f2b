"""The dashboard behind status(): how each level stands, what is open in which notebook, and what to do next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from llmserving.exercises.card import Card
from llmserving.exercises.course import LEVELS, Level, Notebook
from llmserving.exercises.exercise import Exercise
from llmserving.exercises.progress import Record
from llmserving.exercises.standing import OPEN, STANDINGS, standing
from llmserving.units import format_number

Records = Mapping[str, Record]

_HEAD = ("level", *STANDINGS, "points", "minutes left", "recalled")


def dashboard(records: Records, kept: tuple[str, ...] = ()) -> list[Card]:
    """kept: what there is to say of where the records lie."""
    exercises = [exercise for level in LEVELS for exercise in level.exercises]
    solved = sum(_of(exercise, records).solved is not None for exercise in exercises)
    levels = [_row(f"{level.name} {level.title}", (level,), records) for level in LEVELS]
    table = (_HEAD, *levels, _row("all", LEVELS, records))
    cards = [Card(f"{solved} of {len(exercises)} solved", "plain", kept, table)]
    books = [(book.path, _what_is_open(book, records)) for level in LEVELS for book in _books_left(level, records)]
    if books:
        cards.append(Card("What is open", "plain", (), (("notebook", "exercises"), *books)))
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
    return (
        "Nothing is open." + (f" To read: {reading}." if reading else "") + " `recall()` asks earlier questions again."
    )


def _row(name: str, levels: tuple[Level, ...], records: Records) -> tuple[str, ...]:
    exercises = [exercise for level in levels for exercise in level.exercises]
    counts = Counter(standing(exercise, records) for exercise in exercises)
    best = sum(min(_of(exercise, records).best, exercise.points) for exercise in exercises)
    recalled = sum(_of(exercise, records).recalled for exercise in exercises)
    rightly = sum(_of(exercise, records).recalled_right for exercise in exercises)
    minutes = sum(_minutes_left(book, records) for level in levels for book in _books_left(level, records))
    return (
        name,
        *(str(counts[state]) for state in STANDINGS),
        f"{format_number(best)} of {format_number(sum(level.points for level in levels))}",
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
