"""Key of the quantization lab's model: two recordings by their form, what they come to, and AWQ's scales."""

from __future__ import annotations

import random
from collections.abc import Iterator

from llmserving.exercises import lab_quantized_model
from llmserving.exercises.exercise import Probe

from grader.answer_key import lab_awq_written as made
from grader.answer_key.key import THREE_FIGURES, ChoiceKey, Formula, Key, Misconception, Tolerance, Trap, ValueKey
from grader.answer_key.lab_keys import FunctionKey, MeasurementKey, Slip, Wrong

_GROUPS, _MODEL, _CHANNEL, _SCALING = (
    "Who shares a step",
    "Break it, repair it",
    "A large input",
    "Scaled up, divided back",
)
_ALMOST = Tolerance(1e-4, "float32 and the order of the arithmetic change the last digits", 1e-9)

_SLIPS = (
    Slip("one_scheme_twice", lambda f: f["one_step"] == f["groups"], {"float32": 3.1, "one_step": 280.0, "groups": 280.0},
         "One step and groups have one and the same perplexity. Look whether `round_trip` goes by `group_size`.", _GROUPS),
    Slip("not_quantized", lambda f: f["one_step"] == f["float32"], {"float32": 3.1, "one_step": 3.1, "groups": 3.2},
         "With one step, the perplexity is just that of the model as it is. Look whether `round_trip` gives back what "
         "it was given.", _MODEL),
)  # fmt: skip


def _times(field: str) -> Formula:
    return lambda n, a: a[f"recorded.measured.{field}"] / a["recorded.measured.float32"]


def _times_key(field: str, other: str) -> ValueKey:
    own = f"recorded.measured.{field}"
    return ValueKey(
        _times(field),
        THREE_FIGURES,
        (
            Misconception("inverted", lambda n, a: 1 / _times(field)(n, a),
                          "Upside down: the question asks how many times the model's own perplexity that is, so "
                          "divide by its own.", _MODEL),
            Misconception("the_other_scheme", _times(other), "That is the other of the two schemes.", _MODEL),
            Misconception("not_divided", lambda n, a: a[own],
                          "That is the perplexity itself. Divide it by the model's own.", _MODEL),
            Misconception("difference", lambda n, a: a[own] - a["recorded.measured.float32"],
                          "That is how much was added. The question asks for a ratio: divide.", _MODEL),
        ),
    )  # fmt: skip


_REASON = ChoiceKey(
    "stretched",
    {
        "bits": Trap("too_few_bits", "With steps for groups it had four bits too, and came through. Look at who shares "
                                     "a step.", _MODEL),
        "clipped": Trap("clipped_away", "Nothing is clipped: the range is that of all the values, the largest "
                                        "included. It is the "
                        "others that pay.", _GROUPS),
        "zero_point": Trap("one_sided_zero_point", "A zero-point serves both sides of 0 at once: codes below it are negative "
                           "values, codes above it positive ones.", _GROUPS),
    },
)  # fmt: skip

_WRONG_SCALES = (
    Wrong("mean_over_channels", made.over_channels,
          "That averages over the channels and has a number for each token. There has to be one for each channel.", _CHANNEL),
    Wrong("signs_cancel", made.without_sizes,
          "Inputs of both signs cancel in that mean, so a channel that swings widely looks small. Average |x|.", _CHANNEL),
    Wrong("largest_input", made.largest,
          "That takes the largest |x| of a channel. AWQ goes by the mean: what counts is what comes often.", _CHANNEL),
    Wrong("upside_down", made.inverted,
          "Upside down: the weights of large inputs are made smaller, and are hit harder. Their scale is above 1.", _SCALING),
    Wrong("not_centred", made.not_centred,
          "The division by sqrt(largest * smallest) is missing: only scales about 1 leave the weights' range about "
          "where it was.",
          _SCALING),
    Wrong("alpha_multiplied", made.alpha_multiplied,
          "Alpha is a power. As a factor it changes nothing: it cancels when the scales are divided.", _SCALING),
)  # fmt: skip


def _inputs(rng: random.Random) -> Iterator[Probe]:
    for group, signs in (("positive inputs", [1]), ("inputs of both signs", [-1, 1])):
        sizes = [rng.uniform(0.2, 3) for _ in range(4)] + [rng.uniform(20, 60)]
        tokens = [[round(rng.choice(signs) * size * rng.uniform(0.5, 1.5), 3) for size in sizes] for _ in range(6)]
        yield Probe(group, {"inputs": {"array": tokens}, "alpha": rng.choice([0.3, 0.6, 0.7])})


_BEFORE = ValueKey(
    lambda n, a: n["large"] * n["step"] / 2,
    THREE_FIGURES,
    (
        Misconception("whole_step", lambda n, a: n["large"] * n["step"],
                      "That takes a whole step. Rounded to the nearest, a weight is off by half of one at most.", _CHANNEL),
        Misconception("weight_alone", lambda n, a: n["step"] / 2,
                      "That is the error of the weight. On its way to the output it is multiplied by the input.", _CHANNEL),
        Misconception("divided_by_input", lambda n, a: n["step"] / 2 / n["large"],
                      "The input multiplies the weight, and with it the weight's error.", _CHANNEL),
    ),
)  # fmt: skip
_AFTER = ValueKey(
    lambda n, a: a["before"] / n["factor"],
    THREE_FIGURES,
    (
        Misconception("unchanged", lambda n, a: a["before"],
                      "That is as before. The weight's error is as before; the input that it meets is not.", _SCALING),
        Misconception("multiplied", lambda n, a: a["before"] * n["factor"],
                      "That grows with the factor. The weights grow, but the step and their error stay.", _SCALING),
        Misconception("divided_twice", lambda n, a: a["before"] / n["factor"] ** 2,
                      "That divides twice. Only the input is divided; the error of the scaled weight stays half a "
                      "step.", _SCALING),
    ),
)  # fmt: skip
_EVERYONE = ChoiceKey(
    "nothing",
    {
        "all_gain": Trap("free_for_all", "For one channel among many the step stays, since others set it. Multiply "
                                         "them all, and "
                         "the largest weight grows too.", _SCALING),
        "clipping": Trap("clipped_for_all", "Nothing has to be clipped: the step follows the range. Ask what a wider "
                                            "step does.", _SCALING),
        "outputs": Trap("outputs_larger", "The inputs are divided by as much, so the outputs stay as they are. Look at "
                                          "the step.", _SCALING),
    },
)  # fmt: skip

KEYS_HERE = (
    Key(
        lab_quantized_model.LAB3B_3,
        {
            "predicted": MeasurementKey({"one_step": 1.1, "groups": 1.01}, {"one_step": 40, "groups": 2}, _MODEL),
            "measured": MeasurementKey(
                {"float32": 3.17, "one_step": 281.7, "groups": 3.25},
                {"float32": 38.2, "one_step": 198_000.0, "groups": 45.9},
                _MODEL,
                after="predicted",
                misconceptions=_SLIPS,
            ),
            "broken": _times_key("one_step", "groups"),
            "repaired": _times_key("groups", "one_step"),
            "reason": _REASON,
        },
    ),
    Key(
        lab_quantized_model.LAB3B_4,
        {
            "input_scales": FunctionKey(
                made.input_scales,
                made.by_logarithms,
                {"positive inputs": 2, "inputs of both signs": 1},
                _inputs,
                _WRONG_SCALES,
                _CHANNEL,
                _ALMOST,
            ),
            "before": _BEFORE,
            "after": _AFTER,
            "everyone": _EVERYONE,
        },
    ),
)
