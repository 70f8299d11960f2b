"""What the Triton kernels need: Triton, a device they run on, and tensors of the right dtype that lie there without gaps."""

from __future__ import annotations

import functools
import os
from importlib.util import find_spec
from math import prod
from typing import Any

from llmserving import arguments

Tensor = Any  # a torch tensor; torch is imported by whoever makes one
FLOATS = ("float32", "float16", "bfloat16")
ELSEWHERE = "The torch operations of `python -m llmserving bandwidth` measure the same without it."


@functools.cache  # asked at every launch, which is to take microseconds
def missing() -> str | None:
    """What these kernels lack here, as a sentence, or None where they run."""
    if find_spec("torch") is None:
        return "The Triton kernels work on torch tensors, and torch is not installed here: pip install torch."
    if find_spec("triton") is None:
        return f"Triton is not installed here: pip install -r requirements-kernels.txt (Linux only). {ELSEWHERE}"
    import torch

    if not interpreted() and not torch.cuda.is_available():
        return (
            "Triton is here, but torch finds no CUDA device to run its kernels on. They can still be compiled, "
            f"and run by the interpreter under TRITON_INTERPRET=1. {ELSEWHERE}"
        )
    return None


def interpreted() -> bool:
    """Whether Triton runs kernels line by line on the CPU; it decides so when the kernels are imported."""
    return os.environ.get("TRITON_INTERPRET", "").lower() in ("1", "true", "yes", "on", "y")


def refuse_where_missing() -> None:
    """A RuntimeError with what `missing` says."""
    told = missing()
    if told is not None:
        raise RuntimeError(told)


def refuse_unusable(**tensors: Tensor) -> None:
    """A TypeError or ValueError unless these are tensors of floats that lie where the kernels run, without gaps."""
    refuse_misplaced(**tensors)
    for name, tensor in tensors.items():
        if dtype_of(tensor) not in FLOATS:
            raise TypeError(f"{name} holds {', '.join(FLOATS)}, but got dtype {dtype_of(tensor)}")


def refuse_misplaced(**tensors: Tensor) -> None:
    """The same whatever they hold."""
    from torch import Tensor as Torch

    place = "cpu" if interpreted() else "cuda"
    for name, tensor in tensors.items():
        if not isinstance(tensor, Torch):
            raise TypeError(f"{name} is a torch tensor, but got {arguments.shown(tensor)}")
        if tensor.device.type != place:
            raise ValueError(f"{name} lies on {tensor.device}, but the kernels run on {place} here")
        if prod(tensor.shape) == 0:
            raise ValueError(f"{name} is empty, of shape {shape_of(tensor)}")
        if not tensor.is_contiguous():
            raise ValueError(f"{name} has gaps or another order in memory; pass {name}.contiguous()")
    devices = {str(tensor.device) for tensor in tensors.values()}
    if len(devices) > 1:
        raise ValueError(f"{', '.join(tensors)} lie on one device, but got {', '.join(sorted(devices))}")


def refuse_unlike(**tensors: Tensor) -> None:
    """A ValueError unless these have one shape and dtype."""
    if len({(tuple(tensor.shape), dtype_of(tensor)) for tensor in tensors.values()}) > 1:
        shown = ", ".join(f"{name} {dtype_of(tensor)} {shape_of(tensor)}" for name, tensor in tensors.items())
        raise ValueError(f"{', '.join(tensors)} have one shape and dtype, but got {shown}")


def shape_of(tensor: Tensor) -> list[int]:
    return list(tensor.shape)


def dtype_of(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")
