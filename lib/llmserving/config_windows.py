"""Which layers of a Hugging Face config have a window: as it lists them, or by the rule of its family."""

from __future__ import annotations

from typing import Any

from llmserving.config_reader import ConfigReader
from llmserving.model_spec import evenly_windowed

EVERY_LAYER_SLIDES = ("mistral", "mixtral", "phi3")
FROM_A_LAYER_ON = ("qwen2", "qwen2_moe", "qwen3", "qwen3_moe")
LAST_OF_EVERY = {"gemma2": 2, "gpt_oss": 2, "gemma3": 6, "gemma3_text": 6, "llama4": 4, "llama4_text": 4}
KINDS = {"full_attention": None, "sliding_attention": "sliding", "chunked_attention": "chunked"}
PATTERN_KEYS = ("sliding_window_pattern", "_sliding_window_pattern")
WINDOW_KEY = {"sliding": "sliding_window", "chunked": "attention_chunk_size"}


def window_fields(reader: ConfigReader) -> dict[str, Any]:
    """The window's fields of ModelSpec; a window as long as the longest context never closes and is none."""
    kinds = _kinds_of_layers(reader)
    kind = next((kind for kind in kinds if kind), None)
    if kind is None:
        return {}
    if len({kind for kind in kinds if kind}) > 1:
        raise ValueError(
            f"{reader.where}: layer_types mixes sliding and chunked layers, which this library cannot count"
        )
    if not reader.has(WINDOW_KEY[kind]):
        stated = "null" if WINDOW_KEY[kind] in reader.values else "missing"
        raise ValueError(f"{reader.where}: {WINDOW_KEY[kind]} is {stated}, but layer_types has {kind} layers")
    window, longest = reader.count(WINDOW_KEY[kind]), reader.optional_count("max_position_embeddings")
    if longest is not None and window >= longest:
        return {}
    positions = tuple(layer for layer, its in enumerate(kinds) if its)
    evenly = evenly_windowed(len(kinds), len(positions)) == tuple(bool(its) for its in kinds)
    return {
        "window": window,
        "window_layers": len(positions),
        "window_kind": kind,
        "window_positions": None if evenly else positions,
    }


def _kinds_of_layers(reader: ConfigReader) -> list[str | None]:
    layers = range(reader.count("num_hidden_layers"))
    stated = reader.layer_list("layer_types")
    if stated:
        unknown = sorted({str(kind) for kind in stated if not (isinstance(kind, str) and kind in KINDS)})
        if unknown:
            raise ValueError(f"{reader.where}: layer_types has {', '.join(unknown)}; known are {', '.join(KINDS)}")
        if len(stated) != len(layers):
            raise ValueError(f"{reader.where}: layer_types names {len(stated)} layers, num_hidden_layers {len(layers)}")
        kinds = [KINDS[kind] for kind in stated]
        _refuse_another_rule(reader, kinds)
        return kinds
    if reader.family.startswith("llama4"):
        return _chunked_where_positions_are(reader)
    if reader.family in FROM_A_LAYER_ON and reader.flag("use_sliding_window", default=False):
        if not reader.has("sliding_window"):
            raise ValueError(f"{reader.where}: use_sliding_window is true, but sliding_window states no window")
        first = reader.count("max_window_layers", default=28, at_least=0)
        return ["sliding" if layer >= first else None for layer in layers]
    if reader.family in FROM_A_LAYER_ON or not reader.has("sliding_window"):
        return [None for _ in layers]
    if reader.family in EVERY_LAYER_SLIDES:
        return ["sliding" for _ in layers]
    if reader.family in LAST_OF_EVERY:
        every = _pattern(reader) or LAST_OF_EVERY[reader.family]
        return _all_but_the_last_of(every, len(layers))
    raise ValueError(f"{reader.where}: sliding_window contradicts model_type {reader.family!r}, which has no window")


def _refuse_another_rule(reader: ConfigReader, kinds: list[str | None]) -> None:
    """Layers that are listed, and a rule beside the list that says something else."""
    if any(kinds) and reader.family not in (*EVERY_LAYER_SLIDES, *FROM_A_LAYER_ON, *LAST_OF_EVERY):
        raise ValueError(f"{reader.where}: layer_types contradicts model_type {reader.family!r}, which has no window")
    if "sliding" in kinds and reader.family in FROM_A_LAYER_ON and not reader.flag("use_sliding_window", default=True):
        raise ValueError(f"{reader.where}: layer_types has sliding layers, but use_sliding_window is false")
    every = _pattern(reader)
    if every is not None and kinds != _all_but_the_last_of(every, len(kinds)):
        raise ValueError(f"{reader.where}: layer_types contradicts sliding_window_pattern {every}")


def _pattern(reader: ConfigReader) -> int | None:
    """Of how many layers the last is full, where the config says so; newer files write the key with a "_"."""
    present = [key for key in PATTERN_KEYS if reader.values.get(key) is not None]
    return reader.count(reader.first_of(present)) if present else None


def _all_but_the_last_of(every: int, layers: int) -> list[str | None]:
    return ["sliding" if (layer + 1) % every else None for layer in range(layers)]


def _chunked_where_positions_are(reader: ConfigReader) -> list[str | None]:
    layers = reader.count("num_hidden_layers")
    if not reader.has("attention_chunk_size"):
        return [None] * layers
    every = reader.count("no_rope_layer_interval", default=4)
    rope = reader.layer_list("no_rope_layers") or [int((layer + 1) % every > 0) for layer in range(layers)]
    if not all(isinstance(has, int) and has in (0, 1) for has in rope):
        raise ValueError(f"{reader.where}: no_rope_layers has a 1 for each layer with positions and a 0 for the others")
    if len(rope) != layers:
        raise ValueError(f"{reader.where}: no_rope_layers names {len(rope)} layers, num_hidden_layers {layers}")
    return ["chunked" if has else None for has in rope]
