"""How many bytes weights take: packed bits and scales, and the parts of a model that stay at 16 bits."""

from __future__ import annotations

from typing import Any

from llmserving import arguments
from llmserving.kv_layout import layers_per_stage
from llmserving.models import ModelSpec
from llmserving.named import model_of
from llmserving.parallelism import checked_parallelism
from llmserving.weight_formats import SCALE_BITS, WEIGHT_FORMATS, weight_format, whole_bytes

MXFP4_HIDDEN_MULTIPLE, MXFP4_INTERMEDIATE_MULTIPLE = 256, 128


def weight_bytes(parameters: Any, bits: Any, group_size: Any = None, *, zero_point_bits: Any = None) -> int:
    """Bytes that `parameters` weights of `bits` bits take, packed, with their group scales if they have any.

    parameters: number of weights; a whole float such as 13e9 counts too. bits: bits a weight (FP16 16, INT8 8, INT4 4).
    group_size: weights that share one FP16 scale, or None for no scales. zero_point_bits: bits of a zero-point stored
    beside each scale, or None. Group quantization of b bits takes b + 16 / group_size bits a weight: 4.125 for INT4 in
    groups of 128 (Lin et al. 2023, arXiv 2306.00978, use that group size).

    TypeError for a wrong type, a bool, or a count that is not whole; ValueError for zero, negative, NaN or infinite
    values, and for zero_point_bits without a group_size.

    >>> weight_bytes(13e9, bits=4)
    6500000000
    """
    weights = arguments.count("parameters", "the number of weights", parameters, whole_floats=True)
    bits_per_weight = arguments.count("bits", "the number of bits a weight", bits)
    total = whole_bytes(weights * bits_per_weight)
    if group_size is None:
        if zero_point_bits is not None:
            raise ValueError("zero_point_bits needs a group_size: a zero-point is stored once for each group")
        return total
    weights_per_group = arguments.count("group_size", "the number of weights that share a scale", group_size)
    groups = -(-weights // weights_per_group)
    bits_per_group = SCALE_BITS
    if zero_point_bits is not None:
        bits_per_group += arguments.count(
            "zero_point_bits", "the number of bits of a group's zero-point", zero_point_bits
        )
    return total + whole_bytes(groups * bits_per_group)


def expert_parameters(model: ModelSpec | str) -> int:
    """Weights in the routed experts: what is not active, scaled from the experts left out to all of them.

    A token passes experts_per_token of the experts, so parameters - active_parameters are the weights of the others.
    0 for a model without experts.
    """
    model = model_of(model)
    if model.experts is None or model.experts_per_token is None or model.active_parameters is None:
        return 0
    left_out = model.experts - model.experts_per_token
    return (model.parameters - model.active_parameters) * model.experts // left_out if left_out else 0


def model_weight_bytes(
    model: ModelSpec | str, weight_dtype: Any = "fp16", tensor_parallel: Any = 1, pipeline_parallel: Any = 1
) -> int:
    """Bytes of weights on the fullest GPU.

    Of a quantized model the embedding and the output head stay at 16 bits, and of an MXFP4 one all but the experts.
    Tensor parallelism splits every matrix; pipeline_parallel is a number of stages or the layers of each. A stage has
    its layers, and the last one, whose logits leave it the least memory, has the output head too (a copy of the
    embedding where the two are tied). Against engine logs: within 1 % but for Llama 4 Scout, whose table of rotations
    for 10,485,760 positions, 2.5 GiB on every GPU, is no weight and not counted.
    """
    model, form = model_of(model), weight_format(weight_dtype)
    stages = layers_per_stage(model, tensor_parallel, pipeline_parallel)
    ranks, _ = checked_parallelism(model, tensor_parallel, len(stages))
    in_layers = model.parameters - model.embedding_parameters
    packed, plain = form.size(in_layers), 0
    if form.experts_only:
        experts = expert_parameters(model)
        if not experts:
            raise ValueError(
                f"weight_dtype {weight_dtype!r} packs experts alone, and {model.name} has none that it states"
            )
        packed, plain = form.size(_padded(model, experts)), WEIGHT_FORMATS["fp16"].size(in_layers - experts)
    tables = model.embedding_parameters if len(stages) == 1 else model.vocab_size * model.hidden_size
    beside = (WEIGHT_FORMATS["fp16"] if form.quantized else form).size(tables)
    of_stage = -(-(packed + plain) * max(stages) // model.layers)
    return -(-(of_stage + beside) // ranks)


def _padded(model: ModelSpec, experts: int) -> int:
    """Weights in the experts once their matrices are padded to what the MXFP4 kernels multiply (vLLM's Marlin).

    gpt-oss-20b's 2880 x 2880 become 3072 x 2944, 9 % more: 13.6 GiB and not 12.8, as its log says.
    """
    if model.experts is None:
        return experts
    width = model.hidden_size
    inner = max(1, round(experts / (3 * model.layers * model.experts * width)))
    padded = _multiple(width, MXFP4_HIDDEN_MULTIPLE) * _multiple(inner, MXFP4_INTERMEDIATE_MULTIPLE)
    return experts * padded // (width * inner)


def _multiple(value: int, step: int) -> int:
    return -(-value // step) * step
