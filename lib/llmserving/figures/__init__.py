"""Figures of the course: data in, Figure out, with alt text made from the same data. Pure matplotlib, no pyplot."""

from llmserving.figures.base import LessonFigure
from llmserving.figures.batch_curve import batch_curve
from llmserving.figures.budget import HbmBudget
from llmserving.figures.budget_bars import budget_bars
from llmserving.figures.hbm_bar import hbm_bar
from llmserving.figures.model_comparison import model_comparison

__all__ = ["HbmBudget", "LessonFigure", "batch_curve", "budget_bars", "hbm_bar", "model_comparison"]
