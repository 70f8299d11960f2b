"""Both command lines, read by somebody who has left already: no trace, and the exit status is that of the command."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

import pytest

from grader import __main__ as grader_cli

PLAN = ["plan", "llama-3.1-8b", "h100-80gb"]
CALLS = [
    (["llmserving", *PLAN], 0),
    (["llmserving", *PLAN, "--json"], 0),
    (["llmserving", "plan", "no-such-model", "h100-80gb"], 2),
    (["llmserving", "plan", "--help"], 0),
    (["llmserving", "bandwidth", "--recorded", "list"], 0),
    (["llmserving", "bandwidth", "--help"], 0),
    (["grader", "doctor"], 0),
    (["grader", "report", "L1", "--class", "no-such-folder"], 2),
    (["grader", "selftest", "L9"], 2),
]


def unread(arguments: list[str], *, errors_too: bool = False) -> tuple[int, str]:
    """The exit status, and what came on stderr, of `python -m` with an output that nobody reads."""
    read, write = os.pipe()
    os.close(read)
    errors = subprocess.STDOUT if errors_too else subprocess.PIPE
    ran = subprocess.run([sys.executable, "-m", *arguments], stdout=write, stderr=errors, text=True)
    os.close(write)
    return ran.returncode, ran.stderr or ""


@pytest.mark.parametrize(("arguments", "status"), CALLS, ids=[" ".join(arguments) for arguments, _ in CALLS])
def test_a_reader_who_has_read_enough_is_no_fault(arguments: list[str], status: int) -> None:
    found, errors = unread(arguments)
    assert found == status
    assert "BrokenPipe" not in errors
    assert "Traceback" not in errors
    assert (errors == "") == (status == 0)


def test_neither_is_one_who_reads_no_errors_either() -> None:
    assert unread(["llmserving", "plan", "no-such-model", "h100-80gb"], errors_too=True) == (2, "")


@pytest.mark.slow
def test_the_help_of_every_command_of_the_grader_may_be_left_unread() -> None:
    [commands] = [action for action in grader_cli.parser()._actions if isinstance(action, argparse._SubParsersAction)]
    assert len(commands.choices) > 8
    for name in commands.choices:
        assert unread(["grader", name, "--help"]) == (0, ""), name


def test_what_is_read_is_whole() -> None:
    ran = subprocess.run([sys.executable, "-m", "llmserving", *PLAN], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[0].startswith("llama-3.1-8b on h100-80gb")
    assert ran.stdout.endswith("\n")
    assert len(ran.stdout.splitlines()) > 5
