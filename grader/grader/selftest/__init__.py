"""Selftest: what the released course must always satisfy, checked through the notebooks as a learner meets them.

For every draw each notebook is released, run alone in a kernel without network, and its answer cells are filled in: not
at all, rightly in two forms, and with every named mistake. Verdicts are read from what the check cells show.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from llmserving.exercises.course import LEVELS
from llmserving.exercises.draws import DEFAULT_LEARNER

from grader.course import find_notebooks, level_name, notebooks_in, require_level
from grader.errors import UserError
from grader.selftest.item_list import item_table, list_items, list_labs
from grader.selftest.tally import Tally
from grader.selftest.trials import try_instructor, try_release

__all__ = ["main", "selftest"]


def selftest(levels: Iterable[str], learners: Iterable[str], notebooks: Path) -> Tally:
    """Every property, for each notebook of the levels and each learner's numbers, two kernels at a time."""
    paths = [path for level in levels for path in notebooks_in(notebooks / level)]
    tally = Tally()
    with ThreadPoolExecutor(max_workers=2) as pool:
        jobs = [pool.submit(try_instructor, path) for path in paths]
        jobs += [pool.submit(try_release, path, learner) for learner in learners for path in paths]
        for job in jobs:
            tally.add(job.result())
    return tally


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m grader selftest", description="Grade the reference and every mistake."
    )
    parser.add_argument(
        "levels", nargs="*", type=level_name, metavar="LEVEL", help="levels to test; all where none is named"
    )
    parser.add_argument(
        "--learners", type=int, default=5, metavar="N", help="draws beside the course's own (default: 5)"
    )
    parser.add_argument("--notebooks", type=Path, metavar="DIR", help="the course's notebooks")
    parser.add_argument(
        "--items", action="store_true", help="run no notebook; list every item with its mistakes, graded on each draw"
    )
    options = parser.parse_args(arguments)
    known = [level.name for level in LEVELS]
    learners = [DEFAULT_LEARNER, *(f"selftest-{number}" for number in range(1, options.learners + 1))]
    try:
        levels = [require_level(level, known) for level in options.levels] or known
        if options.items:
            found, labs = list_items(levels, learners), list_labs(levels, learners)
            print("\n".join(item_table(found)))
            if labs:
                print("\n".join(["", "labs, beside the levels", *item_table(labs)]))
            return 1 if any(item.failures for item in (*found, *labs)) else 0
        tally = selftest(levels, learners, find_notebooks(options.notebooks))
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    print(tally.report())
    return 0 if tally.holds else 1
