"""What every test relies on: no skip without a listed reason, and no learner records left behind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests import skips

pytest_plugins = ["pytester"]

# A test states a result, never a time: a busy machine is no fault of the code.
settings.register_profile("course", deadline=None)
settings.load_profile("course")


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
