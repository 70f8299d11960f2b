"""`python -m llmserving bandwidth`: measure this machine, look at a recorded one, or compare two."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from llmserving.bandwidth_flags import PART_NAMES, command_of, settle
from llmserving.picture_file import write_picture
from llmserving.units import MiB, format_bytes

if TYPE_CHECKING:
    from llmserving.bandwidth.measurement import Measurement
    from llmserving.bandwidth.results import BandwidthReport


def add_parser(commands: Any) -> None:
    """Add `bandwidth` to the commands of a parser."""
    parser = commands.add_parser("bandwidth", help="how fast this machine's memory and arithmetic are, measured")
    parser.add_argument("--device", metavar="DEVICE", help="cpu (the default) or cuda")
    parser.add_argument("--threads", type=int, metavar="N", help="threads that work at once, on a CPU (1)")
    parser.add_argument("--only", nargs="+", choices=PART_NAMES, metavar="PART", help=", ".join(PART_NAMES))
    parser.add_argument("--buffer", type=int, metavar="MIB", help="MiB of the buffer (four last-level caches)")
    parser.add_argument("--size", type=int, metavar="N", help="rows and columns of the matmuls' weights")
    parser.add_argument("--samples", type=int, metavar="N", help="samples of each operation, at least (20)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write what was measured as JSON")
    parser.add_argument("--figure", type=Path, metavar="FILE", help="also draw the measured roofline, .svg or .png")
    parser.add_argument("--dtype", metavar="DTYPE", help="of the figure, such as bfloat16")
    parser.add_argument(
        "--gpu", metavar="NAME", help="compare with the vendor's figures of this GPU, such as h200-141gb"
    )
    parser.add_argument("--vendor-bandwidth", type=float, metavar="GB/S", help="compare with a vendor's figure")
    parser.add_argument("--batches", nargs="+", type=int, metavar="B", help="of --decode (1 4 8 16 32)")
    parser.add_argument("--contexts", nargs="+", type=int, metavar="S", help="of --decode (128 512 2048)")
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument(
        "--compare", nargs=2, type=Path, metavar=("A", "B"), help="two JSON files, instead of measuring"
    )
    instead.add_argument(
        "--recorded", metavar="NAME", help="show a record that comes with the course, or list them: list"
    )
    instead.add_argument(
        "--decode",
        nargs="*",
        metavar="MODEL",
        help="predict and measure decode of small models instead, by default of all",
    )
    parser.set_defaults(run=_answered)


def _answered(asked: argparse.Namespace) -> str | tuple[str, int]:
    settle(asked)
    return _run(asked)


def _run(asked: argparse.Namespace) -> str | tuple[str, int]:
    from llmserving.bandwidth.comparison import compare
    from llmserving.bandwidth.recordings import recorded, recorded_decode_names, recorded_names
    from llmserving.bandwidth.report import told
    from llmserving.bandwidth.results import read_report
    from llmserving.bandwidth.vendor import vendor_of

    if asked.compare:
        return compare(*(read_report(path) for path in asked.compare))
    if asked.recorded == "list":
        return "\n".join((*recorded_names(), *recorded_decode_names()))
    if asked.decode is not None or asked.recorded in recorded_decode_names():
        from llmserving.decode_command import answer

        return answer(asked)
    vendor_of("", asked.gpu, asked.vendor_bandwidth)  # a name that is not known is told before anything is measured
    shown = recorded(asked.recorded) if asked.recorded else None
    device = asked.device if shown is None else shown.machine.device
    if asked.gpu is not None and device == "cpu":
        raise ValueError(
            f"--gpu {asked.gpu} is no figure of a processor; --vendor-bandwidth GB/S gives the processor's own"
        )
    report = shown or _measured(asked)
    if isinstance(report, str):
        print(report, file=sys.stderr)
        return "", 1
    # A record is shown as it is, with its gaps; only of a machine was all of it asked for.
    missing = [*_written(asked, report), *([] if asked.recorded else _missing(asked, report))]
    for sentence in missing:
        print(sentence, file=sys.stderr)
    vendor = vendor_of(report.machine.name, asked.gpu, asked.vendor_bandwidth)
    return told(report, vendor), 1 if missing else 0


def _measured(asked: argparse.Namespace) -> BandwidthReport | str:
    """The report, or the sentence that says why there is none."""
    from llmserving.bandwidth.machine import NoDevice
    from llmserving.bandwidth.suite import measure_machine

    try:
        return measure_machine(
            asked.device,
            asked.only,
            threads=asked.threads,
            buffer_bytes=None if asked.buffer is None else asked.buffer * MiB,
            size=asked.size,
            samples=asked.samples,
            command=command_of(asked),
            tell=lambda line: print(line, file=sys.stderr),
        )
    except (NoDevice, MemoryError) as refusal:
        return f"python -m llmserving bandwidth: {refusal}"


def _missing(asked: argparse.Namespace, report: BandwidthReport) -> list[str]:
    """What was asked for and has no figure, in sentences."""
    found = report.without_figure
    names = dict.fromkeys(f"{_told(m, swept=m in report.sweep)}: {m.verdict}" for m in found)
    sentences = [f"no figure for {name}" for name in names]
    # A kernel that this machine lacks was not asked for by name; a part was.
    return sentences + [line for line in report.skipped if line.split(":")[0] in asked.only]


def _told(found: Measurement, *, swept: bool) -> str:
    rows = "" if found.rows is None else f", M = {found.rows}"
    buffer = f", over {format_bytes(found.buffer_bytes, 'MiB')}" if swept else ""
    return f"{found.operation} ({found.dtype}{rows}{buffer})"


def _written(asked: argparse.Namespace, report: BandwidthReport) -> list[str]:
    """Write the files that were asked for; what could not be written, in sentences: what was measured is not lost."""
    from llmserving.bandwidth.results import write_report

    missing = []
    if asked.json:
        try:
            write_report(report, asked.json)
        except ValueError as refusal:
            missing.append(str(refusal))
    return missing + (_drawn(asked, report) if asked.figure else [])


def _drawn(asked: argparse.Namespace, report: BandwidthReport) -> list[str]:
    from llmserving.bandwidth.vendor import vendor_of
    from llmserving.figures import measured_roofline
    from llmserving.step_prediction import Roof

    vendor = vendor_of(report.machine.name, asked.gpu, asked.vendor_bandwidth)
    dtype = asked.dtype or (report.dtypes[-1] if report.dtypes else None)
    peak = vendor.peak_flops.get(dtype or "") if vendor else None
    roof = Roof(peak, vendor.bandwidth_bytes_per_s) if vendor and peak else None
    try:
        name = vendor.name if vendor else None
        write_picture(measured_roofline(report, dtype, vendor=roof, vendor_name=name), asked.figure)
    except ValueError as refusal:
        return [f"no figure was drawn: {refusal}"]
    return []
