"""Weights: any Llama-style directory loads, what does not fit is named, and the shipped checkpoint's recipe runs."""

from __future__ import annotations

import gzip
import json
import shutil
import struct
import subprocess
import zlib
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests import skips

skips.need_torch()

import torch  # noqa: E402
from llmserving.tinylm import Decoder, DecoderConfig, corpus, generate, load, train  # noqa: E402
from llmserving.tinylm.gguf_weights import halves_together  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402
from torch import Tensor  # noqa: E402

TINY = DecoderConfig(
    vocab_size=256, width=32, ffn=64, layers=2, heads=4, kv_heads=2, head_dim=8, context=64, name="tiny"
)
WEIGHTS = "model.safetensors"


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def decoder(config: DecoderConfig = TINY) -> Decoder:
    torch.manual_seed(0)
    return Decoder(config).requires_grad_(False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    train.save(decoder(), tmp_path / "tiny")
    return tmp_path / "tiny"


def change_weights(folder: Path, change: dict[str, Tensor | None]) -> None:
    tensors: dict[str, Any] = load_file(folder / WEIGHTS) | change
    save_file({name: tensor for name, tensor in tensors.items() if tensor is not None}, folder / WEIGHTS)


def change_config(folder: Path, **change: Any) -> None:
    values = json.loads((folder / "config.json").read_text()) | change
    (folder / "config.json").write_text(json.dumps(values))


def test_a_directory_of_yours_loads_and_generates(folder: Path) -> None:
    model = load(folder)
    assert model.name == "tiny"
    assert model is load(str(folder))
    assert model.decoder.embed_tokens.weight.dtype == torch.float32
    for name, weight in decoder().state_dict().items():
        assert torch.equal(model.decoder.state_dict()[name], weight.half().float()), name
    assert len(list(generate(model, "abc", 5))) == 5


def test_bfloat16_in_several_files_and_a_head_of_its_own_load(folder: Path) -> None:
    tensors = {name: tensor.bfloat16() for name, tensor in load_file(folder / WEIGHTS).items()}
    head = torch.randn(256, 32)
    first = {name: tensor for name, tensor in tensors.items() if ".layers.0." in name}
    save_file(first, folder / "model-00001-of-00002.safetensors")
    rest = {name: tensor for name, tensor in tensors.items() if name not in first} | {"lm_head.weight": head}
    save_file(rest, folder / "model-00002-of-00002.safetensors")
    (folder / WEIGHTS).unlink()
    change_config(folder, tie_word_embeddings=False, eos_token_id=[10, 11])
    model = load(folder)
    assert torch.equal(model.decoder.lm_head.weight, head)
    assert model.decoder.lm_head.weight is not model.decoder.embed_tokens.weight
    assert model.end == 10


def need_tokenizers() -> Any:
    if find_spec("tokenizers") is None:
        skips.skip("no SmolLM2")
    return import_module("tokenizers")


@pytest.mark.slow  # tokenizers comes with `make model`, which the slow tier has behind it
def test_a_tokenizer_json_is_used(folder: Path) -> None:
    tokenizers = need_tokenizers()
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({"so": 0, "it": 1, "goes": 2, "?": 3}, unk_token="?"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    assert load(folder).encode("so it goes") == [0, 1, 2]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"model.norm.weight": None}, "has no tensor norm.weight, which the config asks for"),
        ({"model.embed_tokens.weight": None}, "has no tensor embed_tokens.weight"),
        (
            {"model.layers.0.self_attn.q_proj.bias": torch.zeros(32)},
            "has a tensor layers.0.self_attn.q_proj.bias, for which",
        ),
        ({"model.norm.weight": torch.ones(16)}, r"norm.weight is \[16\], but the config makes it \[32\]"),
        ({"model.norm.weight": torch.full((32,), float("nan"))}, "norm.weight has NaN or infinity among its weights"),
        ({"model.norm.weight": torch.full((32,), float("inf"))}, "norm.weight has NaN or infinity among its weights"),
        (
            {"model.norm.weight": torch.ones(32, dtype=torch.int8)},
            "norm.weight is of torch.int8, but weights are read as floats: codes of a quantized",
        ),
        ({"model.norm.weight": torch.ones(32).to(torch.float8_e4m3fn)}, "norm.weight is of torch.float8_e4m3fn, but"),
    ],
)
def test_weights_that_do_not_fit_are_named(folder: Path, change: dict[str, Tensor | None], said: str) -> None:
    change_weights(folder, change)
    with pytest.raises(ValueError, match=said):
        load(folder)


def test_what_an_old_checkpoint_stores_beside_its_weights_is_left_out(folder: Path) -> None:
    change_weights(
        folder, {"model.layers.0.self_attn.rotary_emb.inv_freq": torch.ones(4), "lm_head.weight": torch.ones(1)}
    )
    assert load(folder).name == "tiny"


@pytest.mark.parametrize(
    ("file", "content", "error", "said"),
    [
        ("config.json", None, FileNotFoundError, "has no config.json, which states the shape"),
        ("config.json", b"{", ValueError, "config.json is not JSON"),
        (WEIGHTS, None, FileNotFoundError, "which hold the weights"),
        (WEIGHTS, b"12345678", ValueError, "cannot be read as safetensors"),
    ],
)
def test_a_directory_that_lacks_something_says_what(
    folder: Path, file: str, content: bytes | None, error: type[Exception], said: str
) -> None:
    (folder / file).unlink(missing_ok=True)
    if content is not None:
        (folder / file).write_bytes(content)
    with pytest.raises(error, match=said):
        load(folder)


@pytest.mark.slow
def test_a_tokenizer_that_is_none_is_refused(folder: Path) -> None:
    need_tokenizers()
    (folder / "tokenizer.json").write_bytes(b"{}")
    with pytest.raises(ValueError, match="tokenizer.json cannot be read as a tokenizer"):
        load(folder)


def test_words_without_a_tokenizer_are_refused(tmp_path: Path) -> None:
    train.save(decoder(DecoderConfig(**{**vars(TINY), "vocab_size": 300})), tmp_path / "words")
    with pytest.raises(FileNotFoundError, match="has no tokenizer.json, and its 300 tokens are not the 256 bytes"):
        load(tmp_path / "words")


def test_a_name_that_is_no_model_is_refused() -> None:
    with pytest.raises(ValueError, match="name is 'austen-bierce', 'smollm2-135m' or a directory with config.json"):
        load("gpt-5")


def test_gguf_turns_neighbours_and_we_turn_halves() -> None:
    ours = torch.arange(2 * 6 * 3.0).view(12, 3)  # 2 heads of 6 rows
    theirs = torch.cat([head[[0, 3, 1, 4, 2, 5]] for head in ours.split(6)])
    assert torch.equal(halves_together(theirs, heads=2), ours)


# The recipe


def test_the_recipe_learns_and_leaves_a_directory_that_loads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "the quick brown fox jumps over the lazy dog. " * 40
    for name, value in {"CONFIG": TINY, "STEPS": 30, "WARM_UP": 5}.items():
        monkeypatch.setattr(train, name, value)
    texts = corpus.Corpus({"austen": text, "devil": text}, {"austen": text[:700], "devil": text[:700]})
    model, losses = train.train(texts)
    assert losses["austen"] == losses["devil"] < 4.5
    train.save(model, tmp_path / "trained")
    train.write_texts(texts, tmp_path / "texts")
    loaded = load(tmp_path / "trained")
    assert train.held_out_loss(loaded.decoder, train.as_bytes(text[:700])) == pytest.approx(losses["austen"], abs=0.02)
    assert (tmp_path / "texts" / "held_out_devil.txt").read_text() == text[:700]


def r_strings(lines: list[str]) -> bytes:
    """A vector of strings as R writes it."""
    packed = b"X\n" + bytes(12) + struct.pack(">Ii", 16, len(lines))
    for line in lines:
        packed += struct.pack(">Ii", 0x00040009, len(line.encode())) + line.encode()
    return packed


def package(folder: Path, name: str, path: str, content: bytes) -> None:
    built = folder / name
    (built / "DEBIAN").mkdir(parents=True)
    (built / "DEBIAN" / "control").write_text(
        f"Package: {name}\nVersion: 1\nArchitecture: all\nMaintainer: x\nDescription: x\n"
    )
    (built / path).parent.mkdir(parents=True)
    (built / path).write_bytes(content)
    subprocess.run(["dpkg-deb", "--build", built, folder / f"{name}_1_all.deb"], check=True, capture_output=True)


def test_the_corpus_is_read_from_the_two_packages(tmp_path: Path) -> None:
    if shutil.which("dpkg-deb") is None:
        skips.skip("no dpkg-deb")
    novels = [["EMMA", "", "Emma Woodhouse, handsome,", "clever; fiancé"] * 10, ["PERSUASION", "THE END"]]
    data = b"".join(struct.pack(">I", 0) + zlib.compress(r_strings(lines)) for lines in novels)
    package(tmp_path, "r-cran-janeaustenr", corpus.AUSTEN, data)
    with pytest.raises(FileNotFoundError, match="no dict-devil_.*: run `apt-get download dict-devil` there"):
        corpus.read(tmp_path)
    dictionary = (
        "server's lines\nABASEMENT, n.  A decent\n     attitude\n\n\n\nABATIS, n.\n  abcdefghijklmnopqrstuvwxyz\n"
    )
    package(tmp_path, "dict-devil", corpus.DEVIL, gzip.compress(dictionary.encode()))
    found = corpus.read(tmp_path)
    whole = {name: found.train[name] + found.held_out[name] for name in found.train}
    assert whole["devil"] == "ABASEMENT, n. A decent\nattitude\n\nABATIS, n.\n"
    assert whole["austen"].startswith("EMMA\n\nEmma Woodhouse, handsome,\nclever; fiance\nEMMA")
    assert whole["austen"].endswith("PERSUASION\nTHE END\n")
    assert len(found.held_out["austen"]) == len(whole["austen"]) // 20
