"""Key of the quantization lab's matmuls: what fewer bits allow at M = 1 and 512, and what explains a measurement."""

from __future__ import annotations

from llmserving.exercises import lab_matmul

from grader.answer_key.key import THREE_FIGURES, Answers, ChoiceKey, Formula, Key, Misconception, Trap, ValueKey
from grader.answer_key.lab_keys import Fields, MeasurementKey, Slip

_ONE, _MANY, _WHOLE = "One row", "Many rows", "Predict, then measure"


def _fastest(bits: Formula) -> Formula:
    return lambda n, a: 16 / bits(n, a)


_W4A16_ONE = ValueKey(
    _fastest(lambda n, a: 4 + 2 * 16 / n["group"]),
    THREE_FIGURES,
    (
        Misconception("codes_alone", lambda n, a: 16 / 4,
                      "That counts the codes alone. The scale and the zero-point of each group are read too.", _ONE),
        Misconception("scale_alone", lambda n, a: 16 / (4 + 16 / n["group"]),
                      "That counts one of the two numbers that a group shares. There is a scale and a zero-point.", _ONE),
        Misconception("shared_by_none", lambda n, a: 16 / (4 + 2 * 16),
                      "That gives a scale and a zero-point to each weight. A group shares them.", _ONE),
        Misconception("inverted", lambda n, a: (4 + 2 * 16 / n["group"]) / 16,
                      "Upside down: fewer bytes are faster, so the bits before stand on top.", _ONE),
        Misconception("arithmetic_for_bytes", lambda n, a: 1,
                      "That is for where multiplying is waited for. At M = 1 it is the bytes of the weights.", _ONE),
    ),
)  # fmt: skip


def _bits_key(right: float, others: tuple[tuple[str, float, str, str], ...]) -> ValueKey:
    def always(number: float) -> Formula:
        return lambda n, a: number

    wrong = tuple(Misconception(name, always(number), sentence, reread) for name, number, sentence, reread in others)
    return ValueKey(always(right), THREE_FIGURES, wrong)


_INVERTED = ("inverted", 0.5, "Upside down: fewer bits are faster, so the bits before stand on top.", _ONE)
_W8A8_ONE = _bits_key(
    2,
    (
        _INVERTED,
        ("no_gain", 1, "Eight bits a weight are fewer bytes than sixteen, and at M = 1 bytes are waited for.", _ONE),
        (
            "bytes_and_arithmetic",
            4,
            "That counts bytes and arithmetic both. Only one of them is waited for, so only one shows.",
            _ONE,
        ),
        (
            "bits",
            8,
            "That is the number of bits. The question asks how many times as fast it is with so many bits.",
            _ONE,
        ),
    ),
)
_W4A16_MANY = _bits_key(
    1,
    (
        ("bytes_for_arithmetic", 4, "That is what the bytes allow. At M = 512 multiplying is waited for: look how many bits "
         "the numbers in it have.", _MANY),
        ("eight_bits", 2, "Twice is for integers of 8 bits. A16 says what W4A16 multiplies.", _MANY),
        ("nothing_left", 0, "Zero times as fast would never end. What stays as fast as it was is once as fast.", _MANY),
    ),
)  # fmt: skip
_W8A8_MANY = _bits_key(
    2,
    (
        (
            "inverted",
            0.5,
            "Upside down: the question asks how many times as fast, and twice as fast takes half as long.",
            _MANY,
        ),
        ("no_gain", 1, "That is for numbers of 16 bits. W8A8 multiplies integers of 8.", _MANY),
        ("bytes_and_arithmetic", 4, "That counts bytes and arithmetic both. Only one of them is waited for.", _MANY),
    ),
)


def _median(fields: Fields, name: str) -> float:
    return sorted(fields[name])[len(fields[name]) // 2]  # type: ignore[no-any-return]


_EXAMPLE = {
    "sixteen_one_s": [0.0011, 0.0010, 0.0012], "sixteen_many_s": [0.0177, 0.0181, 0.0170],
    "w4a16_one_s": [0.00037, 0.00036, 0.0005], "w4a16_many_s": [0.0436, 0.0400, 0.0440],
    "w8a8_one_s": [0.0014, 0.0056, 0.0015], "w8a8_many_s": [0.0257, 0.0251, 0.0260],
}  # fmt: skip
_OTHERWISE = {
    "sixteen_one_s": [2.2e-5, 2.1e-5, 2.4e-5, 2.2e-5], "sixteen_many_s": [8e-5, 8.1e-5, 7.9e-5],
    "w4a16_one_s": [8e-6, 9e-6, 8.5e-6], "w4a16_many_s": [9e-5, 9.1e-5, 9.4e-5],
    "w8a8_one_s": [1.3e-5, 1.2e-5, 1.4e-5], "w8a8_many_s": [4.4e-5, 4.6e-5, 4.5e-5],
}  # fmt: skip
_KINDS = ("sixteen", "w4a16", "w8a8")

_SLIPS = (
    Slip("one_time_copied", lambda f: any(len(set(f[name])) == 1 for name in f),
         {**_EXAMPLE, "w8a8_one_s": [0.0014, 0.0014, 0.0014]},
         "A row of times is one number over and over. Two runs never take equally long: record each.", _WHOLE),
    Slip("one_kernel_twice", lambda f: f["sixteen_one_s"] == f["w4a16_one_s"] or f["sixteen_many_s"] == f["w8a8_many_s"],
         {**_EXAMPLE, "w4a16_one_s": _EXAMPLE["sixteen_one_s"]},
         "Two kernels have the very same times. Each is timed by itself.", _WHOLE),
    Slip("one_and_many_swapped", lambda f: all(_median(f, f"{kind}_one_s") > _median(f, f"{kind}_many_s") for kind in _KINDS),
         {f"{kind}_{at}_s": _EXAMPLE[f"{kind}_{other}_s"] for kind in _KINDS for at, other in (("one", "many"), ("many", "one"))},
         "With every kernel, 512 rows took less time than one. Look whether the two are swapped.", _WHOLE),
)  # fmt: skip


def _gain(kind: str, at: str) -> Formula:
    def times(numbers: object, answers: Answers) -> float:
        return answers[f"recorded.measured.sixteen_{at}_s"] / answers[f"recorded.measured.{kind}_{at}_s"]

    return times


def _gain_key(kind: str, at: str, other_kind: str, other: str) -> ValueKey:
    right = _gain(kind, at)
    return ValueKey(
        right,
        THREE_FIGURES,
        (
            Misconception("inverted", lambda n, a: 1 / right(n, a),
                          "Upside down: twice as fast takes half as long, so the time of 16 bits stands on top.", _WHOLE),
            Misconception("other_rows", _gain(kind, other), "That is the same kernel at the other M.", _WHOLE),
            Misconception("other_kernel", _gain(other_kind, at), "That is the other kernel at this M.", _WHOLE),
        ),
    )  # fmt: skip


_WHY_ONE = ChoiceKey(
    "bytes",
    {
        "arithmetic": Trap("faster_codes", "The codes are expanded to 16 bits before they are multiplied. Ask what "
                                           "there is less of.", _ONE),
        "cache": Trap("inputs_in_cache", "The inputs are as many under each kernel, and few. The weights are what "
                                         "differs.", _ONE),
        "overhead": Trap("starting", "Starting takes as long whatever the weights have, and makes all kernels more "
                                     "alike.", _ONE),
    },
)  # fmt: skip
_WHY_MANY = ChoiceKey(
    "multiplying",
    {
        "activations": Trap("activations_read", "Read they are, but of a matmul with so many rows neither inputs nor "
                                                "weights are "
                            "waited for: each is used many times over.", _MANY),
        "again": Trap("read_anew", "A weight is read once and used for all rows: that is why reading stops to "
                                   "matter.", _MANY),
        "rounding": Trap("errors_corrected", "Nothing is corrected. Rounding costs accuracy and no time.", _MANY),
    },
)  # fmt: skip
_WHY_SHORT = ChoiceKey(
    "scales",
    {
        "bandwidth": Trap("bytes_at_many", "Each weight is used 512 times for one reading, so reading takes a small "
                                           "part there.", _MANY),
        "expanding": Trap("expanded_weights", "That is W4A16. W8A8 multiplies the integers as they are stored.", _MANY),
        "more_rows": Trap("weights_quantized_anew", "The weights were quantized once, beforehand. It is the inputs "
                                                    "that come new.", _MANY),
    },
)  # fmt: skip

KEYS_HERE = (
    Key(
        lab_matmul.LAB3B_5,
        {"w4a16_one": _W4A16_ONE, "w8a8_one": _W8A8_ONE, "w4a16_many": _W4A16_MANY, "w8a8_many": _W8A8_MANY},
    ),
    Key(
        lab_matmul.LAB3B_6,
        {
            "predicted": MeasurementKey(
                {"w4a16_one": 3.2, "w8a8_one": 2, "w4a16_many": 1, "w8a8_many": 2},
                {"w4a16_one": 2.5, "w8a8_one": 1.5, "w4a16_many": 0.5, "w8a8_many": 1.2},
                _WHOLE,
            ),
            "measured": MeasurementKey(_EXAMPLE, _OTHERWISE, _WHOLE, after="predicted", misconceptions=_SLIPS),
            "w4a16_one": _gain_key("w4a16", "one", "w8a8", "many"),
            "w8a8_many": _gain_key("w8a8", "many", "w4a16", "one"),
            "one": _WHY_ONE,
            "many": _WHY_MANY,
            "short": _WHY_SHORT,
        },
    ),
)
