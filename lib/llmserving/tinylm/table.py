"""Renders docs/quantization.md from the record: `python -m llmserving.tinylm.table [FILE]` prints it, or writes FILE."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

from llmserving.tinylm.calibration import TOKENS
from llmserving.tinylm.missing import OWN, SMOLLM2
from llmserving.tinylm.readings import readings
from llmserving.tinylm.record import BASE, Recorded, record, recorded, rows_of
from llmserving.tinylm.registry import SCHEMES, grid_of
from llmserving.tinylm.texts import HELD_OUT

HEAD = """# What each bit costs, and what each trick repairs

Written by `python -m llmserving.tinylm.table docs/quantization.md` from `lib/llmserving/data/perplexity.csv`, which
`python -m llmserving.tinylm.record_perplexity` measured; do not edit it.

Perplexity is the exponential of a model's mean surprise a token: the lower the better, and the size of the vocabulary is
what guessing gives. Each cell has it with its 95 % interval, and as a multiple of the unquantized model's. The multiple is
far surer than the number, since what is hard about a text is hard under every scheme: its interval comes from the same
windows, and `Perplexity.ratio_to` gives it for any two rows.

- Windows of {window} tokens side by side; intervals from windows drawn anew 2,000 times.
- Texts: austen, the end of a novel; devil, a dictionary of 1911; lessons, this course's own text, tables and code included.
  The course's own model was not trained on them. Whether SmolLM2 was on the first two, which are old and in the public
  domain, is not known here.
- Calibrated schemes have seen {calibration} tokens of another part of austen, or as many as stand after @, and nothing of
  the other two.
- All matrices of the layers are quantized, scales kept in 16 bits; the embedding and the head, which is the same matrix, are not.
- Recorded {dates} on: {machine}.
"""
NAMES = """A name says all: `sym` has codes on both sides of 0, `asym` a zero-point; `tensor`, `channel` (a row of the
matrix), `g64` say who shares a scale. `int4` alone is rounding to the nearest. In `w8a8-tensor` and after SmoothQuant, an
activation tensor has one scale that the calibration fixed; in `w8a8-token`, each token has its own as it comes. `kv-` leaves
the weights alone: keys and values are rounded as they are cached and kept as floats, so that what it costs is seen, and not
what it saves.
"""
MODELS = {SMOLLM2: "SmolLM2-135M", OWN: "The course's own model"}
ABOUT = {
    SMOLLM2: "Its file has 4-bit weights already, Q4_1: groups of 32 with a scale and a minimum. What is called float32 here is\n"
    "dequantized from those. Rounded anew with a float minimum for each 32, they would come back exactly; `int4-g32-asym` has a\n"
    "zero-point, which is a code, so that its values lie between those of the file.",
    OWN: "3 million weights, tokens are bytes; see `lib/llmserving/tinylm/CHECKPOINT.md`. It has hardly any outliers and loses\n"
    "little under any scheme. Of lessons it knows nothing, and what a scheme does there says nothing.",
}


def rendered() -> str:
    """The text of docs/quantization.md."""
    rows = record()
    head = HEAD.format(
        window=_one({row.window for row in rows}),
        calibration=f"{TOKENS:,}",
        dates=" and ".join(sorted({row.date for row in rows})),
        machine=_one({row.machine for row in rows}),
    )
    parts = [
        head,
        "## What the numbers say",
        "",
        *(wrapped(words) for words in readings()),
        "",
        "## The schemes",
        "",
        NAMES,
    ]
    for model, name in MODELS.items():
        parts += [f"## {name}", "", ABOUT[model], "", *_table(model), ""]
    return "\n".join(parts)


def _table(model: str) -> Iterator[str]:
    texts = [text for text in HELD_OUT if rows_of(model, text)]
    yield "| scheme | bits a weight | " + " | ".join(f"{text} | × base" for text in texts) + " |"
    yield "|---|--:|" + "--:|--:|" * len(texts)
    known = [row.scheme for row in rows_of(model, texts[0])]
    for scheme in sorted(known, key=lambda scheme: (BASE, *SCHEMES).index(scheme.partition("@")[0])):
        cells = [_cells(recorded(model, text, scheme), recorded(model, text)) for text in texts]
        yield f"| {scheme} | {_bits(scheme)} | " + " | ".join(cells) + " |"
    yield ""
    counts = ", ".join(f"{recorded(model, text).tokens:,} of {text}" for text in texts)
    yield f"Tokens measured: {counts}."


def _cells(row: Recorded, base: Recorded) -> str:
    ratio = row.measured.ratio_to(base.measured)[0]
    times = "" if row is base else f"{ratio:,.0f}×" if ratio >= 100 else f"{ratio:.3f}×"
    return f"{figures(row.perplexity)} ({figures(row.low)} to {figures(row.high)}) | {times}"


def wrapped(words: str) -> str:
    """A paragraph in lines of at most 120."""
    return textwrap.fill(words, 120, break_long_words=False, break_on_hyphens=False)


def figures(number: float) -> str:
    """Four figures, or whole thousands."""
    return f"{number:,.0f}" if number >= 1000 else f"{number:#.4g}"


def _bits(scheme: str) -> str:
    grid = grid_of(scheme)
    if grid is None:
        return {"w8a8": "8", "smoo": "8"}.get(scheme[:4], "")
    if grid.per == "tensor":
        return str(grid.bits)
    return f"{grid.bits_a_weight(1):g}" if grid.group_size else f"{grid.bits} + {grid.shared_bits} a row"


def _one(values: set[str] | set[int]) -> str:
    """The one value that all rows have."""
    assert len(values) == 1, values
    return str(next(iter(values)))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(rendered(), encoding="utf-8")
    else:
        sys.stdout.write(rendered())
