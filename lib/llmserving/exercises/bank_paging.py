"""The question bank of paging: what it wastes and what it does not, and how large a block should be."""

from __future__ import annotations

import random

from llmserving.exercises.bank_kinds import find_the_error, predict, true_or_false
from llmserving.exercises.draws import Draw, Numbers, variant
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
    importance=4,
    variants=(variant("numbers", "With blocks of 16 tokens, a request of 100 tokens wastes no KV-cache memory."),),
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
    importance=3,
    variants=(
        variant(
            "twice_as_long",
            "Without paging, twice the tokens t waste four times the memory, since attention compares all pairs.",
        ),
    ),
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
    importance=4,
    variants=(
        variant("negated", "A block_size can be too large."),
        variant("512", "For requests of a few hundred tokens, a block_size of 512 is a better choice than one of 16."),
    ),
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
    importance=3,
    group="L3.edges",
)

EC5 = predict(
    "EC5",
    "Paging, switched on",
    _NOTEBOOK,
    "A GPU serves one request at a time, with a short prompt, and memory is plentiful. Paging is switched on. What happens to "
    "its tokens per second?",
    (
        Option("as_before", "hardly anything: no other request waits for the memory that is saved"),
        Option("faster_attention", "they rise, since attention reads fewer slots than were reserved"),
        Option("much_more", "{more}"),
        Option("slower_by_half", "they fall by half, since every read goes through the block table first"),
    ),
    "What does a busy server do with the memory that paging frees? Is there anybody here to use it?",
    "L3.edges",
    importance=3,
    words={"more": "they rise as much as in a busy server, since the waste is the same"},
    variants=(
        variant(
            "busy",
            "A server keeps requests waiting for KV-cache memory, and most of that memory is reserved and empty. Paging is "
            "switched on. What happens to its tokens per second?",
            more="they rise, since the memory that is saved takes in more requests",
        ),
    ),
)

EC7 = predict(
    "EC7",
    "block_size at its limit",
    _NOTEBOOK,
    "Somebody sets block_size to 1. What is the result?",
    (
        Option("best_of_all", "the best there is: nothing is wasted, and nothing else changes"),
        Option("no_waste_but_costs", "no slot is empty, but tables grow long and reads may lie scattered"),
        Option("one_slot_each", "one slot of each request stays empty, as it is taken in advance"),
        Option("same_as_contiguous", "the same as one contiguous stretch, {since}"),
    ),
    "Count what stays empty, then the entries of the block table, and think of what a kernel likes to read.",
    "L3.edges",
    importance=2,
    words={"since": "since tokens follow one another"},
    variants=(
        variant(
            "maximum",
            "Somebody sets block_size to the maximum length of a request. What is the result?",
            since="reserved at full length",
        ),
    ),
)

EXERCISES_HERE = (SE7, SE8, TF6, EC1, EC5, EC7)
