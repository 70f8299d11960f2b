"""First of all: is this the notebook that was handed out to the learner in whose folder it lies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nbgrader.preprocessors import NbGraderPreprocessor

from grader.claims import check_claims
from grader.preprocessors.cells import add_note, start_report
from grader.releases import latest_release, read_releases
from grader.render import METADATA


class CheckClaims(NbGraderPreprocessor):  # type: ignore[misc]
    """Stops a submission whose claims do not fit, and begins its report."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        at = resources["nbgrader"]
        latest = latest_release(Path.cwd(), at["assignment"])
        claims = nb.metadata.get(METADATA)
        notes = check_claims(
            claims if isinstance(claims, dict) else {},
            at["student"],
            read_releases(Path.cwd(), at["assignment"]),
        )
        start_report(nb, at["student"], latest.learner_of(at["student"]))
        for note in notes:
            add_note(nb, note)
        return nb, resources
