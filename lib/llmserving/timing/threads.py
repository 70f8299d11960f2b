"""How many threads torch may use inside a block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def torch_threads(torch: Any, threads: int = 1) -> Iterator[None]:
    """So many threads inside, as many as before afterwards."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)
