"""A learner's folder without records yet, for the tests of what is kept in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from llmserving.exercises import learner, session
from llmserving.exercises.progress import Progress


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the records; the working directory lies beside it, and the kernel has just started."""
    records = tmp_path / session.RECORDS_FOLDER
    records.mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(session.LEARNER_VARIABLE, raising=False)
    monkeypatch.delenv(session.RECORDS_VARIABLE, raising=False)
    monkeypatch.setattr(learner, "PROGRESS", Progress())
    return records


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The names that the learner's cells have set."""
    names: dict[str, Any] = {}
    monkeypatch.setattr(session, "namespace", lambda: names)
    return names
