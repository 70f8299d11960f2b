"""The quantization lab of level 3 as it was recorded, with the library's quantizer in the place of the learner's.

`python -m llmserving.tinylm.lab_record FILE` records what the model gives anew. Timings of matmuls, best, median and worst of
several rounds, are rows of matmul_timings.csv. Reading either needs no torch.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from llmserving import data
from llmserving.quantization.matmul_timing import MatmulTiming
from llmserving.tinylm.lab_measured import Fallen, Protected

FILENAME, TIMINGS = "lab_quantization.json", "matmul_timings.csv"


@dataclass(frozen=True)
class LabRecord:
    """perplexities: by the name of the field that a learner records. date: of the run."""

    date: str
    machine: str
    perplexities: Mapping[str, float]
    fallen: Fallen
    protected: Protected


@cache
def lab_record() -> LabRecord:
    text = resources.files("llmserving.data").joinpath(FILENAME).read_text(encoding="utf-8")
    plain = json.loads(text)
    return LabRecord(
        plain["date"],
        plain["machine"],
        plain["perplexities"],
        Fallen(**plain["fallen"]),
        Protected(*(np.array(plain["protected"][name]) for name in ("magnitude", "plain", "scaled"))),
    )


@cache
def recorded_timings() -> tuple[MatmulTiming, ...]:
    """Of all kernels at M = 1, then at M = 512."""
    return tuple(
        MatmulTiming(
            row["kernel"],
            int(row["rows"]),
            int(row["weight_bytes"]),
            tuple(float(row[name]) for name in ("best_s", "median_s", "worst_s")),
        )
        for row in data.rows(TIMINGS)
    )


def timed_on() -> str:
    """Of the recorded timings: the machine, and when."""
    row = data.rows(TIMINGS)[0]
    return f"{row['machine']}, {row['date']}"


def main(path: Path, date: str) -> None:
    """Record on this machine. Takes seconds, and gives the same on any."""
    from llmserving.bandwidth.machine import this_machine
    from llmserving.tinylm import lab_measured

    protected = lab_measured.protected(lab_measured.library_round_trip, lab_measured.library_scales)
    plain: dict[str, Any] = {
        "command": "python -m llmserving.tinylm.lab_record",
        "date": date,
        "machine": str(this_machine()),
        "perplexities": dict(lab_measured.perplexities(lab_measured.library_round_trip)),
        "fallen": asdict(lab_measured.fallen()),
        "protected": {name: [float(f"{one:.4g}") for one in numbers] for name, numbers in asdict(protected).items()},
    }
    path.write_text(json.dumps(plain) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
