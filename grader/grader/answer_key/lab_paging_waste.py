"""Keys of the waste of blocks on a real-shaped workload: the prediction, and what is read off the measurement."""

from __future__ import annotations

from llmserving.exercises import lab_paging_waste
from llmserving.exercises.draws import Numbers
from llmserving.exercises.lab_paging_waste import POWERS, tail_share

from grader.answer_key.key import A_FRACTION, EXACT, THREE_FIGURES, Answers, Key, Misconception, ValueKey
from grader.answer_key.lab_paging_waste_measured import RATIO, RECORDED, WHY

_TAIL = "What the last block leaves empty"


def _wrong(name: str, formula: object, sentence: str) -> Misconception:
    return Misconception(name, formula, sentence, _TAIL)  # type: ignore[arg-type]


def _largest(n: Numbers, a: Answers) -> float:
    return float(max(size for size in POWERS if tail_share(n["mean"], size) <= n["percent"] / 100))


_RESERVED = ValueKey(
    lambda n, a: 1 - n["mean"] / n["max_len"],
    A_FRACTION,
    (
        _wrong(
            "used_for_wasted",
            lambda n, a: n["mean"] / n["max_len"],
            "That is the share that holds tokens. The question asks for the empty part.",
        ),
        _wrong(
            "divided_by_used",
            lambda n, a: n["max_len"] / n["mean"] - 1,
            "That divides the empty slots by the used ones. A share is of all the slots that are held.",
        ),
        _wrong(
            "waste_of_blocks",
            lambda n, a: tail_share(n["mean"], n["small"]),
            "That is what blocks leave empty. A reservation holds all its slots from the start to the end.",
        ),
    ),
)

_MEAN_TAIL = ValueKey(
    lambda n, a: (n["small"] - 1) / 2,
    THREE_FIGURES,
    (
        _wrong(
            "worst_case_for_mean",
            lambda n, a: n["small"] - 1,
            "That is the worst case, a last block with one token. Others are fuller, and some are full.",
        ),
        _wrong(
            "block_can_be_empty",
            lambda n, a: n["small"] / 2,
            "Half a block would be the mean if the last block could be empty too. It was taken for a token, so it holds one.",
        ),
        _wrong(
            "tail_of_the_mean",
            lambda n, a: -n["mean"] % n["small"],
            "That is the tail of one request of just the mean length. The question asks for the mean over all lengths.",
        ),
        _wrong(
            "tokens_for_tail",
            lambda n, a: (n["small"] + 1) / 2,
            "Those are the tokens in the last block, on average. The question asks for the slots that it leaves empty.",
        ),
    ),
)

_SHARE = ValueKey(
    lambda n, a: tail_share(n["mean"], n["large"]),
    A_FRACTION,
    (
        _wrong(
            "divided_by_tokens",
            lambda n, a: (n["large"] - 1) / 2 / n["mean"],
            "That divides by the tokens alone. The empty slots are held too, and belong to the whole.",
        ),
        _wrong(
            "worst_case_for_mean",
            lambda n, a: (n["large"] - 1) / (n["mean"] + n["large"] - 1),
            "That takes the worst case for every request. On average the last block is fuller.",
        ),
        _wrong(
            "share_of_one_block",
            lambda n, a: (n["large"] - 1) / 2 / n["large"],
            "That is the share of the last block. A request holds the blocks before it too, and they are full.",
        ),
        _wrong(
            "tail_of_the_small",
            lambda n, a: tail_share(n["mean"], n["small"]),
            "That is the share with the smaller blocks. The tail grows with the block.",
        ),
    ),
)

_LARGEST = ValueKey(
    _largest,
    EXACT,
    (
        _wrong(
            "worst_case_for_mean",
            lambda n, a: max(p for p in POWERS if (p - 1) / (n["mean"] + p - 1) <= n["percent"] / 100),
            "That would be it if every request had the worst tail. On average it is smaller.",
        ),
        _wrong(
            "first_above",
            lambda n, a: 2 * _largest(n, a),
            "With blocks of that size the share is above the limit already.",
        ),
        _wrong(
            "no_power_of_two",
            lambda n, a: 1 + 2 * n["percent"] * n["mean"] // (100 - n["percent"]),
            "That is where the limit lies, to the slot. The question asks for a power of two that stays below it.",
        ),
    ),
)

KEYS_HERE = (
    Key(
        lab_paging_waste.LAB3A_5,
        {"reserved": _RESERVED, "tail": _MEAN_TAIL, "share": _SHARE, "largest": _LARGEST},
    ),
    Key(lab_paging_waste.LAB3A_6, {"measured": RECORDED, "ratio": RATIO, "why": WHY}),
)
