"""The small language model: its caches agree to the bit, its batches with its single requests, and its loss is pinned."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests import skips

skips.need_torch()

import torch  # noqa: E402
from llmserving import ModelSpec, kv_bytes_per_token  # noqa: E402
from llmserving.paging import NoFreeBlocksError, PagedAllocator  # noqa: E402
from llmserving.tinylm import (  # noqa: E402
    ContiguousKvCache,
    DecoderConfig,
    GenerationRequest,
    KvCache,
    LanguageModel,
    PagedKvCache,
    Server,
    generate,
    held_out_text,
    load,
    serve,
)
from llmserving.tinylm.generation import decode, prefill  # noqa: E402
from llmserving.tinylm.kv_cache import CacheStep  # noqa: E402
from llmserving.tinylm.tokens import ByteTokenizer, TextStream  # noqa: E402
from llmserving.tinylm.weights import CHECKPOINT  # noqa: E402
from torch import Tensor  # noqa: E402

from tests.lib import slow_decoder  # noqa: E402

CLOSE = 1e-4  # of logits up to 20: the same sums taken in another order, in float32; measured 2e-5 at most
PROMPT = "It was a dark and stormy night, and Mr. Darcy was in no humour for a ball."


@pytest.fixture(scope="module")
def model() -> Iterator[LanguageModel]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield load()
    torch.set_num_threads(threads)


def scrambled(model: LanguageModel, blocks: int = 40) -> PagedKvCache:
    """A paged cache whose free blocks are in disorder, and whose slots are full of another request's past."""
    cache = PagedKvCache(model.config, blocks, block_size=16)
    for name in "abcd":
        prefill(model, cache, name, model.encode(PROMPT * 2))
    for name in "bdac":
        cache.free(name)
    return cache


def follow(model: LanguageModel, cache: KvCache, name: str, tokens: list[int]) -> list[Tensor]:
    """Scores after each of these tokens, taken in one by one."""
    scores = []
    for token in tokens:
        cache.append(name, token)
        scores.append(decode(model, cache, {name: token})[0])
    return scores


def bit_equal(ones: list[Tensor], others: list[Tensor]) -> bool:
    return len(ones) == len(others) and all(torch.equal(one, other) for one, other in zip(ones, others, strict=True))


def far(one: Tensor, other: Tensor) -> float:
    return float((one - other).abs().max())


# The decoder


def test_the_decoder_computes_what_the_written_out_one_does(model: LanguageModel) -> None:
    tokens = model.encode(PROMPT)
    weights = {name: tensor.double().numpy() for name, tensor in model.decoder.state_dict().items()}
    slow = slow_decoder.logits(model.config, weights, tokens)
    assert np.abs(model.decoder(torch.tensor([tokens]))[0].numpy() - slow).max() < 1e-3


def test_its_size_is_what_the_memory_planner_says(model: LanguageModel) -> None:
    spec = ModelSpec.from_config(CHECKPOINT / "config.json")
    assert model.parameters == spec.parameters
    cache = PagedKvCache(model.config, 4, dtype=torch.float16)
    assert cache.bytes_per_token == kv_bytes_per_token(spec, "fp16")
    assert cache.store.nbytes == 4 * 16 * cache.bytes_per_token


def test_the_checkpoint_is_small_enough_to_ship() -> None:
    assert sum(path.stat().st_size for path in CHECKPOINT.iterdir()) < 7_000_000


# Caches


def test_paged_and_contiguous_agree_to_the_last_bit(model: LanguageModel) -> None:
    tokens = model.encode(held_out_text()[:150])
    prompt, rest = tokens[:50], tokens[50:]
    paged, contiguous = scrambled(model), ContiguousKvCache(model.config, 1, 150)
    ones = [prefill(model, paged, "r", prompt), *follow(model, paged, "r", rest)]
    others = [prefill(model, contiguous, "r", prompt), *follow(model, contiguous, "r", rest)]
    assert sorted(paged.slots("r").tolist()) != paged.slots("r").tolist()
    assert bit_equal(ones, others)


def test_a_batch_agrees_to_the_last_bit_between_the_two(model: LanguageModel) -> None:
    prompts = {"a": model.encode(PROMPT), "b": model.encode("She"), "c": model.encode(PROMPT[:33])}
    scores = []
    for cache in (scrambled(model), ContiguousKvCache(model.config, 3, 100)):
        for name, prompt in prompts.items():
            prefill(model, cache, name, prompt)
            cache.append(name, 32)
        scores.append(decode(model, cache, dict.fromkeys(prompts, 32)))
    assert torch.equal(*scores)


def forked(model: LanguageModel, cache: KvCache) -> tuple[list[Tensor], list[Tensor]]:
    """Parent and child go separate ways in turn from the middle of a block."""
    prefill(model, cache, "parent", model.encode(PROMPT)[:57])
    cache.fork("parent", "child")
    ways = {"parent": model.encode(" elephants and whales"), "child": model.encode(", said Miss Elizabeth")}
    scores: dict[str, list[Tensor]] = {"parent": [], "child": []}
    for parent_token, child_token in zip(ways["parent"], ways["child"], strict=True):
        scores["parent"] += follow(model, cache, "parent", [parent_token])
        scores["child"] += follow(model, cache, "child", [child_token])
    return scores["parent"], scores["child"]


def test_after_a_fork_both_still_agree_to_the_last_bit(model: LanguageModel) -> None:
    paged, contiguous = scrambled(model), ContiguousKvCache(model.config, 2, 100)
    parents, children = forked(model, paged)
    other_parents, other_children = forked(model, contiguous)
    assert bit_equal(parents, other_parents)
    assert bit_equal(children, other_children)
    assert not bit_equal(parents, children)
    shared = set(paged.allocator.table("parent")) & set(paged.allocator.table("child"))
    assert len(shared) == 57 // 16


def test_without_the_copy_of_a_shared_block_they_would_not(model: LanguageModel) -> None:
    class Forgetful(PagedKvCache):
        def append(self, request_id: Any, token: int) -> None:
            self.allocator.append(request_id, token)

    forgetful = Forgetful(model.config, 40)
    assert not bit_equal(forked(model, forgetful)[0], forked(model, scrambled(model))[0])


def test_taking_tokens_in_one_by_one_is_a_full_prefill_within_a_tolerance(model: LanguageModel) -> None:
    tokens = model.encode(held_out_text()[:120])
    cache = scrambled(model)
    one_by_one = torch.stack([prefill(model, cache, "r", tokens[:1]), *follow(model, cache, "r", tokens[1:])])
    at_once = model.decoder(torch.tensor([tokens]))[0]
    assert far(one_by_one, at_once) < CLOSE
    assert torch.equal(one_by_one.argmax(dim=-1), at_once.argmax(dim=-1))


def test_a_prefill_in_chunks_is_a_full_prefill_within_a_tolerance(model: LanguageModel) -> None:
    tokens = model.encode(held_out_text()[:120])
    cache = PagedKvCache(model.config, 20)
    prefill(model, cache, "r", tokens[:70])
    for token in tokens[70:]:
        cache.append("r", token)
    chunk = model.decoder(torch.tensor([tokens[70:]]), cache.step(["r"], 50))[0]
    assert far(chunk, model.decoder(torch.tensor([tokens]))[0, 70:]) < CLOSE


def test_a_cached_prefix_is_not_computed_again(model: LanguageModel, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = PagedKvCache(model.config, 40, prefix_caching=True)
    tokens = model.encode(PROMPT)
    alone = prefill(model, cache, "first", tokens)
    computed: list[int] = []
    step = cache.step

    def counted(request_ids: Sequence[Hashable], new: int = 1) -> CacheStep:
        computed.append(new)
        return step(request_ids, new)

    monkeypatch.setattr(cache, "step", counted)
    assert far(prefill(model, cache, "second", tokens), alone) < CLOSE
    assert computed == [len(tokens) - len(tokens) // 16 * 16]


def test_a_batch_gives_what_each_request_gives_alone_within_a_tolerance(model: LanguageModel) -> None:
    cache = scrambled(model)
    alone, prompts = [], {"a": model.encode(PROMPT), "b": model.encode("T"), "c": model.encode(PROMPT[:40])}
    for name, prompt in prompts.items():
        prefill(model, cache, name, prompt)
        cache.append(name, 104)
        alone.append(decode(model, cache, {name: 104})[0])
    assert far(decode(model, cache, dict.fromkeys(prompts, 104)), torch.stack(alone)) < CLOSE


def test_a_step_asks_for_requests_and_for_tokens_that_they_have(model: LanguageModel) -> None:
    cache = PagedKvCache(model.config, 4)
    cache.allocate("r", [1, 2, 3])
    with pytest.raises(ValueError, match="request_ids is empty"):
        cache.step([])
    with pytest.raises(ValueError, match="new is 4, and the shortest of the requests has 3 tokens"):
        cache.step(["r"], 4)


# Generating


def test_greedy_takes_the_likeliest_token_each_time(model: LanguageModel) -> None:
    pieces = list(generate(model, PROMPT, 12))
    tokens = model.encode(PROMPT)
    for piece in pieces:
        assert piece.token == int(model.decoder(torch.tensor([tokens]))[0, -1].argmax())
        tokens.append(piece.token)
    assert "".join(piece.text for piece in pieces) == model.tokenizer.decode([piece.token for piece in pieces])


def test_it_streams_what_is_not_asked_for_is_not_computed(model: LanguageModel) -> None:
    cache = PagedKvCache(model.config, 10)
    stream = generate(model, PROMPT, 20, cache=cache)
    next(stream)
    assert cache.num_tokens("request") == len(PROMPT)
    next(stream)
    assert cache.num_tokens("request") == len(PROMPT) + 1
    stream.close()  # type: ignore[attr-defined]
    assert cache.requests == ()


def test_draws_are_repeatable_and_differ_by_seed(model: LanguageModel) -> None:
    def drawn(seed: int) -> list[int]:
        return [piece.token for piece in generate(model, PROMPT, 20, temperature=1.0, seed=seed)]

    assert drawn(1) == drawn(1) != drawn(2)


def test_it_speaks_english_of_a_kind(model: LanguageModel) -> None:
    words = "".join(piece.text for piece in generate(model, "She was ", 120)).split()[:-1]
    known = set(held_out_text().split())
    assert sum(word in known for word in words) / len(words) > 0.7


def test_it_stops_at_the_end_of_a_text_and_of_the_context(model: LanguageModel) -> None:
    first = next(generate(model, PROMPT)).token
    ending = LanguageModel(model.name, model.decoder, model.tokenizer, end=first)
    assert list(generate(ending, PROMPT)) == []
    assert len(list(generate(model, [32] * 250, 100))) == model.context - 250


def test_a_letter_of_two_bytes_comes_when_both_are_there() -> None:
    stream = TextStream(ByteTokenizer())
    assert [stream.take(token) for token in "aé☃".encode()] == ["a", "", "é", "", "", "☃"]
    assert [stream.take(token) for token in (0xC3, 0x61)][1] == "\ufffda"


@pytest.mark.parametrize(
    ("prompt", "options", "said"),
    [
        ("", {}, "prompt is empty"),
        ("x" * 256, {}, "prompt has 256 tokens, but austen-bierce was trained on 256 in all, the answer included"),
        ([300], {}, "prompt has token 300, but tokens are whole numbers from 0 to 255"),
        ([2.5], {}, "prompt has token 2.5, but tokens are whole numbers"),
        ("x", {"max_tokens": 0}, "max_tokens is the most tokens to generate and must be at least 1, but got 0"),
        ("x", {"temperature": -1}, "temperature is 0 for the likeliest token, or how widely to draw"),
        ("x", {"seed": -1}, "seed is what makes draws repeatable"),
    ],
)  # fmt: skip
def test_what_cannot_be_generated_is_refused_at_once(
    model: LanguageModel, prompt: Any, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        generate(model, prompt, **options)


def test_a_prompt_is_a_text_or_tokens(model: LanguageModel) -> None:
    with pytest.raises(TypeError, match="prompt is a text or a list of token ids, but got None"):
        generate(model, None)  # type: ignore[arg-type]


# Serving


REQUESTS = {
    "long": GenerationRequest(PROMPT, 40),
    "short": GenerationRequest("Dear", 5),
    "drawn": GenerationRequest("DEVIL, n. ", 25, temperature=0.8, seed=3),
    "late": GenerationRequest(PROMPT[:30], 12),
    "one": GenerationRequest("It", 1),
}


def alone(model: LanguageModel) -> dict[Any, str]:
    return {
        name: "".join(
            piece.text
            for piece in generate(model, r.prompt, r.max_tokens, temperature=r.temperature, seed=r.seed)
        )
        for name, r in REQUESTS.items()
    }  # fmt: skip


def together(pieces: Iterator[Any], texts: dict[Any, str] | None = None) -> dict[Any, str]:
    texts = dict.fromkeys(REQUESTS, "") if texts is None else texts
    for piece in pieces:
        texts[piece.request] += piece.text
    return texts


def server(model: LanguageModel, cache: KvCache, max_running: int) -> Server:
    made = Server(model, cache, max_running)
    for name, request in REQUESTS.items():
        made.submit(name, request)
    return made


@pytest.mark.parametrize("prefix_caching", [False, True])
def test_served_together_each_gets_what_it_would_get_alone(model: LanguageModel, prefix_caching: bool) -> None:
    cache = PagedKvCache(model.config, 40, prefix_caching=prefix_caching)
    assert together(serve(model, REQUESTS, cache, max_running=3)) == alone(model)
    assert cache.requests == ()
    assert len(cache.allocator.free_blocks) == 40


def test_requests_join_and_leave_while_others_run(model: LanguageModel) -> None:
    running = server(model, PagedKvCache(model.config, 40), 3)
    arrived = [piece.request for piece in running.run()]
    assert arrived.index("late") < len(arrived) - 1 - arrived[::-1].index("long")
    assert max(running.steps) == 3
    assert running.steps[-1] == 1  # the longest is alone at the end
    assert sum(running.steps) == sum(request.max_tokens - 1 for request in REQUESTS.values())


def test_where_blocks_run_out_the_last_to_come_is_computed_again(model: LanguageModel) -> None:
    cache = PagedKvCache(model.config, 9)
    pressed = server(model, cache, 4)
    assert together(pressed.run()) == alone(model)
    assert pressed.preempted
    assert "long" not in pressed.preempted
    assert len(cache.allocator.free_blocks) == 9


def test_left_early_it_holds_nothing_and_can_be_run_again(model: LanguageModel) -> None:
    cache = PagedKvCache(model.config, 40)
    interrupted = server(model, cache, 3)
    stream = interrupted.run()
    texts = together(next(stream) for _ in range(17))
    stream.close()  # type: ignore[attr-defined]
    assert cache.requests == ()
    assert together(interrupted.run(), texts) == alone(model)


def test_a_request_that_can_never_fit_is_refused_and_the_others_served(model: LanguageModel) -> None:
    small = Server(model, PagedKvCache(model.config, 2), 4)
    small.submit("fits", GenerationRequest("Dear", 5))
    with pytest.raises(ValueError, match="may come to hold 113 tokens, but the whole cache has room for 32"):
        small.submit("large", GenerationRequest(PROMPT, 40))
    with pytest.raises(ValueError, match="request 'fits' is being served already"):
        small.submit("fits", GenerationRequest("Dear", 5))
    assert {piece.request for piece in small.run()} == {"fits"}


def test_a_cache_that_others_fill_is_said_to_be_full(model: LanguageModel) -> None:
    cache = PagedKvCache(model.config, 4)
    cache.allocate("another", [1] * 60)
    with pytest.raises(NoFreeBlocksError):
        list(serve(model, {"r": REQUESTS["short"]}, cache))
    assert cache.requests == ("another",)


def test_the_contiguous_cache_serves_too(model: LanguageModel) -> None:
    assert together(serve(model, REQUESTS, ContiguousKvCache(model.config, 2, 120), 5)) == alone(model)


def test_the_paged_cache_is_the_allocator_of_the_course(model: LanguageModel) -> None:
    assert isinstance(PagedKvCache(model.config, 4).allocator, PagedAllocator)


# Reading the shape


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"hidden_size": None}, "has no hidden_size, the width of the model"),
        ({"model_type": "gemma"}, "model_type must be 'llama' here, but got 'gemma'"),
        ({"rope_scaling": {"factor": 8}}, "this decoder knows no rope_scaling"),
        (
            {"num_key_value_heads": 3},
            "config.json: num_attention_heads must be a multiple of num_key_value_heads, but got 8 and 3",
        ),
        ({"head_dim": 31}, "config.json: head_dim must be even"),
        ({"head_dim": None, "hidden_size": 250}, "config.json: hidden_size must be a multiple of num_attention_heads"),
        ({"num_hidden_layers": 0}, "config.json: num_hidden_layers is a size of the model and must be at least 1"),
        ({"rope_parameters": {"rope_type": "llama3", "factor": 8.0}}, "knows no rope_type 'llama3' in rope_parameters"),
        ({"rope_parameters": {"rope_type": "default", "factor": 8.0}}, "knows no factor in rope_parameters"),
        ({"rope_parameters": 7}, "rope_parameters is a table of RoPE's settings, but got 7"),
        ({"rope_parameters": {"rope_theta": 5e5}}, r"rope_theta is 10000.0, and 500000.0 in rope_parameters"),
        ({"hidden_act": "gelu"}, "hidden_act must be 'silu' here, but got 'gelu'"),
        ({"partial_rotary_factor": 0.5}, "partial_rotary_factor must be 1 here, but got 0.5"),
        ({"rope_parameters": {"partial_rotary_factor": 0.5}}, "partial_rotary_factor must be 1 here, but got 0.5"),
        ({"rope_theta": 0}, "config.json: rope_theta is the base of RoPE's turns and must be above 0"),
        ({"rope_theta": -1}, "config.json: rope_theta is the base of RoPE's turns and must be above 0"),
        ({"rms_norm_eps": -1}, "config.json: rms_norm_eps is what keeps a norm from dividing by 0 and must be above 0"),
    ],
)
def test_a_config_of_another_architecture_is_refused(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    values = json.loads((CHECKPOINT / "config.json").read_text()) | change
    (tmp_path / "config.json").write_text(
        json.dumps({key: value for key, value in values.items() if value is not None})
    )
    with pytest.raises(ValueError, match=said):
        DecoderConfig.from_json(tmp_path / "config.json")


@pytest.mark.parametrize("theta", [None, "abc", True])
def test_a_theta_that_is_no_number_is_refused(tmp_path: Path, theta: Any) -> None:
    values = json.loads((CHECKPOINT / "config.json").read_text()) | {"rope_theta": theta}
    (tmp_path / "config.json").write_text(json.dumps(values))
    with pytest.raises(TypeError, match="config.json: rope_theta is the base of RoPE's turns, a number"):
        DecoderConfig.from_json(tmp_path / "config.json")


def test_rope_settings_are_read_where_newer_checkpoints_have_them(tmp_path: Path) -> None:
    values = json.loads((CHECKPOINT / "config.json").read_text())
    del values["rope_theta"]
    for settings in ({"rope_type": "default", "rope_theta": 500_000.0}, {"rope_theta": 500_000.0}):
        (tmp_path / "config.json").write_text(json.dumps(values | {"rope_parameters": settings}))
        assert DecoderConfig.from_json(tmp_path / "config.json").rope_theta == 500_000.0
    assert DecoderConfig.from_json(CHECKPOINT / "config.json").rope_theta == 10_000.0


def test_a_config_that_is_no_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("[1]")
    with pytest.raises(ValueError, match="config.json is no JSON object"):
        DecoderConfig.from_json(tmp_path / "config.json")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"heads": 3}, "heads must be a multiple of kv_heads, but got 3 and 2"),
        ({"rope_theta": 0}, "rope_theta is the base of RoPE's turns and must be above 0"),
        ({"norm_eps": -1}, "norm_eps is what keeps a norm from dividing by 0 and must be above 0"),
    ],
)
def test_a_shape_that_is_written_down_is_held_to_the_same(change: dict[str, Any], said: str) -> None:
    sizes = {"vocab_size": 9, "width": 8, "ffn": 8, "layers": 1, "heads": 4, "kv_heads": 2, "head_dim": 2, "context": 8}
    with pytest.raises(ValueError, match=said):
        DecoderConfig(**sizes | change)
