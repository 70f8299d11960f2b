"""How large language models are served: arithmetic, figures and exercises.

Importing this package stays light: no torch, no matplotlib, no widgets until something that needs them is used.
"""

from llmserving.exercises import another, check, hint, own_words, placement, recall, record, solution, status
from llmserving.hardware import GPUS, Gpu
from llmserving.kv_cache import kv_bytes, kv_bytes_for_request, kv_bytes_per_token
from llmserving.kv_pool import kv_pool
from llmserving.models import MODELS, ModelSpec
from llmserving.paging import PagedAllocator
from llmserving.planner import MemoryPlan, plan, weight_bytes
from llmserving.roofline import critical_batch, predict_decode, predict_prefill, ridge_point
from llmserving.scheduling import simulate
from llmserving.units import GB, GiB

__version__ = "0.1.0"

__all__ = [
    "GB", "GPUS", "MODELS", "GiB", "Gpu", "MemoryPlan", "ModelSpec", "PagedAllocator", "another", "check",
    "critical_batch", "hint", "kv_bytes", "kv_bytes_for_request", "kv_bytes_per_token", "kv_pool", "own_words",
    "placement", "plan", "predict_decode", "predict_prefill", "recall", "record", "ridge_point", "simulate", "solution",
    "status", "weight_bytes",
]  # fmt: skip
