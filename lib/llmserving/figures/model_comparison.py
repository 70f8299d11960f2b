"""What a token costs in KV cache: the course's formula against what each model really keeps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from llmserving import arguments
from llmserving.figures.base import LessonFigure
from llmserving.figures.labels import LINE_HEIGHT
from llmserving.figures.palette import KV_CACHE
from llmserving.figures.shapes import (
    TITLE_HEIGHT,
    TITLE_SIZE,
    checked_title,
    draw_box,
    draw_line,
    draw_outline,
    text_width,
    write,
)
from llmserving.kv_cache import kv_bytes, kv_bytes_per_token
from llmserving.kv_formats import BYTES_PER_ELEMENT, kv_dtype_named
from llmserving.models import ModelSpec
from llmserving.named import model_of
from llmserving.units import KiB, format_number

WIDTH, MARGIN = 720.0, 10.0
ROW, BAR = 46.0, 20.0
BESIDE = 12.0


@dataclass(frozen=True)
class TokenCost:
    """Bytes of KV cache a token: 2 * layers * d_model * p, and by how much the model's cache grows (windows full)."""

    model: ModelSpec
    formula_bytes: int
    real_bytes: int

    @property
    def heads(self) -> str:
        """How the model attends, in the words of a config."""
        model = self.model
        if model.is_latent:
            words = f"latent of {model.latent_dim} elements (MLA)"
        elif model.kv_heads == model.attention_heads:
            words = f"{model.kv_heads} KV heads of {model.head_dim}, one a query head (MHA)"
        elif model.kv_heads == 1:
            words = f"{model.attention_heads} query heads share 1 KV head of {model.head_dim} (MQA)"
        else:
            words = f"{model.attention_heads} query heads share {model.kv_heads} KV heads of {model.head_dim} (GQA)"
        return f"{words}, {model.window_layers} of {model.layers} layers windowed" if model.window_layers else words

    @property
    def verdict(self) -> str:
        """How far off the formula is: `4 × too much`, `right`, `25 % too little`."""
        if self.real_bytes == 0:
            return "stops growing at its window"
        ratio = self.formula_bytes / self.real_bytes
        if self.formula_bytes == self.real_bytes:
            return "formula right"
        if ratio < 1:
            return f"formula {100 * (1 - ratio):.0f} % too little"
        return f"formula {format_number(ratio)} × too much"


def token_costs(models: Iterable[ModelSpec | str], kv_dtype: str = "fp16") -> list[TokenCost]:
    """The two numbers for each model, given by name or as an object."""
    if isinstance(models, str) or not isinstance(models, Iterable):
        raise TypeError(
            f'models is a list of names such as ["llama-2-7b", "llama-3.1-8b"], but got {arguments.shown(models)}'
        )
    specs = [model_of(model) for model in models]
    if not specs:
        raise ValueError("models needs one name at least, such as 'llama-3.1-8b'")
    name = kv_dtype_named(kv_dtype)
    if name not in BYTES_PER_ELEMENT:
        raise ValueError(f"kv_dtype {kv_dtype!r} has no bytes an element, which the formula needs")
    return [
        TokenCost(
            spec,
            kv_bytes(1, 1, spec.layers, spec.hidden_size, BYTES_PER_ELEMENT[name]),
            kv_bytes_per_token(spec, kv_dtype),
        )
        for spec in specs
    ]


def model_comparison(
    models: Iterable[ModelSpec | str], kv_dtype: str = "fp16", *, title: str | None = None
) -> LessonFigure:
    """One row a model: a teal bar of what it keeps for a token, a dashed outline of what the formula says, to scale."""
    costs = token_costs(models, kv_dtype)
    title = checked_title(title, WIDTH - 2 * MARGIN)
    words = [f"{_kib(cost.real_bytes)} · {cost.verdict}" for cost in costs]
    left = MARGIN
    right = WIDTH - MARGIN - BESIDE - max(text_width(text) for text in words)
    longest = max(max(cost.formula_bytes, cost.real_bytes) for cost in costs)
    top = 6 + (TITLE_HEIGHT if title else 0)
    figure = LessonFigure(WIDTH, top + ROW * len(costs) + LINE_HEIGHT + 12, _alt_text(costs, title))
    if title:
        write(figure, MARGIN, TITLE_HEIGHT / 2, title, bold=True, size=TITLE_SIZE)
    for row, (cost, text) in enumerate(zip(costs, words, strict=True)):
        y = top + row * ROW
        write(figure, left, y + LINE_HEIGHT / 2, cost.model.name, bold=True)
        write(figure, left + text_width(cost.model.name, bold=True) + 10, y + LINE_HEIGHT / 2, cost.heads)
        bar = y + LINE_HEIGHT + 2
        scale = (right - left) / longest
        draw_box(figure, left, bar + 3, cost.real_bytes * scale, BAR - 6, KV_CACHE)
        draw_outline(figure, left, bar, cost.formula_bytes * scale, BAR, dashed=True)
        end = left + scale * max(cost.real_bytes, cost.formula_bytes)
        write(figure, end + BESIDE, bar + BAR / 2, text)
    _draw_key(figure, top + ROW * len(costs) + 6 + LINE_HEIGHT / 2)
    return figure


def _draw_key(figure: LessonFigure, y: float) -> None:
    draw_line(figure, [MARGIN, WIDTH - MARGIN], [y - LINE_HEIGHT / 2 - 4] * 2, width=0.5)
    draw_box(figure, MARGIN, y - 5, 26, 10, KV_CACHE)
    kept = "what one more token adds"
    write(figure, MARGIN + 33, y, kept)
    x = MARGIN + 33 + text_width(kept) + 28
    draw_outline(figure, x, y - 7, 26, 14, dashed=True)
    write(figure, x + 33, y, "the formula: 2 × layers × d_model × bytes")


def _kib(num_bytes: int) -> str:
    return f"{format_number(num_bytes / KiB)} KiB"


def _alt_text(costs: list[TokenCost], title: str | None) -> str:
    rows = " ".join(
        f"{cost.model.name}, {cost.heads}: {_kib(cost.real_bytes)}; the formula says {_kib(cost.formula_bytes)}, "
        f"{cost.verdict.removeprefix('formula ')}."
        for cost in costs
    )
    words = f"Bars of KV cache a token, what each model keeps against the formula. {rows}"
    return f"{title}. {words}" if title else words
