"""News of a roster: whom a release with another roster than before adds and leaves out, and whose copies do not fit any more."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from grader.releases import PERSONAL, Release

_SHOWN = 10


def what_the_roster_changed(before: Release, learners: Sequence[str] | None, submitted: Collection[str]) -> list[str]:
    """Sentences; none where the same learners have copies of their own as at the release before.

    submitted: who has handed in already. Numbers follow from the id alone, so who stays keeps theirs.
    """
    if learners is None:
        return []
    if before.learners is None:
        return [
            "the learners on the roster have numbers of their own from now on; a copy with the course's numbers, as handed out "
            f"before, needs attention when one of them hands it in{_already(learners, submitted)}"
        ]
    added = [name for name in learners if name not in before.learners]
    gone = [name for name in before.learners if name not in learners]
    news = [f"new on the roster: {_named(added)}"] if added else []
    if gone:
        news.append(
            f"not on the roster any more: {_named(gone)}; what they have in {PERSONAL}/ stays, but needs attention when they "
            f"hand it in{_already(gone, submitted)}; a release with a roster that names them again puts it right"
        )
    return news


def _already(names: Sequence[str], submitted: Collection[str]) -> str:
    have = [name for name in names if name in submitted]
    return f" ({_named(have)}: handed in already)" if have else ""


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
