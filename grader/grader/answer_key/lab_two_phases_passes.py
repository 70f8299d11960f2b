"""Key of LAB1.1: what a pass of either phase takes and reads, by what the learner recorded."""

from __future__ import annotations

from llmserving.exercises.draws import Numbers
from llmserving.units import MB

from grader.answer_key.key import THREE_FIGURES, Answers, Formula, Misconception, ValueKey, times

_CLOCKS, _BYTES = "Two phases, two clocks", "What a pass reads"


def pass_bytes(part: str, a: Answers) -> float:
    """What a decode pass reads, by the sizes that were recorded with `part`."""
    return weight_bytes(part, a) + cache_bytes(part, a)


def weight_bytes(part: str, a: Answers) -> float:
    return a[f"recorded.{part}.weights"] * a[f"recorded.{part}.bytes_a_weight"]


def cache_bytes(part: str, a: Answers) -> float:
    return a[f"recorded.{part}.cached_tokens"] * a[f"recorded.{part}.kv_bytes_a_token"]


def _decode(a: Answers) -> float:
    return a["recorded.phases.decode_seconds"]


def _prefill(a: Answers) -> float:
    return a["recorded.phases.prefill_seconds"]


def _without_a_unit(right: Formula) -> Misconception:
    """Bytes where megabytes are asked for."""
    return Misconception(
        "bytes_for_megabytes",
        times(right, MB),
        "That is the number of bytes, and a number without a unit stands for MB here. Divide by a million, or write it as text "
        "with its unit.",
        _BYTES,
    )


def _read_mb(n: Numbers, a: Answers) -> float:
    return pass_bytes("phases", a) / MB


def _prompt_read_mb(n: Numbers, a: Answers) -> float:
    return weight_bytes("phases", a) / a["recorded.phases.prompt_tokens"] / MB


SLOWER = ValueKey(
    lambda n, a: _decode(a) * a["recorded.phases.prompt_tokens"] / _prefill(a),
    THREE_FIGURES,
    (
        Misconception(
            "passes_compared",
            lambda n, a: _decode(a) / _prefill(a),
            "That compares the two passes. The pass of prefill carries the whole prompt, so its time is that of many tokens.",
            _CLOCKS,
        ),
        Misconception(
            "prompt_s_pass_by_decode_s",
            lambda n, a: _prefill(a) / _decode(a),
            "That says how many decode passes fit into prefill. Asked is the time of one token in either phase.",
            _CLOCKS,
        ),
        Misconception(
            "ratio_inverted",
            lambda n, a: _prefill(a) / a["recorded.phases.prompt_tokens"] / _decode(a),
            "The two times are the right ones, divided the other way round: that is prefill's over decode's.",
            _CLOCKS,
        ),
    ),
)

READ = ValueKey(
    _read_mb,
    THREE_FIGURES,
    (
        _without_a_unit(_read_mb),
        Misconception(
            "weights_alone",
            lambda n, a: weight_bytes("phases", a) / MB,
            "Those are the weights. Attention also reads the key and the value of every token that is cached.",
            _BYTES,
        ),
        Misconception(
            "cache_alone",
            lambda n, a: cache_bytes("phases", a) / MB,
            "That is the cache. Every weight is read again in each pass as well, and that is most of the bytes here.",
            _BYTES,
        ),
        Misconception(
            "weights_for_bytes",
            lambda n, a: (a["recorded.phases.weights"] + cache_bytes("phases", a)) / MB,
            "That counts the weights as if each were one byte. The cell prints how many bytes each of them takes.",
            _BYTES,
        ),
        Misconception(
            "cache_doubled",
            lambda n, a: (weight_bytes("phases", a) + 2 * cache_bytes("phases", a)) / MB,
            "That counts the cache twice. The bytes of a cached token have its key and its value in them already.",
            _BYTES,
        ),
    ),
)

PROMPT_READ = ValueKey(
    _prompt_read_mb,
    THREE_FIGURES,
    (
        _without_a_unit(_prompt_read_mb),
        Misconception(
            "weights_for_each_token",
            lambda n, a: weight_bytes("phases", a) / MB,
            "That is what the whole pass reads. It is read once, and serves every token of the prompt.",
            _BYTES,
        ),
        Misconception(
            "weights_for_bytes",
            lambda n, a: a["recorded.phases.weights"] / a["recorded.phases.prompt_tokens"] / MB,
            "That counts weights and not their bytes. The cell prints how many bytes each of them takes.",
            _BYTES,
        ),
        Misconception(
            "read_again_for_each_token",
            lambda n, a: weight_bytes("phases", a) * a["recorded.phases.prompt_tokens"] / MB,
            "That reads the weights anew for each token of the prompt. They would be, if the prompt were decoded token by token; "
            "prefill takes all of them in one pass.",
            _BYTES,
        ),
    ),
)
