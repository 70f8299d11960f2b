"""A KV cache of 8 or 4 bits: every token's key and value has its own scale in each head.

One scale for all tokens would have to be known before the first token, and a token with an outlier would cost every
other one its precision; scales a token and head are made when the token arrives. Keys and values are scaled apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from llmserving import arguments
from llmserving.quantization.affine import dequantize
from llmserving.quantization.arrays import Array, namespace, real_array, refuse_non_finite
from llmserving.quantization.formats import FloatTensor, quantize_float
from llmserving.quantization.packing import pack_int4, unpack_int4
from llmserving.quantization.quantized_tensor import quantize_tensor

KV_BITS = {"int8": 8, "fp8": 8, "int4": 4}
SCALE_BYTES = 4
CACHED = "a tensor [tokens, kv_heads, head_dim]"


@dataclass(frozen=True, eq=False)
class QuantizedKv:
    """Keys or values as stored: `data` [..., head_dim], two a byte for "int4", and `scale` float32 [..., 1].

    There is no default for the scale: a cache that is read with scale 1 looks alright and answers nonsense.
    """

    data: Array
    scale: Array
    kv_dtype: str

    def dequantize(self) -> Array:
        """The keys or values, float32 [..., head_dim]."""
        if self.scale is None:
            raise ValueError("scale is missing: without each token's own, the cached codes mean nothing")
        if self.kv_dtype == "fp8":
            return FloatTensor(self.data, self.scale, "fp8_e4m3").dequantize()
        codes = unpack_int4(self.data, "linear", signed=True) if self.kv_dtype == "int4" else self.data
        return dequantize(codes, self.scale, 0)


def quantize_kv(x: Any, kv_dtype: str = "int8") -> QuantizedKv:
    """Keys or values [..., head_dim] in "int8", "fp8" (E4M3) or "int4", with a scale for each vector of head_dim.

    Symmetric codes, so that a vector of zeros stays one and only the scale is stored beside them.
    """
    _checked_dtype(kv_dtype)
    values = real_array("x", x, "keys or values [..., head_dim]")
    if not values.shape:
        raise ValueError("x is keys or values [..., head_dim], but got a number")
    head_dim = values.shape[-1]
    _refuse_odd(kv_dtype, head_dim)
    if kv_dtype == "fp8":
        floats = quantize_float(values, "fp8_e4m3", group_size=head_dim)
        return QuantizedKv(floats.codes, floats.scale, kv_dtype)
    quantized = quantize_tensor(values, KV_BITS[kv_dtype], "symmetric", group_size=head_dim)
    data = pack_int4(quantized.codes).data if kv_dtype == "int4" else quantized.codes
    return QuantizedKv(data, quantized.scale, kv_dtype)


class QuantizedKvCache:
    """Keys and values of one layer of one request, quantized as they arrive; `length` tokens of at most `capacity`.

    A cache to look at, whose memory is as small as `bytes_per_token` says. No model of this library reads from it: their
    schemes round keys and values as this does, and keep them as floats, for what rounding costs is what they measure.
    """

    def __init__(self, capacity: Any, kv_heads: Any, head_dim: Any, kv_dtype: str = "int8") -> None:
        self.capacity = arguments.count("capacity", "the number of tokens that the cache can hold", capacity)
        self.kv_heads = arguments.count("kv_heads", "the number of heads that have keys and values", kv_heads)
        self.head_dim = arguments.count("head_dim", "the number of elements of a key", head_dim)
        self.kv_dtype = _checked_dtype(kv_dtype)
        _refuse_odd(self.kv_dtype, self.head_dim)
        self.length = 0
        self._stored: dict[str, QuantizedKv] = {}

    @property
    def bytes_per_token(self) -> int:
        """2 * KV heads * (head_dim * bits / 8 + the bytes of a scale)."""
        return 2 * self.kv_heads * (self.head_dim * KV_BITS[self.kv_dtype] // 8 + SCALE_BYTES)

    def append(self, keys: Any, values: Any) -> None:
        """Add tokens: keys and values [tokens, kv_heads, head_dim], before `length` and in it afterwards."""
        arrays = {name: real_array(name, array, CACHED) for name, array in (("keys", keys), ("values", values))}
        tokens = len(arrays["keys"]) if arrays["keys"].shape else 0
        for name, array in arrays.items():
            if tuple(array.shape) != (tokens, self.kv_heads, self.head_dim):
                wanted = f"[{tokens} tokens, {self.kv_heads} heads, {self.head_dim}]"
                raise ValueError(f"{name} has shape {list(array.shape)}, but this cache takes {wanted}")
            refuse_non_finite(name, CACHED, array)
        end = self.length + tokens
        if end > self.capacity:
            raise ValueError(f"the cache holds {self.capacity} tokens and has {self.length}: no room for {tokens} more")
        new = {name: quantize_kv(array, self.kv_dtype) for name, array in arrays.items()}
        for name, part in new.items():
            stored = self._stored.setdefault(name, _empty(part, self.capacity))
            stored.data[self.length : end] = part.data
            stored.scale[self.length : end] = part.scale
        self.length = end

    @property
    def keys(self) -> Array:
        """The keys of all tokens, dequantized to float32 [length, kv_heads, head_dim]."""
        return self._read("keys")

    @property
    def values(self) -> Array:
        """The values of all tokens, dequantized to float32 [length, kv_heads, head_dim]."""
        return self._read("values")

    def _read(self, name: str) -> Array:
        if not self.length:
            raise ValueError("the cache is empty; append a token first")
        stored = self._stored[name]
        return QuantizedKv(stored.data[: self.length], stored.scale[: self.length], self.kv_dtype).dequantize()


def _empty(part: QuantizedKv, capacity: int) -> QuantizedKv:
    xp = namespace(part.data)
    data, scale = (
        xp.empty((capacity, *array.shape[1:]), dtype=array.dtype, device=array.device)
        for array in (part.data, part.scale)
    )
    return QuantizedKv(data, scale, part.kv_dtype)


def _refuse_odd(kv_dtype: str, head_dim: int) -> None:
    if kv_dtype == "int4" and head_dim % 2:
        raise ValueError(f"kv_dtype 'int4' packs two elements a byte, but head_dim is {head_dim}")


def _checked_dtype(kv_dtype: Any) -> str:
    if arguments.text("kv_dtype", kv_dtype) not in KV_BITS:
        raise ValueError(f"kv_dtype {arguments.shown(kv_dtype)} is not known; choose one of {', '.join(KV_BITS)}")
    return str(kv_dtype)
