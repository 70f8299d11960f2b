"""What every test relies on: no skip without a listed reason, and what a test has to tell is told though it passes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests import skips

pytest_plugins = ["pytester"]

SAID = "said"
"""A test that measures or lists something calls record_property(SAID, text); the text then stands at the end of the run."""

LONGEST = (
    "grader/test_selftest.py",
    "test_environments.py",
    "grader/test_class_labs.py",
    "grader/test_stopped_answers.py",
    "grader/test_grade.py",
    "lib/test_trace_table.py",
)
"""These files are begun first: whichever comes last runs while the other worker has nothing left to do."""

# A test states a result, never a time: a busy machine is no fault of the code.
settings.register_profile("course", deadline=None)
settings.load_profile("course")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    order = {Path(__file__).parent / name: at for at, name in enumerate(LONGEST)}
    items.sort(key=lambda item: order.get(item.path, len(order)))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]
    if not report.skipped or hasattr(report, "wasxfail"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    if not skips.allowed(reason, ci=skips.in_ci()):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped, and tests/skips.py does not allow it here: {reason}"


def pytest_terminal_summary(terminalreporter: Any) -> None:
    reports = [report for outcome in ("passed", "failed") for report in terminalreporter.stats.get(outcome, [])]
    texts = [text for report in reports for name, text in report.user_properties if name == SAID]
    if texts:
        terminalreporter.section("what the tests have measured and listed")
        for text in sorted(texts):
            terminalreporter.write_line(text)
