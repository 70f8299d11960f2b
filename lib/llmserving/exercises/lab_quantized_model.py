"""The lab of level 3, quantization: a real model under the learner's own quantizer, and the inputs that AWQ looks at."""

from __future__ import annotations

import random

from llmserving.exercises.draws import Draw, Numbers
from llmserving.exercises.exercise import Exercise, Field, Option, Part, Probe
from llmserving.exercises.lab_quantizer import NOTEBOOK

_FORETOLD = (Field("one_step", "times", 0.5, 1e9), Field("groups", "times", 0.5, 1e9))
_PERPLEXITIES = tuple(Field(name, "perplexity", 1, 1e12) for name in ("float32", "one_step", "groups"))

LAB3B_3 = Exercise(
    id="LAB3B.3",
    title="Broken and repaired",
    notebook=NOTEBOOK,
    statement=(
        "The cells above recorded what you predicted, and then the perplexity of the model three times: as it is, with "
        "one step "
        "for each matrix, and with steps for groups. Say what the two cost, and where the difference comes from."
    ),
    parts=(
        Part(
            "predicted",
            "L3.lab.model.predicted",
            "measurement",
            "how many times the model's own perplexity you expected, recorded before the measurement",
            ("The cell with your two numbers records them; run it before the measurement.",),
            fields=_FORETOLD,
        ),
        Part(
            "measured",
            "L3.lab.model",
            "measurement",
            "the three perplexities, recorded after the prediction",
            ("The cell above measures once your prediction is recorded, and records what it finds.",),
            fields=_PERPLEXITIES,
        ),
        Part(
            "broken",
            "LAB3B_3_broken",
            "value",
            "how many times the model's own perplexity it has with one step for each matrix",
            ("Which of the three recorded numbers is the measure, and which is measured by it?",
             "A similar case: 12 where the model itself has 4 is 3 times."),
            quantity="ratio",
        ),
        Part(
            "repaired",
            "LAB3B_3_repaired",
            "value",
            "how many times the model's own perplexity it has with steps for groups",
            ("The same division, for the third number.",),
            quantity="ratio",
        ),
        Part(
            "reason",
            "LAB3B_3_reason",
            "choice",
            "what broke it",
            ("Look at the table just above: how large is the largest weight, beside the usual one, and how large is "
             "the step?",
             "Ask of the many small weights of such a matrix on which codes they fall."),
            options=(
                Option("bits", "four bits are too few for a model as small as this, whoever shares a step"),
                Option("clipped", "the few large weights lie beyond the last level, and clipping takes them away"),
                Option("stretched", "a few large weights stretch the step, and most of the others come back as 0"),
                Option("zero_point", "one zero-point cannot serve weights above and below 0 at the same time"),
            ),
        ),
    ),
    draw=Draw("LAB3B.3"),
    difficulty=3,
    minutes=10,
    importance=5,
)  # fmt: skip


def channel_numbers(step: float, large: int, factor: int) -> Numbers:
    """step: of the codes; large: the input of the outlier channel; factor: by which its weights are scaled up."""
    return {"step": step, "large": large, "factor": factor}


def _draw_channel(rng: random.Random) -> Numbers:
    return channel_numbers(
        rng.choice([0.02, 0.03, 0.04, 0.05, 0.06, 0.07]), rng.randrange(20, 90, 5), rng.randrange(3, 9)
    )


_ONE_OUTLIER = [[0.4, 21.0, 1.1, 0.7], [0.9, 35.0, 0.6, 1.3], [0.2, 28.0, 0.4, 0.7]]
_BOTH_SIGNS = [[0.5, -30.0, 0.9], [-0.7, 24.0, 0.4], [0.6, -26.0, -1.4], [-0.2, 33.0, 0.7]]

LAB3B_4 = Exercise(
    id="LAB3B.4",
    title="A channel worth protecting",
    notebook=NOTEBOOK,
    statement=(
        "Write `input_scales`: by how much AWQ scales the weights of each input channel, from inputs [tokens, "
        "channels]. It is the "
        "mean of |x| over the tokens, to the power of `alpha`, divided by the square root of the largest times the "
        "smallest of "
        "these powers. Then take one outlier channel: its input is {large}, the weights are rounded to the nearest in "
        "steps of "
        "{step}. Its weights are multiplied by {factor}, its input is divided by {factor}, and the step stays as it was."
    ),
    parts=(
        Part(
            "input_scales",
            "input_scales",
            "function",
            "a function of the inputs and of alpha, which gives a number for each channel",
            (
                "A channel is a column. How many numbers does the result have?",
                "What is large may swing around 0: look at sizes, before anything is averaged.",
                "A similar case: means of 1 and 16 with alpha 0.5: 1 and 4, divided by sqrt(4 * 1) = 2: scales of 0.5 and 2.",
            ),
            points=3,
            stub=(
                "def input_scales(inputs, alpha):\n"
                '    """What each input channel\'s weights are multiplied by, and its input divided by: [channels]."""\n'
                '    raise NotImplementedError("LAB3B.4: the scales of the inputs")'
            ),
            probes=(
                Probe("positive inputs", {"inputs": {"array": _ONE_OUTLIER}, "alpha": 0.5}),
                Probe("positive inputs", {"inputs": {"array": _ONE_OUTLIER}, "alpha": 0.8}),
                Probe("inputs of both signs", {"inputs": {"array": _BOTH_SIGNS}, "alpha": 0.5}),
                Probe("inputs of both signs", {"inputs": {"array": _BOTH_SIGNS}, "alpha": 0.25}),
            ),
            own_work=("search_scale", "channel_magnitude", "scale_for", "quantize_scaled", "smoothing_scale", "AwqSearch"),
        ),
        Part(
            "before",
            "LAB3B_4_before",
            "value",
            "the most by which the rounding of one weight of that channel can change an output",
            ("How far off is one weight at most? And what is it multiplied by on its way to the output?",
             "A similar case: steps of 0.1, an input of 10: a weight is off by 0.05 at most, the output by 0.5."),
            quantity="real",
        ),
        Part(
            "after",
            "LAB3B_4_after",
            "value",
            "the same, once the weights are scaled up and the input down",
            ("The error of the scaled weight is what it was. What meets it now?",
             "A similar case: steps of 0.1, an input of 10, scaled by 2: 0.05 times 5 is 0.25."),
            quantity="real",
        ),
        Part(
            "everyone",
            "LAB3B_4_everyone",
            "choice",
            "what would come of multiplying the weights of all channels by the same factor",
            ("What is the step made from, and what becomes of that when every weight is multiplied?",),
            options=(
                Option("all_gain", "every output is off by less: each error is divided by that factor"),
                Option("clipping", "the errors shrink, but the largest weights would have to be clipped"),
                Option("nothing", "nothing is gained: the step grows as the weights do, and with it the errors"),
                Option("outputs", "the outputs would come out larger by that factor, and norms undo it"),
            ),
        ),
    ),
    draw=Draw("LAB3B.4", channel_numbers(0.04, 50, 4), _draw_channel),
    difficulty=4,
    minutes=15,
    importance=4,
)  # fmt: skip

EXERCISES_HERE = (LAB3B_3, LAB3B_4)
