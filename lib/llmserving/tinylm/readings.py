"""What the record says, in sentences whose numbers come from it: which trick repairs what, on which text, how surely."""

from __future__ import annotations

from collections.abc import Iterator

from llmserving.tinylm.record import BASE, recorded
from llmserving.tinylm.texts import HELD_OUT

SMOLLM2, OWN = "smollm2-135m", "austen-bierce"
VOCABULARY = 49_152  # of SmolLM2


def readings() -> Iterator[str]:
    """Paragraphs, each a line."""
    broken = [recorded(SMOLLM2, text, "int4-tensor-sym").perplexity for text in HELD_OUT]
    yield (
        "**One scale for a whole matrix destroys SmolLM2 at 4 bits.** Its perplexity becomes "
        f"{_list(f'{n:,.0f}' for n in broken)}; guessing among its {VOCABULARY:,} tokens would give {VOCABULARY:,}. A few "
        "large weights stretch the step so far that in most matrices more than half of the weights become 0. "
        "The course's own model has hardly any such "
        f"weights, and gets only {_against('austen', 'int4-tensor-sym', BASE, OWN)} on austen: what a scheme costs is a "
        "matter of the model."
    )
    yield ""
    steps = ["int4-channel-asym", "int4-g64-asym", "int4-g32-asym"]
    yield (
        f"**Scales for fewer weights repair it.** On austen {_chain('austen', steps)}, from {_times('austen', BASE)}; on lessons "
        f"{_chain('lessons', steps)}, from {_times('lessons', BASE)}. Beside groups of 64, groups of 32 are "
        f"{_everywhere('int4-g32-asym', 'int4-g64-asym')}. Eight bits a row cost next to nothing: "
        f"{_against('austen', 'int8-channel-sym', BASE)} on austen."
    )
    yield ""
    yield (
        "**GPTQ learns its calibration text.** Beside the same groups of 64 rounded to the nearest, it is "
        f"{_everywhere('gptq-int4-g64-asym', 'int4-g64-asym')}; with a scale a row, "
        f"{_everywhere('gptq-int4-channel-asym', 'int4-channel-asym')}. It was calibrated with "
        f"{_tokens('gptq-int4-g64-asym')} tokens of another part of austen. They say little about a matrix of 1,536 inputs, and "
        f"what they leave open is bent to fit them: with {_tokens('gptq-int4-g64-asym@7936')}, it is "
        f"{_everywhere('gptq-int4-g64-asym@7936', 'int4-g64-asym')}. Measured on its own kind of text alone, GPTQ looks "
        "better than it is; calibrate with text like what will be served, and with more of it."
    )
    yield ""
    yield (
        f"**AWQ fits one number to each layer's inputs, and has less to learn by heart.** Beside rounding to the "
        f"nearest in groups of 64 it is {_everywhere('awq-int4-g64-asym', 'int4-g64-asym')}; with a scale a row, "
        f"{_everywhere('awq-int4-channel-asym', 'int4-channel-asym')}."
    )
    yield ""
    yield (
        f"**Activations need a scale a token, or smoothing.** 8-bit activations with a scale a token are "
        f"{_everywhere('w8a8-token', BASE)}, beside no quantization; with one fixed scale a tensor, "
        f"{_everywhere('w8a8-tensor', BASE)}. Smoothed with alpha 0.5 first, that is {_everywhere('smoothquant-0.5', BASE)}; "
        f"with 0.8, {_everywhere('smoothquant-0.8', BASE)}."
    )
    yield ""
    yield (
        f"**The KV cache takes 8 bits without a trace, and not 4.** With a scale a token and head, INT8 is "
        f"{_everywhere('kv-int8', BASE)}, beside no quantization; INT4 is {_everywhere('kv-int4', BASE)}."
    )


def change(low: float, ratio: float, high: float) -> str:
    """A ratio of two perplexities as a learner reads it, and whether its interval holds 1."""
    if ratio >= 10:
        return f"{ratio:,.0f} times as high"
    span = f"({100 * (low - 1):+.1f} to {100 * (high - 1):+.1f} %)"
    if low <= 1 <= high:
        return f"no different for sure {span}"
    return f"{abs(100 * (ratio - 1)):.1f} % {'higher' if ratio > 1 else 'lower'} {span}"


def _against(text: str, scheme: str, other: str, model: str = SMOLLM2) -> str:
    ratio, low, high = recorded(model, text, scheme).measured.ratio_to(recorded(model, text, other).measured)
    return change(low, ratio, high)


def _everywhere(scheme: str, other: str) -> str:
    return _list(f"{_against(text, scheme, other)} on {text}" for text in HELD_OUT)


def _tokens(scheme: str) -> str:
    return f"{int(recorded(SMOLLM2, 'austen', scheme).calibration.split()[1]):,}"


def _times(text: str, scheme: str) -> str:
    return f"{recorded(SMOLLM2, text, scheme).perplexity:#.4g}"


def _chain(text: str, schemes: list[str]) -> str:
    words = {"int4-channel-asym": "a row", "int4-g64-asym": "64 weights", "int4-g32-asym": "32 weights"}
    return ", ".join(f"{_times(text, scheme)} with a scale for {words[scheme]}" for scheme in schemes)


def _list(parts: Iterator[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last
