"""Measure your machine: its memory bandwidth and arithmetic, the roof that they make, and decode predicted from them.

Importing this loads nothing; each name below is loaded when it is first used, and the measuring needs torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from llmserving.bandwidth.calibration import Calibration, calibration_of
    from llmserving.bandwidth.comparison import compare
    from llmserving.bandwidth.decode_report import decode_table
    from llmserving.bandwidth.decode_rows import DecodeRow, DecodeTable
    from llmserving.bandwidth.decode_work import RANDOM_110M, DecodeModel
    from llmserving.bandwidth.machine import Machine, this_machine
    from llmserving.bandwidth.measure import measure_operations
    from llmserving.bandwidth.measured_decode import calibrate, measure_decode
    from llmserving.bandwidth.measurement import Measurement
    from llmserving.bandwidth.operation import Operation, Rotation
    from llmserving.bandwidth.operations import memory_operations
    from llmserving.bandwidth.prediction import DecodePrediction, predict_decode
    from llmserving.bandwidth.recordings import recorded, recorded_decode, recorded_decode_names, recorded_names
    from llmserving.bandwidth.results import BandwidthReport, read_report, write_report
    from llmserving.bandwidth.suite import measure_machine

__all__ = [
    "RANDOM_110M", "BandwidthReport", "Calibration", "DecodeModel", "DecodePrediction", "DecodeRow", "DecodeTable",
    "Machine", "Measurement", "Operation", "Rotation", "calibrate", "calibration_of", "compare", "decode_table",
    "measure_decode", "measure_machine", "measure_operations", "memory_operations", "predict_decode", "read_report",
    "recorded", "recorded_decode", "recorded_decode_names", "recorded_names", "this_machine", "write_report",
]  # fmt: skip

HOMES = {
    "calibration": ("Calibration", "calibration_of"),
    "decode_work": ("RANDOM_110M", "DecodeModel"),
    "comparison": ("compare",),
    "decode_report": ("decode_table",),
    "decode_rows": ("DecodeRow", "DecodeTable"),
    "machine": ("Machine", "this_machine"),
    "measure": ("measure_operations",),
    "measured_decode": ("calibrate", "measure_decode"),
    "measurement": ("Measurement",),
    "operation": ("Operation", "Rotation"),
    "operations": ("memory_operations",),
    "prediction": ("DecodePrediction", "predict_decode"),
    "recordings": ("recorded", "recorded_decode", "recorded_decode_names", "recorded_names"),
    "results": ("BandwidthReport", "read_report", "write_report"),
    "suite": ("measure_machine",),
}


def __getattr__(name: str) -> Any:
    for home, names in HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
