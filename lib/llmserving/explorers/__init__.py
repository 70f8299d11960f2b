"""Explorers of the course: sliders around the figures. What they show is computed elsewhere in llmserving."""

from llmserving.explorers.batch import BatchExplorer, batch_explorer
from llmserving.explorers.batching import BatchingExplorer, batching_explorer
from llmserving.explorers.growth import GrowthExplorer, growth_explorer
from llmserving.explorers.hbm import HbmExplorer, hbm_explorer
from llmserving.explorers.memory import MemoryExplorer, memory_explorer
from llmserving.explorers.outlier import OutlierExplorer, outlier_explorer
from llmserving.explorers.paging_steps import PagingExplorer, paging_explorer
from llmserving.explorers.quantization import QuantizationExplorer, quantization_explorer
from llmserving.explorers.reservation import ReservationExplorer, reservation_explorer
from llmserving.explorers.roofline import RooflineExplorer, roofline_explorer
from llmserving.explorers.schedule_steps import ScheduleExplorer, schedule_explorer

__all__ = [
    "BatchExplorer", "BatchingExplorer", "GrowthExplorer", "HbmExplorer", "MemoryExplorer", "OutlierExplorer",
    "PagingExplorer", "QuantizationExplorer", "ReservationExplorer", "RooflineExplorer", "ScheduleExplorer",
    "batch_explorer", "batching_explorer", "growth_explorer", "hbm_explorer", "memory_explorer", "outlier_explorer",
    "paging_explorer", "quantization_explorer", "reservation_explorer", "roofline_explorer", "schedule_explorer",
]  # fmt: skip
