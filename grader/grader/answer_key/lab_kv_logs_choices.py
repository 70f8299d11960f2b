"""Key of LAB2.4: what sharing, a latent, and a longer group change, and which wrong reasons there are."""

from __future__ import annotations

from grader.answer_key.key import ChoiceKey, Trap

_FACTORS, _SHARED, _LATENT, _BITS = "One token in one layer", "Heads that share", "One latent", "Bits and bytes"


CHOICES = {
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
                "Attention needs the values of all tokens in every step; computing them from the text would mean a "
                "prefill at each "
                "step. What is kept serves for both keys and values.",
                _LATENT,
            ),
            "one_head": Trap(
                "latent_taken_for_multi_query",
                "That describes multi-query attention, where one key and one value are kept and count as two. A "
                "latent is neither "
                "a key nor a value.",
                _LATENT,
            ),
            "latest_alone": Trap(
                "cache_forgets",
                "The log has room for a latent of every token, not of the latest alone. Every step reads those of all tokens.",
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
                "Keys and values are kept for each KV head, so twice as many KV heads take twice the bytes.",
                _SHARED,
            ),
            "more_layers": Trap(
                "layers_ignored",
                "Every layer has a cache of its own, so twice as many layers take twice the bytes per token.",
                _FACTORS,
            ),
        },
    ),
}
