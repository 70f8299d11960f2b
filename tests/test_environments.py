"""What other people's environments lack: torch on a small laptop, the answer key on a student's machine."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from grader.render import METADATA
from llmserving.exercises import EXERCISES, GROUPS

from tests.notebook_runs import NOTEBOOKS, ROOT

pytestmark = pytest.mark.slow

LESSONS = [path for path in NOTEBOOKS if path.parent.name != "notebooks"]


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with what a student installs: the requirements but torch, and llmserving without the key."""
    folder = tmp_path_factory.mktemp("student")
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    requirements = folder / "requirements.txt"
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    requirements.write_text("\n".join(line for line in lines if not line.startswith(("torch", "nbgrader"))))
    path = folder / "venv" / "bin" / "python"
    install(path, "--constraint", ROOT / "constraints.txt", "--requirement", requirements)
    install_copy(path, "lib", folder)
    return path


def install_copy(python: Path, distribution: str, folder: Path) -> None:
    """From a copy: building leaves files beside the sources."""
    copy = shutil.copytree(ROOT / distribution, folder / distribution)
    install(python, "--no-deps", copy)


def install(python: Path, *arguments: object) -> None:
    command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments]
    subprocess.run([str(word) for word in command], check=True)


def has(python: Path, module: str) -> bool:
    """Isolated, so that a folder of that name in the working directory does not count."""
    return subprocess.run([python, "-I", "-c", f"import {module}"], capture_output=True, check=False).returncode == 0


def the_small_model_is_installed(python: Path) -> bool:
    """Its weights and texts came along with the package, and the texts can be read without torch."""
    code = """
from pathlib import Path
from llmserving import tinylm
print(len(tinylm.held_out_text()) > 60_000, [path.name for path in Path(tinylm.__file__).parent.glob("checkpoint/*")])
"""
    told = subprocess.run([python, "-I", "-c", code], capture_output=True, text=True, check=True).stdout
    return told.startswith("True") and "config.json" in told and "model.safetensors" in told


def executed(python: Path, paths: list[Path], folder: Path) -> list[Any]:
    """The notebooks as they are when every cell has been run, each in a kernel of its own."""
    command = [python, "-m", "nbconvert", "--execute", "--to", "notebook", "--output-dir", folder, *paths]
    subprocess.run([str(word) for word in command], check=True, capture_output=True, cwd=folder)
    return [nbformat.read(folder / path.name, as_version=4) for path in paths]


def check_cells(notebook: Any) -> list[tuple[str, Any]]:
    belongs = [(cell.metadata.get(METADATA, {}), cell) for cell in notebook.cells]
    return [(found["exercise"], cell) for found, cell in belongs if found.get("role") == "check"]


def points(check: str) -> float:
    return sum(EXERCISES[exercise_id].points for exercise_id in GROUPS[check])


def test_without_torch_and_without_the_key_then_with_the_key(python: Path, tmp_path: Path) -> None:
    """Every cell of every lesson runs; right answers are recorded without the key and earn everything with it."""
    assert not has(python, "torch")
    assert not has(python, "grader")
    assert the_small_model_is_installed(python)
    for notebook in executed(python, LESSONS, tmp_path):
        for check, cell in check_cells(notebook):
            data = cell.outputs[0].data
            assert float(data["text/plain"]) == 0.0, check
            assert "Recorded, graded later" in data["text/html"]
    install(python, "--constraint", ROOT / "constraints.txt", "nbgrader==0.9.6")
    install_copy(python, "grader", tmp_path)
    for notebook in executed(python, LESSONS, tmp_path):
        for check, cell in check_cells(notebook):
            assert float(cell.outputs[0].data["text/plain"]) == points(check), check
