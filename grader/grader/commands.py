"""What each command does with its options: open the folder, call the one function, print lines, choose the exit code.

Imports stand in the functions, so that a command does not wait for what only another needs.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from grader.course import find_notebooks


def run_init(options: Namespace) -> int:
    from grader.class_folder import init_class_folder

    print(init_class_folder(Path(options.folder), _notebooks(options)))
    return 0


def run_render(options: Namespace) -> int:
    from grader.render_command import files_that_differ, render_all

    notebooks = _notebooks(options)
    if options.check:
        stale = files_that_differ(notebooks)
        for name in stale:
            print(f"{name} differs from its exercises; python -m grader render brings it in step", file=sys.stderr)
        return 1 if stale else 0
    changed = render_all(notebooks)
    print("\n".join(f"{name} was rendered" for name in changed) or "nothing had changed")
    if options.execute:
        from grader.execute_notebooks import execute_all

        print("\n".join(f"{name} was run" for name in execute_all(notebooks)))
    return 0


def run_release(options: Namespace) -> int:
    from grader.class_folder import open_class_folder
    from grader.release import release
    from grader.roster import read_roster

    roster = None if options.roster is None else read_roster(Path(options.roster))
    folder = open_class_folder(Path(options.folder))
    print("\n".join(release(folder, options.levels, roster, options.own_words)))
    return 0


def run_solutions(options: Namespace) -> int:
    from grader.class_folder import open_class_folder
    from grader.open_solutions import open_solutions
    from grader.roster import read_roster

    roster = None if options.roster is None else read_roster(Path(options.roster))
    folder = open_class_folder(Path(options.folder))
    for level in options.levels:
        print(open_solutions(folder, level, roster))
    return 0


def run_grade(options: Namespace) -> int:
    from grader.class_folder import open_class_folder
    from grader.grade import grade, summary

    folder = open_class_folder(Path(options.folder))
    graded = grade(folder, options.levels, _print_now, students=options.students, again=options.again)
    print(summary(graded))
    return 1 if any(one.reason is not None for one in graded) else 0


def run_report(options: Namespace) -> int:
    from grader.class_folder import open_class_folder
    from grader.report import report

    print("\n".join(report(open_class_folder(Path(options.folder)), options.level)))
    return 0


def run_export(options: Namespace) -> int:
    from grader.class_folder import open_class_folder
    from grader.export import export_grades

    print("\n".join(export_grades(open_class_folder(Path(options.folder)), Path(options.to))))
    return 0


def run_learn(options: Namespace) -> int:
    from llmserving.exercises.session import LEARNER_FILE, RECORDS_FOLDER, learner_file_is_damaged, learner_of

    from grader.learn import prepare

    records = Path(options.folder) / RECORDS_FOLDER
    damaged = learner_file_is_damaged(records)
    added = prepare(Path(options.folder), _notebooks(options), options.learner)
    if damaged:
        print(
            f"{records / LEARNER_FILE} could not be read; it was made again for the learner {learner_of(records)!r}, and what "
            "was there is kept beside it"
        )
    if added:
        print(f"{options.folder}: added {', '.join(map(str, added))}")
    return 0


def run_reset(options: Namespace) -> int:
    from grader.reset import reset

    backup = reset(Path(options.notebook), _notebooks(options))
    print(f"{options.notebook} is fresh again" + (f"; yours was kept as {backup.name}" if backup else ""))
    return 0


def run_doctor(options: Namespace) -> int:
    from grader.doctor import doctor

    lines, fine = doctor(None if options.notebooks is None else Path(options.notebooks))
    print("\n".join(lines))
    return 0 if fine else 1


def _notebooks(options: Namespace) -> Path:
    return find_notebooks(None if options.notebooks is None else Path(options.notebooks))


def _print_now(line: str) -> None:
    print(line, flush=True)
