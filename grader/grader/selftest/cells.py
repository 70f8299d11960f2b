"""Cells of the course by what they are: role, exercise, and whether grading runs them."""

from __future__ import annotations

from typing import Any

from llmserving.exercises import EXERCISES, GROUPS, Exercise

from grader.render import LIVE_TAG, METADATA


def cells_to_run(notebook: Any) -> list[Any]:
    return [
        cell for cell in notebook.cells if cell.cell_type == "code" and LIVE_TAG not in cell.metadata.get("tags", [])
    ]


def of_role(notebook: Any, role: str) -> list[Any]:
    return [cell for cell in notebook.cells if role_of(cell) == role]


def role_of(cell: Any) -> str | None:
    role: str | None = cell.metadata.get(METADATA, {}).get("role")
    return role


def name_of(cell: Any) -> str:
    name: str = cell.metadata[METADATA]["exercise"]
    return name


def exercises_of(cell: Any) -> list[Exercise]:
    return [EXERCISES[exercise_id] for exercise_id in GROUPS[name_of(cell)]]
