"""What no model can be: fields of a ModelSpec that contradict one another, each refused with a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llmserving import arguments

if TYPE_CHECKING:
    from llmserving.model_spec import ModelSpec

WINDOW_LAYERS = "the number of layers that have a window"
WINDOW_KINDS = ("sliding", "chunked")


def refuse_contradictions(spec: ModelSpec) -> None:
    """ValueError where two fields of `spec` cannot both be."""
    for one, other in (
        ("latent_rank", "latent_rope_dim"), ("experts", "experts_per_token"),
        ("window", "window_kind"),
    ):  # fmt: skip
        if (getattr(spec, one) is None) != (getattr(spec, other) is None):
            raise ValueError(f"{spec.name}: {one} and {other} belong together; give both or neither")
    if not spec.is_latent and spec.attention_heads % spec.kv_heads:
        raise ValueError(
            f"{spec.name}: {spec.attention_heads} query heads cannot share {spec.kv_heads} KV heads evenly; "
            "attention_heads must be a multiple of kv_heads"
        )
    if spec.experts is not None and spec.experts_per_token is not None and spec.experts_per_token > spec.experts:
        raise ValueError(f"{spec.name}: a token cannot go to {spec.experts_per_token} of {spec.experts} experts")
    if spec.active_parameters is not None and spec.active_parameters > spec.parameters:
        raise ValueError(f"{spec.name}: active_parameters, {spec.active_parameters:,}, exceed all {spec.parameters:,}")
    if spec.active_parameters != spec.parameters and spec.experts is None:
        raise ValueError(
            f"{spec.name}: without experts every token passes all parameters; leave active_parameters out, or None"
        )
    if spec.embedding_parameters > spec.parameters:
        raise ValueError(
            f"{spec.name}: the embeddings alone are {spec.embedding_parameters:,} weights, more than the "
            f"{spec.parameters:,} parameters; look at vocab_size, hidden_size and tied_embeddings"
        )
    if spec.indexer_dim is not None and not spec.is_latent:
        raise ValueError(f"{spec.name}: indexer_dim belongs to a model with a latent; give latent_rank too")


def checked_positions(positions: Any) -> tuple[int, ...] | None:
    """The windowed layers as a tuple of ints, or None; TypeError or ValueError where they are none."""
    if positions is None:
        return None
    meaning = "the layers that have a window, counted from 0"
    try:
        layers = () if isinstance(positions, (str, bytes)) else tuple(positions)
    except TypeError:
        layers = ()
    if not layers:
        raise TypeError(
            f"window_positions is a tuple of {meaning}, such as (0, 2), but got {arguments.shown(positions)}"
        )
    return tuple(arguments.count("window_positions", meaning, layer, at_least=0) for layer in layers)


def refuse_impossible_windows(spec: ModelSpec) -> None:
    """ValueError where no layers could have the windows that `spec` states."""
    if spec.window_kind is not None and not (isinstance(spec.window_kind, str) and spec.window_kind in WINDOW_KINDS):
        raise ValueError(
            f"{spec.name}: window_kind is one of {', '.join(WINDOW_KINDS)}, but got {arguments.shown(spec.window_kind)}"
        )
    if spec.window is None and (spec.window_layers or spec.window_positions is not None):
        raise ValueError(f"{spec.name}: window_layers need a window, the number of tokens that they look back")
    if spec.window is None:
        return
    windowed = arguments.count("window_layers", WINDOW_LAYERS, spec.window_layers)
    if windowed > spec.layers:
        raise ValueError(f"{spec.name}: {windowed} of {spec.layers} layers cannot have a window")
    positions = spec.window_positions
    if positions is not None and (
        not len(positions) == len(set(positions)) == windowed or max(positions) >= spec.layers
    ):
        raise ValueError(
            f"{spec.name}: window_positions must name {windowed} different layers from 0 to {spec.layers - 1}, "
            f"but got {arguments.shown(positions)}"
        )
    if spec.is_latent:
        raise ValueError(f"{spec.name}: a latent with a window is not something that this library can count")
