"""Keys of the lab of level 1: what the learner's own recording comes to, and a prediction that stands before it."""

from __future__ import annotations

from llmserving.exercises import lab_two_phases

from grader.answer_key import lab_two_phases_recorded as recorded
from grader.answer_key.key import THREE_FIGURES, Answers, ChoiceKey, Key, Misconception, ValueKey
from grader.answer_key.lab_two_phases_choices import MOVE_TRAPS, REASON_TRAPS, SIDE_TRAPS
from grader.answer_key.lab_two_phases_passes import PROMPT_READ, READ, SLOWER, pass_bytes, weight_bytes

_BYTES, _FORETOLD = "What a pass reads", "From bytes to a rate"
_GAP, _ROOF = "Predicted and measured", "Under the roof"


def _rate(a: Answers) -> float:
    return a["recorded.memory.read_bytes_per_s"]


_TOKENS_PER_S = ValueKey(
    lambda n, a: _rate(a) / pass_bytes("memory", a),
    THREE_FIGURES,
    (
        Misconception(
            "seconds_for_rate",
            lambda n, a: pass_bytes("memory", a) / _rate(a),
            "Those are the seconds that one token takes. The question asks for tokens a second.",
            _FORETOLD,
        ),
        Misconception(
            "cache_left_out",
            lambda n, a: _rate(a) / weight_bytes("memory", a),
            "That counts the weights alone. Each pass also reads the keys and values of the cached tokens.",
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
            lambda n, a: 8 * _rate(a) / pass_bytes("memory", a),
            "That is eight times too much: the rate is already in bytes a second, not in bits.",
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
            "Upside down: that is the share of the time that the bytes account for. The question is how many times as "
            "long it took.",
            _GAP,
        ),
        Misconception(
            "measured_rate_alone",
            lambda n, a: 1 / a["recorded.measured.decode_seconds"],
            "Those are the tokens a second that were measured. Compare them with your prediction.",
            _GAP,
        ),
        Misconception(
            "seconds_by_rate",
            lambda n, a: a["recorded.measured.decode_seconds"] / a["recorded.predicted.tokens_per_s"],
            "That divides seconds a token by tokens a second. Invert one of the two first, so that both have the same unit.",
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
            "That counts one operation per weight. The product is also added to a sum, which makes two.",
            _ROOF,
        ),
        Misconception(
            "bytes_a_flop",
            lambda n, a: 4 / 2,
            "Upside down: those are bytes for each FLOP. The question asks for FLOPs for each byte.",
            _ROOF,
        ),
        Misconception(
            "weights_of_two_bytes",
            lambda n, a: 2 / 2,
            "That would be right for weights of two bytes. This model's have four.",
            _ROOF,
        ),
    ),
)

KEYS_HERE = (
    Key(
        lab_two_phases.LAB1_1,
        {"phases": recorded.PHASES, "slower": SLOWER, "read": READ, "prompt_read": PROMPT_READ},
    ),
    Key(lab_two_phases.LAB1_2, {"memory": recorded.MEMORY, "tokens_per_s": _TOKENS_PER_S}),
    Key(
        lab_two_phases.LAB1_3,
        {
            "predicted": recorded.PREDICTED,
            "measured": recorded.MEASURED,
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
