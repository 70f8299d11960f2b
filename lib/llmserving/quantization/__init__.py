"""Quantization: codes of few bits for weights, activations and the KV cache, what they save and what they lose.

Importing this loads nothing; each name below is loaded when it is first used. Tensors are numpy arrays or torch's.

Affine codes
    a number or an array with a scale of your own: scale_zero_point quantize dequantize error_report
    a tensor with its own scales: quantize_tensor, which gives a QuantizedTensor; the scales alone: qparams
    the codes that there are: MODES code_range CodeRange; how much is lost: ErrorReport
Weights that look at their inputs
    GPTQ: Hessian quantize_gptq
    AWQ: search_scale AwqSearch quantize_scaled AwqWeight channel_magnitude
    SmoothQuant: smoothing_scale smooth_weight smooth_producer column_absmax
    what they protect: output_error error_left_alone error_made_up error_by_channel
Small floats
    one number at a time: FloatFormat FLOAT_FORMATS E4M3 E5M2 E2M1 encode decode
    in blocks with a scale: BLOCK_FORMATS BlockFormat quantize_float FloatTensor
The KV cache
    keys and values with a scale each: quantize_kv QuantizedKv QuantizedKvCache
Packing and multiplying
    two codes a byte: pack_int4 unpack_int4 PackedInt4
    4-bit weights with 16-bit inputs: pack_weight pack_quantized PackedWeight linear_w4a16
    torch's kernel for those: has_int4_kernel kernel_weight KernelWeight linear_int4_kernel
    8-bit weights with 8-bit inputs: quantize_rows linear_w8a8 int8_matmul
    how long each takes here: bench_matmul MatmulTiming
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from llmserving.quantization.affine import dequantize, quantize, scale_zero_point
    from llmserving.quantization.awq import AwqSearch, AwqWeight, channel_magnitude, quantize_scaled, search_scale
    from llmserving.quantization.errors import ErrorReport, error_report
    from llmserving.quantization.float_formats import E2M1, E4M3, E5M2, FLOAT_FORMATS, FloatFormat, decode, encode
    from llmserving.quantization.formats import BLOCK_FORMATS, BlockFormat, FloatTensor, quantize_float
    from llmserving.quantization.gptq import quantize_gptq
    from llmserving.quantization.hessian import Hessian
    from llmserving.quantization.int4_kernel import KernelWeight, has_int4_kernel, kernel_weight, linear_int4_kernel
    from llmserving.quantization.kv import QuantizedKv, QuantizedKvCache, quantize_kv
    from llmserving.quantization.matmul import int8_matmul, linear_w4a16, linear_w8a8, quantize_rows
    from llmserving.quantization.matmul_timing import MatmulTiming, bench_matmul
    from llmserving.quantization.modes import MODES, CodeRange, code_range
    from llmserving.quantization.output_errors import error_by_channel, error_left_alone, error_made_up, output_error
    from llmserving.quantization.packed_weight import PackedWeight, pack_quantized, pack_weight
    from llmserving.quantization.packing import PackedInt4, pack_int4, unpack_int4
    from llmserving.quantization.quantized_tensor import QuantizedTensor, quantize_tensor
    from llmserving.quantization.scales import qparams
    from llmserving.quantization.smoothquant import column_absmax, smooth_producer, smooth_weight, smoothing_scale

__all__ = [
    "BLOCK_FORMATS", "E2M1", "E4M3", "E5M2", "FLOAT_FORMATS", "MODES", "AwqSearch", "AwqWeight", "BlockFormat",
    "CodeRange", "ErrorReport", "FloatFormat", "FloatTensor", "Hessian", "KernelWeight", "MatmulTiming", "PackedInt4",
    "PackedWeight", "QuantizedKv", "QuantizedKvCache", "QuantizedTensor", "bench_matmul", "channel_magnitude",
    "code_range", "column_absmax", "decode", "dequantize", "encode", "error_by_channel", "error_left_alone",
    "error_made_up", "error_report", "has_int4_kernel", "int8_matmul", "kernel_weight", "linear_int4_kernel",
    "linear_w4a16", "linear_w8a8", "output_error", "pack_int4", "pack_quantized", "pack_weight", "qparams",
    "quantize", "quantize_float", "quantize_gptq", "quantize_kv", "quantize_rows", "quantize_scaled",
    "quantize_tensor", "scale_zero_point", "search_scale", "smooth_producer", "smooth_weight", "smoothing_scale",
    "unpack_int4",
]  # fmt: skip

HOMES = {
    "affine": ("dequantize", "quantize", "scale_zero_point"),
    "awq": ("AwqSearch", "AwqWeight", "channel_magnitude", "quantize_scaled", "search_scale"),
    "errors": ("ErrorReport", "error_report"),
    "float_formats": ("E2M1", "E4M3", "E5M2", "FLOAT_FORMATS", "FloatFormat", "decode", "encode"),
    "formats": ("BLOCK_FORMATS", "BlockFormat", "FloatTensor", "quantize_float"),
    "gptq": ("quantize_gptq",),
    "hessian": ("Hessian",),
    "int4_kernel": ("KernelWeight", "has_int4_kernel", "kernel_weight", "linear_int4_kernel"),
    "kv": ("QuantizedKv", "QuantizedKvCache", "quantize_kv"),
    "matmul": ("int8_matmul", "linear_w4a16", "linear_w8a8", "quantize_rows"),
    "matmul_timing": ("MatmulTiming", "bench_matmul"),
    "modes": ("MODES", "CodeRange", "code_range"),
    "output_errors": ("error_by_channel", "error_left_alone", "error_made_up", "output_error"),
    "packed_weight": ("PackedWeight", "pack_quantized", "pack_weight"),
    "packing": ("PackedInt4", "pack_int4", "unpack_int4"),
    "quantized_tensor": ("QuantizedTensor", "quantize_tensor"),
    "scales": ("qparams",),
    "smoothquant": ("column_absmax", "smooth_producer", "smooth_weight", "smoothing_scale"),
}


def __getattr__(name: str) -> Any:
    for home, names in HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
