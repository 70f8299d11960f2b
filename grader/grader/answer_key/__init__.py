"""The answer key: `KEY`, id -> Key, and `grade`, the one verdict behind every door; `inputs`, what code is tried on, and
`worked_solution`.
"""

from grader.answer_key.grading import grade, reference_answers
from grader.answer_key.inputs import inputs
from grader.answer_key.key import Key
from grader.answer_key.keys import KEY
from grader.answer_key.worked import worked_solution

__all__ = ["KEY", "Key", "grade", "inputs", "reference_answers", "worked_solution"]
