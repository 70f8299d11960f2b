"""Keys of the question bank of sharing."""

from __future__ import annotations

from llmserving.exercises import bank_sharing as bank

from grader.answer_key.bank_kinds import Changed, choice, claim

_SHARING = "Sharing, and copying on write"

TF10 = claim(
    bank.TF10,
    "shared_blocks",
    "The keys and values of a token depend on the tokens before it, and those are the same in both requests.",
    {
        "different_values": (
            "later_tokens_change_earlier",
            "No token looks ahead: what comes later changes nothing in the keys and values before it.",
        ),
        "merged_later": (
            "merged_when_full",
            "They are found to be equal when a later request comes, before anything is stored for it.",
        ),
        "whole_requests": (
            "all_or_nothing",
            "Sharing goes block by block, so a common beginning is enough.",
        ),
    },
    _SHARING,
    variants={
        "negated": Changed(true=True),
        "a_hundred": Changed(
            why_not="The keys and values of a token depend on the tokens before it, and those are the same in every request."
        ),
    },
)

EC6 = choice(
    bank.EC6,
    "copy",
    {
        "last_wins": (
            "shared_write",
            "Then one of them would read the other's token. A block that two hold is not written to.",
        ),
        "refused": ("write_refused", "Nobody waits: there is a cheaper way, as long as a block is free."),
        "two_slots": (
            "two_stories_in_one_block",
            "A block's slots are consecutive tokens of one text, and these two texts part here.",
        ),
    },
    _SHARING,
    variants={
        "full": Changed(
            right="two_slots",
            traps={
                "copy": (
                    "full_block_copied",
                    "A shared block is copied when it is written to. Nothing more is written into a full one.",
                )
            },
        )
    },
)

KEYS_HERE = (TF10, EC6)
