"""`python -m llmserving plan` prints a plan, and answers a question that makes no sense with one sentence and exit 2."""

from __future__ import annotations

import json
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from llmserving import plan
from llmserving.__main__ import main
from llmserving.plan_command import NUMBERS, plan_numbers


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["plan", *arguments]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The sentence on stderr; argparse leaves by SystemExit, our own refusals by the code."""
    try:
        code: object = main(["plan", *arguments])
    except SystemExit as leaving:
        code = leaving.code
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert "Traceback" not in err
    return err


def test_in_a_process_of_its_own_it_prints_the_plan_and_loads_nothing_heavy() -> None:
    program = (
        "import runpy, sys; sys.argv = ['llmserving', 'plan', 'llama-3.1-8b', 'h100-80gb', '--context', '8192']\n"
        "try:\n    runpy.run_module('llmserving', run_name='__main__')\n"
        "except SystemExit as leaving:\n    print(leaving.code, 'matplotlib' in sys.modules, file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == plan("llama-3.1-8b", "h100-80gb", context=8192).explain()
    assert ran.stderr.split() == ["0", "False"]


def test_a_bad_name_is_answered_on_stderr_with_the_nearest_ones() -> None:
    command = [sys.executable, "-m", "llmserving", "plan", "llama-3.1-8", "h100-80gb"]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("python -m llmserving plan: there is no model 'llama-3.1-8'")
    assert "'llama-3.1-8b'" in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


def test_every_flag_reaches_the_planner(capsys: pytest.CaptureFixture[str]) -> None:
    out = told(
        capsys, "llama-3.1-70b", "h100-80gb", "--context", "8192", "--requests", "100", "--weights", "int4", "--kv", "fp8",
        "--tp", "4", "--pp", "2", "--utilization", "0.95", "--block-size", "32", "--max-num-seqs", "256",
    )  # fmt: skip
    made = plan("llama-3.1-70b", "h100-80gb", "int4", "fp8", 8192, 100, 4, 2, 0.95, 32, 256)
    assert out.strip() == made.explain()


def test_the_textbook_view_gives_the_course_s_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    out = told(capsys, "course-13b", "h100-80gb", "--weights", "int4", "--view", "textbook")
    for number in ("6.500 GB", "53.687 GB", "19.813 GB", "5.905"):
        assert number in out


def test_what_does_not_fit_is_a_result_with_its_shortfall(capsys: pytest.CaptureFixture[str]) -> None:
    assert "Does not fit: weights of 131.417 GiB" in told(capsys, "llama-3.1-70b", "h100-80gb")


def test_json_has_the_numbers_of_the_plan(capsys: pytest.CaptureFixture[str]) -> None:
    numbers = json.loads(told(capsys, "llama-3.1-8b", "h100-80gb", "--json"))
    made = plan("llama-3.1-8b", "h100-80gb")
    assert numbers == plan_numbers(made)
    assert set(numbers) == {"model", "gpu", *NUMBERS}
    assert numbers["headroom_bytes"] == made.headroom_bytes
    assert numbers["fits"] is True


@pytest.mark.parametrize(("suffix", "start"), [(".svg", b"<svg"), (".png", b"\x89PNG")])
def test_a_figure_is_written_beside_the_text(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, suffix: str, start: bytes
) -> None:
    path = tmp_path / f"budget{suffix}"
    assert "Fits: " in told(capsys, "llama-3.1-8b", "h100-80gb", "--figure", str(path))
    assert path.read_bytes().startswith(start)
    if suffix == ".svg":
        assert ElementTree.parse(path).getroot().get("role") == "img"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("llama-3.1-8b", "h10"), "there is no GPU 'h10'"),
        (("llama-3.1-8b", "h100-80gb", "--tp", "3"), "tensor_parallel 3 does not divide the 32 query heads"),
        (("llama-3.1-8b", "h100-80gb", "--weights", "int5"), "weight_dtype 'int5' is not known; did you mean"),
        (("llama-3.1-8b", "h100-80gb", "--kv", "int5"), "kv_dtype 'int5' is not known; did you mean"),
        (("llama-3.1-8b", "h100-80gb", "--utilization", "90"), "90 % is 0.9"),
        (("llama-3.1-8b", "h100-80gb", "--utilization", "nan"), "got NaN"),
        (("llama-3.1-8b", "h100-80gb", "--context", "0"), "context is the number of tokens a request"),
        (("llama-3.1-8b", "h100-80gb", "--context", "8k"), "invalid int value: '8k'"),
        (("llama-3.1-8b", "h100-80gb", "--view", "page"), "choose one of engine, textbook"),
        (("llama-3.1-8b", "h100-80gb", "--view", "textbook", "--tp", "2"), "tensor_parallel belongs to view='engine'"),
        (("llama-3.1-8b", "h100-80gb", "--figure", "budget.pdf"), "--figure writes .svg or .png, but got 'budget.pdf'"),
        (
            ("llama-3.1-8b", "h100-80gb", "--figure", "/nowhere/at/all.svg"),
            "--figure cannot write '/nowhere/at/all.svg'",
        ),
        (("llama-3.1-8b",), "the following arguments are required: gpu"),
    ],
)
def test_a_question_that_makes_no_sense_gets_a_sentence_and_exit_2(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    assert words in refused(capsys, *arguments)


def test_an_unknown_command_is_told_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as leaving:
        main(["plam"])
    assert leaving.value.code == 2
    assert "plan" in capsys.readouterr().err


def test_the_numbers_in_json_add_up() -> None:
    numbers = plan_numbers(plan("gemma-3-27b", "a100-80gb", context=8192, requests=4))
    spent = numbers["weight_bytes"] + numbers["activation_bytes"] + numbers["other_bytes"]
    assert numbers["budget_bytes"] - spent == numbers["kv_bytes_available"]
    beside = numbers["kv_bytes_needed"] + numbers["reserved_bytes"]
    assert numbers["kv_bytes_available"] - beside == numbers["headroom_bytes"]
    assert numbers["block_size"] == 16


def test_a_picture_s_suffix_may_be_in_capitals(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    told(capsys, "llama-3.1-8b", "h100-80gb", "--figure", str(tmp_path / "BUDGET.PNG"))
    assert (tmp_path / "BUDGET.PNG").read_bytes().startswith(b"\x89PNG")
