"""Figures of the course: data in, Figure out, with alt text made from the same data. Pure matplotlib, no pyplot."""

from llmserving.figures.awq_channels import awq_channels
from llmserving.figures.base import LessonFigure
from llmserving.figures.batch_curve import batch_curve
from llmserving.figures.batch_size import batch_size_over_time
from llmserving.figures.batching_timelines import batching_timelines
from llmserving.figures.block_map import block_map
from llmserving.figures.budget import HbmBudget
from llmserving.figures.budget_bars import budget_bars
from llmserving.figures.cache_sweep import cache_sweep
from llmserving.figures.decode_prediction import decode_prediction
from llmserving.figures.gptq_columns import gptq_columns
from llmserving.figures.group_steps import group_steps
from llmserving.figures.hbm_bar import hbm_bar
from llmserving.figures.kv_growth import KvGrowth, kv_growth
from llmserving.figures.measured_roofline import measured_roofline
from llmserving.figures.memory_over_time import memory_over_time
from llmserving.figures.model_comparison import model_comparison
from llmserving.figures.perplexity_bars import perplexity_bars
from llmserving.figures.promise_bars import promise_bars
from llmserving.figures.quantization_grid import quantization_grid
from llmserving.figures.request_gantt import request_gantt
from llmserving.figures.roofline_dots import roofline_dots
from llmserving.figures.schedule_state import schedule_state
from llmserving.figures.slot_use import slot_use
from llmserving.figures.smoothquant_channels import smoothquant_channels

__all__ = [
    "HbmBudget", "KvGrowth", "LessonFigure", "awq_channels", "batch_curve", "batch_size_over_time",
    "batching_timelines", "block_map", "budget_bars", "cache_sweep", "decode_prediction", "gptq_columns",
    "group_steps", "hbm_bar", "kv_growth", "measured_roofline", "memory_over_time", "model_comparison",
    "perplexity_bars", "promise_bars", "quantization_grid", "request_gantt", "roofline_dots", "schedule_state",
    "slot_use", "smoothquant_channels",
]  # fmt: skip
