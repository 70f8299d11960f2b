"""The skips that are allowed, each with its reason. In CI a skip for any other reason, or for a reason that is only for
machines outside CI, fails the run: a check that is silently left out looks green.
"""

from __future__ import annotations

import os
import shutil

import pytest

OUTSIDE_CI_ONLY = {
    "no Chromium": "browser tests drive Debian's chromium; `apt install chromium` brings it",
}

# The traces are no part of the project, so a machine without them is no fault; where .ci/run finds them, it names them.
ALLOWED_IN_CI = {
    "no traces": "LLMSERVING_TRACES names the folder of the Azure and Mooncake traces; tests/traces.py says which files",
}


def in_ci() -> bool:
    return bool(os.environ.get("CI"))


def need_chromium() -> str:
    """The path of Chromium, or an allowed skip where there is none."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        skip("no Chromium")
    assert path is not None
    return path


def skip(name: str) -> None:
    """Skip for a listed reason; anything else is a KeyError."""
    reason = {**OUTSIDE_CI_ONLY, **ALLOWED_IN_CI}[name]
    pytest.skip(f"{name}: {reason}")


def allowed(reason: str, *, ci: bool) -> bool:
    """Whether a skip with this reason may stand."""
    names = ALLOWED_IN_CI if ci else {**OUTSIDE_CI_ONLY, **ALLOWED_IN_CI}
    return any(reason.removeprefix("Skipped: ").startswith(f"{name}: {text}") for name, text in names.items())
