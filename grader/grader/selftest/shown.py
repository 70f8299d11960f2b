"""What a check cell shows: the card as a reader sees it, and whether it names a mistake."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from typing import Any

from llmserving.exercises import Exercise
from llmserving.exercises.card import VERDICT_MIME

from grader.answer_key.solutions import WrongInput


def is_told(exercise: Exercise, wrong: WrongInput, points: float, shown: Mapping[str, Any]) -> bool:
    """Whether the mistake is named in its own words, and costs some of the points that the check can give."""
    verdict = shown.get(VERDICT_MIME, {}).get(exercise.id, {"diagnoses": [], "states": {}})
    return (
        wrong.name in verdict["diagnoses"]
        and verdict["states"].get(wrong.part) in ("wrong", "partly")
        and float(shown.get("text/plain", "nan")) < points
        and wrong.sentence.replace("`", "") in told(shown)
    )


def told(shown: Mapping[str, Any]) -> str:
    """The card as a reader sees it."""
    return str(shown.get("error") or html.unescape(re.sub(r"<[^>]+>", "", shown.get("text/html", "nothing"))))
