"""What a mended class of the fault lab is tried on: its own day, and scripts that are drawn for it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from llmserving.exercises.exercise import Probe
from llmserving.exercises.lab_faults import ITS_DAY, OTHERS
from llmserving.paging.operation import Operation, allocate, append, free
from llmserving.paging.plain_script import plain_script
from llmserving.paging.script import Script
from llmserving.scheduling.plain_scenario import plain_scenario
from llmserving.scheduling.request import Request, Workload
from llmserving.scheduling.scenarios import Scenario

from grader.answer_key import lab_paging
from grader.answer_key.lab_keys import Hidden, ObjectKey, Wrong

_MEND = "To mend"


def mended(made: tuple[type, type], hidden: Hidden, wrong: tuple[Wrong, ...]) -> ObjectKey:
    """made: the mended class, in two ways."""
    return ObjectKey(*made, {ITS_DAY: 1, OTHERS: 1}, hidden, wrong, _MEND)


def wrong(*rows: tuple[str, type, str]) -> tuple[Wrong, ...]:
    """rows: the name of a mistake, the class that makes it, and the sentence on it."""
    return tuple(Wrong(name, made, sentence, _MEND) for name, made, sentence in rows)


def drawn(*groups: str) -> Callable[[random.Random], Iterator[Probe]]:
    """The drawn scripts of the paging lab, of these groups of it."""
    paging = lab_paging.KEYS_HERE[0].parts["allocator"]
    assert isinstance(paging, ObjectKey)
    scripts = paging.hidden

    def hidden(rng: random.Random) -> Iterator[Probe]:
        return (Probe(OTHERS, probe.given) for probe in scripts(rng) if probe.group in groups)

    return hidden


def drawn_prompts(rng: random.Random) -> Iterator[Probe]:
    """Prompts that begin alike, of lengths around the end of a block, in a pool with room for all."""
    size = rng.randrange(3, 6)
    operations: list[Operation] = []
    for number in range(10):
        length = size * rng.randrange(1, 4) + rng.choice([-1, 0, 0, 1])
        operations += [allocate(f"r{number}", range(length)), append(f"r{number}", 100 + number)]
        if number % 3 == 2:
            operations.append(free(f"r{number - rng.randrange(3)}"))
    yield Probe(OTHERS, plain_script(Script("Drawn prompts that begin alike", tuple(operations), 60, size)))


def drawn_crowd(rng: random.Random) -> Iterator[Probe]:
    """Requests that come three at a time, more than there are seats for."""
    rows = [(0.02 * (number // 3), rng.randrange(2, 9), rng.randrange(3, 10)) for number in range(8)]
    title = "A drawn crowd"
    crowd = Workload((Request(number, *row) for number, row in enumerate(rows)), title)
    yield Probe(OTHERS, plain_scenario(Scenario(title, crowd, rng.randrange(5, 8), 4)))
