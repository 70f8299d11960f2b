"""Two runs in one class folder: the second is refused in a sentence, and a run that was killed stands in nobody's way."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from grader.class_folder import ClassFolder
from grader.errors import UserError
from grader.one_run import LOCK, one_run
from grader.release import release

from grader import __main__ as cli
from tests.grader.submissions import graded, stopped

IN_HERE = (
    "another run of grade or release is going on in this class folder; wait until it has ended, then run this again"
)

HOLD = """
import sys
from pathlib import Path
from grader.one_run import one_run

with one_run(Path(sys.argv[1])):
    print("in here", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def other_run(folder: ClassFolder) -> Iterator[subprocess.Popen[str]]:
    """A process that is at work in the class folder."""
    command = [sys.executable, "-c", HOLD, str(folder.root)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "in here\n"
        yield process
        process.kill()


def test_a_second_run_changes_nothing_and_goes_on_once_the_first_was_killed(
    folder: ClassFolder, other_run: subprocess.Popen[str], capsys: pytest.CaptureFixture[str]
) -> None:
    files = [path for path in folder.root.rglob("*") if path.is_file()]
    before = {path: path.read_bytes() for path in files if path.name != LOCK}
    assert cli.main(["grade", "L1", "--again", "--class", str(folder.root)]) == 2
    assert cli.main(["release", "L1", "--class", str(folder.root)]) == 2
    assert capsys.readouterr() == ("", f"{IN_HERE}\n{IN_HERE}\n")
    assert [path for path in folder.root.rglob("*") if path.is_file()] == files
    assert {path: path.read_bytes() for path in before} == before
    assert cli.main(["report", "L1", "--class", str(folder.root)]) == 0
    other_run.kill()
    other_run.wait()
    assert (folder.root / LOCK).exists()
    assert graded(folder, students=["bob"], again=True)["bob"].score == 7


def test_a_run_lets_go_however_it_ends(folder: ClassFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    with one_run(folder.root), pytest.raises(UserError, match=IN_HERE):
        release(folder, ["L1"])
    with monkeypatch.context() as patch:
        patch.setattr(folder.api, "autograde", stopped)
        with pytest.raises(KeyboardInterrupt):
            graded(folder, again=True)
    with one_run(folder.root):
        pass


def test_a_lock_that_cannot_be_used_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / LOCK).write_text("no database" * 100)
    with pytest.raises(UserError, match="could not be locked .*; remove it and run this again"), one_run(tmp_path):
        pytest.fail("it was let in")
