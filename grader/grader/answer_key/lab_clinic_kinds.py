"""What the keys of the clinic's cases have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llmserving.clinic import Case

from grader.answer_key.key import ChoiceKey, Trap
from grader.answer_key.lab_clinic_judge import judge_of, served_with
from grader.answer_key.lab_keys import FunctionKey, Wrong

THE_WALLS, EACH_LEVER = "Which wall, seen from outside", "What each lever moves"


def nothing() -> dict[str, object]:
    return {}


_NOTHING_MOVED = Wrong(
    "nothing_moved",
    nothing,
    "No lever is moved, so the server runs as it came. Try a few above, and write down those that keep the promises.",
    EACH_LEVER,
)


def levers_key(case: Case, reference: Any, otherwise: Any, misconceptions: tuple[Wrong, ...]) -> FunctionKey:
    """There are no hidden inputs: the case that everybody sees is the one that is served."""
    return FunctionKey(
        reference=reference,
        otherwise=otherwise,
        groups={"every promise": 4},
        hidden=lambda rng: (),
        misconceptions=(_NOTHING_MOVED, *misconceptions),
        reread=EACH_LEVER,
        judge=judge_of(case),
    )


def lever_key(case: Case, right: str, traps: Mapping[str, tuple[str, str, Mapping[str, Any]]]) -> ChoiceKey:
    """traps: wrong lever -> the name of the mistake, the sentence, and the settings that show it on the simulator."""
    return ChoiceKey(
        right,
        {
            lever: Trap(name, sentence, EACH_LEVER, served_with(case, **settings))
            for lever, (name, sentence, settings) in traps.items()
        },
    )
