"""The answer key: `KEY`, id -> Key, and `grade`, the one verdict behind every door."""

from grader.answer_key.grading import grade, reference_answers
from grader.answer_key.key import Key
from grader.answer_key.keys import KEY

__all__ = ["KEY", "Key", "grade", "reference_answers"]
