"""Figures of the course: data in, Figure out, with alt text made from the same data. Pure matplotlib, no pyplot."""

from llmserving.figures.base import LessonFigure
from llmserving.figures.budget import HbmBudget
from llmserving.figures.hbm_bar import hbm_bar

__all__ = ["HbmBudget", "LessonFigure", "hbm_bar"]
