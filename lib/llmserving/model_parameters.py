"""How many weights a Hugging Face config describes, counted from the shapes of its matrices.

parameters = vocab * hidden (twice where the output head is not tied) + hidden (the last norm)
           + sum over layers of attention + feed-forward + norms

attention    = hidden * head_dim * (2 * heads + 2 * kv_heads)   queries and output, keys and values
  of a latent: down to the latent and up again, and the same for queries where they have a rank of their own
feed-forward = 3 * hidden * intermediate (2 for phi), or a router, all experts, and the shared ones
and the biases and head norms that the family has. A picture encoder beside the language model is not counted.
"""

from __future__ import annotations

from llmserving.config_reader import ConfigReader

NORMS_A_LAYER = {"gemma2": 4, "gemma3": 4, "gemma3_text": 4}
EXPERT_KEYS = ("num_local_experts", "num_experts", "n_routed_experts")
USED_EXPERT_KEYS = ("num_experts_per_tok", "experts_per_token")
EXPERT_FAMILIES = (
    "mixtral", "qwen2_moe", "qwen3_moe", "deepseek_v2", "deepseek_v3", "deepseek_v32", "kimi_k2", "gpt_oss",
    "llama4", "llama4_text",
)  # fmt: skip


def count_parameters(config: ConfigReader, *, head_dim: int, tied: bool) -> tuple[int, int]:
    """All weights and those that one token passes, from the shapes (module docstring)."""
    layers, hidden = config.count("num_hidden_layers"), config.count("hidden_size")
    embedding = config.count("vocab_size") * hidden
    total = embedding * (1 if tied else 2) + hidden
    if config.family == "phi":
        total += hidden + (0 if tied else config.count("vocab_size"))  # the last norm and the head have biases
    total += layers * (_attention(config, head_dim) + _norms(config, head_dim))
    sparse = sparse_layers(config)
    total += (layers - sparse) * _dense(config)
    if not sparse:
        return total, total
    expert, others = _experts(config)
    experts, used = config.count(config.first_of(EXPERT_KEYS)), config.count(config.first_of(USED_EXPERT_KEYS))
    return total + sparse * (experts * expert + others), total + sparse * (used * expert + others)


def sparse_layers(config: ConfigReader) -> int:
    """How many layers have experts."""
    layers = config.count("num_hidden_layers")
    if config.family not in EXPERT_FAMILIES:
        _refuse_foreign_experts(config)
        return 0
    if config.family.startswith(("deepseek", "kimi")):
        first = config.count("first_k_dense_replace", default=0, at_least=0)
        if first > layers:
            raise ValueError(
                f"{config.where}: first_k_dense_replace {first} contradicts num_hidden_layers {layers}, which is less"
            )
        every = config.count("moe_layer_freq", default=1)
        return sum(layer >= first and layer % every == 0 for layer in range(layers))
    if config.family.startswith("llama4"):
        every = config.count("interleave_moe_layer_step", default=1)
    elif config.family.startswith("qwen"):
        every = config.count("decoder_sparse_step", default=1)
    else:
        every = 1
    dense = config.layer_list("mlp_only_layers")
    return sum((layer + 1) % every == 0 and layer not in dense for layer in range(layers))


def _refuse_foreign_experts(config: ConfigReader) -> None:
    for key in EXPERT_KEYS:
        if config.values.get(key) is not None and config.count(key, at_least=0) > 1:
            raise ValueError(f"{config.where}: {key} contradicts model_type {config.family!r}, which has no experts")


def _attention(config: ConfigReader, head_dim: int) -> int:
    hidden, heads = config.count("hidden_size"), config.count("num_attention_heads")
    if config.is_latent:
        return _latent_attention(config, hidden, heads)
    kv_heads = config.count("num_key_value_heads", default=heads)
    weights = hidden * head_dim * 2 * (heads + kv_heads)
    biased = config.flag("attention_bias", default=config.family in ("gpt_oss", "phi"))
    if biased or config.family in ("qwen2", "qwen2_moe"):
        weights += head_dim * (heads + 2 * kv_heads)
    if biased:
        weights += hidden
    return weights + (heads if config.family == "gpt_oss" else 0)  # a sink a head


def _latent_attention(config: ConfigReader, hidden: int, heads: int) -> int:
    rank, rope = config.count("kv_lora_rank"), config.count("qk_rope_head_dim")
    nope, value = config.count("qk_nope_head_dim"), config.count("v_head_dim")
    query_rank = config.optional_count("q_lora_rank")
    queries = hidden * heads * (nope + rope)
    if query_rank is not None:
        queries = hidden * query_rank + query_rank + query_rank * heads * (nope + rope)
    weights = queries + hidden * (rank + rope) + rank + rank * heads * (nope + value) + heads * value * hidden
    indexer = config.optional_count("index_head_dim")
    if indexer is not None:
        index_heads = config.count("index_n_heads")
        weights += (query_rank or hidden) * index_heads * indexer + hidden * (indexer + index_heads) + 2 * indexer
    return weights


def _norms(config: ConfigReader, head_dim: int) -> int:
    hidden = config.count("hidden_size")
    if config.family == "phi":
        return 2 * hidden  # one norm, weight and bias
    head_norms = 2 * head_dim if config.family in ("qwen3", "qwen3_moe", "gemma3", "gemma3_text") else 0
    return NORMS_A_LAYER.get(config.family, 2) * hidden + head_norms


def _dense(config: ConfigReader) -> int:
    if sparse_layers(config) == config.count("num_hidden_layers"):
        return 0
    wide = "intermediate_size_mlp" if config.family.startswith("llama4") else "intermediate_size"
    hidden, inner = config.count("hidden_size"), config.count(wide)
    if config.family == "phi":
        return 2 * hidden * inner + inner + hidden
    return 3 * hidden * inner


def _experts(config: ConfigReader) -> tuple[int, int]:
    """Weights of one routed expert, and of what every token passes beside its experts."""
    hidden = config.count("hidden_size")
    experts = config.count(config.first_of(EXPERT_KEYS))
    router = hidden * experts
    if config.family == "gpt_oss":
        inner = config.count("intermediate_size")
        return 3 * hidden * inner + 2 * inner + hidden, router + experts
    if config.family in ("mixtral", "llama4", "llama4_text"):
        one = 3 * hidden * config.count("intermediate_size")
        return one, router + (0 if config.family == "mixtral" else one)
    one = 3 * hidden * config.count("moe_intermediate_size")
    if config.family == "qwen2_moe":
        return one, router + 3 * hidden * config.count("shared_expert_intermediate_size") + hidden
    if config.family == "qwen3_moe":
        return one, router
    correction = experts if config.family in ("deepseek_v3", "deepseek_v32", "kimi_k2") else 0
    return one, router + correction + one * (config.optional_count("n_shared_experts") or 0)
