"""Key of LAB1.1: what a pass of either phase takes and reads, by what the learner recorded."""

from __future__ import annotations

from dataclasses import replace

from llmserving.exercises.draws import Numbers

from grader.answer_key.key import THREE_FIGURES, Answers, Formula, Misconception, ValueKey
from grader.answer_key.sizes import byte_mistakes

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


def _counted_otherwise(right: Formula) -> tuple[Misconception, ...]:
    """The right size in bits, KB or MB, where a number without a unit is one of bytes."""
    return tuple(replace(mistake, reread=_BYTES) for mistake in byte_mistakes(right))


def _read_bytes(n: Numbers, a: Answers) -> float:
    return pass_bytes("phases", a)


def _prompt_read_bytes(n: Numbers, a: Answers) -> float:
    return weight_bytes("phases", a) / a["recorded.phases.prompt_tokens"]


SLOWER = ValueKey(
    lambda n, a: _decode(a) * a["recorded.phases.prompt_tokens"] / _prefill(a),
    THREE_FIGURES,
    (
        Misconception(
            "passes_compared",
            lambda n, a: _decode(a) / _prefill(a),
            "That compares the two passes. Prefill's pass carries the whole prompt, so its time is shared by many tokens.",
            _CLOCKS,
        ),
        Misconception(
            "prompt_s_pass_by_decode_s",
            lambda n, a: _prefill(a) / _decode(a),
            "That says how many decode passes take as long as prefill. Compare the time of one token in each phase.",
            _CLOCKS,
        ),
        Misconception(
            "ratio_inverted",
            lambda n, a: _prefill(a) / a["recorded.phases.prompt_tokens"] / _decode(a),
            "Upside down: the two times are right, but that is prefill's over decode's.",
            _CLOCKS,
        ),
    ),
)

READ = ValueKey(
    _read_bytes,
    THREE_FIGURES,
    (
        *_counted_otherwise(_read_bytes),
        Misconception(
            "weights_alone",
            lambda n, a: weight_bytes("phases", a),
            "Those are the weights. Attention also reads the key and the value of every token that is cached.",
            _BYTES,
        ),
        Misconception(
            "cache_alone",
            lambda n, a: cache_bytes("phases", a),
            "That is the cache alone. Each pass also reads every weight again, and that is most of the bytes here.",
            _BYTES,
        ),
        Misconception(
            "weights_for_bytes",
            lambda n, a: a["recorded.phases.weights"] + cache_bytes("phases", a),
            "That counts the weights as if each were one byte. The cell prints how many bytes each of them takes.",
            _BYTES,
        ),
        Misconception(
            "weights_counted",
            lambda n, a: a["recorded.phases.weights"],
            "That is how many weights there are. The question asks for bytes: those of all weights and of the cache together.",
            _BYTES,
        ),
        Misconception(
            "cache_doubled",
            lambda n, a: weight_bytes("phases", a) + 2 * cache_bytes("phases", a),
            "That counts the cache twice. The bytes of a cached token already include its key and its value.",
            _BYTES,
        ),
    ),
)

PROMPT_READ = ValueKey(
    _prompt_read_bytes,
    THREE_FIGURES,
    (
        *_counted_otherwise(_prompt_read_bytes),
        Misconception(
            "weights_for_each_token",
            lambda n, a: weight_bytes("phases", a),
            "That is what the whole pass reads. It is read once for all tokens of the prompt.",
            _BYTES,
        ),
        Misconception(
            "weights_for_bytes",
            lambda n, a: a["recorded.phases.weights"] / a["recorded.phases.prompt_tokens"],
            "That counts weights and not their bytes. The cell prints how many bytes each of them takes.",
            _BYTES,
        ),
        Misconception(
            "read_again_for_each_token",
            lambda n, a: weight_bytes("phases", a) * a["recorded.phases.prompt_tokens"],
            "That reads the weights again for each token of the prompt, as if the prompt went through token by token. Prefill "
            "takes all its tokens in one pass.",
            _BYTES,
        ),
    ),
)
