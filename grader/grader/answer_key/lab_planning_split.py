"""Key of LAB4.3: what tensor parallelism splits, what it leaves, and why the tokens grow faster than the GPUs."""

from __future__ import annotations

from llmserving.exercises import lab_planning_split
from llmserving.exercises.draws import Numbers
from llmserving.units import GiB

from grader.answer_key.key import THREE_FIGURES, Answers, Formula, Key, Misconception, ValueKey, times
from grader.answer_key.lab_planning_split_choices import GREW, UNSPLIT

_SPLIT, _POOL = "Split over GPUs", "From GiB to blocks"


def _weights(n: Numbers) -> float:
    """GB of the whole model."""
    return n["billions"] * n["weight_bytes"]  # type: ignore[no-any-return]


def _caches(n: Numbers) -> float:
    """GB of all requests together."""
    return n["batch"] * n["context"] * n["token_bytes"] / 1e9  # type: ignore[no-any-return]


def _read_gb(n: Numbers, a: Answers) -> float:
    return (_weights(n) + _caches(n)) / n["many"]  # type: ignore[no-any-return]


def _intensity(n: Numbers, a: Answers) -> float:
    return 2 * n["billions"] * n["batch"] / n["many"] / a["read_gb"]  # type: ignore[no-any-return]


def _change(n: Numbers, a: Answers) -> float:
    return 1.0


def _tokens(n: Numbers, a: Answers) -> float:
    block = 16 * n["token_bytes"] // n["many"]
    return n["many_gib"] * GiB // block * 16  # type: ignore[no-any-return]


def _wrong(name: str, formula: Formula, sentence: str, reread: str = _SPLIT) -> Misconception:
    return Misconception(name, formula, sentence, reread)


_READ = ValueKey(
    _read_gb,
    THREE_FIGURES,
    (
        _wrong(
            "nothing_split",
            times(_read_gb, lambda n, a: n["many"]),
            "That is what a single GPU would read. Each of them has a share of every matrix and of the KV heads.",
        ),
        _wrong(
            "weights_not_split",
            lambda n, a: _weights(n) + _caches(n) / n["many"],
            "That has all the weights on each GPU. Each matrix is cut, and a GPU keeps its share.",
        ),
        _wrong(
            "caches_not_split",
            lambda n, a: _weights(n) / n["many"] + _caches(n),
            "That has whole caches on each GPU. A GPU keeps keys and values of its own heads alone.",
        ),
        _wrong(
            "caches_forgotten",
            lambda n, a: _weights(n) / n["many"],
            "That reads the weights alone. The caches of the requests are read in the same step.",
        ),
    ),
)
_INTENSITY = ValueKey(
    _intensity,
    THREE_FIGURES,
    (
        _wrong(
            "products_not_split",
            times(_intensity, lambda n, a: n["many"]),
            "That has each GPU compute all the products. It computes those with its own share of the weights.",
        ),
        _wrong(
            "one_flop_a_weight",
            times(_intensity, 1 / 2),
            "Half of it: a weight and a token are two FLOPs, a multiplication and an addition.",
        ),
        _wrong(
            "batch_forgotten",
            times(_intensity, lambda n, a: 1 / n["batch"]),
            "That computes for a single request, and reads the caches of all.",
        ),
        _wrong(
            "caches_forgotten",
            lambda n, a: 2 * n["batch"] / n["weight_bytes"],
            "That leaves the caches out of what is read.",
        ),
    ),
)
_CHANGE = ValueKey(
    _change,
    THREE_FIGURES,
    (
        _wrong(
            "only_bytes_split",
            lambda n, a: n["many"] / n["few"],
            "That splits what is read and not what is computed. Each GPU computes its share of the products only.",
        ),
        _wrong(
            "only_products_split",
            lambda n, a: n["few"] / n["many"],
            "That splits what is computed and not what is read. Each GPU reads its share only.",
        ),
    ),
)
_TOKENS = ValueKey(
    _tokens,
    THREE_FIGURES,
    (
        _wrong(
            "heads_not_split",
            times(_tokens, lambda n, a: 1 / n["many"]),
            "That keeps whole tokens on each GPU. A GPU keeps its own heads of a token, so more tokens fit.",
        ),
        _wrong(
            "added_up_over_gpus",
            times(_tokens, lambda n, a: n["many"]),
            "That counts each token on each GPU. They are the same tokens, a share of them everywhere.",
        ),
        _wrong(
            "gb_for_gib",
            times(_tokens, 1e9 / GiB),
            "That takes a GiB for 10⁹ bytes. The log prints GiB, of 2³⁰ bytes each.",
            _POOL,
        ),
        _wrong(
            "as_many_as_gpus",
            lambda n, a: n["few_tokens"] * n["many"] / n["few"],
            "That multiplies the tokens by the number of GPUs. The memory left on each GPU has changed too: work with what "
            "it prints.",
        ),
        _wrong("blocks_for_tokens", times(_tokens, 1 / 16), "Those are the blocks. Each holds 16 tokens.", _POOL),
    ),
)


KEYS_HERE = (
    Key(
        lab_planning_split.LAB4_3,
        {
            "read_gb": _READ,
            "intensity": _INTENSITY,
            "change": _CHANGE,
            "tokens": _TOKENS,
            "grew": GREW,
            "unsplit": UNSPLIT,
        },
    ),
)
