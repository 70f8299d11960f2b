"""Every key by the id of its exercise; an exercise without a key, or the reverse, stops the import."""

from __future__ import annotations

from llmserving.exercises.catalogue import EXERCISES

from grader.answer_key import (
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
from grader.answer_key.key import Key

KEY: dict[str, Key] = {
    key.exercise.id: key
    for topic in (
        level1, level2, level3_paging, level3_quantization, level3_recipe, level4, level5_chat, level5_batch, cards,
        bank, bank_levers, bank_paging, bank_sharing, bank_quantization, bank_scales, bank_recipes, bank_limits,
        lab_two_phases, lab_kv_bytes, lab_kv_logs, lab_paging_growing, lab_paging, lab_paging_broken,
        lab_paging_names, lab_paging_waste, lab_quantizer, lab_quantized_model, lab_planning, lab_planning_batch,
        lab_planning_split, lab_planning_log, lab_clinic, lab_faults, lab_matmul,
    )
    for key in topic.KEYS_HERE
}  # fmt: skip

if set(KEY) != set(EXERCISES):
    raise ImportError(f"exercises and keys part ways at {', '.join(sorted(set(KEY) ^ set(EXERCISES)))}")
