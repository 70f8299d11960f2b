"""The mistakes that have a name in the key of a part."""

from __future__ import annotations

from typing import Any

from grader.answer_key.key import ChainKey, ChoiceKey, PartKey


def mistakes_of(key: PartKey) -> list[Any]:
    """Every named mistake of a part, in each variant of the question: each has a name, a sentence, and a heading to reread."""
    if not isinstance(key, ChoiceKey | ChainKey):
        return list(key.misconceptions)
    keys = key.every_variant if isinstance(key, ChoiceKey) else (key,)
    return [trap for one in keys for trap in one.traps.values()]
