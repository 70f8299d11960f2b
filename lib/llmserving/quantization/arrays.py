"""numpy arrays in, numpy arrays out; torch tensors likewise: what little has to know which of the two it is.

Both libraries have the same names for what is needed here (`multiply`, `round`, `clip`, `amin` … with `out=` and
`axis=`), so an algorithm is written once over a namespace `xp`. torch is never imported: a tensor can only come from
where it has been.
"""

from __future__ import annotations

import math
import numbers
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from llmserving import arguments

Array = Any  # a numpy array or a torch tensor


def is_tensor(value: Any) -> bool:
    """Whether `value` is a torch tensor."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def namespace(array: Array) -> Any:
    """The library that `array` is of: numpy or torch."""
    return sys.modules["torch"] if is_tensor(array) else np


def same_library(name: str, array: Array, other_name: str, other: Array) -> None:
    """TypeError where one is of numpy and the other of torch."""
    first, second = namespace(array).__name__, namespace(other).__name__
    if first != second:
        raise TypeError(f"{name} is of {first} and {other_name} of {second}; give both of one library")


def is_number(value: Any) -> bool:
    """Whether `value` is a number of its own and no array: a Python number or a numpy scalar."""
    return isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))


def real_array(name: str, value: Any, meaning: str = "a tensor of numbers") -> Array:
    """`value` as an array of real numbers with at least one element, without a copy where it is one already."""
    array = value.detach() if is_tensor(value) else _numpy_array(name, value, meaning)
    kinds = str(array.dtype).removeprefix("torch.")
    if not kinds.startswith(("float", "bfloat16", "int", "uint")):
        raise TypeError(f"{name} is {meaning}, but got one of dtype {kinds}")
    if kinds.startswith(("float8", "float4")):
        raise TypeError(
            f"{name} is {meaning} to calculate with, but got one of dtype {kinds}; convert it first, such as to float32"
        )
    if math.prod(array.shape) == 0:
        raise ValueError(f"{name} is {meaning}, but got an empty one of shape {tuple(array.shape)}")
    return array


def view(array: Array) -> Array:
    """A tensor in main memory as a numpy array of the same memory; anything else as it is.

    In pieces that fit a cache, numpy's operations cost less than torch's, whose threads wait for one another in each.
    """
    if not is_tensor(array) or array.device.type != "cpu":
        return array
    known = array.float() if dtype_name(array) == "bfloat16" else array  # numpy has no such dtype
    return known.numpy()


def returned(array: Array, original: Array) -> Array:
    """A result in the library of `original`, without a copy."""
    return sys.modules["torch"].from_numpy(array) if is_tensor(original) and not is_tensor(array) else array


def like(array: Array, value: Any, dtype: str = "float32") -> Array:
    """`value` as an array of the same library and device as `array`."""
    xp = namespace(array)
    if is_tensor(value) and xp is np:
        value = view(value.detach().cpu())
    return xp.asarray(value, dtype=getattr(xp, dtype), device=array.device)


def cast(array: Array, dtype: str) -> Array:
    """`array` in another dtype, given by its name; without a copy where it has it already."""
    xp = namespace(array)
    if not hasattr(xp, dtype):
        raise ValueError(f"{xp.__name__} has no dtype {dtype!r}")
    return xp.asarray(array, dtype=getattr(xp, dtype))


def dtype_name(array: Array) -> str:
    """The name of its dtype, the same for both libraries."""
    return str(array.dtype).removeprefix("torch.")


def as_numpy(array: Any, dtype: str = "float64") -> np.ndarray[Any, Any]:
    """A copy for numpy, in double precision by default: for reports, not for speed."""
    if is_tensor(array):
        array = array.detach().cpu().to(getattr(sys.modules["torch"], dtype)).numpy()
    return np.array(array, dtype=dtype)


def quiet() -> Any:
    """A context in which numpy does not warn of what is checked for, or clipped, right after."""
    return np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore")


def refuse_non_finite(name: str, meaning: str, array: Array) -> None:
    """ValueError that names the first element which is NaN or infinite."""
    if bool(namespace(array).isfinite(array).all()) and not dtype_name(array).startswith("float64"):
        return
    with quiet():
        finite: np.ndarray[Any, Any] = np.isfinite(as_numpy(array, "float32"))
    if not finite.all():
        place = tuple(int(index) for index in np.argwhere(~finite)[0])
        found = float(as_numpy(array)[place])
        what = "NaN (not a number)" if math.isnan(found) else f"{found:g}"
        more = ", which float32 cannot hold" if math.isfinite(found) else ""
        where = f"element {list(place)} is" if place else "got"
        raise ValueError(f"{name} is {meaning} and must be finite, but {where} {what}{more}")


def plain(value: Any, kind: Callable[[Any], Any], *, scalar: bool) -> Any:
    """`value` as a Python number where numbers came in, else as it is."""
    return kind(value) if scalar else value


def _numpy_array(name: str, value: Any, meaning: str) -> np.ndarray[Any, Any]:
    if isinstance(value, str) or value is None:
        raise TypeError(f"{name} is {meaning}, but got {arguments.shown(value)}")
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array, and its mask would be lost here; fill it first: {name}.filled(0)")
    try:
        array = np.asarray(value)
    except ValueError:  # rows of different lengths
        raise ValueError(f"{name} is {meaning}, but its rows differ in length") from None
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
