"""The loops of stream.c, compiled where there is a compiler, as operations on the same slots as torch's."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from llmserving.bandwidth.operation import Operation, Rotation
from llmserving.bandwidth.operations import SCALAR, memory_operations

SOURCE = Path(__file__).with_name("stream.c")
COMPILERS = ("cc", "gcc", "clang")
# A sum may be vectorised only where its order may change. Of -ffast-math no more than that is taken: with it, loading the
# library makes the whole process round subnormal numbers to 0.
REORDERED = ("-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math")
FLAGS = ("-O3", "-march=native", *REORDERED, "-shared", "-fPIC")
PLAIN_LOOPS = "-fno-tree-loop-distribute-patterns"  # gcc's; clang calls it -fno-builtin


class NoCompiler(RuntimeError):
    """There is nothing to compile stream.c with; the message says what was skipped."""


def compiled(folder: Path) -> ctypes.CDLL:
    """stream.c as a library in `folder`, or NoCompiler."""
    compiler = next((found for name in COMPILERS if (found := shutil.which(name))), None)
    if compiler is None:
        raise NoCompiler(f"the comparison with C was skipped: there is no compiler ({', '.join(COMPILERS)})")
    said = ""
    for extra in (PLAIN_LOOPS, "-fno-builtin"):
        target = folder / "stream.so"
        ran = subprocess.run([compiler, *FLAGS, extra, str(SOURCE), "-o", str(target)], capture_output=True, text=True)
        if ran.returncode == 0:
            return ctypes.CDLL(str(target))
        said = ran.stderr.strip().splitlines()[0] if ran.stderr.strip() else f"exit status {ran.returncode}"
    raise NoCompiler(f"the comparison with C was skipped: {compiler} could not compile stream.c ({said})")


def stream_operations(library: ctypes.CDLL, slots: list[Any], rotation: Rotation) -> list[Operation]:
    """The loops over the slots, each float32 [elements], with torch's own bytes and checks."""
    library.stream_read.restype = ctypes.c_float
    pointer, size, real = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_float
    library.stream_read.argtypes = [pointer, size]
    library.stream_write.argtypes = [pointer, size, real]
    library.stream_copy.argtypes = [pointer, pointer, size]
    library.stream_triad.argtypes = [pointer, pointer, pointer, size, real]
    starts, elements = [slot.data_ptr() for slot in slots], slots[0].numel()
    half, third = elements // 2, elements // 3
    calls = iter(range(10**12))

    def write(slot: int) -> float:
        value = (next(calls) % 4096 + 1) / 4096
        library.stream_write(starts[slot], elements, value)
        return value

    runs: dict[str, Callable[[int], Any]] = {
        "read": lambda slot: library.stream_read(starts[slot], elements),
        "write": write,
        "copy": lambda slot: library.stream_copy(starts[slot], starts[slot] + 4 * half, half),
        "triad": lambda slot: library.stream_triad(
            starts[slot], starts[slot] + 4 * third, starts[slot] + 8 * third, third, SCALAR
        ),
    }
    return [
        replace(operation, name=f"{operation.name}, C", run=runs[operation.name])
        for operation in memory_operations(slots, tuple(runs), rotation)
    ]
