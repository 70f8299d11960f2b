"""Key of LAB2.3: the factor by which the formula is off, for heads that share and for a latent."""

from __future__ import annotations

from llmserving.exercises.draws import Numbers

from grader.answer_key.key import THREE_FIGURES, Answers, Formula, Misconception, ValueKey, times

_SHARED, _LATENT = "Heads that share", "One latent"


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
        "Upside down: that is the part of the formula's size that is kept. The question is how many times too large "
        "the formula is.",
        reread,
    )


FACTORS = {
    "grouped": ValueKey(
        _grouped,
        THREE_FIGURES,
        (
            _upside_down(_grouped, _SHARED),
            Misconception(
                "doubled_again",
                times(_grouped, 2),
                "Twice the right factor. Both sides count a key and a value, so the 2 cancels.",
                _SHARED,
            ),
            Misconception(
                "kv_heads_for_factor",
                lambda n, a: n["grouped_kv"],
                "That is how many KV heads there are. The factor is how many query heads share each of them.",
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
                "That says the formula is right. It counts keys and values for every query head, but here only one "
                "head's are kept.",
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
                "That gives each head a latent of its own, or counts one head alone. One latent serves all heads.",
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
