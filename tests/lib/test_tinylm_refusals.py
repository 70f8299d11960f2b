"""What the small model cannot take is refused in a sentence, before anything has changed, and nothing spoils it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests import skips

skips.need_torch()

import torch  # noqa: E402
from llmserving.tinylm import (  # noqa: E402
    ContiguousKvCache,
    Decoder,
    DecoderConfig,
    GenerationRequest,
    LanguageModel,
    PagedKvCache,
    Server,
    calibration_for,
    generate,
    held_out_text,
    load,
    perplexity,
    quantized,
    serve,
    with_outliers,
)
from torch import Tensor  # noqa: E402

TEXT = held_out_text("devil")[:1000]
OTHER = DecoderConfig(vocab_size=256, width=32, ffn=64, layers=2, heads=4, kv_heads=2, head_dim=8, context=64)


@pytest.fixture
def model() -> LanguageModel:
    return load()


# Schemes that would spoil the model


def unchanged(model: LanguageModel, work: Callable[[], Any]) -> bool:
    before = {name: weight.clone() for name, weight in model.decoder.state_dict().items()}
    work()
    return all(torch.equal(weight, before[name]) for name, weight in model.decoder.state_dict().items())


def test_a_scheme_that_writes_in_place_leaves_the_model_as_it_was(model: LanguageModel) -> None:
    def emptied(weight: Tensor) -> Tensor:
        return weight.mul_(0)

    base = perplexity(model, TEXT)
    assert unchanged(model, lambda: perplexity(model, TEXT, emptied))
    assert perplexity(model, TEXT, emptied).perplexity > 2 * base.perplexity
    assert perplexity(load(), TEXT).perplexity == base.perplexity


def test_a_scheme_object_that_changes_the_decoder_itself_leaves_the_model_as_it_was(model: LanguageModel) -> None:
    class Careless:
        def apply(self, decoder: Decoder) -> Decoder:
            for attention in decoder.attentions():
                attention.kv_scheme = lambda keys, values: (keys * 0, values * 0)
            for _, matrix in decoder.matrices():
                matrix.weight = torch.nn.Parameter(matrix.weight * 0, requires_grad=False)
            return decoder

    assert unchanged(model, lambda: quantized(model, Careless()))
    assert all(attention.kv_scheme is None for attention in model.decoder.attentions())


def test_a_scheme_object_that_writes_into_weights_is_refused_and_the_model_can_be_loaded_anew() -> None:
    class Writes:
        def apply(self, decoder: Decoder) -> Decoder:
            decoder.get_submodule("layers.1.mlp.up_proj").weight.mul_(0)  # type: ignore[operator]
            return decoder

    spoiled = load()
    before = perplexity(spoiled, TEXT)
    with pytest.raises(ValueError, match=r"scheme wrote into layers.1.mlp.up_proj.weight, .* load\(\) the model anew"):
        perplexity(spoiled, TEXT, Writes())
    assert load() is not spoiled
    assert perplexity(load(), TEXT).window_nats == before.window_nats


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_scheme_that_returns_no_numbers_is_refused_with_the_matrix(model: LanguageModel, value: float) -> None:
    said = f"scheme returned {value} among the weights of layers.0.self_attn.q_proj"
    with pytest.raises(ValueError, match=said):
        perplexity(model, TEXT, lambda weight: torch.where(weight == weight[0, 0], value, weight))


def test_a_scheme_of_the_cache_that_returns_no_numbers_is_refused(model: LanguageModel) -> None:
    class Lost:
        def apply(self, decoder: Decoder) -> Decoder:
            for attention in decoder.attentions():
                attention.kv_scheme = lambda keys, values: (keys, values * float("nan"))
            return decoder

    with pytest.raises(ValueError, match="the model's scores under this scheme are not numbers"):
        perplexity(model, TEXT, Lost())


# Tokens


@pytest.mark.parametrize(
    "prompt", [list(np.array([65, 66])), (65, 66), np.array([65, 66]), torch.tensor([65, 66]), range(65, 67)]
)
def test_whole_numbers_of_any_library_are_tokens(model: LanguageModel, prompt: Any) -> None:
    found = GenerationRequest(prompt).prompt_tokens(model)
    assert found == [65, 66]
    assert [type(token) for token in found] == [int, int]
    assert list(generate(model, prompt, 3)) == list(generate(model, "AB", 3))


@pytest.mark.parametrize(
    ("prompt", "error", "said"),
    [
        ([True], ValueError, "prompt has token True, but tokens are whole numbers from 0 to 255"),
        (list(np.array([True])), ValueError, "prompt has token .*True.*, but tokens are whole numbers"),
        ([65, -1], ValueError, "prompt has token -1, but tokens are"),
        ([np.int64(256)], ValueError, r"prompt has token .*256.*, but tokens are whole numbers from 0 to 255"),
        (["A"], ValueError, "prompt has token 'A', but tokens are"),
        (b"It is", TypeError, "prompt is a text or a list of token ids, but got b'It is'; write text, not bytes"),
        (bytearray(b"It"), TypeError, "write text, not bytes"),
        (np.array([[1, 2]]), TypeError, "prompt is a text or a list of token ids, but got array"),
    ],
)
def test_what_is_no_token_is_refused(model: LanguageModel, prompt: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        generate(model, prompt)


# Caches


@pytest.mark.parametrize("dtype", [torch.int8, torch.bool, torch.complex64, torch.float8_e4m3fn])
def test_a_cache_of_numbers_that_need_a_scale_is_refused(model: LanguageModel, dtype: torch.dtype) -> None:
    said = f"dtype is torch.float32, .* but got {dtype}; fewer bits need a scale, as the scheme 'kv-int8' has"
    with pytest.raises(ValueError, match=said):
        PagedKvCache(model.config, 4, dtype=dtype)
    with pytest.raises(ValueError, match=said):
        ContiguousKvCache(model.config, 1, 64, dtype=dtype)


def test_a_dtype_is_one_of_torch(model: LanguageModel) -> None:
    with pytest.raises(ValueError, match="but got 'float16'"):
        PagedKvCache(model.config, 4, dtype="float16")  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_floats_are_cached(model: LanguageModel, dtype: torch.dtype) -> None:
    assert len(list(generate(model, "It", 3, cache=PagedKvCache(model.config, 4, dtype=dtype)))) == 3


def test_a_cache_of_another_model_is_refused(model: LanguageModel) -> None:
    said = r"cache is made for 2 layers of 2 KV heads with 8 elements, but austen-bierce has 4 of 2 with 32"
    with pytest.raises(ValueError, match=said):
        Server(model, PagedKvCache(OTHER, 4))
    with pytest.raises(ValueError, match=said):
        generate(model, "It", 3, cache=PagedKvCache(OTHER, 4))
    with pytest.raises(TypeError, match="cache is a PagedKvCache or a ContiguousKvCache, but got 4"):
        Server(model, 4)  # type: ignore[arg-type]


# Requests


def test_a_name_that_no_table_can_hold_is_refused_and_the_others_are_served(model: LanguageModel) -> None:
    server = Server(model, PagedKvCache(model.config, 10))
    server.submit("good", GenerationRequest("It", 3))
    with pytest.raises(TypeError, match=r"request_id is a name such as 'a' or 7 \(hashable\), but got \[1\]"):
        server.submit([1], GenerationRequest("It", 3))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="request is a GenerationRequest, but got 'hello'; write GenerationRequest"):
        server.submit("z", "hello")  # type: ignore[arg-type]
    assert {piece.request for piece in server.run()} == {"good"}
    with pytest.raises(TypeError, match="request_id is a name"):
        generate(model, "It", request_id=[1])


def test_requests_are_given_by_name(model: LanguageModel) -> None:
    with pytest.raises(TypeError, match="requests is a mapping from names to requests, but got"):
        serve(model, [GenerationRequest("It")], PagedKvCache(model.config, 4))  # type: ignore[arg-type]


# Models


@pytest.mark.parametrize(
    "work",
    [
        lambda: perplexity("smollm2-135m", TEXT),  # type: ignore[arg-type]
        lambda: quantized("smollm2-135m", "kv-int8"),  # type: ignore[arg-type]
        lambda: generate("smollm2-135m", "It"),  # type: ignore[arg-type]
        lambda: calibration_for("smollm2-135m"),  # type: ignore[arg-type]
        lambda: with_outliers("smollm2-135m"),  # type: ignore[arg-type]
        lambda: Server("smollm2-135m", PagedKvCache(load().config, 4)),  # type: ignore[arg-type]
    ],
)
def test_a_model_is_what_load_returns(work: Callable[[], Any]) -> None:
    with pytest.raises(TypeError, match=r"model is what load\(\) returns, but got 'smollm2-135m'"):
        work()


def test_what_names_no_model_and_seeds_no_draw_is_refused(model: LanguageModel) -> None:
    with pytest.raises(TypeError, match="name is 'austen-bierce', 'smollm2-135m' or a directory .*, but got None"):
        load(None)  # type: ignore[arg-type]
    with pytest.raises(
        ValueError, match="seed is what makes the interval repeatable and must be at least 0, but got -1"
    ):
        perplexity(model, TEXT, seed=-1)
