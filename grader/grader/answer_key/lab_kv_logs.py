"""Keys of the questions beside the function of level 2's lab: reading a log, and what the log says of a model."""

from __future__ import annotations

from fractions import Fraction

from llmserving.exercises import lab_kv_logs
from llmserving.exercises.draws import Numbers
from llmserving.units import GB, GiB

from grader.answer_key.key import EXACT, THREE_FIGURES, Answers, Key, Misconception, ValueKey, times
from grader.answer_key.lab_kv_factors import FACTORS
from grader.answer_key.lab_kv_logs_choices import CHOICES

_LOG, _FACTORS, _SHARED, _BITS = "What an engine prints", "One token in one layer", "Heads that share", "Bits and bytes"


def _token_bytes(n: Numbers, a: Answers) -> float:
    return round(Fraction(n["gib"]) * GiB / int(n["tokens"]))


def _heads(n: Numbers, a: Answers) -> float:
    return round(_not_rounded(n, a))


def _not_rounded(n: Numbers, a: Answers) -> float:
    return a["token_bytes"] / (n["layers"] * 2 * n["head_dim"] * 2)  # type: ignore[no-any-return]


_LAB2_2 = {
    "token_bytes": ValueKey(
        _token_bytes,
        THREE_FIGURES,
        (
            Misconception(
                "gb_for_gib",
                times(_token_bytes, GB / GiB),
                "That reads the memory as GB. Engines print GiB, and a GiB is 2^30 bytes.",
                _LOG,
            ),
            Misconception(
                "one_layer",
                times(_token_bytes, lambda n, a: 1 / n["layers"]),
                "That is one layer's share of a token. The memory of the log holds all layers.",
                _FACTORS,
            ),
            Misconception(
                "upside_down",
                lambda n, a: 1 / _token_bytes(n, a),
                "Upside down: that is tokens per byte. Divide the memory by the tokens.",
                _LOG,
            ),
            Misconception(
                "elements_for_bytes",
                times(_token_bytes, 1 / 2),
                "That counts elements, and in FP16 each has two bytes. The question asks for bytes: divide the memory "
                "by the tokens.",
                _BITS,
            ),
            Misconception(
                "bits_for_bytes",
                times(_token_bytes, 8),
                "That counts bits. The question asks for bytes, and a byte has 8 bits.",
                _BITS,
            ),
        ),
    ),
    "heads": ValueKey(
        _heads,
        EXACT,
        (
            Misconception(
                "not_rounded",
                _not_rounded,
                "The division is right; what is left over is the log's rounding. There are only whole heads, so round "
                "to the nearest.",
                _LOG,
            ),
            Misconception(
                "query_heads",
                lambda n, a: n["query_heads"],
                "That is the number of query heads. The log's bytes are too few for keys and values of all of them: "
                "divide by the bytes of one head.",
                _LOG,
            ),
            Misconception(
                "key_and_value_apart",
                times(_heads, 2),
                "Twice the right number. Either a key and a value count as a head each, where one head leaves both, "
                "or an element "
                "counts as one byte, where FP16 takes two.",
                _FACTORS,
            ),
            Misconception(
                "group_size",
                lambda n, a: round(n["query_heads"] / _heads(n, a)),
                "That is how many query heads share one KV head. The question is how many KV heads there are.",
                _SHARED,
            ),
            Misconception(
                "elements_for_heads",
                lambda n, a: _heads(n, a) * n["head_dim"],
                "That is the number of elements in all the keys that a token leaves in a layer. Divide by the "
                "elements of one head.",
                _FACTORS,
            ),
            Misconception(
                "all_layers",
                lambda n, a: round(_heads(n, a) * n["layers"]),
                "That adds up the heads of all layers. The question asks for those of one layer.",
                _FACTORS,
            ),
        ),
    ),
}


KEYS_HERE = (
    Key(lab_kv_logs.LAB2_2, _LAB2_2),
    Key(lab_kv_logs.LAB2_3, FACTORS),
    Key(lab_kv_logs.LAB2_4, CHOICES),
)
