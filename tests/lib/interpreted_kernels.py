"""Runs the kernels under Triton's interpreter and saves what they were given and what they gave: run by test_kernels.py.

A process of its own: Triton decides at its import whether it interprets, and one that does compiles nothing.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from llmserving.bandwidth import kernels
from llmserving.bandwidth.ahead_of_time import compile_kernel
from llmserving.bandwidth.gpu_check import large_operations
from llmserving.quantization import linear_w4a16, pack_weight

DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
STREAMS = (1, 2048, 5000)  # less than a tile, one tile, and two and a piece
GEMVS = ((1, 64), (5, 96), (8, 2048), (3, 1500))
W4A16S = ((1, 32, 32), (5, 384, 128), (4, 512, 64), (6, 4608, 128), (3, 768, 256))

Result = tuple[str, dict[str, torch.Tensor]]


def normal(*shape: int, dtype: torch.dtype) -> torch.Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(*shape, generator=generator).to(dtype)


def streams(dtype: torch.dtype) -> Iterator[Result]:
    for size in STREAMS:
        b, c, a = normal(size, dtype=dtype), normal(size + 1, dtype=dtype)[:size], torch.empty(size, dtype=dtype)
        yield f"copy {size}", {"found": kernels.copy(b, torch.empty_like(b)), "right": b}
        yield f"triad {size}", {"found": kernels.triad(b, c, 0.5, a), "right": b.double() + 0.5 * c.double()}
        yield f"read {size}", {"found": kernels.read(b), "right": b.double().sum()}


def gemvs(dtype: torch.dtype) -> Iterator[Result]:
    for rows, columns in GEMVS:
        weight, x = normal(rows, columns, dtype=dtype), normal(columns, dtype=dtype)
        yield f"gemv {rows} {columns}", {"found": kernels.gemv(weight, x), "right": weight.double() @ x.double()}
    for rows, columns, group in W4A16S:
        packed, x = pack_weight(normal(rows, columns, dtype=torch.float32), group), normal(columns, dtype=dtype)
        right = packed.dequantize().double() @ x.double()
        found = {"found": kernels.gemv_w4a16(packed, x), "right": right, "linear": linear_w4a16(x.float(), packed)}
        exchanged = dataclasses.replace(packed.codes, data=packed.codes.data >> 4 | packed.codes.data << 4)
        found["exchanged"] = linear_w4a16(x.float(), dataclasses.replace(packed, codes=exchanged))
        yield f"gemv_w4a16 {rows} {columns} {group}", found


def operations() -> Iterator[tuple[str, tuple[bool, bool]]]:
    """What gpu_check measures, small: whether each is right as it runs, and after one value of its result is another."""
    for together in large_operations("cpu", 12 * 1024, columns=256):
        for operation in together:
            slot = operation.rotation.step()
            result = operation.run(slot)
            right = operation.is_right(slot, result)
            if isinstance(result, torch.Tensor) and "Triton" in operation.name:
                result.view(-1)[-1] += 0.25 * result.abs().max()
                yield operation.name, (right, operation.is_right(slot, result))
            assert right, operation.name


def refusals() -> Iterator[tuple[str, str]]:
    x, weight = torch.ones(64), torch.ones(4, 64)
    packed = pack_weight(weight, 32)
    other_order = dataclasses.replace(packed, codes=dataclasses.replace(packed.codes, order="awq"))
    shifted = torch.zeros(129, dtype=torch.uint8)[1:].view(4, 32)
    within = dataclasses.replace(packed, codes=dataclasses.replace(packed.codes, data=shifted))
    calls: dict[str, Callable[[], Any]] = {
        "shape": lambda: kernels.copy(x, torch.ones(65)),
        "dtype": lambda: kernels.triad(x, x, 2.0, x.half()),
        "integers": lambda: kernels.read(x.int()),
        "no tensor": lambda: kernels.read(np.ones(4)),
        "empty": lambda: kernels.read(x[:0]),
        "gaps": lambda: kernels.read(x[::2]),
        "device": lambda: kernels.read(torch.ones(4, device="meta")),
        "gemv": lambda: kernels.gemv(weight, x[:32]),
        "gemv dtypes": lambda: kernels.gemv(weight, x.half()),
        "unpacked": lambda: kernels.gemv_w4a16(weight, x),  # type: ignore[arg-type]
        "inputs": lambda: kernels.gemv_w4a16(packed, x[:32]),
        "order": lambda: kernels.gemv_w4a16(other_order, x),
        "within a word": lambda: kernels.gemv_w4a16(within, x),
        "compile": lambda: compile_kernel("copy"),
        "group": lambda: kernels.gemv_w4a16(pack_weight(weight, 16), x),
    }
    for name, call in calls.items():
        try:
            call()
        except (TypeError, ValueError, RuntimeError) as refusal:
            yield name, f"{type(refusal).__name__}: {refusal}"


def main(path: Path) -> None:
    arrays: dict[str, Any] = {f"refused/{name}": np.array(told) for name, told in refusals()}
    arrays |= {f"operation/{name}": np.array(verdicts) for name, verdicts in operations()}
    for name, dtype in DTYPES.items():
        for case, tensors in (*streams(dtype), *gemvs(dtype)):
            arrays |= {f"{name} {case}/{part}": tensor.double().numpy() for part, tensor in tensors.items()}
    np.savez(path, **arrays)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
