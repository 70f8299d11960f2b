"""The last touch of a release: rendered once more, and nothing left in it of the session that made it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from llmserving.exercises.draws import DEFAULT_LEARNER
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Float

from grader.own_words import graded_by_hand
from grader.releases import own_words_before
from grader.render import render_notebook
from grader.student_version import tidied


class PrepareRelease(NbGraderPreprocessor):  # type: ignore[misc]
    """After nbgrader's ClearSolutions: an answer cell is exactly its `name = ...` lines again.

    own_words: points for each text in own words; as in the last release where it is not set, as by plain nbgrader.
    """

    own_words = Float(None, allow_none=True).tag(config=True)

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        notebook = render_notebook(tidied(nb), DEFAULT_LEARNER)
        before = own_words_before(Path.cwd(), resources["nbgrader"]["assignment"])
        graded_by_hand(notebook, before if self.own_words is None else self.own_words)
        return notebook, resources
