"""Keys of level 1."""

from __future__ import annotations

from llmserving.exercises import level1

from grader.answer_key.key import ChoiceKey, Key, Trap

_PHASES = "Two phases"
_FACTORS = "The six factors"
_LEVERS = "Three levers"

_PREFILL_TRAPS = {
    "prefill_memory": Trap(
        "bound_confused",
        "The phase is right, the limit is not: each weight read serves all the tokens of the prompt, so the arithmetic "
        "takes longer than the reading.",
        _PHASES,
    ),
    "decode_compute": Trap(
        "phases_swapped", "The limit is right, the phase is not: decode takes one token a pass, this is a whole prompt.", _PHASES
    ),
    "decode_memory": Trap(
        "phase_and_bound_swapped",
        "That describes the passes after this one. A whole prompt in one pass is prefill, and it keeps the arithmetic busy.",
        _PHASES,
    ),
}  # fmt: skip

_DECODE_TRAPS = {
    "decode_compute": Trap(
        "bound_confused",
        "The phase is right, the limit is not: each weight is used for one token only, so the pass waits for "
        "the bytes to arrive.",
        _PHASES,
    ),
    "prefill_memory": Trap(
        "phases_swapped", "The limit is right, the phase is not: the prompt is done, and one new token is produced.", _PHASES
    ),
    "prefill_compute": Trap(
        "phase_and_bound_swapped",
        "That describes the prompt's pass. After it the model takes one token a pass, and every weight is read again for it.",
        _PHASES,
    ),
}  # fmt: skip

_RIGHT_MEANING = {
    "two": "key_and_value",
    "B": "requests",
    "S": "tokens",
    "L": "layers",
    "d_model": "hidden",
    "p": "bytes_an_element",
}
_SYMBOL = {meaning: "2" if factor == "two" else factor for factor, meaning in _RIGHT_MEANING.items()}

_MEANING_TRAPS = {
    "head_width": Trap(
        "one_head_for_all",
        "No factor of this formula is the width of one head: the heads all cache, and side by side they make d_model.",
        _FACTORS,
    ),
    "prompt_only": Trap(
        "prompt_only",
        "Generated tokens leave keys and values as well, so no factor counts the prompt alone.",
        _FACTORS,
    ),
    "fp16_bytes": Trap(
        "two_is_fp16",
        "The bytes of a number are in p, which is 2 for FP16 and 1 for INT8. The factor 2 stays 2 in every format.",
        _FACTORS,
    ),
    "bits_an_element": Trap(
        "bits_for_bytes", "The formula gives bytes, so the size of a number is in bytes too.", _FACTORS
    ),
}


def _factor_key(factor: str) -> ChoiceKey:
    right = _RIGHT_MEANING[factor]
    swapped = {
        meaning: Trap("factors_swapped", f"That is the meaning of `{symbol}`.", _FACTORS)
        for meaning, symbol in _SYMBOL.items()
        if meaning != right
    }
    return ChoiceKey(right, swapped | _MEANING_TRAPS)


_RIGHT_COST = {"paged_attention": "kv_waste", "int4_weights": "weight_read", "continuous_batching": "idle_on_padding"}
_LEVER_NAME = {
    "kv_waste": "PagedAttention, which hands out KV memory block by block",
    "weight_read": "weight-only quantization, which leaves fewer bytes to read for each weight",
    "idle_on_padding": "continuous batching, which fills a place in the batch as soon as a request ends",
}
_UNTOUCHED_COSTS = {
    "attention_arithmetic": Trap(
        "saves_attention_flops", "None of the three changes which dot products are computed.", _LEVERS
    ),
    "prompt_arithmetic": Trap(
        "saves_prefill_arithmetic",
        "None of the three saves arithmetic in prefill; weight-only INT4 even adds some, to rebuild 16-bit weights.",
        _LEVERS,
    ),
    "bytes_a_token": Trap(
        "shrinks_a_token",
        "None of the three changes what one token leaves in the cache. Fewer bytes per element would.",
        _LEVERS,
    ),
}


def _lever_key(lever: str) -> ChoiceKey:
    right = _RIGHT_COST[lever]
    swapped = {
        cost: Trap("levers_swapped", f"That cost is attacked by {name}.", _LEVERS)
        for cost, name in _LEVER_NAME.items()
        if cost != right
    }
    return ChoiceKey(right, swapped | _UNTOUCHED_COSTS)


KEYS_HERE = (
    Key(
        level1.L1_1,
        {
            "a": ChoiceKey("prefill_compute", _PREFILL_TRAPS),
            "b": ChoiceKey("decode_memory", _DECODE_TRAPS),
            "c": ChoiceKey("decode_memory", _DECODE_TRAPS),
        },
    ),
    Key(level1.L1_2, {factor: _factor_key(factor) for factor in _RIGHT_MEANING}),
    Key(level1.L1_3, {lever: _lever_key(lever) for lever in _RIGHT_COST}),
)
