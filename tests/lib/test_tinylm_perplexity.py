"""Perplexity: a pinned number with an honest interval, and schemes that change a model without touching it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tests import skips

skips.need_torch()

import torch  # noqa: E402
from llmserving.tinylm import (  # noqa: E402
    Decoder,
    LanguageModel,
    Perplexity,
    calibration_text,
    held_out_text,
    load,
    perplexity,
    quantized,
    schemes,
    shared_copy,
)
from torch import Tensor  # noqa: E402
from torch.nn import functional  # noqa: E402

TEXT = held_out_text("devil")[:4000]
# Of the whole held-out texts, nats a byte; see CHECKPOINT.md.
NATS = {"austen": 1.1177, "devil": 1.6219}


@pytest.fixture(scope="module")
def model() -> Iterator[LanguageModel]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield load()
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def measured(model: LanguageModel) -> Perplexity:
    return perplexity(model, TEXT)


def rounded(bits: int) -> Callable[[Tensor], Tensor]:
    """A plain symmetric rounding of each row, for want of nothing better here."""

    def scheme(weight: Tensor) -> Tensor:
        steps = 2 ** (bits - 1) - 1
        scale: Tensor = weight.abs().amax(dim=1, keepdim=True) / steps
        return (weight / scale).round() * scale

    return scheme


# The number


@pytest.mark.parametrize("source", ["austen", "devil"])
def test_the_loss_of_the_checkpoint_is_what_was_written_down(model: LanguageModel, source: str) -> None:
    found = perplexity(model, held_out_text(source))
    assert found.nats_per_token == pytest.approx(NATS[source], abs=0.002)
    assert found.perplexity == math.exp(found.nats_per_token)
    assert found.tokens == len(held_out_text(source)) // 256 * 256


def test_it_is_the_mean_surprise_of_each_next_token(model: LanguageModel, measured: Perplexity) -> None:
    tokens = torch.tensor(model.encode(TEXT))
    windows = []
    for start in range(0, len(tokens) - 256, 256):
        scores = model.decoder(tokens[start : start + 256][None])[0]
        windows.append(float(functional.cross_entropy(scores, tokens[start + 1 : start + 257])))
    assert measured.tokens == 256 * len(windows) == 15 * 256
    assert measured.window_nats == pytest.approx(windows, abs=1e-5)


def test_what_was_trained_on_surprises_no_more_than_what_was_held_out(
    model: LanguageModel, measured: Perplexity
) -> None:
    assert perplexity(model, calibration_text("devil")[:4000]).perplexity < measured.perplexity


def test_beyond_the_trained_context_the_model_is_lost_and_measuring_there_refused(model: LanguageModel) -> None:
    tokens = torch.tensor(model.encode(TEXT))
    scores = model.decoder(tokens[:1024][None])[0]
    surprise = functional.cross_entropy(scores, tokens[1:1025], reduction="none")
    assert float(surprise[512:].mean()) > float(surprise[:256].mean()) + 0.3
    with pytest.raises(ValueError, match="window is 257, but austen-bierce was trained at 256 and is lost beyond"):
        perplexity(model, TEXT, window=257)


def test_a_text_too_short_for_an_interval_is_refused(model: LanguageModel) -> None:
    with pytest.raises(ValueError, match="text has 512 tokens, but an interval needs two windows of 256"):
        perplexity(model, TEXT[:512])
    assert perplexity(model, TEXT[:513]).tokens == 512
    with pytest.raises(TypeError, match="text is a text, but got 7"):
        perplexity(model, 7)  # type: ignore[arg-type]


# Its interval


def test_the_interval_holds_the_number_and_is_the_same_each_time(measured: Perplexity) -> None:
    assert measured.low < measured.perplexity < measured.high
    again = Perplexity(measured.window_nats, measured.tokens)
    assert (again.low, again.high) == (measured.low, measured.high)
    assert Perplexity(measured.window_nats, measured.tokens, seed=1).low != measured.low


def test_the_interval_is_about_that_of_the_normal_distribution(measured: Perplexity) -> None:
    nats = np.array(measured.window_nats)
    error = 1.96 * nats.std() / math.sqrt(len(nats))
    assert math.log(measured.high) - measured.nats_per_token == pytest.approx(error, rel=0.15)
    assert measured.nats_per_token - math.log(measured.low) == pytest.approx(error, rel=0.15)


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    random = np.random.default_rng(0)
    held = 0
    for seed in range(200):
        found = Perplexity(tuple(random.normal(1.5, 0.2, size=40)), 40 * 256, seed)
        held += found.low <= math.exp(1.5) <= found.high
    assert 0.88 <= held / 200 <= 0.99


def test_a_ratio_on_the_same_windows_is_surer_than_either_number(model: LanguageModel, measured: Perplexity) -> None:
    worse = perplexity(model, TEXT, rounded(3))
    ratio, low, high = worse.ratio_to(measured)
    assert ratio == pytest.approx(worse.perplexity / measured.perplexity)
    assert 1 < low < ratio < high
    assert high / low < (measured.high / measured.low) ** 0.5
    with pytest.raises(ValueError, match="base must be measured on the same windows"):
        worse.ratio_to(perplexity(model, TEXT, window=128))


def test_a_destroyed_model_is_infinitely_surprised_and_no_error() -> None:
    assert Perplexity((800.0, 900.0), 512).perplexity == math.inf


# Schemes


def test_fewer_bits_surprise_more(model: LanguageModel, measured: Perplexity) -> None:
    found = [measured.perplexity, *(perplexity(model, TEXT, rounded(bits)).perplexity for bits in (4, 3, 2))]
    assert found == sorted(found)


def test_a_scheme_sees_every_matrix_of_the_layers_once_and_is_kept(model: LanguageModel) -> None:
    shapes: list[tuple[int, ...]] = []

    def scheme(weight: Tensor) -> Tensor:
        shapes.append(tuple(weight.shape))
        return weight.clone()

    changed = quantized(model, scheme)
    assert quantized(model, scheme) is changed
    assert shapes == [tuple(linear.weight.shape) for _, linear in model.decoder.matrices()]
    assert len(shapes) == 7 * model.config.layers


def test_a_scheme_leaves_the_model_as_it_was(model: LanguageModel) -> None:
    before = {name: weight.clone() for name, weight in model.decoder.state_dict().items()}
    changed = quantized(model, rounded(2))
    assert all(torch.equal(weight, before[name]) for name, weight in model.decoder.state_dict().items())
    assert changed.decoder.embed_tokens.weight is model.decoder.embed_tokens.weight
    assert changed.decoder.lm_head.weight is changed.decoder.embed_tokens.weight


def test_without_a_scheme_the_model_is_itself(model: LanguageModel) -> None:
    assert quantized(model, None) is model


def test_what_is_kept_stays_within_its_bytes(model: LanguageModel, monkeypatch: pytest.MonkeyPatch) -> None:
    one = sum(linear.weight.nbytes for _, linear in model.decoder.matrices())
    monkeypatch.setattr(schemes, "KEPT_BYTES", 2 * one)
    first, second, third = rounded(5), rounded(6), rounded(7)
    kept = [quantized(model, scheme) for scheme in (first, second)]
    quantized(model, first)
    quantized(model, third)
    assert quantized(model, first) is kept[0]
    assert quantized(model, second) is not kept[1]


@dataclass(frozen=True)
class KvInCoarseSteps:
    """A scheme of the cache: keys and values as they would come back from `steps` steps a unit."""

    steps: float

    def coarse(self, part: Tensor) -> Tensor:
        return (part * self.steps).round() / self.steps

    def apply(self, decoder: Decoder) -> Decoder:
        changed = shared_copy(decoder)
        for attention in changed.attentions():
            attention.kv_scheme = lambda keys, values: (self.coarse(keys), self.coarse(values))
        return changed


def test_a_scheme_may_change_the_cache_instead_of_the_weights(model: LanguageModel, measured: Perplexity) -> None:
    assert perplexity(model, TEXT, KvInCoarseSteps(1000)).perplexity == pytest.approx(measured.perplexity, rel=1e-3)
    assert perplexity(model, TEXT, KvInCoarseSteps(0.5)).perplexity > 1.02 * measured.perplexity
    assert quantized(model, KvInCoarseSteps(1000)) is quantized(model, KvInCoarseSteps(1000))
    assert all(attention.kv_scheme is None for attention in model.decoder.attentions())


@pytest.mark.parametrize(
    ("scheme", "error", "said"),
    [
        (7, TypeError, "scheme is a function of a weight matrix, or has apply"),
        (
            lambda weight: weight[:1],
            ValueError,
            "scheme must return a tensor .256, 256. for layers.0.self_attn.q_proj, but",
        ),
        (lambda weight: None, ValueError, "but returned None"),
        ([], TypeError, "scheme must be hashable"),
    ],
)
def test_what_is_no_scheme_is_refused(model: LanguageModel, scheme: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        perplexity(model, TEXT, scheme)


def test_no_text_of_another_source(model: LanguageModel) -> None:
    with pytest.raises(ValueError, match="source is 'austen' or 'devil' or 'lessons', but got 'kafka'"):
        held_out_text("kafka")
    with pytest.raises(ValueError, match="source is 'austen' or 'devil', but got 'lessons'"):
        calibration_text("lessons")
