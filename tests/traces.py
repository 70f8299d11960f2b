"""The real traces that some slow tests read, from the folder that LLMSERVING_TRACES names."""

from __future__ import annotations

import os
from pathlib import Path

from tests import skips

VARIABLE = "LLMSERVING_TRACES"


def need_azure(kind: str) -> Path:
    """The Azure trace of that kind, "conv" or "code", or an allowed skip where no folder is named."""
    return _need(f"AzureLLMInferenceTrace_{kind}.csv")


def need_mooncake() -> Path:
    """Mooncake's conversation trace, or an allowed skip where no folder is named."""
    return _need("mooncake_conversation_trace.jsonl")


def _need(filename: str) -> Path:
    folder = os.environ.get(VARIABLE)
    if not folder:
        skips.skip("no traces")
    assert folder
    path = Path(folder) / filename
    # A named folder without the file is a mistake, not a machine without traces.
    assert path.is_file(), f"{VARIABLE} names {folder}, but there is no {filename} in it"
    return path
