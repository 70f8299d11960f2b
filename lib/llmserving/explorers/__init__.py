"""Explorers of the course: sliders around the figures. What they show is computed elsewhere in llmserving."""

from llmserving.explorers.batch import BatchExplorer, batch_explorer
from llmserving.explorers.hbm import HbmExplorer, hbm_explorer
from llmserving.explorers.memory import MemoryExplorer, memory_explorer
from llmserving.explorers.paging_steps import PagingExplorer, paging_explorer
from llmserving.explorers.schedule_steps import ScheduleExplorer, schedule_explorer

__all__ = [
    "BatchExplorer", "HbmExplorer", "MemoryExplorer", "PagingExplorer", "ScheduleExplorer", "batch_explorer",
    "hbm_explorer", "memory_explorer", "paging_explorer", "schedule_explorer",
]  # fmt: skip
