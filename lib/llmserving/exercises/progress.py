"""What a learner has tried and solved, kept in the learner's own folder and never sent anywhere."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path

from llmserving.exercises import session
from llmserving.exercises.attempts import AFTER_HINTS, AFTER_TRIES, FIRST_TIME, TRIES_ENOUGH, Record
from llmserving.exercises.verdict import Verdict

PROGRESS_FILE = "progress.json"


class Progress:
    """The records of one learner, read from the folder and written back whole, in one step."""

    def __init__(self) -> None:
        self._memory: dict[str, Record] = {}
        self._only_in_memory = False
        self.warning: str | None = None
        self._told_of_learner = False

    def warnings(self) -> list[str]:
        """What there is to say of the files in the folder; each is said once."""
        told = [] if self.warning is None else [self.warning]
        self.warning = None
        if not self._told_of_learner and (damaged := session.damaged_learner_file()):
            self._told_of_learner = True
            told.append(damaged)
        return told

    @property
    def is_kept(self) -> bool:
        """Whether records outlast the kernel: there is a folder for them, and nobody grades in it."""
        return self._path() is not None

    def record(self, exercise_id: str) -> Record:
        return self.records().get(exercise_id, Record())

    def note_attempt(self, verdict: Verdict) -> None:
        states = [part.state for part in verdict.parts.values()]
        if all(state in ("open", "unreadable", "recorded") for state in states):
            return
        record = self.record(verdict.exercise)
        record.attempts += 1
        if verdict.all_right and record.solved is None:
            first_time = record.attempts == 1 and not record.hints
            record.solved = FIRST_TIME if first_time else AFTER_HINTS if record.hints else AFTER_TRIES
        record.best = max(record.best, verdict.score)
        off = [name for name, part in verdict.parts.items() if part.state != "right"]
        # A hint is for what failed before it is for what was left open.
        record.parts_off = sorted(off, key=lambda name: verdict.parts[name].state not in ("wrong", "partly"))
        record.groups_off = {name: list(part.groups_off) for name, part in verdict.parts.items() if part.groups_off}
        record.turn = self._next_turn()
        self._store(verdict.exercise, record)

    def note_answers(self, exercise_id: str, digest: str | None, unread: list[str]) -> None:
        """Keep that these answers were tried, or which could not be read; digest: None where there are such, and where none
        could be."""
        record = self.record(exercise_id)
        if record.parts_unread != unread:
            record.parts_unread = unread
            self._store(exercise_id, record)
        if digest is not None and digest not in record.answers and len(record.answers) < TRIES_ENOUGH:
            record.answers = [*record.answers, digest]
            self._store(exercise_id, record)

    def note_ticked(self, exercise_id: str, numbers: list[int]) -> None:
        """Keep which reasons the learner has found in the own text."""
        record = self.record(exercise_id)
        record.ticked = numbers
        self._store(exercise_id, record)

    def note_hint(self, exercise_id: str, row: str) -> int:
        """Count one more hint of this row of hints, by its name; gives back its index, from 0."""
        record = self.record(exercise_id)
        shown = record.hints.get(row, 0)
        record.hints[row] = shown + 1
        self._store(exercise_id, record)
        return shown

    def note_practice(self, exercise_id: str) -> int:
        """Count one more practice draw; gives back its number, from 1."""
        record = self.record(exercise_id)
        record.practice += 1
        self._store(exercise_id, record)
        return record.practice

    def note_recall(self, exercise_id: str) -> int:
        """The number of the practice draw to ask again: the one that waits for an answer, or else a new one."""
        record = self.record(exercise_id)
        if not record.recall_draw:
            record.practice += 1
            record.recall_draw = record.practice
            self._store(exercise_id, record)
        return record.recall_draw

    def note_recalled(self, verdict: Verdict, draw: str | None) -> bool:
        """Count the first answer to the draw that recall asked; False where that is another draw or not an answer."""
        record = self.record(verdict.exercise)
        states = {part.state for part in verdict.parts.values()}
        if not record.recall_draw or draw != str(record.recall_draw) or states <= {"open", "unreadable"}:
            return False
        record.recall_draw = 0
        record.turn = self._next_turn()
        if "recorded" not in states:
            record.recalled += 1
            record.recalled_right += verdict.all_right
        self._store(verdict.exercise, record)
        return True

    def _next_turn(self) -> int:
        return 1 + max((record.turn for record in self.records().values()), default=0)

    def records(self) -> dict[str, Record]:
        """Every record, by exercise id, as the folder has them now."""
        path = self._path()
        if self._only_in_memory or path is None or not path.exists():
            return self._memory
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            return {exercise_id: Record(**fields) for exercise_id, fields in stored["exercises"].items()}
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return self._set_aside(path)

    def _set_aside(self, path: Path) -> dict[str, Record]:
        """An unreadable file is kept under another name; nothing of the learner's is thrown away."""
        kept = session.unreadable_name(path)
        try:
            os.replace(path, kept)
            self.warning = f"Your progress file could not be read; it was kept as {kept.name} and a new one begun."
        except OSError as error:
            self.warning = f"Your progress file could not be read ({error.strerror}); records are kept in memory only."
        return self._memory

    def _store(self, exercise_id: str, record: Record) -> None:
        records = {**self.records(), exercise_id: record}
        self._memory = records
        path = self._path()
        if path is None:
            return
        text = json.dumps({"exercises": {key: asdict(value) for key, value in records.items()}}, indent=1)
        try:
            # Written beside and renamed, so that a crash or a second kernel never leaves half a file.
            beside = path.with_suffix(f".{os.getpid()}.tmp")
            beside.write_text(text, encoding="utf-8")
            os.replace(beside, path)
            self._only_in_memory = False
        except OSError as error:
            self._only_in_memory = True
            self.warning = f"Your progress could not be saved ({error.strerror}); it is kept until the kernel stops."

    @staticmethod
    def _path() -> Path | None:
        folder = session.records_folder()
        return folder / PROGRESS_FILE if folder is not None and session.keeps_records() else None
