"""The public half of every exercise, and the learner's calls, from check and hint to status and placement."""

from llmserving.exercises.catalogue import EXERCISES, GROUPS, NOTEBOOK_OF
from llmserving.exercises.cell_errors import tell_cell_errors
from llmserving.exercises.collect import collect
from llmserving.exercises.exercise import Exercise, Option, Part
from llmserving.exercises.learner import another, check, hint, placement, recall, status
from llmserving.exercises.own_text import own_words
from llmserving.exercises.record import record
from llmserving.exercises.solutions import solution
from llmserving.exercises.verdict import PartVerdict, Verdict

__all__ = [
    "EXERCISES", "GROUPS", "NOTEBOOK_OF", "Exercise", "Option", "Part", "PartVerdict", "Verdict",
    "another", "check", "collect", "hint", "own_words", "placement", "recall", "record", "solution", "status",
]  # fmt: skip

tell_cell_errors()
