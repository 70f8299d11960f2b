"""Every exercise by id, the groups that share a check cell, and where each id stands in the course."""

from __future__ import annotations

import difflib
import re

from llmserving.exercises import (
    bank,
    bank_levers,
    bank_limits,
    bank_paging,
    bank_quantization,
    bank_recipes,
    bank_scales,
    bank_sharing,
    cards,
    lab_clinic,
    lab_faults,
    lab_kv_bytes,
    lab_kv_logs,
    lab_matmul,
    lab_paging,
    lab_paging_broken,
    lab_paging_growing,
    lab_paging_names,
    lab_paging_waste,
    lab_planning,
    lab_planning_batch,
    lab_planning_log,
    lab_planning_split,
    lab_quantized_model,
    lab_quantizer,
    lab_two_phases,
    level1,
    level2,
    level3_paging,
    level3_quantization,
    level3_recipe,
    level4,
    level5_batch,
    level5_chat,
)
from llmserving.exercises.exercise import Exercise
from llmserving.exercises.markup import as_typed

EXERCISES: dict[str, Exercise] = {
    exercise.id: exercise
    for topic in (
        level1, level2, level3_paging, level3_quantization, level3_recipe, level4, level5_chat, level5_batch, cards,
        bank, bank_levers, bank_paging, bank_sharing, bank_quantization, bank_scales, bank_recipes, bank_limits,
        lab_two_phases, lab_kv_bytes, lab_kv_logs, lab_paging_growing, lab_paging, lab_paging_broken,
        lab_paging_names, lab_paging_waste, lab_quantizer, lab_quantized_model, lab_planning, lab_planning_batch,
        lab_planning_split, lab_planning_log, lab_clinic, lab_faults, lab_matmul,
    )
    for exercise in topic.EXERCISES_HERE
}  # fmt: skip

GROUPS: dict[str, tuple[str, ...]] = {}
for _exercise in EXERCISES.values():
    _check = _exercise.group or _exercise.id
    GROUPS[_check] = (*GROUPS.get(_check, ()), _exercise.id)
"""Check id -> the ids it checks. An exercise with a check cell of its own is a group of one."""

NOTEBOOK_OF: dict[str, str] = {exercise.id: f"{exercise.notebook}.ipynb" for exercise in EXERCISES.values()}


def id_meant(name: object) -> str | None:
    """The id of an exercise or a group that `name` can only mean, in capitals or not; None where there is none."""
    if not isinstance(name, str):
        return None
    return next((one for one in (*EXERCISES, *GROUPS) if one.casefold() == name.strip().casefold()), None)


def exercise_named(exercise_id: str) -> Exercise:
    """The exercise of that id; KeyError with the nearest ids where there is none."""
    meant = id_meant(exercise_id)
    if meant in EXERCISES:
        return EXERCISES[meant]
    raise KeyError(unknown_id(exercise_id))


def unknown_id(name: object) -> str:
    known = [*EXERCISES, *(group for group in GROUPS if group not in EXERCISES)]
    if not isinstance(name, str):
        return f"an exercise is named by text such as 'L2.1', but got {as_typed(repr(name))}"
    level = name.strip().upper()
    if re.fullmatch(r"L\d+", level) and (own := [one for one in GROUPS if one.startswith(f"{level}.")]):
        return f"{level} is a level; name one of its exercises, such as {', '.join(own[:3])}; status() lists them all"
    none = f"there is no exercise {as_typed(repr(name))}"
    near = difflib.get_close_matches(name.upper(), known, n=3, cutoff=0.4)
    if not near:
        return f"{none}; ids are such as L2.1, TF3, or L1.cache for a group; status() lists them all"
    return f"{none}; did you mean {', '.join(near)}?"
