"""The lab of level 1 as one machine recorded it: the text with its clock, both phases of two models, and a short roofline.

`python -m llmserving.bandwidth.lab_record FILE` records it anew. Reading it needs no torch.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from llmserving.bandwidth.phases import Phases, phases_of
from llmserving.bandwidth.results import BandwidthReport, report_of
from llmserving.tinylm.clocked import Said
from llmserving.tinylm.missing import OWN, SMOLLM2

FILENAME = "lab_two_phases.json"
COMMAND = "python -m llmserving.bandwidth.lab_record"


@dataclass(frozen=True)
class LabRecord:
    """phases: by the model's name. The report and all times are of one machine, of one day."""

    said: Said
    phases: Mapping[str, Phases]
    report: BandwidthReport


@cache
def lab_record() -> LabRecord:
    text = resources.files("llmserving.data").joinpath(FILENAME).read_text(encoding="utf-8")
    plain = json.loads(text)
    said = Said(plain["said"]["prompt"], plain["said"]["text"], tuple(plain["said"]["arrived"]), "recorded")
    phases = {found["sizes"]["model"]: phases_of(found) for found in plain["phases"]}
    return LabRecord(said, phases, report_of(plain["report"], FILENAME))


def main(path: Path) -> None:
    """Record on this machine, which has to be quiet, with SmolLM2 installed."""
    from llmserving.bandwidth.lab_steps import PROMPT, measured_phases
    from llmserving.bandwidth.short_report import short_report
    from llmserving.tinylm.clocked import say

    said = say(PROMPT)
    report = short_report().as_dict()
    plain: dict[str, Any] = {
        "command": COMMAND,
        "said": {"prompt": said.prompt, "text": said.text, "arrived": [round(at, 6) for at in said.arrived]},
        "phases": [measured_phases(name).as_dict() for name in (OWN, SMOLLM2)],
        "report": {**report, "command": COMMAND},
    }
    path.write_text(json.dumps(plain, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
