"""Keys of the lab of level 1: what the learner's own recording comes to, and a prediction that stands before it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from llmserving.bandwidth.lab_record import lab_record
from llmserving.exercises import lab_two_phases
from llmserving.exercises.draws import Numbers
from llmserving.tinylm.missing import OWN, SMOLLM2
from llmserving.units import MB

from grader.answer_key.key import THREE_FIGURES, Answers, ChoiceKey, Formula, Key, Misconception, ValueKey, times
from grader.answer_key.lab_keys import Fields, MeasurementKey, Slip
from grader.answer_key.lab_two_phases_choices import MOVE_TRAPS, REASON_TRAPS, SIDE_TRAPS

_CLOCKS, _BYTES, _FORETOLD = "Two phases, two clocks", "What a pass reads", "From bytes to a rate"
_GAP, _ROOF = "Predicted and measured", "Under the roof"

_OWN, _LARGER, _REPORT = lab_record().phases[OWN], lab_record().phases[SMOLLM2], lab_record().report
_ELSEWHERE: dict[str, Any] = {
    "weights": 110_297_088,
    "bytes_a_weight": 4,
    "kv_bytes_a_token": 73_728,
    "cached_tokens": 138,
}
"""Another machine with another model, whose cache is a larger share."""


def _pass_bytes(part: str, a: Answers) -> float:
    """What a decode pass reads, by the sizes that were recorded with `part`."""
    return _weight_bytes(part, a) + _cache_bytes(part, a)


def _weight_bytes(part: str, a: Answers) -> float:
    return a[f"recorded.{part}.weights"] * a[f"recorded.{part}.bytes_a_weight"]


def _cache_bytes(part: str, a: Answers) -> float:
    return a[f"recorded.{part}.cached_tokens"] * a[f"recorded.{part}.kv_bytes_a_token"]


def _slips(example: Fields) -> tuple[Slip, ...]:
    """Mistakes in how passes were timed, as `example` would look with them."""
    seconds = list(example["decode_seconds"])
    return (
        Slip(
            "one_pass_copied",
            lambda fields: len(set(fields["decode_seconds"])) == 1,
            {**example, "decode_seconds": [seconds[0]] * len(seconds)},
            "The times of all decode passes are one and the same number. No two passes take equally long: time each of them.",
            _CLOCKS,
        ),
        Slip(
            "arrivals_for_gaps",
            lambda fields: _grows(fields["decode_seconds"]),
            {**example, "decode_seconds": [round(sum(seconds[: n + 1]), 6) for n in range(len(seconds))]},
            "These times grow from pass to pass, as a clock does that runs on. Of each pass its own time is asked for: the gap "
            "between one token and the next.",
            _CLOCKS,
        ),
    )  # fmt: skip


def _grows(seconds: list[float]) -> bool:
    """Every number above the one before, to twice the first and more: no row of gaps does that."""
    return seconds[-1] >= 2 * seconds[0] and all(earlier < later for earlier, later in pairwise(seconds))


_PHASES_EXAMPLE = {**_OWN.sizes.fields, **_OWN.times}
_PHASES_OTHERWISE = {
    **_ELSEWHERE, "prompt_tokens": 100, "prefill_seconds": [0.4, 0.41, 0.39], "decode_seconds": [0.05, 0.048, 0.049, 0.052],
}  # fmt: skip
_MEASURED_EXAMPLE = {"decode_seconds": list(_LARGER.decode_seconds)}


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
    return _pass_bytes("phases", a) / MB


def _prompt_read_mb(n: Numbers, a: Answers) -> float:
    return _weight_bytes("phases", a) / a["recorded.phases.prompt_tokens"] / MB


_SLOWER = ValueKey(
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

_READ = ValueKey(
    _read_mb,
    THREE_FIGURES,
    (
        _without_a_unit(_read_mb),
        Misconception(
            "weights_alone",
            lambda n, a: _weight_bytes("phases", a) / MB,
            "Those are the weights. Attention also reads the key and the value of every token that is cached.",
            _BYTES,
        ),
        Misconception(
            "cache_alone",
            lambda n, a: _cache_bytes("phases", a) / MB,
            "That is the cache. Every weight is read again in each pass as well, and that is most of the bytes here.",
            _BYTES,
        ),
        Misconception(
            "weights_for_bytes",
            lambda n, a: (a["recorded.phases.weights"] + _cache_bytes("phases", a)) / MB,
            "That counts the weights as if each were one byte. The cell prints how many bytes each of them takes.",
            _BYTES,
        ),
        Misconception(
            "cache_doubled",
            lambda n, a: (_weight_bytes("phases", a) + 2 * _cache_bytes("phases", a)) / MB,
            "That counts the cache twice. The bytes of a cached token have its key and its value in them already.",
            _BYTES,
        ),
    ),
)

_PROMPT_READ = ValueKey(
    _prompt_read_mb,
    THREE_FIGURES,
    (
        _without_a_unit(_prompt_read_mb),
        Misconception(
            "weights_for_each_token",
            lambda n, a: _weight_bytes("phases", a) / MB,
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
            lambda n, a: _weight_bytes("phases", a) * a["recorded.phases.prompt_tokens"] / MB,
            "That reads the weights anew for each token of the prompt. They would be, if the prompt were decoded token by token; "
            "prefill takes all of them in one pass.",
            _BYTES,
        ),
    ),
)


def _rate(a: Answers) -> float:
    return a["recorded.memory.read_bytes_per_s"]


_TOKENS_PER_S = ValueKey(
    lambda n, a: _rate(a) / _pass_bytes("memory", a),
    THREE_FIGURES,
    (
        Misconception(
            "seconds_for_rate",
            lambda n, a: _pass_bytes("memory", a) / _rate(a),
            "Those are the seconds of one token. Asked are tokens a second.",
            _FORETOLD,
        ),
        Misconception(
            "cache_left_out",
            lambda n, a: _rate(a) / _weight_bytes("memory", a),
            "That reads the weights alone. The keys and values of the cached tokens are read in each pass too.",
            _BYTES,
        ),
        Misconception(
            "weights_for_bytes",
            lambda n, a: _rate(a) / a["recorded.memory.weights"],
            "That divides bytes a second by a count of weights, as if each were one byte.",
            _BYTES,
        ),
        Misconception(
            "bytes_for_bits",
            lambda n, a: 8 * _rate(a) / _pass_bytes("memory", a),
            "That is eight times too much: the rate is in bytes a second already, not in bits.",
            _FORETOLD,
        ),
    ),
)

_GAP_KEY = ValueKey(
    lambda n, a: a["recorded.measured.decode_seconds"] * a["recorded.predicted.tokens_per_s"],
    THREE_FIGURES,
    (
        Misconception(
            "ratio_inverted",
            lambda n, a: 1 / (a["recorded.measured.decode_seconds"] * a["recorded.predicted.tokens_per_s"]),
            "That is the share of the time that the bytes account for. Asked is how many times as long it took.",
            _GAP,
        ),
        Misconception(
            "measured_rate_alone",
            lambda n, a: 1 / a["recorded.measured.decode_seconds"],
            "Those are the tokens a second that were measured. Set them against what was foretold.",
            _GAP,
        ),
        Misconception(
            "seconds_by_rate",
            lambda n, a: a["recorded.measured.decode_seconds"] / a["recorded.predicted.tokens_per_s"],
            "That divides seconds a token by tokens a second. Turn one of the two over first, so that both are of one kind.",
            _GAP,
        ),
    ),
)

_INTENSITY = ValueKey(
    lambda n, a: 2 / 4,
    THREE_FIGURES,
    (
        Misconception(
            "one_flop_a_weight",
            lambda n, a: 1 / 4,
            "That counts one operation a weight. A product is also added to the sum, which makes one more.",
            _ROOF,
        ),
        Misconception(
            "bytes_a_flop",
            lambda n, a: 4 / 2,
            "Those are bytes for each FLOP. Asked are FLOPs for each byte.",
            _ROOF,
        ),
        Misconception(
            "weights_of_two_bytes",
            lambda n, a: 2 / 2,
            "That is right for weights of two bytes. Those of this model have four.",
            _ROOF,
        ),
    ),
)

KEYS_HERE = (
    Key(
        lab_two_phases.LAB1_1,
        {
            "phases": MeasurementKey(
                _PHASES_EXAMPLE, _PHASES_OTHERWISE, _CLOCKS, misconceptions=_slips(_PHASES_EXAMPLE)
            ),
            "slower": _SLOWER,
            "read": _READ,
            "prompt_read": _PROMPT_READ,
        },
    ),
    Key(
        lab_two_phases.LAB1_2,
        {
            "memory": MeasurementKey(
                {"read_bytes_per_s": _REPORT.read_bytes_per_s, **_LARGER.sizes.fields},
                {"read_bytes_per_s": 48.5e9, **_ELSEWHERE},
                _FORETOLD,
            ),
            "tokens_per_s": _TOKENS_PER_S,
        },
    ),
    Key(
        lab_two_phases.LAB1_3,
        {
            "predicted": MeasurementKey({"tokens_per_s": 25}, {"tokens_per_s": 107.5}, _FORETOLD),
            "measured": MeasurementKey(
                _MEASURED_EXAMPLE,
                {"decode_seconds": [0.0155, 0.0149, 0.0161]},
                _GAP,
                after="predicted",
                misconceptions=_slips(_MEASURED_EXAMPLE),
            ),
            "gap": _GAP_KEY,
            "reason": ChoiceKey("thin_products", REASON_TRAPS),
        },
    ),
    Key(
        lab_two_phases.LAB1_4,
        {
            "intensity": _INTENSITY,
            "side": ChoiceKey("left_bandwidth", SIDE_TRAPS),
            "move": ChoiceKey("more_requests", MOVE_TRAPS),
        },
    ),
)
