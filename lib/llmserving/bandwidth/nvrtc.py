"""Compiles CUDA C++ for a GPU that need not be there, by NVRTC: NVIDIA's compiler as a library, out of a wheel.

https://docs.nvidia.com/cuda/nvrtc describes the calls. CUDA's own torch brings the library; elsewhere requirements-kernels.txt
does.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from llmserving.bandwidth.ahead_of_time import Compiled

SOURCE = Path(__file__).parent / "cuda" / "kernels.cu"
KERNELS = ("copy", "gemv_w4a16")
# Where wheels put it: of CUDA 13 and later, and of CUDA 12.
PATTERNS = ("cu*/lib/libnvrtc.so.*", "cu*/bin/**/nvrtc64_*.dll", "cuda_nvrtc/lib/libnvrtc.so.*")


def compile_cuda(capability: int = 90, source: str | None = None) -> Compiled:
    """The kernels of cuda/kernels.cu, or of another source, for sm_`capability`: PTX and machine code, of all of them.

    RuntimeError where NVRTC is missing; ValueError with the compiler's words where it refuses.
    """
    library = _library()
    program = ctypes.c_void_p()
    text = SOURCE.read_text(encoding="utf-8") if source is None else source
    _check(library, library.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernels.cu", 0, None, None))
    try:
        options = (ctypes.c_char_p * 2)(f"--gpu-architecture=sm_{capability}".encode(), b"--std=c++17")
        if library.nvrtcCompileProgram(program, len(options), options):
            said = _fetched(library, program, "ProgramLog").rstrip(b"\0").decode()
            raise ValueError(f"NVRTC refuses the source for sm_{capability}: {said or 'it knows no such target'}")
        ptx = _fetched(library, program, "PTX").rstrip(b"\0").decode()
        return Compiled("cuda/kernels.cu", capability, ptx, _fetched(library, program, "CUBIN"), 0)
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def has_nvrtc() -> bool:
    """Whether the library is installed."""
    return next(_installed(), None) is not None


def of_kernel(compiled: Compiled, name: str) -> Compiled:
    """The PTX of one of the kernels alone."""
    start = compiled.ptx.index(f".entry {name}_kernel")
    end = compiled.ptx.find(".entry", start + 1)
    return Compiled(name, compiled.capability, compiled.ptx[start : end if end > 0 else None], compiled.machine_code, 0)


@cache
def _library() -> ctypes.CDLL:
    path = next(_installed(), None)
    if path is None:
        raise RuntimeError(
            "NVRTC compiles CUDA C++ and is not installed: pip install -r requirements-kernels.txt. "
            "The Triton kernels do the same without it."
        )
    for beside in path.parent.glob("libnvrtc-builtins.so.*"):  # asked for by name later, and on no search path
        ctypes.CDLL(str(beside))
    return ctypes.CDLL(str(path))


def _installed() -> Iterator[Path]:
    found = find_spec("nvidia")  # a namespace that all of NVIDIA's wheels share
    for folder in found.submodule_search_locations or () if found else ():
        for pattern in PATTERNS:
            yield from (path for path in sorted(Path(folder).glob(pattern)) if "alt" not in path.name)


def _fetched(library: ctypes.CDLL, program: ctypes.c_void_p, what: str) -> bytes:
    """What nvrtcGet… gives, of the size that nvrtcGet…Size tells."""
    size = ctypes.c_size_t()
    _check(library, getattr(library, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
    data = ctypes.create_string_buffer(size.value)
    _check(library, getattr(library, f"nvrtcGet{what}")(program, data))
    return data.raw


def _check(library: ctypes.CDLL, status: int) -> None:
    if status:
        library.nvrtcGetErrorString.restype = ctypes.c_char_p
        raise RuntimeError(f"NVRTC: {library.nvrtcGetErrorString(status).decode()}")
