"""Importing the course is light, and arrows point one way: grader -> llmserving, never back."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import llmserving
import pytest

import grader

LIBRARY = Path(llmserving.__file__).parent
GRADER = Path(grader.__file__).parent

HEAVY = ("torch", "matplotlib", "ipywidgets", "IPython", "nbformat", "nbgrader", "pandas", "grader")

BLOCK_TORCH = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "torch":
            raise ImportError("torch is blocked")

sys.meta_path.insert(0, Blocked())
"""


def python(code: str) -> str:
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
    return ran.stdout.strip()


def imported_by(path: Path) -> Iterator[str]:
    """Every module that a file imports anywhere in it, by name or through importlib with a literal name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            yield node.module or ""
        elif isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in ("import_module", "__import__"):
            yield from (str(name.value) for name in node.args if isinstance(name, ast.Constant))


def imports_of(package: Path) -> dict[str, set[str]]:
    return {str(path.relative_to(package)): set(imported_by(path)) for path in sorted(package.rglob("*.py"))}


def test_importing_the_course_loads_nothing_heavy() -> None:
    loaded = python(f"import sys, llmserving; print([name for name in {HEAVY} if name in sys.modules])")
    assert loaded == "[]"


def test_importing_and_checking_work_where_torch_is_not() -> None:
    told = python(
        f"{BLOCK_TORCH}\nfrom llmserving import check, kv_bytes\ncheck('L2.1', 1.07); print(kv_bytes(1, 1, 1, 1))"
    )
    assert told == "✓ L2.1 · right · 2 of 2 points\n4"


def test_that_block_can_fail() -> None:
    assert python(f"{BLOCK_TORCH}\ntry:\n    import torch\nexcept ImportError as error:\n    print(error)") == (
        "torch is blocked"
    )


def test_the_course_never_names_its_grader() -> None:
    for path, imported in imports_of(LIBRARY).items():
        assert not [name for name in imported if name.split(".")[0] in ("grader", "nbgrader", "notebooks")], path


def test_the_key_is_found_by_an_entry_point_alone() -> None:
    found = python("from llmserving.exercises import session; print(session.answer_key().__name__)")
    assert found == "grader.answer_key"


LAYERS = [
    "units",
    "arguments",
    "data",
    "spec_checks",
    "model_spec",
    "config_reader",
    "model_parameters",
    "config_windows",
    "model_config",
    "presets",
    "models",
    "hardware",
    "parallelism",
    "named",
    "kv_formats",
    "kv_layout",
    "kv_pool",
    "kv_cache",
    "engine_logs",
    "engine_budget",
    "weight_formats",
    "weights",
    "overheads",
    "memory_plan",
    "plan_lines",
    "planner",
    "engine_budget",
    "step_work",
    "step_prediction",
    "roofline",
    "timing",
    "quantization",
    "events",
    "paging",
    "scheduling",
    "clinic",
    "faults",
    "exercises",
    "replay",
    "tinylm",
    "cache_readings",
    "held_against",
    "bandwidth",
    "figures",
    "explorers",
    "picture_file",
    "plan_command",
    "decode_command",
    "bandwidth_flags",
    "bandwidth_command",
    "reader_may_leave",
]


def at_import(path: Path) -> set[str]:
    """Modules and subpackages of llmserving that a file needs to be imported; what a function imports later is not here."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "llmserving":
            inside = (node.module or "").split(".")[1:2]
            found |= set(inside) if inside else {alias.name for alias in node.names}
    return found


@pytest.mark.parametrize("layer", LAYERS)
def test_inside_the_library_arrows_point_one_way(layer: str) -> None:
    """A module needs only those listed before it."""
    paths = sorted((LIBRARY / layer).rglob("*.py")) or [LIBRARY / f"{layer}.py"]
    below = set(LAYERS[: LAYERS.index(layer) + 1])
    for path in paths:
        # The documents' table is written from the data, and stands with it.
        if path.name != "table.py":
            assert at_import(path) <= below, path


def test_every_module_has_its_place_in_that_order() -> None:
    modules = {path.stem for path in LIBRARY.glob("*.py")} | {
        path.parent.name for path in LIBRARY.glob("*/__init__.py")
    }
    assert modules - {"__init__", "__main__"} == set(LAYERS)


def test_figures_know_no_widgets_and_no_exercises() -> None:
    for path, imported in imports_of(LIBRARY).items():
        if path.startswith("figures/"):
            assert not [name for name in imported if name.startswith(("ipywidgets", "llmserving.exercises"))], path
        if path.startswith("exercises/"):
            assert not [name for name in imported if name.startswith(("llmserving.figures", "llmserving.explorers"))]


def test_the_answer_key_needs_no_notebook_machinery() -> None:
    for path, imported in imports_of(GRADER / "answer_key").items():
        assert {name.split(".")[0] for name in imported} & {"nbgrader", "nbformat", "nbconvert"} == set(), path


def test_the_scan_sees_every_way_to_import(tmp_path: Path) -> None:
    source = "import a.b\nfrom c.d import e\ndef f():\n    import g\n    importlib.import_module('h.i')\n    __import__('j')\n"
    (tmp_path / "module.py").write_text(source)
    assert imports_of(tmp_path) == {"module.py": {"a.b", "c.d", "g", "h.i", "j"}}
