"""A progress bar over the requests of a long simulation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def requests_bar(total: int, *, shown: bool) -> Iterator[Callable[[int], object]]:
    """A function that is told of how many more requests are done."""
    if not shown:
        yield lambda _: None
        return
    from tqdm.auto import tqdm  # type: ignore[import-untyped]  # imported late: it brings the notebook's widgets along

    with tqdm(total=total, unit=" requests", leave=False) as bar:
        yield bar.update
