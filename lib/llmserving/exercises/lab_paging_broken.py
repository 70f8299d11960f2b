"""The lab of level 3, paging: what an allocator breaks first when one line of it is wrong, predicted before it is played."""

from __future__ import annotations

from llmserving.exercises.draws import Draw
from llmserving.exercises.exercise import Exercise, Option, Part

LAB3A_3 = Exercise(
    id="LAB3A.3",
    title="Break it, and say what breaks",
    notebook="L3/lab_paging",
    statement=(
        "In somebody's allocator `free` gives back every block of the request, whoever else holds it; all else is as it "
        "should be. The script that you stepped through is played on it: *a* is allocated and forked as *b*, both write, *b* "
        "grows by one block, then *a* is freed and *b* is freed. Predict which sentence comes first."
    ),
    parts=(
        Part(
            "first",
            "LAB3A_3_first",
            "choice",
            "the letter of what is broken first",
            (
                "The play stops at the first broken invariant, and every invariant is asked after every operation.",
                "Which block do *a* and *b* still share after each of them has written, and where is it once *a* has ended?",
            ),
            options=(
                Option("double_free", "when b is freed: a block is given back that is free already"),
                Option("leak", "when b is freed: a block is in no table any more and is not free"),
                Option("overwritten", "when b grows: the block it takes is written under its other reader"),
                Option("while_held", "when a is freed: a block is free while a table still holds it"),
            ),
        ),
    ),
    draw=Draw("LAB3A.3"),
    difficulty=2,
    minutes=3,
    importance=4,
)

EXERCISES_HERE = (LAB3A_3,)
