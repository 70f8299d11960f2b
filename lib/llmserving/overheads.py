"""What an engine keeps beside weights and KV cache: activations and what PyTorch does not see.

Both are fits to the start-up logs of one engine family, not derivations: vLLM v0.15 to v0.19 on an H100 with
max_num_seqs 1024 and max_num_batched_tokens 8192 (30 models and degrees of tensor parallelism; R squared 0.961). What
is profiled there is the sampler with its logits, one row of the vocabulary for each sequence, so neither tensor
parallelism nor the width of the model changes it. Other engines, versions before 0.17 (5.64 GiB where the fit says
2.3), long unchunked prompts and mixtures of experts (up to 0.5 GiB above the fit) differ. CUDA graphs, 0.5 to 1.9 GiB,
are captured after the KV cache is sized: they come out of what utilization leaves.
"""

from __future__ import annotations

from typing import Any

from llmserving import arguments
from llmserving.models import ModelSpec
from llmserving.named import model_of
from llmserving.units import GiB

ACTIVATION_BASE_BYTES = 0.31 * GiB
ACTIVATION_BYTES_PER_LOGIT = 14.06
OTHER_BYTES_ON_ONE_GPU = 0.25 * GiB
OTHER_BYTES_WITH_TENSOR_PARALLELISM = 2.1 * GiB  # NCCL's buffers; the logs say 2.06 to 2.21
DEFAULT_MAX_NUM_SEQS = 1024  # of the logs behind the fit


def activation_bytes(model: ModelSpec | str, max_num_seqs: Any = DEFAULT_MAX_NUM_SEQS) -> int:
    """Bytes that profiling sets aside: 0.31 GiB + 14.06 bytes for each sequence and entry of the vocabulary."""
    sequences = arguments.count("max_num_seqs", "the number of requests that the engine runs at once", max_num_seqs)
    return round(ACTIVATION_BASE_BYTES + ACTIVATION_BYTES_PER_LOGIT * sequences * model_of(model).vocab_size)


def other_bytes(tensor_parallel: Any = 1) -> int:
    """Bytes outside PyTorch's allocator: the CUDA context, and NCCL's buffers where GPUs split the layers."""
    ranks = arguments.count("tensor_parallel", "the number of GPUs that split each layer", tensor_parallel)
    return round(OTHER_BYTES_ON_ONE_GPU if ranks == 1 else OTHER_BYTES_WITH_TENSOR_PARALLELISM)
