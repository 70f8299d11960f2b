"""Which flags of `python -m llmserving bandwidth` go with which question: looked at before anything is measured."""

from __future__ import annotations

import argparse
import errno
import os
from pathlib import Path
from typing import Any

from llmserving import arguments
from llmserving.picture_file import checked_picture

PART_NAMES = ("memory", "sweep", "roofline", "quantized")
DEFAULTS: dict[str, Any] = {"device": "cpu", "threads": 1, "only": list(PART_NAMES), "samples": 20}
FILES, VENDOR = ("json", "figure", "dtype"), ("gpu", "vendor_bandwidth")
MEASURING = ("device", "threads", "only", "buffer", "size", "samples")
STEPS = ("batches", "contexts")
# What each question uses; --decode says itself which device and threads it takes.
USED = {
    "--compare": (),
    "--recorded list": (),
    "--recorded of a report": (*FILES, *VENDOR),
    "--recorded of decode": FILES,
    "--decode": ("device", "threads", "samples", *FILES, *STEPS),
    "measuring a machine": (*MEASURING, *FILES, *VENDOR),
}


def settle(asked: argparse.Namespace) -> None:
    """Refuse by a ValueError what makes no sense or would be ignored; then fill in the defaults."""
    question = _question(asked)
    given = [name for name in (*MEASURING, *FILES, *VENDOR, *STEPS) if getattr(asked, name) is not None]
    ignored = [f"--{name.replace('_', '-')}" for name in given if name not in USED[question]]
    if ignored:
        raise ValueError(
            f"{question} does not use {' or '.join(ignored)}; leave {'it' if len(ignored) == 1 else 'them'} out"
        )
    if asked.gpu is not None and asked.vendor_bandwidth is not None:
        raise ValueError("--gpu and --vendor-bandwidth both name a vendor's figure; give one of them")
    for name, value in DEFAULTS.items():
        if getattr(asked, name) is None:
            setattr(asked, name, value)
    if question == "measuring a machine":
        _check_measuring(asked)
    if question != "--decode" and asked.dtype is not None and asked.figure is None:
        raise ValueError("--dtype chooses what --figure draws; give --figure too")
    if question == "--decode" and asked.figure is not None and asked.batches and len(set(asked.batches)) < 2:
        raise ValueError("--figure draws a curve by batch: give two --batches at least")
    if asked.figure is not None:
        _check_place(checked_picture(asked.figure), "--figure cannot write")
    if asked.json is not None:
        _check_place(asked.json, "cannot write")


def command_of(asked: argparse.Namespace) -> str:
    """The command that measures the same again, without the names of files."""
    words = ["python -m llmserving bandwidth", f"--device {asked.device}", f"--threads {asked.threads}"]
    if tuple(asked.only) != PART_NAMES:
        words.append(f"--only {' '.join(asked.only)}")
    words += [f"--{name} {getattr(asked, name)}" for name in ("buffer", "size") if getattr(asked, name) is not None]
    return " ".join(words)


def _question(asked: argparse.Namespace) -> str:
    from llmserving.bandwidth.recordings import recorded_decode_names, recorded_names

    if asked.compare:
        return "--compare"
    if asked.decode is not None:
        return "--decode"
    if asked.recorded is None:
        return "measuring a machine"
    if asked.recorded == "list":
        return "--recorded list"
    if asked.recorded in recorded_decode_names():
        return "--recorded of decode"
    if asked.recorded not in recorded_names():
        names = ", ".join((*recorded_names(), *recorded_decode_names())) or "none"
        raise ValueError(f"there is no record {arguments.shown(asked.recorded)}; there are {names}")
    return "--recorded of a report"


def _check_measuring(asked: argparse.Namespace) -> None:
    from llmserving.bandwidth.parts import DTYPES

    if asked.buffer is not None:
        arguments.count("--buffer", "the MiB of the buffer", asked.buffer)
    if asked.size is not None and not {"roofline", "quantized"} & set(asked.only):
        raise ValueError("--size is of the matmuls' weights; add roofline or quantized to --only")
    if asked.figure is not None and "roofline" not in asked.only:
        raise ValueError("--figure draws the measured roofline; add roofline to --only")
    known = DTYPES.get(asked.device, ())
    if asked.dtype is not None and known and asked.dtype not in known:
        raise ValueError(f"--dtype is {' or '.join(known)} on {asked.device}, but got {arguments.shown(asked.dtype)}")


def _check_place(path: Path, refusal: str) -> None:
    """ValueError where a file of that name cannot be written; nothing is created."""
    fault = None
    if path.is_dir():
        fault = errno.EISDIR
    elif not path.parent.is_dir():
        fault = errno.ENOTDIR if path.parent.exists() else errno.ENOENT
    elif not os.access(path if path.exists() else path.parent, os.W_OK):
        fault = errno.EACCES
    if fault:
        raise ValueError(f"{refusal} {str(path)!r}: {os.strerror(fault)}")
