"""The statement of an exercise as a learner reads it: rendered from the template and the learner's own numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping

from llmserving.exercises.draws import DEFAULT_LEARNER, with_numbers
from llmserving.exercises.exercise import Exercise, Option, Part
from llmserving.units import format_number


def statement_markdown(exercise: Exercise, learner: str = DEFAULT_LEARNER) -> str:
    """Markdown: heading, what it takes, the question, the answers asked for, and the lettered options."""
    head = [f"### {exercise.id} · {exercise.title}", f"*{_effort(exercise)}*"]
    return "\n\n".join([*head, *question_blocks(exercise, learner)])


def question_blocks(exercise: Exercise, learner: str) -> list[str]:
    """The statement without its heading, as the paragraphs and lists that it is made of."""
    blocks = [
        fill(exercise.statement, exercise, learner),
        "\n".join(f"- `{part.variable}`: {fill(part.asks, exercise, learner)}" for part in exercise.parts),
    ]
    lists = _distinct_lists(exercise, learner)
    for letters, parts in lists:
        names = ", ".join(f"`{part.variable}`" for part in parts)
        blocks.append("Choose from:" if len(lists) == 1 else f"For {names} choose from:")
        blocks.append(lettered_list(letters))
    return blocks


def lettered_list(letters: Mapping[str, Option]) -> str:
    return "\n".join(f"- **{letter}** {option.text}" for letter, option in letters.items())


def fill(template: str, exercise: Exercise, learner: str) -> str:
    """`template` with the learner's numbers in place."""
    return with_numbers(template, exercise.numbers(learner))


def answer_stub(exercise: Exercise) -> str:
    """The lines of the answer cell before anything is answered; what records comes last, so that its card is shown."""
    stubs = [part.stub or f"{part.variable} = ..." for part in exercise.parts if part.kind != "measurement"]
    records = [part.stub for part in exercise.parts if part.kind == "measurement" and part.stub]
    return between(*stubs).join([*stubs, *records])


def between(*stubs: str) -> str:
    """What stands between pieces of an answer cell: a new line, or where one of them is code, two empty lines as well."""
    return "\n\n\n" if any(re.search(r"^(?:def|class) ", stub, re.MULTILINE) for stub in stubs) else "\n"


def _effort(exercise: Exercise) -> str:
    points = format_number(exercise.points)
    return (
        f"difficulty {exercise.difficulty} of 5 · importance {exercise.importance} of 5 · "
        f"about {_plural(exercise.minutes, 'minute')} · {points} {'point' if exercise.points == 1 else 'points'}"
    )


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _distinct_lists(exercise: Exercise, learner: str) -> list[tuple[dict[str, Option], list[Part]]]:
    """The lettered lists to print, each with the parts that choose from it; none for true or false."""
    lists: list[tuple[dict[str, Option], list[Part]]] = []
    for part in exercise.parts:
        if part.options and part.letters is None:
            letters = exercise.lettered_options(part, learner)
            shared = next((parts for printed, parts in lists if printed == letters), None)
            if shared is None:
                lists.append((letters, [part]))
            else:
                shared.append(part)
    return lists
