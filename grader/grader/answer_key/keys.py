"""Every key by the id of its exercise; an exercise without a key, or the reverse, stops the import."""

from __future__ import annotations

from llmserving.exercises.catalogue import EXERCISES

from grader.answer_key import bank, cards, level1, level2
from grader.answer_key.key import Key

KEY: dict[str, Key] = {
    key.exercise.id: key for key in (*level1.KEYS_HERE, *level2.KEYS_HERE, *cards.KEYS_HERE, *bank.KEYS_HERE)
}

if set(KEY) != set(EXERCISES):
    raise ImportError(f"exercises and keys part ways at {', '.join(sorted(set(KEY) ^ set(EXERCISES)))}")
