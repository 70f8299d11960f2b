"""A moment of a schedule in words: what happened, in which step, and why; and the steps up to there, line by line."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import groupby

from llmserving.events import Event
from llmserving.paging.block_pool import blocks
from llmserving.replay import request_name
from llmserving.replay.sentence import counted, listed
from llmserving.scheduling.playback import Noted, PlayedStep, ScheduleMoment, SchedulePlayback
from llmserving.units import format_number, format_seconds

MOST_LINES = 12  # of the steps before the present one
NOT_RULES = ("bug", "endless", "allocator")  # what else can end a schedule: then the sentence is all there is to say


def told(playback: SchedulePlayback, moment: ScheduleMoment) -> str:
    """The step, the event, what it did and why; at the end the broken rule, where one is."""
    broken = playback.broken
    if moment.noted is None:
        if broken is None or moment != playback.moments[-1]:
            return f"Nothing has happened yet: {blocks(playback.memory.num_blocks)} free, and no request has arrived."
        return str(broken) if broken.name in NOT_RULES else f"{broken} This breaks the rule {broken.name!r}."
    event = moment.noted.event
    where = f"Step {event.step}" if event.step else "Before step 1"
    said = _said(playback, moment)
    return f"{where}, event {moment.events} of {len(playback.noted)}: {said} {blocks(event.free_blocks)} free."


def _said(playback: SchedulePlayback, moment: ScheduleMoment) -> str:
    noted = moment.noted
    assert noted is not None
    event, name, when = noted.event, request_name(noted.event.request), f"at {format_number(noted.event.time_s, 4)} s"
    match event.kind:
        case "arrive":
            prompt, answer = _lengths(playback, event.request)
            return f"{name} arrives {when} and waits: a prompt of {_tokens(prompt)}, to be given {_tokens(answer)}."
        case "reject":
            return f"{name} arrives {when} and is rejected: {_never_fits(playback, event.request)}."
        case "prefill":
            return _prefill(playback, moment.events, noted)
        case "first token":
            return f"{name} has its first token {when}: its prompt is complete."
        case "preempt":
            keeps = playback.swaps and event.tokens
            cache = "its cache moves to the host's memory" if keeps else "its cache is lost, and will be computed again"
            return f"{name} is sent back: {noted.reason}. It waits in front of all others; {cache}."
        case "recomputed":
            return f"{name} has its cache again {when}, and its next token, number {noted.produced:,}."
        case "resume":
            return f"{name} is let in again: its cache of {_tokens(event.tokens)} is back from the host's memory."
    given = f"{name} has its last token {when}, number {noted.produced:,}"
    if playback.memory.is_paged or event.free_blocks > _free_before(playback, moment.events):
        return f"{given}, and its blocks are free."
    return f"{given}; its row and its memory are kept until the whole batch is done."


def _prefill(playback: SchedulePlayback, number: int, noted: Noted) -> str:
    """Of a request that was let in just now, or a further chunk of a prompt."""
    event, name = noted.event, request_name(noted.event.request)
    past = _last_before(playback, number, event.request)
    begun = past is not None and past.kind == "prefill"
    done = past.tokens if past is not None and begun else 0
    computed = event.tokens - done
    whose = "its prompt and what it was given" if noted.produced else "its prompt"
    if computed == noted.target:
        part = f"all {_tokens(computed)} of {whose}" if computed > 1 else f"the one token of {whose}"
        part += f" {'are' if computed > 1 else 'is'} computed in this step"
    else:
        verb = "are" if computed > 1 else "is"
        part = (
            f"{_tokens(computed)} of {whose} {verb} computed in this step, {event.tokens:,} of {noted.target:,} by now"
        )
    if begun:
        return f"{name} goes on: {part}."
    return f"{name} is let in{' again' if past and past.kind == 'preempt' else ''}: {part}."


def _last_before(playback: SchedulePlayback, number: int, request: Hashable) -> Event | None:
    """The last event of a request before event `number`, counted from 1."""
    return next((one.event for one in reversed(playback.noted[: number - 1]) if one.event.request == request), None)


def _free_before(playback: SchedulePlayback, number: int) -> int:
    return playback.noted[number - 2].event.free_blocks if number > 1 else playback.memory.num_blocks


def _lengths(playback: SchedulePlayback, id: Hashable) -> tuple[int, int]:
    request = next(one for one in playback.workload if one.id == id)
    return request.prompt_tokens, request.output_tokens


def _never_fits(playback: SchedulePlayback, id: Hashable) -> str:
    request = next(one for one in playback.workload if one.id == id)
    needed = playback.memory.blocks_for(request.cached_tokens)
    return f"it needs {counted(needed, 'block')}, and the pool has {playback.memory.num_blocks:,}, so it can never fit"


def listed_steps(playback: SchedulePlayback, moment: ScheduleMoment) -> tuple[str, ...]:
    """The steps up to the present one, with a mark at it; steps in a row that do the same share a line."""
    steps = [step for step in playback.steps if step.number <= moment.step]
    lines = [_line(list(same), moment) for _, same in groupby(steps, _alike)]
    under_way = moment.step > len(playback.steps)
    if under_way:
        lines.append(f"→ step {moment.step}: it is not carried out")
    return ("Steps:", *lines[-MOST_LINES:]) if lines else ()


def _alike(step: PlayedStep) -> tuple[object, ...]:
    return step.decodes, step.padding, step.prefills


def _line(steps: list[PlayedStep], moment: ScheduleMoment) -> str:
    first, last = steps[0], steps[-1]
    mark = "→" if first.number <= moment.step <= last.number else "·"
    numbers = f"step {first.number}" if first is last else f"steps {first.number} to {last.number}"
    mean = format_seconds(sum(step.seconds for step in steps) / len(steps))
    return f"{mark} {numbers}: {'; '.join(_work(first))}; {mean}{' each' * (len(steps) > 1)}"


def _work(step: PlayedStep) -> Iterator[str]:
    if step.decodes:
        yield f"a token for {_requests(step.decodes)}"
    for request, tokens in step.prefills:
        yield f"{_tokens(tokens)} of {request_name(request)}'s prompt"
    if step.padding:
        yield f"the row{'s' * (len(step.padding) > 1)} of {_requests(step.padding)} for nobody"


def _requests(ids: Sequence[Hashable]) -> str:
    return f"request{'s' * (len(ids) > 1)} {listed([str(id) for id in ids])}"


def _tokens(count: int) -> str:
    return f"{count:,} token{'s' * (count != 1)}"
