"""Schemes by name on the course's own checkpoint: what each bit costs, what each trick repairs, and what is refused."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import Any

import pytest

from tests import skips

skips.need_torch()

import torch  # noqa: E402
from llmserving.quantization import linear_w8a8, quantize_rows  # noqa: E402
from llmserving.tinylm import (  # noqa: E402
    SCHEMES,
    LanguageModel,
    calibration_for,
    calibration_text,
    held_out_text,
    inputs_of,
    load,
    perplexity,
    quantized,
    scheme,
    with_outliers,
)
from llmserving.tinylm.activation_schemes import smoothed  # noqa: E402
from llmserving.tinylm.calibration import SHARED_INPUTS, through_blocks  # noqa: E402
from llmserving.tinylm.outliers import outlier_channels  # noqa: E402
from llmserving.tinylm.registry import calibration_tokens, grid_of  # noqa: E402

TEXT = held_out_text("devil")[:6000]
SAME_LOGITS = 2e-3  # of logits up to 20; float32 sums of other factors, measured 1e-4


@pytest.fixture(scope="module")
def model() -> Iterator[LanguageModel]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield load()
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def with_large_channels(model: LanguageModel) -> LanguageModel:
    return with_outliers(model)


@functools.cache
def nats(model: LanguageModel, name: str | None = None) -> float:
    return perplexity(model, TEXT, name, progress=False).nats_per_token


def logits(model: LanguageModel, decoder: Any) -> torch.Tensor:
    tokens = torch.tensor([model.encode(TEXT[:200])])
    with torch.no_grad():
        found: torch.Tensor = decoder(tokens)
    return found


# Each of them


@pytest.mark.parametrize("name", SCHEMES)
def test_every_scheme_costs_something_and_leaves_the_model_alone(model: LanguageModel, name: str) -> None:
    before = {key: weight.clone() for key, weight in model.decoder.state_dict().items()}
    cost = nats(model, name) - nats(model)
    assert -0.003 < cost < 0.05
    assert all(torch.equal(weight, before[key]) for key, weight in model.decoder.state_dict().items())
    assert quantized(model, name) is quantized(model, name)
    assert scheme(name, model) == scheme(name, model)
    assert all(attention.kv_scheme is None for attention in model.decoder.attentions())
    assert not any(matrix._forward_pre_hooks for _, matrix in model.decoder.matrices())


@pytest.mark.parametrize(
    ("worse", "better"),
    [
        ("int4-tensor-sym", "int4-channel-sym"),
        ("int4-channel-sym", "int8-channel-sym"),
        ("int4-tensor-sym", "int4-tensor-asym"),
        ("int3-channel-asym", "int4-channel-asym"),
        ("int3-channel-asym", "int3-g64-asym"),
        ("int3-channel-asym", "gptq-int3-channel-asym"),
        ("int3-g64-asym", "gptq-int3-g64-asym"),
        ("int2-g64-asym", "gptq-int2-g64-asym"),
        ("kv-int4", "kv-int8"),
    ],
)
def test_the_order_is_what_the_lesson_says(model: LanguageModel, worse: str, better: str) -> None:
    assert nats(model, better) < nats(model, worse)


@pytest.mark.parametrize("name", ["int4-g64-asym", "int4-channel-sym", "int4-tensor-asym", "gptq-int3-g64-asym"])
def test_what_comes_back_lies_on_the_grid_that_the_name_says(model: LanguageModel, name: str) -> None:
    grid = grid_of(name)
    assert grid is not None
    for _, matrix in quantized(model, name).decoder.matrices():
        rows = matrix.weight if grid.per != "tensor" else matrix.weight.reshape(1, -1)
        for group in rows.reshape(-1, grid.group_size or rows.shape[1])[:50]:
            assert len(group.unique()) <= 2**grid.bits


def test_the_embedding_and_the_norms_stay_as_they_were_where_only_weights_are_rounded(model: LanguageModel) -> None:
    for name in ("int4-channel-asym", "gptq-int4-channel-asym"):
        changed = quantized(model, name).decoder.state_dict()
        for key, weight in model.decoder.state_dict().items():
            assert ("_proj" in key) != torch.equal(changed[key], weight), key


def test_bits_a_weight_count_what_is_shared() -> None:
    grids = {name: grid_of(name) for name in ("int4-g64-asym", "int4-g32-sym", "int4-channel-asym", "int8-tensor-sym")}
    assert [grid.bits_a_weight(576) for grid in grids.values() if grid] == [4.3125, 4.5, 4 + 20 / 576, 8]


# Calibration


def test_calibration_text_is_named_and_other_than_what_is_measured(model: LanguageModel) -> None:
    for source in ("austen", "devil"):
        assert calibration_for(model, source).source == source
        assert calibration_text(source)[:200] not in held_out_text(source)
    assert calibration_for(model, "austen") != calibration_for(model, "devil")
    assert scheme("gptq-int4-g64-asym", model, "devil") != scheme("gptq-int4-g64-asym", model, "austen")
    assert {name for name in SCHEMES if calibration_tokens(name)} == {
        name for name in SCHEMES if "calibration=Calibration" in repr(scheme(name, model))
    }


def test_what_blocks_are_fed_is_what_the_decoder_feeds_them(model: LanguageModel) -> None:
    windows = calibration_for(model, tokens=512).windows
    seen: dict[str, torch.Tensor] = {}
    hooks = [
        matrix.register_forward_pre_hook(lambda _, given, name=name: seen.update({name: given[0].flatten(0, -2)}))
        for name, matrix in model.decoder.matrices()
    ]
    with torch.no_grad():
        model.decoder(windows)
    for hook in hooks:
        hook.remove()
    for index, _, fed in through_blocks(model.decoder, windows):
        assert list(fed) == list(SHARED_INPUTS)
        for shared, inputs in fed.items():
            for name in shared.consumers:
                assert torch.equal(inputs, seen[f"layers.{index}.{name}"])


def test_one_layer_can_be_looked_at(model: LanguageModel) -> None:
    found = inputs_of(model, "layers.2.mlp.down_proj", calibration_for(model, "devil", 512))
    assert found.shape == (512, model.config.ffn)
    assert torch.equal(inputs_of(model, "layers.0.mlp.up_proj"), inputs_of(model, "layers.0.mlp.gate_proj"))
    with pytest.raises(
        ValueError, match=r"from layers.0.self_attn.q_proj to layers.3.mlp.down_proj, but got 'lm_head'"
    ):
        inputs_of(model, "lm_head")


def test_later_blocks_are_fed_by_the_changed_ones(model: LanguageModel) -> None:
    changed = quantized(model, "int2-channel-asym").decoder
    last = model.config.layers - 1
    windows = calibration_for(model, tokens=256).windows
    plain = next(fed for index, _, fed in through_blocks(model.decoder, windows) if index == last)
    felt = next(fed for index, _, fed in through_blocks(changed, windows) if index == last)
    assert not torch.allclose(plain[SHARED_INPUTS[0]], felt[SHARED_INPUTS[0]], atol=0.1)


def test_too_much_or_too_little_calibration_is_refused(model: LanguageModel) -> None:
    with pytest.raises(ValueError, match="tokens is 40,000, but the calibration text of 'austen' has 32,000"):
        calibration_for(model, tokens=40_000)
    with pytest.raises(ValueError, match="tokens is the number of tokens to calibrate with and must be at least 256"):
        calibration_for(model, tokens=10)


# Outliers, and what repairs them


def test_outliers_leave_the_function_as_it_is(model: LanguageModel, with_large_channels: LanguageModel) -> None:
    assert torch.allclose(
        logits(model, with_large_channels.decoder), logits(model, model.decoder), rtol=0, atol=SAME_LOGITS
    )
    windows = calibration_for(model, tokens=256).windows
    _, _, fed = next(through_blocks(with_large_channels.decoder, windows))
    largest = fed[SHARED_INPUTS[0]].abs().mean(dim=0).topk(4).indices
    assert sorted(largest.tolist()) == outlier_channels(256, 4) == [32, 96, 160, 224]
    with pytest.raises(ValueError, match="channels is 300, but austen-bierce is 256 wide"):
        with_outliers(model, channels=300)


def test_awq_repairs_outliers_better_than_finer_groups_do(with_large_channels: LanguageModel) -> None:
    base = nats(with_large_channels)
    finer = min(nats(with_large_channels, f"int4-{per}-asym") - base for per in ("channel", "g64", "g32"))
    assert nats(with_large_channels, "awq-int4-channel-asym") - base < finer
    assert nats(with_large_channels, "awq-int4-g64-asym") - base < 0.7 * finer


def test_smoothing_changes_no_output(model: LanguageModel, with_large_channels: LanguageModel) -> None:
    for one in (model, with_large_channels):
        for alpha in (0.5, 0.8):
            rewritten = smoothed(one.decoder, calibration_for(one), alpha)
            assert torch.allclose(logits(one, rewritten), logits(one, one.decoder), rtol=0, atol=SAME_LOGITS)
            for name, matrix in rewritten.matrices():
                same = torch.equal(matrix.weight, one.decoder.get_submodule(name).weight)  # type: ignore[arg-type]
                assert same == name.endswith("o_proj")


def test_outliers_break_one_scale_a_tensor_and_smoothing_mends_it(with_large_channels: LanguageModel) -> None:
    base = nats(with_large_channels)
    costs = {name: nats(with_large_channels, name) - base for name in ("w8a8-token", "w8a8-tensor", "smoothquant-0.5")}
    assert costs["w8a8-tensor"] > 4 * costs["w8a8-token"]
    assert costs["smoothquant-0.5"] < 0.1 * costs["w8a8-tensor"]


def test_8_bit_activations_are_rounded_before_every_matrix(model: LanguageModel) -> None:
    changed = quantized(model, "w8a8-token").decoder
    x = 3 * torch.randn(2, 5, 256)
    matrix = changed.get_submodule("layers.0.mlp.up_proj")
    wanted = quantize_rows(x.reshape(10, 256)).dequantize() @ matrix.weight.T
    assert torch.equal(matrix(x).reshape(10, -1), wanted)
    # In sums of integers, too: the codes of the weights are what 8 bits a row would make of them again.
    assert torch.allclose(linear_w8a8(x, quantize_rows(matrix.weight)), matrix(x), atol=1e-4)
    assert all(len(matrix._forward_pre_hooks) == 1 for _, matrix in changed.matrices())


# Names


@pytest.mark.parametrize(
    "name", ["int4", "int9-channel-sym", "int4-g0-sym", "gptq-int4-tensor-asym", "awq-int4-tensor-sym", "smoothquant-1.5",
             "smoothquant", "kv-int2", "w8a8", "", "float32", "int4-g64-asym@512", "gptq-int4-g64-asym@many"],
)  # fmt: skip
def test_a_name_that_says_no_scheme_is_refused(model: LanguageModel, name: str) -> None:
    with pytest.raises(ValueError, match="is not known; names are made like int4-tensor-asym.* kv-int8"):
        perplexity(model, TEXT, name)


@pytest.mark.parametrize("trick", ["", "gptq-", "awq-"])
def test_groups_that_do_not_divide_are_refused_with_the_matrix_and_the_column_count(
    model: LanguageModel, trick: str
) -> None:
    said = r"layers\.0\.self_attn\.q_proj: group_size 96 does not divide the 256 columns .*; 32, 64, 128, 16, 8 would"
    with pytest.raises(ValueError, match=said):
        quantized(model, f"{trick}int4-g96-asym")


def test_a_name_and_its_scheme_are_the_same(model: LanguageModel) -> None:
    assert (
        perplexity(model, TEXT, "int4-g64-sym").window_nats
        == perplexity(model, TEXT, scheme("int4-g64-sym", model)).window_nats
    )
    assert math.isfinite(nats(model, "kv-fp8"))
