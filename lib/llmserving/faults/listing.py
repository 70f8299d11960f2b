"""The source of a class that is to be read."""

from __future__ import annotations

import inspect
import textwrap
from typing import Any


def source_of(made: Any) -> str:
    """As it is written; of a class in a notebook, which may be kept nowhere, a sentence."""
    try:
        return textwrap.dedent(inspect.getsource(made))
    except (OSError, TypeError):
        return f"The source of {getattr(made, '__name__', made)} is not kept."
