"""Selftest: what the released course must always satisfy, checked through the notebooks as a learner meets them.

For every draw each notebook is released, run alone in a kernel without network, and its answer cells are filled in: not
at all, rightly in two forms, and with every named mistake. Verdicts are read from what the check cells show.
"""

from __future__ import annotations

import argparse
import html
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.manager import start_new_kernel
from llmserving.exercises import EXERCISES, GROUPS, Exercise
from llmserving.exercises.card import VERDICT_MIME
from llmserving.exercises.course import LEVELS
from llmserving.exercises.draws import DEFAULT_LEARNER
from llmserving.exercises.session import RECORDS_VARIABLE
from llmserving.exercises.statement import answer_stub
from llmserving.units import format_number

from grader.answer_key.solutions import other_inputs, reference_inputs, wrong_inputs
from grader.course import find_notebooks, notebooks_in, require_level
from grader.render import ANSWER_HEAD, BEGIN, END, LIVE_TAG, METADATA
from grader.student_version import student_version

ALONE = "each notebook runs alone, without network, errors or warnings"
PRESENT = "every item is asked, answered and checked once, for its points"
CLEAN = "no solution text, key or stored output in the release"
NOT_TOLD = "no statement or lesson holds the right number"
UNTOUCHED = "an untouched release scores 0"
REFERENCE = "the reference scores 100 %"
OTHERWISE = "the reference written otherwise scores 100 %"
MISTAKES = "each named mistake fails with its own message"
INSTRUCTOR = "the instructor's own solutions score 100 %"
PROPERTIES = (PRESENT, CLEAN, NOT_TOLD, ALONE, UNTOUCHED, REFERENCE, OTHERWISE, MISTAKES, INSTRUCTOR)

CELL_TIMEOUT_S = 120

_BLOCK_NETWORK = """
import ipaddress as _ip, socket as _socket
_connect, _lookup = _socket.socket.connect, _socket.getaddrinfo
def _only_here(self, address):
    if self.family in (_socket.AF_INET, _socket.AF_INET6) and not _ip.ip_address(address[0]).is_loopback:
        raise OSError(f"the network is blocked, but a cell asked for {address}")
    return _connect(self, address)
def _no_names(host, *args, **options):
    if host not in (None, "localhost", "127.0.0.1", "::1"):
        raise OSError(f"the network is blocked, but a cell looked up {host}")
    return _lookup(host, *args, **options)
_socket.socket.connect, _socket.getaddrinfo = _only_here, _no_names
"""


@dataclass
class Tally:
    """How often each property was looked at, and where it did not hold."""

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(PROPERTIES, 0))
    failures: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in PROPERTIES})

    def expect(self, name: str, holds: bool, otherwise: str) -> None:
        self.counts[name] += 1
        if not holds:
            self.failures[name].append(otherwise)

    def add(self, other: Tally) -> None:
        for name in PROPERTIES:
            self.counts[name] += other.counts[name]
            self.failures[name] += other.failures[name]


class Kernel:
    """A learner's kernel in an empty folder, with the network blocked; `run` gives what a cell shows."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def run(self, source: str) -> dict[str, Any]:
        """The mime bundle of the cell's value; under "error" and "stderr" what went wrong, if anything did."""
        shown: dict[str, Any] = {}

        def note(message: Mapping[str, Any]) -> None:
            kind, content = message["msg_type"], message["content"]
            if kind == "execute_result":
                shown.update(content["data"])
            elif kind == "error":
                shown["error"] = f"{content['ename']}: {content['evalue']}"
            elif kind == "stream" and content["name"] == "stderr":
                shown["stderr"] = content["text"]

        self._client.execute_interactive(source, allow_stdin=False, output_hook=note, timeout=CELL_TIMEOUT_S)
        return shown


@contextmanager
def kernel() -> Iterator[Kernel]:
    import os

    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, RECORDS_VARIABLE: "off", "IPYTHONDIR": folder}
        manager, client = start_new_kernel(cwd=folder, env=environment)
        try:
            started = Kernel(client)
            started.run(_BLOCK_NETWORK)
            yield started
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)


def selftest(levels: Iterable[str], learners: Iterable[str], notebooks: Path) -> Tally:
    """Every property, for each notebook of the levels and each learner's numbers, two notebooks at a time."""
    paths = [path for level in levels for path in notebooks_in(notebooks / level)]
    tally = Tally()
    with ThreadPoolExecutor(max_workers=2) as pool:
        jobs = [pool.submit(_instructor, path) for path in paths]
        jobs += [pool.submit(_release, path, learner) for learner in learners for path in paths]
        for job in jobs:
            tally.add(job.result())
    return tally


def _instructor(path: Path) -> Tally:
    """The solutions were written apart from the key, so running them is a second opinion."""
    tally, notebook = Tally(), nbformat.read(path, as_version=4)
    with kernel() as session:
        for cell in _code_cells(notebook):
            shown = session.run(cell.source)
            if _role(cell) == "check":
                _expect_points(tally, INSTRUCTOR, path.stem, cell, shown)
    return tally


def _release(path: Path, learner: str) -> Tally:
    tally, source = Tally(), nbformat.read(path, as_version=4)
    released = student_version(source, learner)
    where = f"{path.parent.name}/{path.stem} for {learner}"
    _look_at(released, source, f"{path.parent.name}/{path.stem}", learner, where, tally)
    with kernel() as session:
        for cell in _code_cells(released):
            shown = session.run(cell.source)
            trouble = shown.get("error") or shown.get("stderr")
            tally.expect(ALONE, not trouble, f"{where}: the cell {cell.source[:40]!r} gave {trouble}")
            if _role(cell) == "check":
                tally.expect(UNTOUCHED, shown.get("text/plain") == "0.0", f"{where}: {_name(cell)} {shown}")
        answers = {_name(cell): cell.source for cell in released.cells if _role(cell) == "answer"}
        checks = [cell for cell in released.cells if _role(cell) == "check" and _name(cell) in answers]
        for name, inputs in ((REFERENCE, reference_inputs), (OTHERWISE, other_inputs)):
            for cell in checks:
                written = _written(cell, inputs, learner)
                _expect_points(tally, name, where, cell, _answer(session, answers[_name(cell)], cell, written))
        for cell in checks:
            right = _written(cell, reference_inputs, learner)
            for exercise in _exercises(cell):
                _fail_with_each_mistake(session, tally, where, exercise, learner, answers[_name(cell)], cell, right)
                session.run(filled(answers[_name(cell)], right))
    return tally


def _fail_with_each_mistake(
    session: Kernel, tally: Tally, where: str, exercise: Exercise, learner: str, answer: str, cell: Any, right: Any
) -> None:
    for wrong in wrong_inputs(exercise, learner):
        variable = exercise.part_by_name[wrong.part].variable
        shown = _answer(session, answer, cell, {**right, variable: wrong.written})
        verdict = shown.get(VERDICT_MIME, {}).get(exercise.id, {"diagnoses": [], "states": {}})
        told = html.unescape(re.sub(r"<[^>]+>", "", shown.get("text/html", "")))
        holds = (
            wrong.name in verdict["diagnoses"]
            and verdict["states"].get(wrong.part) in ("wrong", "partly")
            and float(shown.get("text/plain", "nan")) < cell.metadata.nbgrader.points
            and wrong.sentence.replace("`", "") in told
        )
        tally.expect(MISTAKES, holds, f"{where}: {variable} = {wrong.written!r} is {wrong.name}, but was told {told!r}")


def _look_at(released: Any, source: Any, place: str, learner: str, where: str, tally: Tally) -> None:
    """What can be seen without running: every item in its place, nothing of the solution, no right number."""
    due = sorted(exercise.id for exercise in EXERCISES.values() if exercise.notebook == place)
    for role in ("answer", "check"):
        there = sorted(exercise.id for cell in released.cells if _role(cell) == role for exercise in _exercises(cell))
        tally.expect(PRESENT, there == due, f"{where}: {role} cells for {there}, due are {due}")
    stated = sorted(_name(cell) for cell in released.cells if _role(cell) == "statement")
    tally.expect(PRESENT, stated == due, f"{where}: statements of {stated}, due are {due}")
    solution_lines = {line.strip() for cell in source.cells for line in _solution(cell.source)}
    for cell in released.cells:
        lines = {line.strip() for line in cell.source.splitlines()}
        leaked = [line for line in solution_lines & lines if line] + [m for m in (BEGIN, END) if m in cell.source]
        tally.expect(CLEAN, not leaked, f"{where}: the cell {cell.id} holds {leaked}")
        if cell.cell_type == "code":
            stored = cell.outputs or cell.execution_count is not None
            tally.expect(CLEAN, not stored, f"{where}: the cell {cell.id} has a stored output")
            tally.expect(CLEAN, "grader" not in cell.source, f"{where}: the cell {cell.id} names the grader")
        if _role(cell) == "answer":
            stubs = "\n".join([ANSWER_HEAD, *(answer_stub(exercise) for exercise in _exercises(cell))])
            tally.expect(CLEAN, cell.source.strip() == stubs, f"{where}: {_name(cell)} is more than its stubs")
        if _role(cell) == "check":
            points = sum(exercise.points for exercise in _exercises(cell))
            tally.expect(PRESENT, cell.metadata.nbgrader.points == points, f"{where}: points of {_name(cell)}")
    _look_for_numbers(released, due, learner, where, tally)


def _look_for_numbers(released: Any, due: list[str], learner: str, where: str, tally: Tally) -> None:
    for exercise in (EXERCISES[name] for name in due):
        known = {form for number in exercise.numbers(learner).values() for form in number_forms(number)}
        for part in exercise.parts:
            if part.kind == "value":
                right = reference_inputs(exercise, learner)[part.name]
                for cell in released.cells:
                    # A lesson may happen on a small number; a statement must not, unless the question gives it.
                    forms = {form for form in number_forms(right) - known if _role(cell) or len(form) > 3}
                    told = [
                        form
                        for form in forms
                        if re.search(rf"(?<![\w.,]){re.escape(form)}(?![\w]|[.,]\d)", cell.source)
                    ]
                    of_another = _role(cell) == "statement" and _name(cell) != exercise.id
                    tally.expect(NOT_TOLD, not told or of_another, f"{where}: {part.variable} is told: {told}")


def number_forms(number: float) -> set[str]:
    """A number as prose would write it."""
    forms = {format_number(number), f"{number:,}", repr(number), f"{number:.2f}", f"{number:.4g}"}
    return forms - {form for form in forms if "e" in form}


def filled(answer_cell: str, values: Mapping[str, Any]) -> str:
    """The answer cell with the learner's values in the place of each `...`."""
    for variable, value in values.items():
        answer_cell = re.sub(rf"^{variable} = \.\.\.$", lambda _: f"{variable} = {value!r}", answer_cell, flags=re.M)  # noqa: B023
    return answer_cell


def _answer(session: Kernel, answer: str, check: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    session.run(filled(answer, values))
    return session.run(check.source)


def _expect_points(tally: Tally, name: str, where: str, cell: Any, shown: Mapping[str, Any]) -> None:
    points = sum(exercise.points for exercise in _exercises(cell))
    told = shown.get("error") or html.unescape(re.sub(r"<[^>]+>", " ", shown.get("text/html", "")))
    tally.expect(name, shown.get("text/plain") == repr(float(points)), f"{where}: {_name(cell)} {told}")


def _written(cell: Any, inputs: Any, learner: str) -> dict[str, Any]:
    return {
        exercise.part_by_name[part].variable: value
        for exercise in _exercises(cell)
        for part, value in inputs(exercise, learner).items()
    }


def _code_cells(notebook: Any) -> list[Any]:
    return [
        cell for cell in notebook.cells if cell.cell_type == "code" and LIVE_TAG not in cell.metadata.get("tags", [])
    ]


def _exercises(cell: Any) -> list[Exercise]:
    return [EXERCISES[exercise_id] for exercise_id in GROUPS[_name(cell)]]


def _role(cell: Any) -> str | None:
    role: str | None = cell.metadata.get(METADATA, {}).get("role")
    return role


def _name(cell: Any) -> str:
    name: str = cell.metadata[METADATA]["exercise"]
    return name


def _solution(source: str) -> list[str]:
    return [line for region in re.findall(rf"{BEGIN}\n(.*?){END}", source, re.DOTALL) for line in region.splitlines()]


def report(tally: Tally) -> str:
    lines = []
    for name in PROPERTIES:
        failures = tally.failures[name]
        verdict = "FAILED" if failures else "ok" if tally.counts[name] else "NOT RUN"
        lines.append(
            f"{verdict:<8}{name}: {tally.counts[name]:,} checks" + (f", {len(failures)} off" if failures else "")
        )
        lines += [f"          {failure}" for failure in failures[:5]]
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m grader selftest", description=__doc__)
    parser.add_argument("levels", nargs="*", metavar="LEVEL", help="levels to test; all where none is named")
    parser.add_argument("--learners", type=int, default=5, metavar="N", help="draws beside the course's own (5)")
    parser.add_argument("--notebooks", type=Path, help="folder of the instructor's notebooks")
    given = parser.parse_args(arguments)
    known = [level.name for level in LEVELS]
    levels = [require_level(level, known) for level in given.levels] or known
    learners = [DEFAULT_LEARNER, *(f"selftest-{number}" for number in range(1, given.learners + 1))]
    tally = selftest(levels, learners, find_notebooks(given.notebooks))
    print(report(tally))
    return 1 if any(tally.failures.values()) or not all(tally.counts.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
