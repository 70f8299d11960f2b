"""What a submitted notebook says of itself, held against the folder it lies in and the list of releases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from grader.errors import NotGraded
from grader.releases import Release


def check_claims(claims: Mapping[str, Any], student: str, releases: Sequence[Release]) -> list[str]:
    """Notes for the report; NotGraded where the claims name another learner, or a release that does not fit.

    claims: "learner" and "release" of the notebook's metadata. They are claims: whose numbers are graded follows from
    the folder alone. A notebook without them (some editors drop metadata) is graded against the latest release.
    """
    latest = releases[-1]
    expected = latest.learner_of(student)
    learner, version = claims.get("learner"), claims.get("release")
    if learner is not None and learner != expected:
        whose = "carries the course's own numbers" if expected != student else f"was made for {student}"
        raise NotGraded(
            f"the notebook says it was made for {_quoted(learner)}, but the copy released to {student} {whose}"
        )
    if version is None:
        return [f"the notebook does not say which release it is; graded against {latest.version}"]
    named = next((release for release in reversed(releases) if release.version == version), None)
    if named is None:
        raise NotGraded(
            f"the notebook says it is release {_quoted(version)} of {latest.assignment}, which is not in releases.json"
        )
    if named.exercises != latest.exercises:
        raise NotGraded(
            f"the notebook is release {version} of {latest.assignment}; the exercises have changed since, in {latest.version}"
        )
    return []


def _quoted(claim: Any) -> str:
    return repr(claim)[:80]
