"""An exercise in three parts that is measured: a prediction, a measurement, and a value worked out from it."""

from __future__ import annotations

from llmserving.exercises.draws import Draw
from llmserving.exercises.exercise import Exercise, Field, Part

MEASURED = Exercise(
    id="LAB1.1",
    title="How fast it decodes here",
    notebook="L1/lab_two_phases",
    statement="Predict the tokens a second, then measure them.",
    parts=(
        Part(
            "predicted",
            "L1.lab.decode.predicted",
            "measurement",
            "your prediction, recorded",
            ("Divide the bandwidth by the bytes.",),
            fields=(Field("tokens_per_s", "tokens/s", 0.01, 1e6),),
        ),
        Part(
            "decode",
            "L1.lab.decode",
            "measurement",
            "the time of three runs and their tokens, recorded",
            ("Run the cell above.",),
            fields=(Field("seconds", "s", 1e-6, 60, samples=3), Field("tokens", "tokens", 1, 1e6, whole=True)),
        ),
        Part(
            "rate",
            "LAB1_1_rate",
            "value",
            "tokens a second by your recording",
            ("Tokens by seconds.",),
            quantity="real",
            unit="tokens/s",
        ),
    ),
    draw=Draw("LAB1.1"),
    difficulty=2,
    minutes=5,
    importance=3,
)
