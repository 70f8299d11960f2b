"""Worked solutions: `worked_solution`, the steps of an exercise in one learner's numbers."""

from grader.answer_key.worked.solution import worked_solution

__all__ = ["worked_solution"]
