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
    lab_kv_bytes,
    lab_paging,
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
        level1, level2, level3_paging, level3_quantization, level3_recipe, level4, level5_chat, level5_batch, cards, bank,
        bank_levers, bank_paging, bank_sharing, bank_quantization, bank_scales, bank_recipes, bank_limits, lab_kv_bytes,
        lab_paging,
    )
    for key in topic.KEYS_HERE
}  # fmt: skip

if set(KEY) != set(EXERCISES):
    raise ImportError(f"exercises and keys part ways at {', '.join(sorted(set(KEY) ^ set(EXERCISES)))}")
