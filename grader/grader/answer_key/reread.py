"""Mistakes that come back in a later lesson, and send the learner to that lesson's own heading."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from grader.answer_key.key import Misconception


def sending_to(heading: str, mistakes: Iterable[Misconception]) -> tuple[Misconception, ...]:
    return tuple(replace(mistake, reread=heading) for mistake in mistakes)
