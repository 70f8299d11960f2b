"""The dashboard: each level in numbers, what is open where, and one thing to do next."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from llmserving import check, status
from llmserving.exercises import EXERCISES, session
from llmserving.exercises import dashboard as dashboard_module
from llmserving.exercises.attempts import AFTER_HINTS, AFTER_TRIES, FIRST_TIME, Record
from llmserving.exercises.card import Card
from llmserving.exercises.course import LEVELS, Level, Notebook
from llmserving.exercises.dashboard import dashboard, what_next
from llmserving.exercises.progress import PROGRESS_FILE
from llmserving.units import format_number

pytestmark = pytest.mark.usefixtures("own_folder")

ALL_RIGHT = {name: Record(1, e.points, FIRST_TIME, turn=n) for n, (name, e) in enumerate(EXERCISES.items(), 1)}


def row_of(level: str, cards: list[Card]) -> dict[str, str]:
    head, *rows = cards[0].table
    return next(dict(zip(head, row, strict=True)) for row in rows if row[0].split()[0] == level)


def open_in(cards: list[Card]) -> dict[str, str]:
    return {book: ids for card in cards if card.heading == "What is open" for book, ids in card.table[1:]}


def labs_in(cards: list[Card]) -> dict[str, list[str]]:
    return {book: rest for card in cards if card.heading.startswith("Labs") for book, *rest in card.table[1:]}


def test_each_level_is_a_row_and_each_exercise_counts_once() -> None:
    records = {
        "L2.1": Record(1, 2.0, FIRST_TIME), "L2.2": Record(2, 2.0), "EC8": Record(2, 1.0, AFTER_TRIES),
        "L2.3": Record(3, 3.0), "SC6": Record(2, 1.0, AFTER_HINTS, recalled=3, recalled_right=2),
    }  # fmt: skip
    cards = dashboard(records)
    assert row_of("L2", cards) == {
        "level": "L2 Application", "right first time": "1", "after hints or more tries": "2",
        "full points carried on": "1", "open": "1", "points": "9 of 10",
        "minutes left": str(EXERCISES["L2.3"].minutes), "recalled": "2 of 3 right",
    }  # fmt: skip
    assert row_of("L1", cards)["recalled"] == "not yet"
    assert open_in(cards)["L2/weights"] == "L2.3 (tried)"
    assert "L2/kv_size" not in open_in(cards)
    course = sum(len(list(level.exercises)) for level in LEVELS)
    assert cards[0].heading.startswith(f"3 of {course} solved"), "what was carried on is not solved"


def test_nothing_is_hard_coded_to_the_levels_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    cards = dashboard({})
    assert [row[0].split()[0] for row in cards[0].table[1:]] == [*(level.name for level in LEVELS), "all"]
    further = Level("L9", "Beyond", "?", (Notebook("L2/kv_size", "The size of the KV cache", 6),))
    monkeypatch.setattr(dashboard_module, "LEVELS", (*LEVELS, further))
    assert row_of("L9", dashboard({}))["open"] == "3"


def test_before_anything_is_tried_all_of_it_is_left_and_the_placement_is_named() -> None:
    cards = dashboard({})
    for level in LEVELS:
        assert row_of(level.name, cards)["minutes left"] == str(level.minutes)
    assert row_of("all", cards)["minutes left"] == str(sum(level.minutes for level in LEVELS))
    assert cards[-1].heading.startswith("Next: L1.1 in L1/two_phases, about 3 minutes. Not new")
    assert "placement()" in cards[-1].heading


def test_reading_is_left_until_something_of_the_notebook_was_tried() -> None:
    book = LEVELS[1].notebooks[0]
    before, after = dashboard({}), dashboard({"L2.1": Record(1)})
    saved = int(row_of("L2", before)["minutes left"]) - int(row_of("L2", after)["minutes left"])
    assert saved == book.reading_minutes, "a wrong try leaves the exercise open, and the reading done"


@pytest.mark.parametrize(
    ("records", "said"),
    [
        ({"L2.1": Record(1, 2.0, FIRST_TIME, turn=1)}, "Next: L2.2 in L2/kv_size, about 3 minutes"),
        ({"L2.1": Record(1, turn=1)}, "Next: L2.1 in L2/kv_size, about 4 minutes"),
        ({"L3.1": Record(1, turn=1), "L2.1": Record(1, 2.0, FIRST_TIME, turn=2)}, "Next: L2.2 in L2/kv_size"),
        ({**ALL_RIGHT, "SC6": Record()}, "Next: SC6 in L2/weights, about 1 minute"),
    ],
)
def test_next_goes_on_where_the_learner_is_and_then_to_what_was_left_behind(
    records: dict[str, Record], said: str
) -> None:
    assert what_next(records).startswith(said)
    assert "placement" not in what_next(records)


def test_when_nothing_is_open_recall_is_what_is_left() -> None:
    cards = dashboard(ALL_RIGHT)
    assert "What is open" not in [card.heading for card in cards]
    assert cards[-1].heading.startswith("Nothing is open.")
    assert cards[-1].heading.endswith(" `recall()` asks earlier questions again.")
    assert row_of("all", cards)["open"] == "0"
    assert row_of("all", cards)["minutes left"] == "0"


def test_labs_are_listed_apart_and_count_for_no_level() -> None:
    labs = [lab for level in LEVELS for lab in level.labs]
    before, begun = dashboard({}), dashboard({"LAB2.1": Record(2, 3.0, turn=5)})
    assert list(labs_in(before)) == [lab.path for lab in labs]
    assert not set(labs_in(before)) & set(open_in(before))
    assert before[0].heading.endswith(f" solved, and 0 of {sum(len(lab.exercises) for lab in labs)} in labs")
    lab = LEVELS[1].labs[0]
    ids = [exercise.id for exercise in lab.exercises]
    of, left = format_number(sum(exercise.points for exercise in lab.exercises)), EXERCISES["LAB2.1"].minutes

    def listed(first: str) -> str:
        return ", ".join([f"LAB2.1: {first}", *(f"{name}: open" for name in ids[1:])])

    assert labs_in(before)[lab.path] == [listed("open"), f"0 of {of}", str(lab.minutes)]
    assert labs_in(begun)[lab.path][:2] == [listed("open"), f"3 of {of}"]
    assert begun[0] == before[0], "the table of the levels"
    solved = dashboard({"LAB2.1": Record(1, EXERCISES["LAB2.1"].points, FIRST_TIME)})
    assert labs_in(solved)[lab.path][0] == listed("right first time")
    assert int(labs_in(solved)[lab.path][2]) == int(labs_in(begun)[lab.path][2]) - left
    assert ", and 1 of " in solved[0].heading


def test_an_open_lab_is_never_what_is_next_but_told_when_the_levels_are_done() -> None:
    without = {name: record for name, record in ALL_RIGHT.items() if not EXERCISES[name].lab}
    told = what_next(without)
    assert told.startswith("Nothing is open.")
    assert f"Labs: {', '.join(lab.path for level in LEVELS for lab in level.labs)}." in told
    assert "Labs" not in what_next(ALL_RIGHT)


def test_a_notebook_that_is_only_read_is_left_as_long_as_its_level_is(monkeypatch: pytest.MonkeyPatch) -> None:
    level = LEVELS[1]
    with_reading = Level(level.name, level.title, "?", (*level.notebooks, Notebook("L2/afterwards", "Afterwards", 7)))
    monkeypatch.setattr(dashboard_module, "LEVELS", (with_reading,))
    assert open_in(dashboard({}))["L2/afterwards"] == "to read"
    assert row_of("L2", dashboard({}))["minutes left"] == str(level.minutes + 7)
    cards = dashboard(ALL_RIGHT)
    assert cards[-1].heading.startswith("Nothing is open. To read: L2/afterwards.")
    assert row_of("L2", cards)["minutes left"] == "0"


def test_more_points_than_an_exercise_has_are_not_counted() -> None:
    assert row_of("L2", dashboard({"L2.1": Record(1, 99.0)}))["points"] == "2 of 10"


def test_records_of_an_exercise_that_the_course_no_longer_has_change_nothing() -> None:
    assert [card.text() for card in dashboard({"gone": Record(1, 1.0, FIRST_TIME, turn=9)})] == [
        card.text() for card in dashboard({})
    ]


def test_the_card_is_a_table_with_headers_of_columns_and_rows_and_the_words_of_the_text() -> None:
    check("L2.1", 1.07)
    shown = status()
    page = shown._repr_html_()
    columns = re.findall(r'<th scope="col"[^>]*>([^<]*)</th>', page)
    rows = re.findall(r'<th scope="row"[^>]*>([^<]*)</th>', page)
    tables = [card.table for card in shown.cards if card.table]
    assert columns == [name for table in tables for name in table[0]]
    assert rows == [row[0] for table in tables for row in table[1:]]
    for cell in (*columns, *rows, "Next: L2.2 in L2/kv_size, about 3 minutes"):
        assert cell in repr(shown)
    assert "right first time" in page, "the state is a word, not a colour"


def test_status_works_without_a_folder_and_with_a_damaged_file(
    own_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (own_folder / PROGRESS_FILE).write_text("{")
    told = repr(status())
    assert told.startswith("0 of ")
    assert "kept as progress.unreadable-1.json" in told
    monkeypatch.setattr(session, "records_folder", lambda: None)
    assert "No records folder was found, so this is kept until the kernel stops." in repr(status())
