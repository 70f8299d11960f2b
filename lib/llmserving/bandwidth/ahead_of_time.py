"""Compiles the Triton kernels for a GPU that need not be there, and counts in the result how wide its loads are.

Triton's wheel brings the assembler, so a notebook can show what becomes of the lines of triton_kernels.py: the PTX, an
assembly language that all NVIDIA GPUs share. Of the 16 bytes that a thread should load at once, `ld.global.v4.b32` is
the sign: four times 32 bits.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from llmserving import arguments
from llmserving.bandwidth.kernel_arguments import interpreted
from llmserving.bandwidth.launch_sizes import THREADS_PER_WARP, LaunchSizes, gemv_sizes, gemv_w4a16_sizes, stream_sizes

TARGETS = {"A100": 80, "H100": 90, "H200": 90, "B200": 100}
"""The compute capability of data-centre GPUs, times ten: the number in sm_90. CUDA C++ Programming Guide, appendix."""

LOAD = re.compile(r"\bld\.global(?:\.[A-Za-z]\w*(?:::\w+)*)*?(?:\.v(\d))?\.[bfsu](\d+)\b")

_STREAM = {"source": "*fp32", "target": "*fp32", "size": "i32"}
_W4A16 = {"words": "*i32", "scales": "*fp16", "zero_points": "*u8", "x": "*fp16", "y": "*fp16", "rows": "i32"}
EXAMPLES: Mapping[str, tuple[Mapping[str, str], LaunchSizes]] = {
    "copy": (_STREAM, stream_sizes(2**28)),
    "triad": ({"b": "*fp32", "c": "*fp32", "a": "*fp32", "scalar": "fp32", "size": "i32"}, stream_sizes(2**28)),
    "read": ({"source": "*fp32", "sums": "*fp32", "size": "i32"}, stream_sizes(2**28, tiles=16)),
    "gemv": ({"weight": "*fp16", "x": "*fp16", "y": "*fp16", "rows": "i32"}, gemv_sizes(4096, 4096)),
    "gemv_w4a16": (_W4A16, gemv_w4a16_sizes(4096, 4096, 128)),
}
"""Kernel -> the types of its arguments, in Triton's spelling, and the sizes that kernels.py would launch it with."""


@dataclass(frozen=True)
class Compiled:
    """A kernel for compute capability `capability` / 10. shared_bytes: of the fast memory that a program's threads share."""

    kernel: str
    capability: int
    ptx: str
    machine_code: bytes
    shared_bytes: int

    @property
    def loads_by_bytes(self) -> dict[int, int]:
        """Bytes that a thread loads from memory at once -> how many instructions of the PTX do so."""
        widths = (int(count or 1) * int(bits) // 8 for count, bits in LOAD.findall(self.ptx))
        return dict(sorted(Counter(widths).items()))

    @property
    def vector_loads(self) -> int:
        """How many load instructions are 16 bytes wide, or wider."""
        return sum(count for width, count in self.loads_by_bytes.items() if width >= 16)


def compile_kernel(name: str, capability: int = 90) -> Compiled:
    """One of EXAMPLES for sm_`capability`, without a GPU; RuntimeError where Triton is missing or only interprets."""
    if name not in EXAMPLES:
        raise ValueError(f"there is no kernel {arguments.shown(name)}; choose one of {', '.join(EXAMPLES)}")
    _refuse_where_missing()
    from llmserving.bandwidth import triton_kernels

    types, sizes = EXAMPLES[name]
    return compile_function(getattr(triton_kernels, f"{name}_kernel"), types, sizes, capability)


def compile_function(function: Any, types: Mapping[str, str], sizes: LaunchSizes, capability: int) -> Compiled:
    """A function under @triton.jit, its arguments' types and its constants, for sm_`capability`.

    Addresses, and sizes in whole numbers, are taken to be multiples of 16, as a launch finds them to be for torch's own
    memory: where nothing is known of an address, no wide load may be used.
    """
    _refuse_where_missing()
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    names = list(function.arg_names)
    signature = {name: types.get(name, "constexpr") for name in names}
    aligned = {
        (place,): [["tt.divisibility", 16]]
        for place, name in enumerate(names)
        if signature[name].startswith(("*", "i"))
    }
    source = ASTSource(function, signature, constexprs=dict(sizes.constants), attrs=aligned)
    target = GPUTarget("cuda", capability, THREADS_PER_WARP)
    compiled = triton.compile(source, target=target, options={"num_warps": sizes.warps})
    return Compiled(
        kernel=str(function.__name__).removesuffix("_kernel"),
        capability=capability,
        ptx=str(compiled.asm["ptx"]),
        machine_code=bytes(compiled.asm["cubin"]),
        shared_bytes=int(compiled.metadata.shared),
    )


def _refuse_where_missing() -> None:
    if find_spec("triton") is None:
        raise RuntimeError("Triton compiles the kernels and is not installed: pip install -r requirements-kernels.txt")
    if interpreted():
        raise RuntimeError("TRITON_INTERPRET is set, and Triton then compiles nothing; start Python without it")
