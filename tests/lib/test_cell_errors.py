"""A comma in a number that Python refuses is told what to write.

The stop button: where a learner's code was stopped is a sentence, wherever the course runs it, and nothing is recorded.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.lib.kernels import kernel_in

STOP = "import signal\n"
HERE = "signal.raise_signal(signal.SIGINT)"  # what the stop button sends
UNRECORDED = (
    "It had not come to an end, so nothing was recorded and nothing has changed. Look for a loop that does not end."
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A learner's folder, in which an answer was checked once."""
    made = tmp_path_factory.mktemp("learn")
    (made / ".llmserving").mkdir()
    return made


@pytest.fixture(scope="module")
def kernel(folder: Path) -> Any:
    """A function that runs a cell in a kernel and gives back what it shows of errors."""
    with kernel_in(folder) as errors_of:

        def shown(source: str) -> list[str]:
            errors = errors_of(source)
            assert {name for name, _ in errors} <= {"KeyboardInterrupt", "SyntaxError"}, (
                "by which grading knows why it stopped"
            )
            return [text for _, text in errors]

        yield shown


FACTORS = "layers, query_heads, kv_heads, head_dim, bits, latent_dim=None"
FUNCTION = f"{STOP}def kv_bytes_per_token({FACTORS}):\n    while True:\n        {HERE}"
CLASS = f"""{STOP}class Mine:
    def __init__(self, num_blocks, block_size):
        self.free_blocks = list(range(num_blocks))
    def table(self, request_id):
        return []
    def allocate(self, request_id, token_ids):
        while True:
            {HERE}"""
SCHEDULER = f"{STOP}class Mine:\n    def schedule(self, engine):\n        {HERE}"
SEATED = f"{SCHEDULER}\n    seats_of, num_seats, free_seats = {{}}, 0, []"


@pytest.mark.parametrize(
    ("written", "call", "where"),
    [
        (FUNCTION, "from llmserving import check\ncheck('LAB2.1')", "kv_bytes_per_token, line 4"),
        (CLASS.replace("Mine", "PagedKV"), "from llmserving import check\ncheck('LAB3A.2')", "allocate, line 9"),
        (
            CLASS,
            "from llmserving.explorers import paging_explorer\npaging_explorer(allocator=Mine)",
            "allocate, line 9",
        ),
        (
            SCHEDULER,
            "from llmserving.explorers import schedule_explorer\nschedule_explorer(policy=Mine)",
            "schedule, line 4",
        ),
        (SEATED, "from llmserving.faults import fir_day, trace\ntrace(fir_day(), Mine)", "schedule, line 4"),
        (CLASS, "from llmserving.faults import ash_day, trace\ntrace(ash_day(), Mine)", "allocate, line 9"),
        (
            f"{STOP}def mine():\n    {HERE}",
            "from llmserving.clinic import LONG_PROMPTS, serve_yours\nserve_yours(LONG_PROMPTS, mine)",
            "mine, line 3",
        ),
    ],
    ids=["function", "class", "paging explorer", "schedule explorer", "trace of seats", "trace of blocks", "clinic"],
)
def test_who_stops_an_endless_answer_reads_where_it_was_and_nothing_is_recorded(
    written: str, call: str, where: str, kernel: Any, folder: Path
) -> None:
    assert kernel("from llmserving import check\ncheck('L2.1', 1.07)") == kernel(written) == []
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert [path.name for path in before] == ["progress.json"]
    assert kernel(call) == [f"Stopped in {where}: {HERE}\n{UNRECORDED}"]
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_who_stops_the_course_s_own_code_reads_the_line_that_called_it(kernel: Any) -> None:
    kernel(f"{STOP}from functools import partial\nfrom llmserving.clinic import LONG_PROMPTS, serve_yours")
    call = "serve_yours(LONG_PROMPTS, partial(signal.raise_signal, signal.SIGINT))"
    assert kernel(f"'one'\n{call}") == [
        f"Stopped in this cell, line 2: {call}\nThe course's own code was still at work. Run the cell again when there is time "
        "for it."
    ]


def test_whose_code_raises_the_stop_itself_is_told_of_a_bug_and_nothing_is_stopped(kernel: Any) -> None:
    kernel(CLASS.replace(HERE, "raise KeyboardInterrupt"))
    assert kernel("from llmserving.explorers import paging_explorer\npaging_explorer(allocator=Mine)") == []
    kernel(SCHEDULER.replace(HERE, "raise KeyboardInterrupt"))
    assert kernel("from llmserving.explorers import schedule_explorer\nschedule_explorer(policy=Mine)") == []
    kernel(FUNCTION.replace(HERE, "raise KeyboardInterrupt"))
    assert kernel("from llmserving import check\nscore = check('LAB2.1')") == []
    said = "stopped with KeyboardInterrupt, in kv_bytes_per_token, line 4: `raise KeyboardInterrupt`"
    assert kernel(f"assert {said!r} in score.verdicts[0].message, score.verdicts[0].message") == []


def test_a_loop_in_a_cell_of_the_learner_s_own_keeps_ipython_s_trace(kernel: Any) -> None:
    [shown] = kernel(f"{STOP}{HERE}")
    assert "Traceback" in shown


ZERO = "numbers to Python, and none may begin with 0"
POINT, GROUPS = "If that is a decimal comma, write a point", "If a comma groups thousands, leave it out"


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("L2_1_kv_gb = 1,07", [f"1,07 is 2 {ZERO} (line 1 of this cell).", f"{POINT}: 1.07."]),
        (
            "a = [3, 07.5]\nL2_1_kv_gb = '1,05' + 12,09  # 1,08",
            [f"12,09 is 2 {ZERO} (line 2 of this cell).", f"{POINT}: 12.09."],
        ),
        ("kv = 1,073", [f"1,073 is 2 {ZERO} (line 1 of this cell).", f"{POINT}: 1.073.", f"{GROUPS}: 1073."]),
        ("kv = 1,073,741,824", [f"1,073,741,824 is 4 {ZERO} (line 1 of this cell).", f"{GROUPS}: 1073741824."]),
    ],
)
def test_a_comma_before_a_zero_is_told_what_to_write(written: str, said: list[str], kernel: Any) -> None:
    assert kernel("from llmserving import check") == []
    assert kernel(written) == ["\n".join(said)]


@pytest.mark.parametrize("written", ["x = 007", "x = 3, 07", "x = f(1,07,5)"])
def test_another_zero_that_python_refuses_keeps_python_s_own_words(written: str, kernel: Any) -> None:
    kernel("from llmserving import check")
    [shown] = kernel(written)
    assert "leading zeros in decimal integer literals are not permitted" in shown
    assert "compilerop" not in shown, "and nothing of IPython's inside"


def test_a_syntax_error_of_code_that_runs_keeps_its_trace(kernel: Any) -> None:
    kernel("from llmserving import check")
    [shown] = kernel("def mine():\n    eval('1 +')\nmine()")
    assert "mine()" in shown
    assert "invalid syntax" in shown
