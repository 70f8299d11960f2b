"""Measures schemes and appends what they cost to the record: a row a scheme and text, each written as soon as it is known.

    python -m llmserving.tinylm.record_perplexity MODEL [SCHEME …] --to lib/llmserving/data/perplexity.csv

MODEL is austen-bierce, smollm2-135m or a directory; without SCHEME all of them, on one thread. A row that the file has
already is left as it is, so that a run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import os
import platform
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import torch

from llmserving.tinylm.record import BASE, Recorded
from llmserving.tinylm.registry import SCHEMES, calibration_tokens, scheme
from llmserving.tinylm.schemes import Scheme
from llmserving.tinylm.scoring import perplexity
from llmserving.tinylm.surprise import Perplexity
from llmserving.tinylm.texts import HELD_OUT, held_out_text
from llmserving.tinylm.weights import LanguageModel, load

CALIBRATED_ON = "austen"
MORE = {"smollm2-135m": ("gptq-int4-g64-asym@7936",)}  # nearly all of the calibration text
WINDOW = 256
CHARACTERS = {"smollm2-135m": 24_000}  # of each held-out text, from its start: about six thousand tokens
COMMAND = "python -m llmserving.tinylm.record_perplexity"
COLUMNS = [column.name for column in dataclasses.fields(Recorded)]


def machine() -> str:
    """The processor, its cores and the libraries' versions; no names of hosts or people."""
    described = Path("/proc/cpuinfo")
    lines = described.read_text(encoding="utf-8").splitlines() if described.exists() else []
    facts = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    name = facts.get("model name") or platform.processor() or platform.machine()
    features = [word for word in ("amx_int8", "avx512_vnni") if word in facts.get("flags", "").split()]
    known = f"{name}, {', '.join(features)}" if features else str(name)
    cores = os.cpu_count()
    return f"{known}; one thread of {cores} cores; Python {platform.python_version()}, torch {torch.__version__}"


def measured(model: LanguageModel, text: str, name: str, wanted: Scheme | None) -> Recorded:
    """A row for the scheme of that name on a held-out text."""
    began = time.perf_counter()
    tokens = calibration_tokens(name)
    held_out = held_out_text(text)
    found = perplexity(
        model, held_out[: CHARACTERS.get(model.name)], wanted, window=WINDOW, progress=sys.stderr.isatty()
    )
    nats = tuple(round(value, 5) for value in found.window_nats)
    rounded = Perplexity(nats, found.tokens)
    return Recorded(
        model=model.name, text=text, scheme=name,
        perplexity=significant(rounded.perplexity), low=significant(rounded.low), high=significant(rounded.high),
        tokens=found.tokens, window=WINDOW,
        calibration=f"{CALIBRATED_ON} {tokens}" if tokens else "",
        seconds=round(time.perf_counter() - began, 1), date=datetime.now(UTC).date().isoformat(), machine=machine(),
        source=COMMAND, window_nats=nats,
    )  # fmt: skip


def significant(number: float) -> float:
    """Five figures: what an interval of a few per cent can tell apart, and no noise of the last bit."""
    return float(f"{number:.5g}")


def main() -> None:
    parser = argparse.ArgumentParser(
        prog=COMMAND, description="Measures what schemes cost, and appends it to the record."
    )
    parser.add_argument("model", help="austen-bierce, smollm2-135m or a directory with config.json and *.safetensors")
    parser.add_argument("schemes", nargs="*", metavar="scheme", help=f"by default {BASE} and {', '.join(SCHEMES)}")
    parser.add_argument("--to", type=Path, required=True, metavar="FILE", help="the CSV file that rows are added to")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    model = load(arguments.model)
    have = set(_keys(arguments.to))
    for name in arguments.schemes or (BASE, *SCHEMES, *MORE.get(model.name, ())):
        missing = [text for text in HELD_OUT if (model.name, text, name) not in have]
        wanted = None if name == BASE or not missing else scheme(name, model, CALIBRATED_ON)
        for text in missing:
            row = measured(model, text, name, wanted)
            append(arguments.to, row)
            print(f"{row.model} {row.text} {row.scheme}: {row.perplexity:g} ({row.low:g} to {row.high:g})", flush=True)


def append(path: Path, row: Recorded) -> None:
    """One row at the end of the file, which is begun with a header where it does not exist."""
    new = not path.exists()
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(COLUMNS)
        cells = {**dataclasses.asdict(row), "window_nats": " ".join(map(str, row.window_nats))}
        writer.writerow([f"{cell:g}" if isinstance(cell, float) else cell for cell in cells.values()])


def _keys(path: Path) -> Iterator[tuple[str, str, str]]:
    if path.exists():
        with path.open(encoding="utf-8", newline="") as file:
            yield from ((row["model"], row["text"], row["scheme"]) for row in csv.DictReader(file))


if __name__ == "__main__":
    main()
