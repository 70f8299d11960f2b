"""Grading a class by what it did in each script: the invariants hold, and no step parts from the reference's."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from llmserving.exercises.code_faults import code_line, library_fault
from llmserving.exercises.exercise import Part, Probe
from llmserving.exercises.players import MOST_EVENTS, MOST_SENTENCE, trace
from llmserving.exercises.read_code import digest
from llmserving.exercises.verdict import PartVerdict

from grader.answer_key.code_verdict import explaining, library_verdict, verdict_by_groups
from grader.answer_key.lab_keys import ObjectKey

PARTS_WAYS = "parts_ways"

Trace = Mapping[str, Any]


def grade_object(part: Part, key: ObjectKey, answer: Mapping[str, Any], probes: Sequence[Probe]) -> PartVerdict:
    """The answer is well formed; see `well_formed_plays`."""
    if library := library_fault(part, answer):
        return library_verdict(part, library)
    player, scripts, plays = str(part.player), [probe.given for probe in probes], answer["plays"]
    asked = json.dumps(scripts)
    right = _played(key.reference, player, asked)
    seen = [_seen(player, play) for play in plays]
    failing = [index for index in range(len(scripts)) if seen[index] != right[index]]
    wrongs = {}
    for wrong in key.misconceptions if failing else ():
        made = _played(wrong.made, player, asked)
        differs = [index for index in range(len(scripts)) if made[index] != right[index]]
        wrongs[wrong.name] = wrong, {index: made[index] == seen[index] for index in differs}
    named = explaining(wrongs, probes, failing)
    others = _first_off(failing, scripts, plays, seen, right, named=bool(named))
    return verdict_by_groups(part, key, probes, failing, named, others)


@lru_cache(maxsize=256)
def _played(made: type, player: str, scripts: str) -> tuple[tuple[Any, ...], ...]:
    """What the key's own classes do in the scripts, once for everybody who is asked the same."""
    return tuple(_seen(player, trace(player, made, script)) for script in json.loads(scripts))


def well_formed_plays(answer: Mapping[str, Any], scripts: Sequence[Mapping[str, Any]]) -> bool:
    plays = answer["plays"]
    return (
        answer["inputs"] == digest(scripts)
        and isinstance(plays, list)
        and len(plays) == len(scripts)
        and all(_well_formed(play) for play in plays)
    )


def _well_formed(play: Any) -> bool:
    broken, steps = play["broken"], play["steps"]
    return (
        isinstance(steps, list)
        and len(steps) <= MOST_EVENTS
        and all(isinstance(step["refused"], bool) and _are_events(step["events"]) for step in steps)
        and (
            broken is None
            or (
                all(isinstance(broken[name], str) for name in ("name", "sentence"))
                and len(broken["sentence"]) <= MOST_SENTENCE
                and isinstance(broken["operation"], int)
            )
        )
    )


def _are_events(events: Any) -> bool:
    return (
        isinstance(events, list)
        and len(events) <= MOST_EVENTS
        and all(
            isinstance(event["kind"], str)
            and isinstance(event["request"], str | int)
            and all(isinstance(event[name], int) for name in ("tokens", "free_blocks", "cached_blocks"))
            and isinstance(event["blocks"], list)
            for event in events
        )
    )


def _seen(player: str, play: Trace) -> tuple[Any, ...]:
    """What has to be equal: how the play ended, and what each step came to, whichever of the free blocks were taken.

    Of a scheduler the rules judge the steps, and there are many right schedules: what has to be equal is who came to an end.
    """
    broken = play["broken"]
    end = None if broken is None else (broken["name"], broken["operation"])
    if player == "scheduler":
        events = [event for step in play["steps"] for event in step["events"]]
        return end, sorted(str(event["request"]) for event in events if event["kind"] in ("finish", "reject"))
    return end, *(_step(step) for step in play["steps"])


def _step(step: Trace) -> tuple[Any, ...]:
    events = (event for event in step["events"] if event["kind"] not in ("cache", "evict"))
    return step["refused"], *((
        event["kind"], event["request"], event["tokens"], event["free_blocks"], len(event["blocks"]), event["cached_blocks"],
    ) for event in events)  # fmt: skip


def _first_off(
    failing: Sequence[int],
    scripts: Sequence[Mapping[str, Any]],
    plays: Sequence[Trace],
    seen: Sequence[tuple[Any, ...]],
    right: Sequence[tuple[Any, ...]],
    *,
    named: bool,
) -> dict[str, str]:
    """The first broken invariant, or the first operation at which the two part, of the first script that is off."""
    if not failing:
        return {}
    first = failing[0]
    title, broken = str(scripts[first].get("title", "a script")), plays[first]["broken"]
    if broken is not None:
        # Of a named mistake the invariant is what it comes to, and no other diagnosis.
        return {
            "" if named else f"broken: {broken['name']}"[:40]: code_line(
                f"In the script '{title}': {broken['sentence']}"
            )
        }
    steps = zip(seen[first][1:], right[first][1:], strict=False)
    number = next((number for number, (own, due) in enumerate(steps, 1) if own != due), len(seen[first]))
    came_to = _came_to(plays[first], number)
    return {
        "" if named else PARTS_WAYS: f"In the script '{title}', operation {number}: {came_to}, and that is not due."
    }


def _came_to(play: Trace, number: int) -> str:
    """What came of an operation, in words."""
    if number > len(play["steps"]):
        return "the play stops before it"
    step = play["steps"][number - 1]
    if step["refused"]:
        return "it was refused"
    if not step["events"]:
        return "nothing happened"
    last = step["events"][-1]
    return f"{last['kind']} of {last['request']!r}"[:80] + f" leaves {last['free_blocks']} blocks free"
