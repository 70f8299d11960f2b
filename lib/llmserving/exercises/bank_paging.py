"""The question bank of paging: what it wastes and what it does not, block sizes, sharing."""

from __future__ import annotations

import random

from llmserving.exercises.bank_kinds import find_the_error, predict, true_or_false
from llmserving.exercises.draws import Draw, Numbers
from llmserving.exercises.exercise import Exercise, Option, Part

_NOTEBOOK = "L3/paging"

SE7 = find_the_error(
    "SE7",
    _NOTEBOOK,
    "PagedAttention removes all waste of KV-cache memory.",
    (
        Option("gaps", "free blocks lie scattered, and a request needs neighbouring ones"),
        Option("half_full", "blocks are half empty on the whole, so half of the memory is wasted"),
        Option("still_reserved", "the maximum length is still reserved, only cut into blocks"),
        Option("tail", "the last block of each request can stay empty but for one token"),
    ),
    "Which block of a request need not be full?",
    "L3.waste",
)

SE8 = find_the_error(
    "SE8",
    _NOTEBOOK,
    "Without paging memory is wasted because attention is quadratic in the number of tokens t.",
    (
        Option("cache_is_quadratic", "it is the cache that is quadratic in t, and attention is linear"),
        Option("padding", "it is padding that is quadratic: every request is as long as the longest"),
        Option("paging_makes_linear", "right, and paging makes attention linear, which ends the waste"),
        Option("two_things", "the waste comes from reserving the maximum length, not from computing anything"),
    ),
    "Where did the empty slots of L3.1 come from? Was anything computed for them?",
    "L3.waste",
)

TF6 = true_or_false(
    "TF6",
    _NOTEBOOK,
    "The larger the block_size, the better.",
    (
        Option("fewer_reads", "larger blocks hold more tokens, so attention has less to read"),
        Option("no_effect", "block_size changes where tokens lie and nothing else, so any will do"),
        Option("only_smaller", "the smaller the better: one token a block wastes nothing and costs nothing"),
        Option("tail_grows", "the larger the blocks, the more of each last one can stay empty"),
    ),
    "Look at both columns of the table above: what falls as blocks grow, and what rises?",
    "L3.waste",
)


def _exact_multiple(blocks: int, block_size: int) -> Numbers:
    return {"used": blocks * block_size, "block_size": block_size}


def _draw_multiple(rng: random.Random) -> Numbers:
    return _exact_multiple(rng.randrange(3, 12), rng.choice([8, 16, 32]))


EC1 = Exercise(
    id="EC1",
    title="An exact multiple of block_size",
    notebook=_NOTEBOOK,
    statement="A request has {used} tokens in the cache, in blocks of {block_size}. Predict:",
    parts=(
        Part(
            "empty",
            "EC1_empty",
            "value",
            "how many of its slots are empty",
            ("How many blocks does it hold? Is one taken before a token needs it?",),
            quantity="count",
            unit="tokens",
        ),
    ),
    draw=Draw("EC1", _exact_multiple(8, 16), _draw_multiple),
    difficulty=1,
    minutes=1,
    group="L3.edges",
)

EC5 = predict(
    "EC5",
    "One short request, alone",
    _NOTEBOOK,
    "A GPU serves one request at a time, with a short prompt, and memory is plentiful. Paging is switched on. What becomes of "
    "the tokens a second?",
    (
        Option("as_before", "hardly anything: no other request waits for the memory that is saved"),
        Option("faster_attention", "they rise, since attention reads fewer slots than were reserved"),
        Option("much_more", "they rise as much as in a busy server, since the waste is the same"),
        Option("slower_by_half", "they fall by half, since every read goes through the block table first"),
    ),
    "What does a busy server do with the memory that paging frees? Is there anybody here to use it?",
    "L3.edges",
)

EC7 = predict(
    "EC7",
    "Blocks of one token",
    _NOTEBOOK,
    "Somebody sets block_size to 1. What is the result?",
    (
        Option("best_of_all", "the best there is: nothing is wasted, and nothing else changes"),
        Option("no_waste_but_costs", "no slot is empty, but tables grow long and reads may lie scattered"),
        Option("one_slot_each", "one slot of each request stays empty, as it is taken in advance"),
        Option("same_as_contiguous", "the same as one contiguous stretch, since tokens follow one another"),
    ),
    "Count what stays empty, then the entries of the block table, and think of what a kernel likes to read.",
    "L3.edges",
)

TF10 = true_or_false(
    "TF10",
    _NOTEBOOK,
    "Two requests that begin with the same system prompt must each store its keys and values.",
    (
        Option("different_values", "their keys and values differ, since the requests go on differently"),
        Option("merged_later", "they are stored twice, and merged only when the memory is full"),
        Option("shared_blocks", "both block tables can name the same blocks for the beginning they share"),
        Option("whole_requests", "only requests that are equal to the end can share anything at all"),
    ),
    "On which tokens do the keys and values of the system prompt depend?",
    "L3.sharing",
)

EC6 = predict(
    "EC6",
    "Two writers, one block",
    _NOTEBOOK,
    "Two requests share a partly filled block, and both are about to write their next token into it. What happens?",
    (
        Option("copy", "the first to write gets a copy of its own; the other keeps the block"),
        Option("last_wins", "both write into the same slot, and the later of the two tokens stays"),
        Option("refused", "the second write is refused until the first request has come to its end"),
        Option("two_slots", "each writes into the next free slot of the shared block, one after the other"),
    ),
    "What would the other request read, if one wrote into the block that both hold?",
    "L3.sharing",
)

EXERCISES_HERE = (SE7, SE8, TF6, EC1, EC5, EC7, TF10, EC6)
