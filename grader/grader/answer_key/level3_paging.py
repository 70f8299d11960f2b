"""Key of L3.1: what a reservation wastes, and what blocks waste."""

from __future__ import annotations

from llmserving.exercises import level3_paging
from llmserving.exercises.draws import Numbers
from llmserving.paging import blocks_needed

from grader.answer_key.key import A_FRACTION, EXACT, Answers, Formula, Key, Misconception, ValueKey

_RESERVE = "Reserve, or hand out"
_BLOCKS = "Blocks and their tail"


def _wrong(name: str, formula: Formula, sentence: str, reread: str = _BLOCKS) -> Misconception:
    return Misconception(name, formula, sentence, reread)


def _blocks(n: Numbers, a: Answers) -> float:
    return blocks_needed(n["used"], n["block_size"])


def _slots(n: Numbers, a: Answers) -> float:
    return float(a["blocks"] * n["block_size"])


def _reserved_in_vain(n: Numbers, a: Answers) -> float:
    return n["max_len"] - n["used"]  # type: ignore[no-any-return]


RESERVED_SHARE = ValueKey(
    lambda n, a: 1 - n["used"] / n["max_len"],
    A_FRACTION,
    (
        _wrong(
            "used_for_wasted",
            lambda n, a: n["used"] / n["max_len"],
            "That is the share that is used. The question asks for the share that is reserved and holds no token.",
            _RESERVE,
        ),
        _wrong(
            "divided_by_used",
            lambda n, a: (n["max_len"] - n["used"]) / n["used"],
            "That divides the wasted slots by the used ones. A share is of all the slots that are held.",
            _RESERVE,
        ),
        _wrong(
            "slots_for_share",
            _reserved_in_vain,
            "That is how many slots are wasted. The question asks for their share: divide by the slots that are held.",
            _RESERVE,
        ),
    ),
)

BLOCK_COUNT = ValueKey(
    _blocks,
    EXACT,
    (
        _wrong(
            "floor_of_blocks",
            lambda n, a: n["used"] // n["block_size"],
            "Those are the full blocks. The tokens that are left over need a block too, though they do not fill it.",
        ),
        _wrong(
            "not_rounded",
            lambda n, a: n["used"] / n["block_size"],
            "The division is right, but a part of a block cannot be handed out: give whole blocks.",
        ),
        _wrong(
            "blocks_of_the_reservation",
            lambda n, a: n["max_len"] // n["block_size"],
            "That is the whole reservation, cut into blocks. Blocks are handed out for the tokens that are there.",
        ),
        _wrong(
            "one_block_ahead",
            lambda n, a: _blocks(n, a) + 1,
            "One too many: no block is taken before a token needs it, and the last one still has room.",
        ),
    ),
)

EMPTY = ValueKey(
    lambda n, a: _slots(n, a) - n["used"],
    EXACT,
    (
        _wrong(
            "worst_case_for_this",
            lambda n, a: n["block_size"] - 1,
            "That is the worst case. This request's last block is fuller than that.",
        ),
        _wrong(
            "whole_block_empty",
            lambda n, a: n["block_size"],
            "That is a whole block. Its last block was taken for a token, and holds some.",
        ),
        _wrong(
            "tokens_of_the_tail",
            lambda n, a: n["used"] % n["block_size"],
            "Those are the tokens in the last block. The question asks for its empty slots.",
        ),
        _wrong(
            "waste_of_reservation",
            _reserved_in_vain,
            "That is what the reservation wastes. In blocks, nothing is held for tokens that may never come.",
            _RESERVE,
        ),
        _wrong(
            "slots_for_empty", _slots, "Those are all the slots of its blocks. Take away the ones that hold a token."
        ),
    ),
)

_WORST = ValueKey(
    lambda n, a: n["block_size"] - 1,
    EXACT,
    (
        _wrong(
            "block_size_itself",
            lambda n, a: n["block_size"],
            "A whole block is never empty: it was taken because a token needed it.",
        ),
        _wrong(
            "this_case_for_worst",
            lambda n, a: a["empty"],
            "That is this request. At worst the last block holds a single token.",
        ),
        _wrong(
            "waste_in_every_block",
            lambda n, a: _blocks(n, a) * (n["block_size"] - 1),
            "That counts the empty slots in every block. A new block is taken only when the one before is full.",
        ),
        _wrong(
            "waste_of_reservation",
            lambda n, a: n["max_len"] - 1,
            "That is the worst case of the reservation. Blocks are taken as tokens come.",
            _RESERVE,
        ),
    ),
)

BLOCKS_SHARE = ValueKey(
    lambda n, a: a["empty"] / _slots(n, a),
    A_FRACTION,
    (
        _wrong(
            "divided_by_used",
            lambda n, a: a["empty"] / n["used"],
            "That divides the empty slots by the used ones. A share is of all the slots that are held.",
        ),
        _wrong(
            "divided_by_max_len",
            lambda n, a: a["empty"] / n["max_len"],
            "That divides by the reservation. In blocks the request holds its blocks and no more.",
        ),
        _wrong(
            "used_for_wasted",
            lambda n, a: n["used"] / _slots(n, a),
            "That is the share that is used. The question asks for the share that holds no token.",
        ),
        _wrong(
            "worst_case_for_this",
            lambda n, a: (n["block_size"] - 1) / _slots(n, a),
            "That takes the worst case. This request leaves fewer slots empty.",
        ),
        _wrong(
            "share_of_one_block",
            lambda n, a: a["empty"] / n["block_size"],
            "That is the share of the last block. The request holds all its blocks, and the others are full.",
        ),
        _wrong(
            "slots_for_share",
            lambda n, a: a["empty"],
            "That is how many slots are empty. The question asks for their share: divide by the slots that are held.",
        ),
    ),
)

KEYS_HERE = (
    Key(
        level3_paging.L3_1,
        {
            "reserved_share": RESERVED_SHARE,
            "blocks": BLOCK_COUNT,
            "empty": EMPTY,
            "worst": _WORST,
            "blocks_share": BLOCKS_SHARE,
        },
    ),
)
