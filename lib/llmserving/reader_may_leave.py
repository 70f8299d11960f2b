"""A command goes on where the reader of its output has read enough, as `| head -1` has."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO


class _Pipe(io.FileIO):
    """What nobody reads any more goes nowhere."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            return memoryview(data).nbytes


@contextmanager
def reader_may_leave() -> Iterator[None]:
    """Within it, the standard streams take what is printed though the reader has left: no trace, and the exit status holds."""
    streams = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (_over_a_pipe(stream) for stream in streams)
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        sys.stdout, sys.stderr = streams


def _over_a_pipe(stream: TextIO) -> TextIO:
    stream.flush()
    pipe = _Pipe(stream.fileno(), "wb", closefd=False)
    return io.TextIOWrapper(
        io.BufferedWriter(pipe),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.isatty() or stream is sys.stderr,
    )
