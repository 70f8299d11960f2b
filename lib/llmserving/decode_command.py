"""`python -m llmserving bandwidth --decode`: decode of small models predicted, then measured."""

from __future__ import annotations

import argparse
import sys


def answer(asked: argparse.Namespace) -> tuple[str, int]:
    """The table, and 1 where not all that was asked for by name could be measured."""
    from llmserving.bandwidth.decode_rows import told_table
    from llmserving.bandwidth.recordings import recorded_decode

    missing: list[str] = []
    if asked.decode is None:
        table = recorded_decode(asked.recorded)
    else:
        from llmserving.bandwidth.decode_report import BATCHES, CONTEXTS, NAMES, decode_table
        from llmserving.bandwidth.machine import NoDevice

        if asked.device != "cpu" or asked.threads != 1:
            raise ValueError("--decode measures one thread of a CPU; leave --device and --threads out")
        try:
            table = decode_table(
                asked.decode or NAMES,
                dtypes=[asked.dtype or "float32"],
                batches=asked.batches or BATCHES,
                contexts=asked.contexts or CONTEXTS,
                samples=asked.samples,
                command=_command(asked),
                tell=lambda line: print(line, file=sys.stderr),
            )
        except (NoDevice, MemoryError) as refusal:
            print(f"python -m llmserving bandwidth: {refusal}", file=sys.stderr)
            return "", 1
        # What the defaults name was not asked for; a table of nothing answers nobody.
        named = asked.batches or asked.contexts or not table.rows
        missing = [line for line in table.skipped if named or line.split(":")[0] in asked.decode]
    if asked.json:
        try:
            table.write(asked.json)
        except ValueError as refusal:  # what was measured is not lost
            missing.append(str(refusal))
    if asked.figure and table.rows:
        from llmserving.figures import decode_prediction
        from llmserving.picture_file import write_picture

        model = asked.decode[0] if asked.decode else table.kinds[-1][0]
        try:
            write_picture(decode_prediction(table, model, asked.dtype), asked.figure)
        except ValueError as refusal:
            missing.append(f"no figure was drawn: {refusal}")
    for sentence in missing:
        print(sentence, file=sys.stderr)
    return told_table(table), 1 if missing else 0


def _command(asked: argparse.Namespace) -> str:
    words = ["python -m llmserving bandwidth --decode", *asked.decode]
    words += [f"--dtype {asked.dtype}"] if asked.dtype else []
    for name in ("batches", "contexts"):
        given = getattr(asked, name)
        words += [f"--{name} {' '.join(map(str, given))}"] if given else []
    return " ".join(words)
