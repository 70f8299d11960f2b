"""The question bank of sharing: one system prompt in many requests, and who may write into a shared block."""

from __future__ import annotations

from llmserving.exercises.bank_kinds import predict, true_or_false
from llmserving.exercises.draws import variant
from llmserving.exercises.exercise import Option

_NOTEBOOK = "L3/paging"

TF10 = true_or_false(
    "TF10",
    _NOTEBOOK,
    "Two requests that begin with the same system prompt must each store its keys and values.",
    (
        Option("different_values", "their keys and values differ, since the requests go on differently"),
        Option("merged_later", "they are stored {times}, and merged only when the memory is full"),
        Option("shared_blocks", "{all} block tables can name the same blocks for the beginning they share"),
        Option("whole_requests", "only requests that are equal to the end can share anything at all"),
    ),
    "On which tokens do the keys and values of the system prompt depend?",
    "L3.sharing",
    importance=4,
    words={"times": "twice", "all": "both"},
    variants=(
        variant(
            "negated",
            "Two requests that begin with the same system prompt can keep its keys and values in one place.",
        ),
        variant(
            "a_hundred",
            "A hundred requests that begin with the same system prompt must store its keys and values a hundred times.",
            times="a hundred times",
            all="their",
        ),
    ),
)

EC6 = predict(
    "EC6",
    "Writing on from a shared block",
    _NOTEBOOK,
    "Two requests share a partly filled block, and both are about to write their next token into it. What happens?",
    (
        Option("copy", "the first to write gets a copy of its own; the other keeps the block"),
        Option("last_wins", "both write into the same slot, and the later of the two tokens stays"),
        Option("refused", "the second write is refused until the first request has come to its end"),
        Option("two_slots", "{after}"),
    ),
    "What would the other request read, if one wrote into the block that both hold?",
    "L3.sharing",
    importance=4,
    words={"after": "each writes into the next free slot of the shared block, one after the other"},
    variants=(
        variant(
            "full",
            "Two requests share a block that is full, and each is about to write its next token. What happens?",
            after="each takes a new block for it, and the full one stays as it is, shared by both",
        ),
    ),
)

EXERCISES_HERE = (TF10, EC6)
