"""What the recordings of the lab of level 1 look like: two of each that a learner could have made, and slips in timing."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from llmserving.bandwidth.lab_record import lab_record
from llmserving.tinylm.missing import OWN, SMOLLM2

from grader.answer_key.lab_keys import Fields, MeasurementKey, Slip

_CLOCKS, _FORETOLD, _GAP = "Two phases, two clocks", "From bytes to a rate", "Predicted and measured"

_OWN, _LARGER, _REPORT = lab_record().phases[OWN], lab_record().phases[SMOLLM2], lab_record().report
_ELSEWHERE: dict[str, Any] = {
    "weights": 110_297_088,
    "bytes_a_weight": 4,
    "kv_bytes_a_token": 73_728,
    "cached_tokens": 138,
}
"""Another machine with another model, whose cache is a larger share."""


def _slips(example: Fields) -> tuple[Slip, ...]:
    """Mistakes in how passes were timed, as `example` would look with them."""
    seconds = list(example["decode_seconds"])
    return (
        Slip(
            "one_pass_copied",
            lambda fields: len(set(fields["decode_seconds"])) == 1,
            {**example, "decode_seconds": [seconds[0]] * len(seconds)},
            "All decode passes have exactly the same time. Real passes differ: time each of them.",
            _CLOCKS,
        ),
        Slip(
            "arrivals_for_gaps",
            lambda fields: _grows(fields["decode_seconds"]),
            {**example, "decode_seconds": [round(sum(seconds[: n + 1]), 6) for n in range(len(seconds))]},
            "These times grow from pass to pass, like readings of a running clock. Record the time of each pass by "
            "itself: the gap "
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


PHASES = MeasurementKey(_PHASES_EXAMPLE, _PHASES_OTHERWISE, _CLOCKS, misconceptions=_slips(_PHASES_EXAMPLE))
MEMORY = MeasurementKey(
    {"read_bytes_per_s": _REPORT.read_bytes_per_s, **_LARGER.sizes.fields},
    {"read_bytes_per_s": 48.5e9, **_ELSEWHERE},
    _FORETOLD,
)
PREDICTED = MeasurementKey({"tokens_per_s": 25}, {"tokens_per_s": 107.5}, _FORETOLD)
MEASURED = MeasurementKey(
    _MEASURED_EXAMPLE,
    {"decode_seconds": [0.0155, 0.0149, 0.0161]},
    _GAP,
    after="predicted",
    misconceptions=_slips(_MEASURED_EXAMPLE),
)
