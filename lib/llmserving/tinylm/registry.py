"""All schemes by name, and what each is. A name says all: bits, who shares a scale, and which kind of codes.

int4-channel-asym      rounded to the nearest; also per tensor, or in groups: int4-g64-sym
gptq-int4-g64-asym     GPTQ, calibrated; awq-… is AWQ
w8a8-token             8-bit weights and activations; w8a8-tensor has fixed scales, calibrated
smoothquant-0.5        smoothed with that alpha, then w8a8-tensor
kv-int8                the KV cache alone, rounded and kept as floats: what it costs, not what it saves; also kv-int4 and kv-fp8
"""

from __future__ import annotations

import re

from llmserving import arguments
from llmserving.quantization.kv import KV_BITS
from llmserving.tinylm.activation_schemes import W8A8, QuantizedKvScheme
from llmserving.tinylm.calibration import TOKENS, calibration_for
from llmserving.tinylm.schemes import DecoderScheme
from llmserving.tinylm.weight_schemes import Awq, Gptq, Grid, RoundToNearest
from llmserving.tinylm.weights import LanguageModel

SCHEMES = (
    "int8-tensor-sym", "int8-channel-sym",
    "int4-tensor-sym", "int4-tensor-asym", "int4-channel-sym", "int4-channel-asym",
    "int4-g64-sym", "int4-g64-asym", "int4-g32-sym", "int4-g32-asym",
    "int3-channel-asym", "int3-g64-asym",
    "gptq-int4-channel-asym", "gptq-int4-g64-asym", "gptq-int3-channel-asym", "gptq-int3-g64-asym",
    "awq-int4-channel-asym", "awq-int4-g64-asym",
    "w8a8-token", "w8a8-tensor", "smoothquant-0.5", "smoothquant-0.8",
    "kv-int8", "kv-int4",
)  # fmt: skip
WEIGHTS = re.compile(r"(?:(gptq|awq)-)?int([2-8])-(tensor|channel|g([1-9]\d*))-(sym|asym)")
MODES = {"sym": "symmetric", "asym": "asymmetric"}


def grid_of(name: str) -> Grid | None:
    """The grid of the weights under the scheme of that name; None where the name is of another kind."""
    found = WEIGHTS.fullmatch(arguments.text("name", name).partition("@")[0])
    if not found:
        return None
    _, bits, per, group, mode = found.groups()
    return Grid(int(bits), int(group) if group else per, MODES[mode])


def calibration_tokens(name: str) -> int | None:
    """How many tokens of a calibration text the scheme of that name looks at; None for one that looks at none."""
    if not name.startswith(("gptq", "awq", "smoothquant", "w8a8-tensor")):
        return None
    _, mark, tokens = name.partition("@")
    return int(tokens) if mark and tokens.isdecimal() else TOKENS


def scheme(name: str, model: LanguageModel, source: str = "austen") -> DecoderScheme:
    """The scheme of that name for that model, calibrated, where it is, with calibration_text(source).

    What is held out to measure on is another text. ValueError for a name that says no scheme.
    """
    kind, mark, number = arguments.text("name", name).partition("@")
    tokens = calibration_tokens(name)
    if not mark or (tokens is not None and number.isdecimal()):
        grid = grid_of(kind)
        if grid is not None and tokens is None:
            return RoundToNearest(grid)
        if grid is not None and grid.per != "tensor":
            return (Gptq if kind.startswith("gptq") else Awq)(grid, calibration_for(model, source, tokens))
        if kind == "w8a8-token":
            return W8A8()
        if kind == "w8a8-tensor":
            return W8A8(calibration_for(model, source, tokens))
        smooth = re.fullmatch(r"smoothquant-(0(?:\.\d+)?|1)", kind)
        if smooth:
            return W8A8(calibration_for(model, source, tokens), float(smooth[1]))
        if kind.startswith("kv-") and kind.removeprefix("kv-") in KV_BITS:
            return QuantizedKvScheme(kind.removeprefix("kv-"))
    raise ValueError(
        f"scheme {arguments.shown(name)} is not known; names are made like {', '.join(SCHEMES[3:6])}, "
        f"gptq-int4-g64-asym, awq-int4-channel-asym, w8a8-token, w8a8-tensor, smoothquant-0.5, kv-int8"
    )
