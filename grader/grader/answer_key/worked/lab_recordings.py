"""Worked solutions of the labs' numbers that work with what the learner recorded, and of LAB1.4, which looks at it."""

from __future__ import annotations

from llmserving.exercises.draws import Numbers

from grader.answer_key.key import Answers
from grader.answer_key.worked.steps import Steps, StepsOf, written


def _recorded(a: Answers, part: str, field: str) -> float:
    return a[f"recorded.{part}.{field}"]


def _weight_bytes(a: Answers, part: str) -> str:
    weights, size = _recorded(a, part, "weights"), _recorded(a, part, "bytes_a_weight")
    return f"{int(weights):,} weights × {int(size)} bytes = {int(weights * size):,} bytes"


def _cache_bytes(a: Answers, part: str) -> str:
    tokens, size = _recorded(a, part, "cached_tokens"), _recorded(a, part, "kv_bytes_a_token")
    return f"{int(tokens):,} cached tokens of {int(size):,} bytes, {int(tokens * size):,} bytes"


def _pass_mb(a: Answers, part: str) -> float:
    weights = _recorded(a, part, "weights") * _recorded(a, part, "bytes_a_weight")
    return (weights + _recorded(a, part, "cached_tokens") * _recorded(a, part, "kv_bytes_a_token")) / 1e6


def _slower(n: Numbers, a: Answers, answer: str) -> str:
    prefill = _recorded(a, "phases", "prefill_seconds") * 1e3 / _recorded(a, "phases", "prompt_tokens")
    decode = _recorded(a, "phases", "decode_seconds") * 1e3
    return (
        f"A token of the prompt takes its share of the pass, {written(prefill)} ms; a token of decode takes a whole pass, "
        f"{written(decode)} ms: {written(decode)} / {written(prefill)} = {answer}"
    )


def _perplexity(field: str) -> Steps:
    """How many times the model's own: two recorded numbers, one over the other."""
    return lambda n, a, answer: (
        f"{_recorded(a, 'measured', field):.6g} / {_recorded(a, 'measured', 'float32'):.6g} = {answer}"
    )


def _speed_up(name: str) -> Steps:
    kind, at = name.split("_")
    return lambda n, a, answer: (
        "The time in 16 bits over the time with fewer: "
        f"{_recorded(a, 'measured', f'sixteen_{at}_s') * 1e3:.6g} / {_recorded(a, 'measured', f'{kind}_{at}_s') * 1e3:.6g} = "
        f"{answer}"
    )


STEPS_HERE: StepsOf = {
    "LAB1.1": {
        "slower": _slower,
        "read": lambda n, a, answer: (
            f"Every weight once, {_weight_bytes(a, 'phases')}, and {_cache_bytes(a, 'phases')}: together {answer}"
        ),
        "prompt_read": lambda n, a, answer: (
            f"{_weight_bytes(a, 'phases')}, read once for all {int(_recorded(a, 'phases', 'prompt_tokens'))} tokens of the "
            f"prompt: divided by their number, {answer}"
        ),
    },
    "LAB1.2": {
        "tokens_per_s": lambda n, a, answer: (
            f"A pass reads {_weight_bytes(a, 'memory')} and {_cache_bytes(a, 'memory')}, and the memory gives "
            f"{written(_recorded(a, 'memory', 'read_bytes_per_s') / 1e6)} MB a second:\n"
            f"{written(_recorded(a, 'memory', 'read_bytes_per_s') / 1e6)} / {written(_pass_mb(a, 'memory'))} = {answer}"
        )
    },
    "LAB1.3": {
        "gap": lambda n, a, answer: (
            f"You predicted {written(_recorded(a, 'predicted', 'tokens_per_s'))} tokens a second, so a pass takes 1 over that. "
            f"Measured over predicted: {_recorded(a, 'measured', 'decode_seconds'):.5g} × "
            f"{_recorded(a, 'predicted', 'tokens_per_s'):.5g} = {answer}"
        )
    },
    "LAB1.4": {
        "intensity": lambda n, a, answer: (
            "A weight takes a multiplication and an addition for the one token of the pass, and 4 bytes to read: "
            f"2 / 4 = {answer}"
        )
    },
    "LAB3A.6": {
        "ratio": lambda n, a, answer: (
            f"By the recording: {_recorded(a, 'measured', 'share_256'):.5g} / {_recorded(a, 'measured', 'share_16'):.5g} = "
            f"{answer}"
        )
    },
    "LAB3B.3": {"broken": _perplexity("one_step"), "repaired": _perplexity("groups")},
    "LAB3B.6": {"w4a16_one": _speed_up("w4a16_one"), "w8a8_many": _speed_up("w8a8_many")},
}
