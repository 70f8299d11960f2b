"""How large language models are served: arithmetic, figures and exercises.

Importing this package stays light: no torch, no matplotlib, no widgets until something that needs them is used.
"""

from llmserving.exercises import another, check, hint, status
from llmserving.kv_cache import kv_bytes
from llmserving.planner import weight_bytes
from llmserving.units import GB, GiB

__version__ = "0.1.0"

__all__ = ["GB", "GiB", "another", "check", "hint", "kv_bytes", "status", "weight_bytes"]
