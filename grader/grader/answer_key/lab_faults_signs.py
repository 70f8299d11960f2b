"""Key of the fault lab: what a wrong fault and a wrong event are told, whichever class it is of."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass

from llmserving.faults import Row, Trace

from grader.answer_key.key import EXACT, ChoiceKey, Misconception, Trap, ValueKey

_RULES, _NAMES = "What has to hold", "Seven faults and their signs"

# Option -> what would be seen if it were that, and what is seen instead, where no class says otherwise below.
_SIGNS: Mapping[str, tuple[str, str]] = {
    "boundary": (
        "boundary_suspected",
        "Off by one at the end of a block, a table has a block more or fewer than its tokens need. Divide: here none has.",
    ),
    "double_free": (
        "double_free_suspected",
        "What is given back by each of two holders is in the free list while somebody has it, and then in it twice. Look for "
        "a cell with a name and a circle: there is none here.",
    ),
    "full_hit": (
        "full_hit_suspected",
        "That takes a prefix cache, which tells how many tokens it found. Here nothing is looked up, and all is computed.",
    ),
    "half_refusal": (
        "refusal_suspected",
        "Half a refusal shows right after a call that was refused: fewer places are free. Here nothing is refused.",
    ),
    "leak": (
        "preemption_suspected",
        "Who is sent back gives up what it holds and waits for another turn. In this trace nobody is sent back.",
    ),
    "missing_copy": (
        "missing_copy_suspected",
        "Without the copy, whoever writes into a block that two hold takes none from the free list. Look at the free list: one "
        "is taken there.",
    ),
    "stale_table": (
        "stale_table_suspected",
        "A table that lags behind leaves the block that is really written in no table, and not free. Here no column is empty "
        "but for its circle.",
    ),
}


def fault_key(right: str, instead: Mapping[str, str] | None = None) -> ChoiceKey:
    """instead: option -> the sentence that fits this trace better."""
    told = {option: (name, (instead or {}).get(option, sentence)) for option, (name, sentence) in _SIGNS.items()}
    return ChoiceKey(
        right, {option: Trap(name, sentence, _NAMES) for option, (name, sentence) in told.items() if option != right}
    )


@dataclass(frozen=True)
class _NoRow(Container[float]):
    """The whole numbers that no row of a trace has."""

    last: int

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int | float) and float(number).is_integer() and not 1 <= number <= self.last


def event_key(played: Trace, right: int, wrong: Mapping[int, tuple[str, str]]) -> ValueKey:
    """right, wrong: events of the course's day; a learner's may begin earlier, which moves all of them.

    wrong: another event -> the name of the mistake, and the sentence, where it has one of its own.
    """
    mistakes = (
        Misconception(name, lambda n, a, number=row.number: n["before"] + number, sentence, _RULES)  # type: ignore[misc]
        for row in played.rows
        if row.number != right
        for name, sentence in [wrong.get(row.number) or _beside_it(played, row, right)]
    )
    before = Misconception(
        "before_the_others",
        lambda n, a: 1 if n["before"] else right,
        "There a request is by itself: it comes, and goes before any other is there, and all that it had is free again. Read "
        "on from there.",
        _RULES,
        as_well=lambda n: range(1, n["before"] + 1),
    )
    last = played.rows[-1].number
    no_such_event = Misconception(
        "no_such_event",
        lambda n, a: n["before"] + last + 1,
        "The trace has no such event. Its rows are numbered 1, 2, 3 and so on in the first column, and the answer is one of "
        "those numbers.",
        _RULES,
        as_well=lambda n: _NoRow(n["before"] + last),
    )
    return ValueKey(lambda n, a: n["before"] + right, EXACT, (*mistakes, before, no_such_event))


def _beside_it(played: Trace, row: Row, right: int) -> tuple[str, str]:
    """What a row before the fault is, and one after it. Of a token's number nothing is said: it might be the right one."""
    did = row.did.partition(":")[0] if played.place == "block" else row.did
    if row.number < right:
        return (
            f"event_{row.number}_in_order",
            f"There the trace says '{did}', and after it every place and every table is as it has to be. The first row "
            "that breaks a rule comes later.",
        )
    return (
        f"event_{row.number}_after_it",
        f"There the trace says '{did}', and a rule was broken before that already. Whatever is off in this row came of "
        "that: go back to where it began.",
    )
