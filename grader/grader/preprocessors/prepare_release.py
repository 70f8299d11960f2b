"""The last touch of a release: rendered once more, and nothing left in it of the session that made it."""

from __future__ import annotations

from typing import Any

from llmserving.exercises.draws import DEFAULT_LEARNER
from nbgrader.preprocessors import NbGraderPreprocessor

from grader.render import render_notebook
from grader.student_version import tidied


class PrepareRelease(NbGraderPreprocessor):  # type: ignore[misc]
    """After nbgrader's ClearSolutions: an answer cell is exactly its `name = ...` lines again."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        return render_notebook(tidied(nb), DEFAULT_LEARNER), resources
