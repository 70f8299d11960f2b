"""What a test has to tell stands at the end of the run, though the test passes and its output is captured."""

from __future__ import annotations

from pathlib import Path

import pytest

TELLING = (
    "def test_it(record_property):\n    record_property('said', 'L9/nowhere: 1.5 s of CPU')\n    print('unheard')\n"
)


def test_a_passing_test_is_heard(pytester: pytest.Pytester) -> None:
    pytester.makeconftest((Path(__file__).parent / "conftest.py").read_text())
    pytester.makepyfile(test_telling=TELLING, test_silent="def test_it():\n    print('unheard')\n")
    result = pytester.runpytest("test_telling.py")
    result.stdout.fnmatch_lines(["*measured and listed*", "L9/nowhere: 1.5 s of CPU"])
    result.stdout.no_fnmatch_line("unheard")
    pytester.runpytest("test_silent.py").stdout.no_fnmatch_line("*measured and listed*")
