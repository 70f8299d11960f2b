"""Two ways to stop: a sentence for whoever typed the command, and a sentence about one submission."""

from __future__ import annotations


class UserError(Exception):
    """A command that cannot be carried out; its message is one sentence for the user, and nothing was changed."""


class NotGraded(Exception):
    """One submission needs a human: it is not graded, which is never the same as zero. The others go on."""
