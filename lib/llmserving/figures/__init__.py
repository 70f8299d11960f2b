"""Figures of the course: data in, Figure out, with alt text made from the same data. Pure matplotlib, no pyplot."""

from llmserving.figures.base import LessonFigure
from llmserving.figures.batch_curve import batch_curve
from llmserving.figures.batch_size import batch_size_over_time
from llmserving.figures.block_map import block_map
from llmserving.figures.budget import HbmBudget
from llmserving.figures.budget_bars import budget_bars
from llmserving.figures.hbm_bar import hbm_bar
from llmserving.figures.memory_over_time import memory_over_time
from llmserving.figures.model_comparison import model_comparison
from llmserving.figures.request_gantt import request_gantt
from llmserving.figures.schedule_state import schedule_state

__all__ = [
    "HbmBudget", "LessonFigure", "batch_curve", "batch_size_over_time", "block_map", "budget_bars", "hbm_bar",
    "memory_over_time", "model_comparison", "request_gantt", "schedule_state",
]  # fmt: skip
