"""The card of one verdict: a heading with the points, and a paragraph for each part that is off."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from llmserving.exercises.card import Card, Tone, points_of
from llmserving.exercises.code_faults import fault_without_key
from llmserving.exercises.exercise import Exercise
from llmserving.exercises.faults import fault_verdict
from llmserving.exercises.verdict import PartVerdict, Verdict

RECORDED = "Recorded, graded later. The answer key is not installed here, so there is no verdict yet."

_WORDS: dict[Tone, str] = {"right": "right", "partly": "partly right", "wrong": "not yet"}


PRACTISED = "The form is right. The answer key is not installed here, so practice has no verdict."


def recorded(exercise: Exercise, data: Mapping[str, Any], practice: bool = False) -> Verdict:
    """The verdict where there is no key: faults of form are told, everything else is recorded."""

    def part_verdict(name: str) -> PartVerdict:
        part, answer = exercise.part_by_name[name], data["parts"][name]
        if answer["kind"] == "fault":
            return fault_verdict(part, answer)
        if why := fault_without_key(part, answer):
            return PartVerdict(0.0, part.points, "unreadable", why)
        return PartVerdict(0.0, part.points, "recorded", PRACTISED if practice else RECORDED)

    return Verdict(exercise.id, {part.name: part_verdict(part.name) for part in exercise.parts})


def verdict_card(name: str, exercise: Exercise, verdict: Verdict, hint_for: Callable[[str], str] | None) -> Card:
    """hint_for: gives the next hint for a part whose mistake is not known; None where hints are not given."""
    paragraphs = tuple(_paragraphs(exercise, verdict, hint_for))
    if any(part.state == "recorded" for part in verdict.parts.values()):
        return Card(f"{name} · recorded", "plain", paragraphs)
    points = points_of(verdict.score, verdict.points)
    if all(part.state == "open" for part in verdict.parts.values()):
        return Card(f"{name} · not answered yet · {points}", "plain", paragraphs)
    if verdict.earns_all and not verdict.all_right:
        return Card(f"{name} · carried on from an earlier answer · {points}", "partly", paragraphs)
    tone: Tone = "right" if verdict.earns_all else "partly" if verdict.score > 0 else "wrong"
    return Card(f"{name} · {_WORDS[tone]} · {points}", tone, paragraphs)


def _paragraphs(exercise: Exercise, verdict: Verdict, hint_for: Callable[[str], str] | None) -> list[str]:
    paragraphs = []
    for name, part in verdict.parts.items():
        if part.state == "right":
            continue
        text = part.message
        variable = f"`{exercise.part_by_name[name].variable}`"
        label = f"**{variable}** " if len(verdict.parts) > 1 and not text.startswith(variable) else ""
        if hint_for is not None and part.state in ("wrong", "partly") and not part.diagnoses:
            text = f"{text} {hint_for(name)}"
        if part.reread is not None:
            text = f"{text} Reread '{part.reread}'."
        paragraphs.append(label + text)
    if not paragraphs and len(verdict.parts) > 1:
        paragraphs.append("Every part is right.")
    return list(dict.fromkeys(paragraphs))
