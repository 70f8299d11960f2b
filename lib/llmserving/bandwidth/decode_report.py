"""Predict, then measure: decode of real small models by batch and context, on this machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from typing import Any

from llmserving import arguments
from llmserving.bandwidth.calibration import typical_seconds
from llmserving.bandwidth.decode_rows import DecodeRow, DecodeTable
from llmserving.bandwidth.decode_work import RANDOM_110M, DecodeModel
from llmserving.bandwidth.machine import need_torch, this_machine
from llmserving.bandwidth.memory import available_memory
from llmserving.bandwidth.prediction import predict_decode
from llmserving.timing.clocks import Clock
from llmserving.units import GB, format_bytes

OWN, SMOLLM2, RANDOM = "austen-bierce", "smollm2-135m", "random-110m"
NAMES = (OWN, SMOLLM2, RANDOM)
BATCHES, CONTEXTS = (1, 4, 8, 16, 32), (128, 512, 2048)
# Of a cache: more is possible on most machines, but a learner's has other things to hold.
MOST_CACHE_BYTES = 2 * GB


def decode_table(
    names: Sequence[str] = NAMES,
    *,
    dtypes: Sequence[str] = ("float32",),
    batches: Sequence[Any] = BATCHES,
    contexts: Sequence[Any] = CONTEXTS,
    samples: Any = 20,
    command: str = "",
    clock: Clock | None = None,
    tell: Callable[[str], Any] = lambda _: None,
) -> DecodeTable:
    """Each model at each batch and context that it was made for and that fits, calibrated just before it is measured.

    NoDevice without torch. What is left out is told in `skipped`.
    """
    need_torch()
    for name in names:
        if name not in NAMES:
            raise ValueError(f"names are {', '.join(NAMES)}, but got {arguments.shown(name)}")
    batches = [arguments.count("batches", "numbers of requests", batch) for batch in batches]
    contexts = [arguments.count("contexts", "numbers of tokens", context) for context in contexts]
    rows: list[DecodeRow] = []
    skipped: list[str] = []
    for name in names:
        for dtype in dtypes:
            tell(f"measuring: decode of {name}, {dtype}")
            try:
                decoder, model = _loaded(name, dtype)
            except ImportError as missing:
                skipped.append(f"{name}: skipped, for {missing}")
                break
            trained = [context for context in contexts if context <= model.config.context]
            if len(trained) < len(contexts):
                longer = ", ".join(f"{context:,}" for context in contexts if context not in trained)
                skipped.append(
                    f"{name}, {dtype}, {longer} tokens: skipped, for it was trained on {model.config.context:,}"
                )
            for batch in batches:
                fitting = [context for context in trained if _fits(model, name, batch, context, skipped)]
                if fitting:
                    rows += _rows(decoder, model, name, batch, fitting, samples, clock)
    told = command or _typed(names=tuple(names), dtypes=tuple(dtypes), batches=tuple(batches), contexts=tuple(contexts))
    return DecodeTable(this_machine(), date.today().isoformat(), told, tuple(rows), tuple(skipped))


def _typed(**asked: tuple[Any, ...]) -> str:
    """The call as a command that can be typed into a shell, in whose double quotes the single ones of names may stand."""
    given = ", ".join(f"{name}={values!r}" for name, values in asked.items())
    call = f"decode_table({given}).write('decode.json')"
    return f'python -c "from llmserving.bandwidth.decode_report import decode_table; {call}"'


def _rows(
    decoder: Any, model: DecodeModel, name: str, batch: int, contexts: Sequence[int], samples: int, clock: Clock | None
) -> list[DecodeRow]:
    from llmserving.bandwidth.measured_decode import calibrate, measure_decode

    calibration = calibrate(model, [batch], contexts, clock=clock, samples=samples)
    rows = []
    for context in contexts:
        found = measure_decode(decoder, model, batch, context, clock=clock, samples=samples)
        seconds, is_cpu_time = typical_seconds(found)
        predicted = predict_decode(model, calibration, batch, context)
        calibrated = predicted.calibrated_seconds
        assert calibrated is not None, "calibrate() leaves nothing out"
        raw = predicted.raw_seconds
        share = found.samples.quiet_share
        times = (seconds, is_cpu_time, share, raw, calibrated, predicted.cpu_time)
        rows.append(DecodeRow(name, model.dtype, batch, context, *times))
    return rows


def _loaded(name: str, dtype: str) -> tuple[Any, DecodeModel]:
    from llmserving.bandwidth.decode_operations import random_decoder

    if name == RANDOM:
        model = DecodeModel(RANDOM_110M, dtype)
        return random_decoder(model), model
    from llmserving.tinylm import load

    config = load(name).config
    model = DecodeModel(config, dtype)
    if dtype == "float32":
        return load(name).decoder, model
    # The loaded model is shared and stays as it is; random weights of its shape take as long.
    return random_decoder(model), model


def _fits(model: DecodeModel, name: str, batch: int, context: int, skipped: list[str]) -> bool:
    needed, free = model.kv_bytes(batch, context), available_memory()
    if needed > MOST_CACHE_BYTES or (free is not None and needed > free // 3):
        skipped.append(
            f"{name}, {model.dtype}, {batch} × {context:,}: skipped, for its cache needs {format_bytes(needed)}"
        )
        return False
    return True
