"""The clinic's first case: chats that stall behind long prompts."""

from __future__ import annotations

import random

from llmserving.clinic import LONG_PROMPTS
from llmserving.exercises.draws import Draw, Numbers
from llmserving.exercises.exercise import Exercise, Option, Part
from llmserving.exercises.lab_clinic_parts import (
    PROMISED,
    argument_part,
    case_numbers,
    lever_part,
    levers_part,
    wall_part,
)

_SHORTEST = 20_000


def _document(tokens: int) -> Numbers:
    return {**case_numbers(LONG_PROMPTS), "shortest": _SHORTEST, "document": tokens}


def _draw(rng: random.Random) -> Numbers:
    """A document of the kind that the case serves."""
    return _document(rng.randrange(_SHORTEST, 28_000, 500))


LAB5A_1 = Exercise(
    id="LAB5A.1",
    title="Long prompts among chats",
    notebook="L5/lab_clinic",
    statement=(
        "`LONG_PROMPTS`: chats with {model} on an {gpu}, and now and then a document of {shortest} tokens or more. While one is "
        f"read, the text of everybody else stands still. {PROMISED} The model has {{billions}} billion weights; the GPU reads "
        "{bandwidth_tb} TB/s and computes {tflops} TFLOP/s in 16 bits. Predict the stall first."
    ),
    parts=(
        Part(
            "stall_s",
            "LAB5A_1_stall_s",
            "value",
            "seconds that the products of {document} tokens with the weights take at the peak, which is how long a chat in the "
            "same step waits at least",
            (
                "Each weight meets each token, in a multiplication and an addition.",
                "A similar case: one billion weights and 1,000 tokens are 2 TFLOP; at 100 TFLOP/s they take 0.02 s.",
            ),
            quantity="real",
            unit="s",
        ),
        levers_part(
            1,
            (
                "Move one lever at a time, and look at which of the two times it changes.",
                "Who runs in a step is decided by the policy. How long a step can get is decided by what it may take in.",
                "As pieces get shorter, one of the two times gets better and the other worse: look for a length in between.",
            ),
        ),
        wall_part(
            1,
            "what a chat waits for while its text stands still",
            ("What keeps the GPU busy in the step in which a document is read?",),
        ),
        lever_part(
            1,
            ("Compare what each lever changes with the stall that you predicted.",),
            (
                Option("a100", "an a100-80gb"),
                Option("chunked", "chunked prefill"),
                Option("int4", "W4A16 weights"),
                Option("more", "more at once"),
            ),
        ),
        argument_part(
            1,
            ("Begin with the step that takes so long, then say who is in it.",),
            (
                Option(
                    "bounded", "So a token waits for one piece at most, and the document takes about as long in all."
                ),
                Option("less_work", "In pieces a document is less to compute, and the GPU is done with it far sooner."),
                Option("pieces", "In pieces a document takes many steps, each with a next token for everybody."),
                Option("room", "In pieces a document takes less of the cache, and more chats run beside it."),
                Option("waits", "That step is seconds of arithmetic, and everybody's next token is at its end."),
                Option("weights", "The weights are read again for each token of it, and the chats wait for reading."),
                Option("whole", "A document is computed whole, in one step with the tokens of all who decode."),
            ),
        ),
    ),
    draw=Draw("LAB5A.1", _document(24_000), _draw),
    difficulty=5,
    minutes=20,
    importance=4,
    version=2,
)
