"""Keys of the questions beside the function of level 2's lab: reading a log, and the factor that a formula is off by."""

from __future__ import annotations

from fractions import Fraction

from llmserving.exercises import lab_kv_logs
from llmserving.exercises.draws import Numbers
from llmserving.units import GB, GiB

from grader.answer_key.key import (
    EXACT,
    THREE_FIGURES,
    Answers,
    ChoiceKey,
    Formula,
    Key,
    Misconception,
    Trap,
    ValueKey,
    times,
)

_LOG, _FACTORS, _SHARED, _LATENT = (
    "What an engine prints", "One token in one layer", "Heads that share", "One latent",
)  # fmt: skip
_BITS = "Bits and bytes"


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
                "That takes the memory for GB. Engines print GiB, and a GiB is 2^30 bytes.",
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
                "Upside down: that is tokens a byte. Divide the memory by the tokens.",
                _LOG,
            ),
            Misconception(
                "elements_for_bytes",
                times(_token_bytes, 1 / 2),
                "That counts elements, of two bytes each in FP16. Asked are bytes, and the log's memory is in bytes.",
                _BITS,
            ),
            Misconception(
                "bits_for_bytes",
                times(_token_bytes, 8),
                "That counts bits. Asked are bytes, and a byte has 8 bits.",
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
                "The division is right, and what is left over is the log's rounding: heads are whole, so round to the nearest.",
                _LOG,
            ),
            Misconception(
                "query_heads",
                lambda n, a: n["query_heads"],
                "That is what the config says of query heads. The log's bytes are too few for keys and values of all of them: "
                "divide them out.",
                _LOG,
            ),
            Misconception(
                "key_and_value_apart",
                times(_heads, 2),
                "Twice as many. Either a key and a value are counted as a head each, where one head leaves both, or an element "
                "as one byte, where FP16 has two.",
                _FACTORS,
            ),
            Misconception(
                "group_size",
                lambda n, a: round(n["query_heads"] / _heads(n, a)),
                "That is how many query heads share one KV head. Asked is how many KV heads there are.",
                _SHARED,
            ),
            Misconception(
                "elements_for_heads",
                lambda n, a: _heads(n, a) * n["head_dim"],
                "That is the elements of all the keys that a token leaves in a layer. Divide by those of one head.",
                _FACTORS,
            ),
            Misconception(
                "all_layers",
                lambda n, a: round(_heads(n, a) * n["layers"]),
                "That adds the heads of all layers. Asked are those of each layer.",
                _FACTORS,
            ),
        ),
    ),
}


def _grouped(n: Numbers, a: Answers) -> float:
    return n["grouped_queries"] / n["grouped_kv"]  # type: ignore[no-any-return]


def _multi_query(n: Numbers, a: Answers) -> float:
    return n["mqa_queries"]  # type: ignore[no-any-return]


def _mla(n: Numbers, a: Answers) -> float:
    return 2 * n["mla_queries"] * n["mla_dim"] / n["latent"]  # type: ignore[no-any-return]


def _upside_down(right: Formula, reread: str) -> Misconception:
    return Misconception(
        "ratio_inverted",
        lambda n, a: 1 / right(n, a),
        "Upside down: that is the part of the formula's size that is kept. Asked is how many times too large the formula is.",
        reread,
    )


_LAB2_3 = {
    "grouped": ValueKey(
        _grouped,
        THREE_FIGURES,
        (
            _upside_down(_grouped, _SHARED),
            Misconception(
                "doubled_again",
                times(_grouped, 2),
                "Twice the right factor. Keys and values are two on both sides, so the 2 cancels.",
                _SHARED,
            ),
            Misconception(
                "kv_heads_for_factor",
                lambda n, a: n["grouped_kv"],
                "That is how many KV heads there are. The factor is how many query heads come to each of them.",
                _SHARED,
            ),
            Misconception(
                "query_heads_for_factor",
                lambda n, a: n["grouped_queries"],
                "That takes a single KV head for all, which is multi-query attention. This model keeps several.",
                _SHARED,
            ),
        ),
    ),
    "multi_query": ValueKey(
        _multi_query,
        THREE_FIGURES,
        (
            _upside_down(_multi_query, _SHARED),
            Misconception(
                "doubled_again",
                times(_multi_query, 2),
                "Twice the right factor. The one head keeps a key and a value too, so the 2 cancels.",
                _SHARED,
            ),
            Misconception(
                "keys_alone_shared",
                times(_multi_query, 1 / 2),
                "Half of the right factor, as if a key and a value were two KV heads. They belong to the one that is shared.",
                _SHARED,
            ),
            Misconception(
                "no_change",
                lambda n, a: 1,
                "That says the formula is right. It counts keys and values for every query head, and here one head is kept.",
                _SHARED,
            ),
        ),
    ),
    "latent": ValueKey(
        _mla,
        THREE_FIGURES,
        (
            _upside_down(_mla, _LATENT),
            Misconception(
                "latent_doubled",
                times(_mla, 1 / 2),
                "Half of the right factor: it counts the latent twice, or forgets that the formula has keys and values. The "
                "latent stands for both.",
                _LATENT,
            ),
            Misconception(
                "latent_a_head",
                lambda n, a: 2 * n["mla_dim"] / n["latent"],
                "That gives each head a latent of its own, or counts one head alone. All heads are rebuilt from one latent.",
                _LATENT,
            ),
            Misconception(
                "query_heads_for_factor",
                lambda n, a: n["mla_queries"],
                "That is the factor of multi-query attention. What is kept here is a latent, which has a size of its own.",
                _LATENT,
            ),
        ),
    ),
}

_LAB2_4 = {
    "shared": ChoiceKey(
        "one_for_the_group",
        {
            "fewer_bits": Trap(
                "sharing_taken_for_quantization",
                "Sharing changes how many vectors are kept, not the bits of an element. The log of Llama-3.1-8B was in 16 bits "
                "as well.",
                _BITS,
            ),
            "half_the_layers": Trap(
                "sharing_across_layers",
                "Each layer keeps keys and values of its own here. What is shared lies within a layer, between heads.",
                _SHARED,
            ),
            "queries_dropped": Trap(
                "queries_cached",
                "No model keeps queries: a token's query is used once, in its own step. The formula's 2 is a key and a value.",
                _FACTORS,
            ),
        },
    ),
    "latent": ChoiceKey(
        "rebuilt",
        {
            "keys_alone": Trap(
                "values_recomputed",
                "Attention needs the values of all tokens in every step, and to compute them from the text would be a prefill "
                "a step. What is kept serves for both.",
                _LATENT,
            ),
            "one_head": Trap(
                "latent_taken_for_multi_query",
                "That is multi-query attention, in which a key and a value are kept and counted as two. A latent is neither of "
                "them.",
                _LATENT,
            ),
            "latest_alone": Trap(
                "cache_forgets",
                "The log says a latent for every token that fits, not for the latest. Every step reads those of all tokens.",
                _LATENT,
            ),
        },
    ),
    "unmoved": ChoiceKey(
        "larger_groups",
        {
            "fp8_cache": Trap(
                "cache_bits_ignored",
                "An element of FP8 has half the bits of FP16, so a token takes half the bytes, whatever the weights are in.",
                _BITS,
            ),
            "more_kv_heads": Trap(
                "kv_heads_ignored",
                "Keys and values are kept for each KV head, so twice as many of those are twice the bytes.",
                _SHARED,
            ),
            "more_layers": Trap(
                "layers_ignored",
                "Every layer has a cache of its own, so twice as many layers are twice the bytes a token.",
                _FACTORS,
            ),
        },
    ),
}

KEYS_HERE = (
    Key(lab_kv_logs.LAB2_2, _LAB2_2),
    Key(lab_kv_logs.LAB2_3, _LAB2_3),
    Key(lab_kv_logs.LAB2_4, _LAB2_4),
)
