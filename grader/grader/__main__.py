"""`python -m grader`: the instructor's commands, and the two that prepare and reset a self-learner's copies."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from llmserving.reader_may_leave import reader_may_leave

from grader import commands
from grader.course import level_name
from grader.errors import UserError


def main(arguments: Sequence[str] | None = None) -> int:
    """0 when all is done, 1 when something needs attention, 2 with a sentence when the command could not be carried out."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["selftest"]:
        from grader.selftest import main as selftest

        return int(selftest(given[1:]))
    options = parser().parse_args(given)
    try:
        return int(options.run(options))
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    except OSError as error:
        print(f"a file could not be read or written: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130


def parser() -> argparse.ArgumentParser:
    """The command line; each command's `run` is a function of commands.py."""
    top = argparse.ArgumentParser(prog="python -m grader", description="The instructor's commands around nbgrader.")
    add = top.add_subparsers(required=True, metavar="COMMAND").add_parser
    in_class = argparse.ArgumentParser(add_help=False)
    in_class.add_argument("--class", dest="folder", default=".", metavar="DIR", help="the class folder (default: here)")
    of_course = argparse.ArgumentParser(add_help=False)
    of_course.add_argument(
        "--notebooks", metavar="DIR", help="the course's notebooks (default: those of this checkout)"
    )

    one = add("init", parents=[of_course], help="make a class folder")
    one.add_argument("folder", metavar="DIR")
    one.set_defaults(run=commands.run_init)

    one = add("render", parents=[of_course], help="bring the notebooks in step with the exercises")
    one.add_argument("--check", action="store_true", help="change nothing; name what differs")
    one.add_argument("--execute", action="store_true", help="also run every notebook and store its outputs")
    one.set_defaults(run=commands.run_render)

    one = add("release", parents=[in_class], help="make the student version of levels")
    one.add_argument("levels", nargs="+", type=level_name, metavar="LEVEL")
    one.add_argument("--roster", metavar="FILE", help="one copy a learner, with numbers of their own")
    one.add_argument(
        "--own-words", type=float, metavar="POINTS",
        help="reasons in own words: cells to grade by hand, for so many points each (0: not graded; default: as before)",
    )  # fmt: skip
    one.set_defaults(run=commands.run_release)

    one = add("solutions", parents=[in_class], help="open the worked solutions of released levels")
    one.add_argument("levels", nargs="+", type=level_name, metavar="LEVEL")
    one.add_argument(
        "--roster", metavar="FILE", help="only for these learners (default: all who have a copy of their own)"
    )
    one.set_defaults(run=commands.run_solutions)

    one = add("grade", parents=[in_class], help="grade what was handed in, and write the feedback")
    one.add_argument("levels", nargs="+", type=level_name, metavar="LEVEL")
    one.add_argument(
        "--student", dest="students", nargs="+", action="extend", metavar="NAME", help="grade only these (default: all)"
    )
    one.add_argument("--again", action="store_true", help="grade also what has not changed since it was graded")
    one.set_defaults(run=commands.run_grade)

    one = add("report", parents=[in_class], help="a line for each learner and exercise of a level")
    one.add_argument("level", type=level_name, metavar="LEVEL")
    one.set_defaults(run=commands.run_report)

    one = add("export", parents=[in_class], help="write the gradebook as CSV")
    one.add_argument("--to", default="grades.csv", metavar="FILE.csv")
    one.set_defaults(run=commands.run_export)

    one = add("learn", parents=[of_course], help="prepare copies for self-study; what is there stays")
    one.add_argument("folder", nargs="?", default="learn", metavar="DIR")
    one.add_argument("--learner", metavar="ID", help="whose numbers (default: the course's own)")
    one.set_defaults(run=commands.run_learn)

    one = add("reset", parents=[of_course], help="a fresh copy of one notebook; yours is backed up first")
    one.add_argument("notebook", metavar="NOTEBOOK")
    one.set_defaults(run=commands.run_reset)

    one = add("doctor", parents=[of_course], help="is everything there")
    one.set_defaults(run=commands.run_doctor)

    add("selftest", help="grade the reference and every named mistake", add_help=False)
    return top


if __name__ == "__main__":
    with reader_may_leave():
        sys.exit(main())
