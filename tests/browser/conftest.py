"""For each module of tests a browser; for all of them one JupyterLab over a learner's copies, since it takes long to start."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, sync_playwright

from tests import skips
from tests.browser.jupyter import THEMES, Lab, jupyter_lab
from tests.browser.looking import Watched
from tests.browser.notebook_page import START_HERE


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium, driven without a window."""
    executable = skips.need_chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    yield context
    context.close()


@pytest.fixture(scope="module")
def watched(context: BrowserContext) -> Watched:
    """What the module's pages ask for and complain of; to be asked for before any page is opened."""
    return Watched(context)


@pytest.fixture
def quiet_and_at_home(watched: Watched) -> Iterator[None]:
    """Whatever a test does, no page complains, and none asks a machine other than this one."""
    watched.errors.clear()
    yield
    assert watched.errors == []
    assert watched.hosts <= {"127.0.0.1"}


@pytest.fixture(scope="session")
def learn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A learner's copies, and in it one more set of them for each theme."""
    made, folder = tmp_path_factory.mktemp("made") / "learn", tmp_path_factory.mktemp("learn")
    subprocess.run([sys.executable, "-m", "grader", "learn", str(made)], check=True)
    for copy in (folder, *(folder / theme for theme in THEMES)):
        shutil.copytree(made, copy, dirs_exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def lab(learn: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with jupyter_lab(learn, tmp_path_factory.mktemp("jupyter"), f"--LabApp.default_url={START_HERE}") as lab:
        yield lab
