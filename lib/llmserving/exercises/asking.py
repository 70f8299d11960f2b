"""What a call such as check("L2.1#3", 2.1) asks for: which exercises, with whose numbers, and the answers to them."""

from __future__ import annotations

import re
from typing import Any

from llmserving.exercises import session
from llmserving.exercises.catalogue import EXERCISES, GROUPS, id_meant, unknown_id
from llmserving.exercises.collect import collect, data_of_answer
from llmserving.exercises.draws import PRACTICE_MARK
from llmserving.exercises.exercise import CODE_KINDS

_PRACTICE = re.compile(r"(.+)#(\d{1,9})\s*")


class Refused(Exception):
    """A call that cannot be answered; its sentence is shown in place of a card."""


def whose(learner: str | None) -> str:
    """The learner that a call is for: the one given, or the one of this folder."""
    try:
        return session.current_learner() if learner is None else session.valid_learner(learner)
    except ValueError as error:
        raise Refused(str(error)) from None


class Asked:
    """What a name such as 'L2.1', 'L1.cache' or 'L2.1#3' refers to: exercises, and whose numbers they take.

    name: of the exercise or the group, without the number of a draw, as the course writes it.
    """

    def __init__(self, name: Any, learner: str | None) -> None:
        practice = _PRACTICE.fullmatch(name) if isinstance(name, str) else None
        base = practice.group(1) if practice else name
        meant = id_meant(base)
        if meant is None:
            raise Refused(unknown_id(base))
        own = whose(learner)
        self.name = meant
        self.ids = (meant,) if meant in EXERCISES else GROUPS[meant]
        self.draw = practice.group(2) if practice else None
        self.learner = f"{own}{PRACTICE_MARK}{self.draw}" if self.draw else own

    @property
    def practice(self) -> bool:
        return self.draw is not None

    def name_of(self, exercise_id: str) -> str:
        """The exercise as it was asked for: a practice draw by its number."""
        return f"{exercise_id}#{self.draw}" if self.draw else exercise_id


def gather(asked: Asked, answers: tuple[Any, ...], key: Any | None) -> dict[str, Any]:
    """The data to grade, by exercise id: from the session, with what earlier exercises hold, or from the call.

    key: says what code is tried on; without one it is tried on the public probes.
    """

    def inputs(name: str) -> Any:
        code = any(part.kind in CODE_KINDS for part in EXERCISES[name].parts)
        return key.inputs(name, asked.learner) if code and key is not None else None

    if not answers:
        if asked.practice:
            raise Refused("a practice draw takes its answer in the call, after the id")
        namespace = session.namespace()
        earlier = [name for exercise_id in asked.ids for name in EXERCISES[exercise_id].builds_on]
        return {name: collect(name, namespace, inputs(name)) for name in (*earlier, *asked.ids)}
    if len(asked.ids) > 1:
        raise Refused(f"answers can be given for one exercise at a time: one of {', '.join(asked.ids)}")
    try:
        name, answer = asked.ids[0], answers[0] if len(answers) == 1 else answers
        return {name: data_of_answer(name, answer, inputs(name))}
    except ValueError as error:
        raise Refused(str(error)) from None
