"""A learner's class is played through a script, and what was seen is told as plain data: step by step, and what broke first.

{"steps": [{"refused": False, "events": [{"kind": "allocate", ...}]}], "broken": None}, or of the first broken invariant
{"name", "operation", "sentence", "not_written"}. `help(Allocator)` and `help(Policy)` say what a class must have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

from llmserving.events import Event
from llmserving.exercises.calls import Nowhere, told
from llmserving.exercises.faults import Data, printable
from llmserving.paging.learners_code import NOT_WRITTEN, is_stop
from llmserving.paging.plain_script import script_of
from llmserving.paging.play import play
from llmserving.scheduling.plain_scenario import scenario_of
from llmserving.scheduling.play import play_schedule

MOST_EVENTS, MOST_BLOCKS, MOST_SENTENCE = 2000, 256, 500


def allocator_trace(made: Any, script: Mapping[str, Any]) -> Data:
    """An allocator, a step an operation."""
    playback = play(script_of(script), made)
    steps = [{"refused": one.refusal is not None, "events": _events(one.events)} for one in playback.outcomes]
    broken = playback.broken
    return {"steps": steps, "broken": broken and _broken(broken.name, broken.operation, broken.sentence)}


def scheduler_trace(made: Any, scenario: Mapping[str, Any]) -> Data:
    """A scheduler, a step of the engine a step; its arrivals come in step 0."""
    playback = play_schedule(scenario_of(scenario), made)
    by_step: list[list[Event]] = [[] for _ in range(max((event.step for event in playback.events), default=0) + 1)]
    for event in playback.events:
        by_step[event.step].append(event)
    broken = playback.broken
    steps = [{"refused": False, "events": _events(tuple(events))} for events in by_step]
    return {"steps": steps, "broken": broken and _broken(broken.name, broken.step, str(broken))}


PLAYERS: Mapping[str, Callable[[Any, Mapping[str, Any]], Data]] = {
    "allocator": allocator_trace,
    "scheduler": scheduler_trace,
}


def trace(player: str, made: Any, script: Mapping[str, Any]) -> Data:
    """What came of a play, whatever the class does; what it prints is not shown. A loop that does not end is not stopped."""
    try:
        with redirect_stdout(Nowhere()), redirect_stderr(Nowhere()):
            seen = PLAYERS[player](made, script)
    except BaseException as error:
        if is_stop(error):
            raise
        why = told(error)
        said = f"{why['type']}: {why['said']}" if why["said"] else why["type"]
        return {"steps": [], "broken": _broken("bug", 0, f"It stopped with {said}{why['where']}.")}
    if sum(len(step["events"]) for step in seen["steps"]) > MOST_EVENTS:
        return {"steps": [], "broken": _broken("bug", 0, f"It left more than {MOST_EVENTS} events.")}
    return seen


def _broken(name: str, operation: int, sentence: str) -> Data:
    return {
        "name": name,
        "operation": operation,
        "sentence": printable(sentence)[:MOST_SENTENCE],
        "not_written": name == "bug" and NOT_WRITTEN in sentence,
    }


def _events(events: tuple[Event, ...]) -> list[Data]:
    return [
        {
            "kind": event.kind,
            "request": event.request,
            "tokens": event.tokens,
            "free_blocks": event.free_blocks,
            "blocks": list(event.blocks[:MOST_BLOCKS]),
            "source": event.source,
            "cached_blocks": event.cached_blocks,
        }
        for event in events
    ]
