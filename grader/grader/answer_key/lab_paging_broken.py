"""Key of the allocator that is broken on purpose: where its mistake shows first."""

from __future__ import annotations

from llmserving.exercises.lab_paging_broken import LAB3A_3

from grader.answer_key.bank_kinds import choice

KEYS_HERE = (
    choice(
        LAB3A_3,
        "while_held",
        {
            "double_free": (
                "asked_too_late",
                "That would come too, if the play went on that far. By then something has been wrong for one operation already.",
            ),
            "leak": (
                "leak_for_early_free",
                "A leak is a block that nobody gives back. Here a block is given back by one who is not its only reader.",
            ),
            "overwritten": (
                "written_before_freed",
                "b grows before anything is freed, and the block it takes really is free. The faulty line has not run yet.",
            ),
        },
        "Break it on purpose",
    ),
)
