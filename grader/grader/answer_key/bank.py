"""Keys of the question bank of levels 1 and 2."""

from __future__ import annotations

from llmserving import kv_bytes
from llmserving.exercises import bank
from llmserving.exercises.draws import Numbers

from grader.answer_key.bank_kinds import SAME, Changed, choice, claim
from grader.answer_key.key import THREE_FIGURES, Answers, ChainKey, Key, Misconception, Trap, ValueKey
from grader.answer_key.kv_mistakes import factor_mistakes
from grader.answer_key.sizes import byte_mistakes

_FACTORS = "The six factors"
_PHASES = "Two phases"


TF3 = claim(
    bank.TF3,
    "linear",
    "Every factor appears once in the formula, S too: doubling S doubles the cache.",
    {
        "pairs": (
            "scores_are_cached",
            "The scores of pairs are computed, used and dropped. What is kept is one key and one value per token and layer.",
        ),
        "constant": (
            "reservation_is_the_cache",
            "An engine may reserve a fixed space at the start; the cached tokens in it grow by one a step all the same.",
        ),
        "layers_multiply": (
            "layers_nest",
            "Each layer caches only its own keys and values. L layers give a factor of L, which does not depend on S.",
        ),
    },
    _FACTORS,
    variants={"negated": Changed(true=True), "nine_times": SAME, "four_times": Changed(true=True)},
)

SE1 = choice(
    bank.SE1,
    "two_missing",
    {
        "square": ("tokens_squared", "Each token adds the same number of bytes, so S appears once."),
        "head_width": ("d_head_for_d_model", "All heads cache; side by side they are d_model wide."),
        "no_layers": ("one_layer", "Each layer computes keys and values of its own and keeps them."),
    },
    _FACTORS,
    variants={"numbers": SAME},
)

SE2 = choice(
    bank.SE2,
    "all_heads",
    {
        "one_head": (
            "heads_share_one_cache",
            "In multi-head attention each head has keys and values of its own. Sharing them is another design (grouped-query).",
        ),
        "square_of_heads": ("heads_attend_to_heads", "Heads work side by side and do not attend to each other."),
        "prefill": (
            "phases_cache_differently",
            "Prefill and decode store the same for each token: the keys and values of all heads, in every layer.",
        ),
    },
    _FACTORS,
    variants={"numbers": SAME},
)

WH1 = Key(
    bank.WH1,
    {
        "argument": ChainKey(
            follows={
                "shared": (),
                "prefill": ("shared",),
                "decode": ("shared",),
                "walls": ("prefill", "decode"),
            },
            traps={
                "quadratic": Trap(
                    "cache_forgotten",
                    "With a KV cache, decode computes one new row of attention, not all pairs again.",
                    _PHASES,
                ),
                "precision": Trap("phases_in_two_formats", "Both phases run in the same number format.", _PHASES),
                "no_weights": Trap(
                    "cache_replaces_weights",
                    "The cache holds keys and values of tokens. The weights are read in every pass, in prefill too.",
                    _PHASES,
                ),
            },
            reread=_PHASES,
        )
    },
)


def _one_token_bytes(n: Numbers, a: Answers) -> float:
    return kv_bytes(n["B"], 1, n["L"], n["d_model"], n["p"])


EC8 = Key(
    bank.EC8,
    {
        "kv_bytes": ValueKey(
            _one_token_bytes,
            THREE_FIGURES,
            (
                Misconception(
                    "empty_at_first_token",
                    lambda n, a: 0,
                    "One token is already in the cache, with a key and a value in every layer.",
                    _FACTORS,
                ),
                *factor_mistakes(_one_token_bytes, without=("one_token", "tokens_squared")),
                *byte_mistakes(_one_token_bytes),
            ),
        )
    },
)

KEYS_HERE = (TF3, SE1, SE2, WH1, EC8)
