"""How surprised a model is by a text, and how sure that number is.

The text is cut into windows side by side, each as long as the context that the model was trained at: in a longer one, a
model is lost, and every scheme looks free. Perplexity is the exponential of the mean surprise in nats a token. Tokens of
one window depend on each other: see surprise.py for the interval.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from llmserving import arguments
from llmserving.tinylm.missing import need
from llmserving.tinylm.schemes import Scheme, quantized
from llmserving.tinylm.surprise import Perplexity
from llmserving.tinylm.weights import LanguageModel, checked_model

LONGEST_WINDOW = 512  # a CPU's share of a context of thousands
BATCH_TOKENS, BATCH_SCORES = 2048, 1 << 25  # what a batch may hold, a window at least: 2^25 scores are 128 MiB


def perplexity(
    model: LanguageModel, text: str, scheme: Scheme | str | None = None, *, window: Any = None, seed: int = 0,
    progress: bool | None = None,
) -> Perplexity:  # fmt: skip
    """The perplexity of a text under a model, its weights changed by a scheme (schemes.py) or one named in registry.py.

    What a scheme makes of the model is kept: one that reads a global is not asked again when that changes; see schemes.py.
    `window` is the trained context, or 512 tokens where that is longer, unless you give another within the context; the
    tokens after the last full window are left out. `progress` shows a bar, by default where it takes more than one batch.
    """
    length = _window(checked_model(model), window)
    arguments.count("seed", "what makes the interval repeatable", seed, at_least=0)
    tokens = torch.tensor(model.encode(text))
    windows = (len(tokens) - 1) // length
    if windows < 2:
        raise ValueError(
            f"text has {len(tokens):,} tokens, but an interval needs two windows of {length} at least, and one token "
            f"more; give a longer text, or a window of less"
        )
    changed = quantized(model, scheme)
    inputs = tokens[: windows * length].view(windows, length)
    targets = tokens[1 : windows * length + 1].view(windows, length)
    at_once = max(1, min(BATCH_TOKENS, BATCH_SCORES // model.config.vocab_size) // length)
    batches = list(zip(inputs.split(at_once), targets.split(at_once), strict=True))
    shown = len(batches) > 1 if progress is None else progress
    with need("tqdm", "tqdm.auto").tqdm(total=windows, unit="window", disable=not shown, leave=False) as bar:
        nats: list[float] = []
        for given, wanted in batches:
            nats += _surprise(changed, given, wanted).tolist()
            bar.update(len(given))
    if any(math.isnan(value) for value in nats):
        raise ValueError(
            "the model's scores under this scheme are not numbers (NaN): look for a 0/0 or an inf - inf in it"
        )
    return Perplexity(tuple(nats), windows * length, seed)


@torch.no_grad()
def _surprise(model: LanguageModel, given: Tensor, wanted: Tensor) -> Tensor:
    """Mean nats a token of each window [B, T] -> [B]"""
    scores = model.decoder(given)
    return functional.cross_entropy(scores.transpose(1, 2), wanted, reduction="none").mean(dim=1)


def _window(model: LanguageModel, window: Any) -> int:
    if window is None:
        return min(model.context, LONGEST_WINDOW)
    length = arguments.count("window", "the number of tokens in a window", window)
    if length > model.context:
        raise ValueError(
            f"window is {length}, but {model.name} was trained at {model.context} and is lost beyond; take that or less"
        )
    return length
