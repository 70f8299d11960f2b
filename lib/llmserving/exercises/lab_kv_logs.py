"""The lab of level 2, beside the function: what an engine's log says of a token, and by which factor a formula is off."""

from __future__ import annotations

import random

from llmserving.engine_logs import ENGINE_LOGS
from llmserving.exercises.draws import Draw, Numbers
from llmserving.exercises.exercise import Exercise, Option, Part
from llmserving.models import MODELS

# None of these is in the lab's own table, or has a factor of one that is, which would tell what is asked.
_LOGS = ("LLMD-46", "LLMD-33", "LLMD-14", "ISS-03", "ISS-05", "ISS-19")  # grouped-query, FP16, one GPU
_GROUPED = ("llama-3.3-70b", "llama-3.2-3b", "qwen2.5-32b", "qwen3-30b-a3b", "qwen2.5-0.5b")
_LATENT = ("deepseek-v2", "deepseek-v3", "kimi-k2")
_NOTEBOOK = "L2/lab_kv_bytes"


def _log_numbers(log_id: str) -> Numbers:
    log = ENGINE_LOGS[log_id]
    if log.printed_gib is None or log.tokens is None:
        raise ValueError(f"{log_id} prints no memory with the tokens that it holds")
    return {
        "log": log_id,
        "model": log.model.name,
        "layers": log.model.layers,
        "query_heads": log.model.attention_heads,
        "head_dim": log.model.head_dim,
        "gib": f"{float(log.printed_gib):.2f}",
        "tokens": log.tokens,
    }


LAB2_2 = Exercise(
    id="LAB2.2",
    title="What a log says of one token",
    notebook=_NOTEBOOK,
    statement=(
        "Log {log} is of {model} on one GPU: {layers} layers, {query_heads} query heads of {head_dim} elements, and a cache "
        "in FP16. The engine had {gib} GiB for its KV cache and fitted {tokens} tokens into it. Without your function, "
        "work out what one token takes, and how many heads' keys and values that is."
    ),
    parts=(
        Part(
            "token_bytes",
            "LAB2_2_token_bytes",
            "value",
            "bytes a token by the log, to three significant figures",
            (
                "The memory holds that many tokens. How much of it does each one take?",
                "Engines print GiB, units of 2^30 bytes.",
                "A similar case: 2 GiB for 10,000 tokens: 2 * 2^30 / 10,000 is about 215,000 bytes a token.",
            ),
            quantity="bytes",
            unit="bytes",
        ),
        Part(
            "heads",
            "LAB2_2_heads",
            "value",
            "the number of heads whose keys and values a token leaves in each layer, to the nearest whole number",
            (
                "How many of a token's bytes lie in one layer?",
                "One head leaves a key and a value of {head_dim} elements there, two bytes each.",
                "A similar case: 96,000 bytes a token, 10 layers, heads of 100 elements: 9,600 a layer, 400 a head, 24 heads.",
            ),
            points=2,
            quantity="count",
            unit="heads",
        ),
    ),
    draw=Draw("LAB2.2", _log_numbers("LLMD-46"), lambda rng: _log_numbers(rng.choice(_LOGS))),
    difficulty=2,
    minutes=5,
    importance=4,
)


def _shapes(grouped: str, multi_query_heads: int, latent: str) -> Numbers:
    shared, mla = MODELS[grouped], MODELS[latent]
    return {
        "grouped": grouped,
        "grouped_queries": shared.attention_heads,
        "grouped_kv": shared.kv_heads,
        "mqa_queries": multi_query_heads,
        "mla": latent,
        "mla_queries": mla.attention_heads,
        "mla_dim": mla.head_dim,
        "latent": mla.latent_dim,
    }


def _draw_shapes(rng: random.Random) -> Numbers:
    return _shapes(rng.choice(_GROUPED), rng.choice([16, 24, 32, 48, 71]), rng.choice(_LATENT))


_UPSIDE_DOWN = "Divide what the formula counts by what is kept. The formula is too large, so expect more than 1."

LAB2_3 = Exercise(
    id="LAB2.3",
    title="By which factor is the formula off?",
    notebook=_NOTEBOOK,
    statement=(
        "Predict before you look: the multi-head formula counts a key and a value for every query head, but these three models "
        "keep less. {grouped}: {grouped_queries} query heads and {grouped_kv} KV heads. A multi-query model with "
        "{mqa_queries} query heads. {mla}: {mla_queries} query heads of {mla_dim} elements, and a latent of {latent} "
        "elements. How many times too large is the formula's size for each?"
    ),
    parts=(
        Part(
            "grouped",
            "LAB2_3_grouped",
            "value",
            "how many times too large for {grouped}",
            (
                "Layers, elements a head and bits are the same on both sides and cancel.",
                _UPSIDE_DOWN,
                "A similar case: 12 query heads on 3 KV heads: 12 / 3 = 4 times too large.",
            ),
            quantity="ratio",
        ),
        Part(
            "multi_query",
            "LAB2_3_multi_query",
            "value",
            "how many times too large for the multi-query model",
            (
                "How many KV heads does a multi-query model have?",
                "A similar case: 5 query heads on that many: 5 times too large.",
            ),
            quantity="ratio",
        ),
        Part(
            "latent",
            "LAB2_3_latent",
            "value",
            "how many times too large for {mla}, to three significant figures",
            (
                "One layer: how many elements does the formula count for a token, and how many does the latent have?",
                _UPSIDE_DOWN,
                "A similar case: 10 heads of 60 elements and a latent of 300: 2 * 10 * 60 / 300 = 4 times too large.",
            ),
            points=2,
            quantity="ratio",
        ),
    ),
    draw=Draw("LAB2.3", _shapes("llama-3.3-70b", 16, "deepseek-v3"), _draw_shapes),
    difficulty=3,
    minutes=5,
    importance=4,
)

LAB2_4 = Exercise(
    id="LAB2.4",
    title="Why it was off",
    notebook=_NOTEBOOK,
    statement=(
        "Your function agrees with the logs, or you know where it does not. Why was the multi-head formula too large for each "
        "kind, and which change would leave the size as it is?"
    ),
    parts=(
        Part(
            "shared",
            "LAB2_4_shared",
            "choice",
            "the letter of why grouped-query models keep less than the formula says",
            (
                "What do the query heads of one group have in common when they attend?",
                "Each query head still has a query of its own. Is a query ever kept?",
            ),
            options=(
                Option("fewer_bits", "keys and values that several heads share are kept in fewer bits an element"),
                Option("half_the_layers", "only every second layer keeps keys and values, and the next one reads them"),
                Option("one_for_the_group", "the query heads of a group read the same keys and values, kept once"),
                Option("queries_dropped", "the formula counts queries too, and a grouped-query model drops those"),
            ),
        ),
        Part(
            "latent",
            "LAB2_4_latent",
            "choice",
            "the letter of why a latent is counted once, without a 2 and without the heads",
            (
                "Which vectors does attention need in the end, and what are they made from?",
                "How many vectors per token and layer does the cache of such a model hold?",
            ),
            options=(
                Option("keys_alone", "only keys are kept, and values are computed again from the text of the prompt"),
                Option("latest_alone", "keys and values are dropped once read, and only the latest token's stay there"),
                Option("one_head", "all query heads share a single head, whose key and value are half a latent each"),
                Option("rebuilt", "the keys and values of all heads are rebuilt from that one vector when needed"),
            ),
        ),
        Part(
            "unmoved",
            "LAB2_4_unmoved",
            "choice",
            "the letter of the change to Llama-3.1-8B that leaves its bytes a token as they are",
            (
                "Go through the factors of your function for a grouped-query model.",
                "Which argument does the repaired function no longer use there?",
            ),
            options=(
                Option("fp8_cache", "a cache in FP8 in place of one in FP16, with the weights as they are"),
                Option("larger_groups", "twice as many query heads for the same KV heads, so larger groups"),
                Option("more_kv_heads", "twice as many KV heads for the same query heads, so smaller groups"),
                Option("more_layers", "twice as many layers of the same shape, so twice as many weights"),
            ),
        ),
    ),
    draw=Draw("LAB2.4"),
    difficulty=2,
    minutes=4,
    importance=3,
)

EXERCISES_HERE = (LAB2_2, LAB2_3, LAB2_4)
