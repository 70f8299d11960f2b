"""A model under a scheme: the same decoder with other weights, computed once and kept while there is room.

A scheme is either a function of one weight matrix [out, in] that returns what it is after quantizing and dequantizing,
or an object whose `apply(decoder)` returns a changed decoder, for what needs more than one matrix: calibration,
activations, or the KV cache (`Attention.kv_scheme`). `registry.py` has the usual ones by name.

What is kept is found by the scheme itself: equal schemes are taken for the same one. A scheme that reads a global or an
attribute is not asked again when that changes. Make a new function, or a frozen dataclass with the number as a field.
"""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Protocol, TypeAlias, runtime_checkable
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from llmserving import arguments
from llmserving.tinylm.model import Decoder
from llmserving.tinylm.weights import LanguageModel, checked_model, forget


@runtime_checkable
class DecoderScheme(Protocol):
    """Turns a decoder into another; `shared_copy` gives one that can be changed without touching the first."""

    def apply(self, decoder: Decoder) -> Decoder: ...


Scheme: TypeAlias = "Callable[[Tensor], Tensor] | DecoderScheme"

KEPT_BYTES = 1 << 29  # of dequantized weights, over all schemes of a model: one scheme of SmolLM2-135M
_kept: WeakKeyDictionary[LanguageModel, OrderedDict[Scheme, LanguageModel]] = WeakKeyDictionary()


def shared_copy(decoder: Decoder) -> Decoder:
    """A decoder of its own modules that shares every weight; replace a module's weight, never write into it."""
    return copy.deepcopy(decoder, {id(weight): weight for weight in decoder.parameters()})


def quantized(model: LanguageModel, scheme: Scheme | str | None) -> LanguageModel:
    """The model under a scheme or one named in registry.py; the same object while it is kept. None is the model itself."""
    checked_model(model)
    if scheme is None:
        return model
    if isinstance(scheme, str):
        from llmserving.tinylm import registry  # it is made of schemes, which need this module

        scheme = registry.scheme(scheme, model)
    if not isinstance(scheme, Hashable):
        raise TypeError(f"scheme must be hashable, so that its weights can be kept, but got {arguments.shown(scheme)}")
    kept = _kept.setdefault(model, OrderedDict())
    if scheme not in kept:
        coming = sum(matrix.weight.nbytes for _, matrix in model.decoder.matrices())
        while kept and _own_bytes(model, *kept.values()) + coming > KEPT_BYTES:  # before the new ones need their room
            kept.popitem(last=False)
        kept[scheme] = replace(model, decoder=_decoder_under(model.decoder, scheme))
    kept.move_to_end(scheme)
    return kept[scheme]


def _decoder_under(decoder: Decoder, scheme: Scheme) -> Decoder:
    if isinstance(scheme, DecoderScheme):
        return _applied(decoder, scheme)
    if not callable(scheme):
        raise TypeError(
            f"scheme is a function of a weight matrix, or has apply(decoder), but got {arguments.shown(scheme)}"
        )
    changed = shared_copy(decoder)
    with torch.no_grad():
        for name, linear in changed.matrices():
            # A clone: what a scheme writes in place, it writes into that, and not into the model that others share.
            after = _checked(scheme(linear.weight.detach().clone()), linear.weight, name)
            linear.weight = nn.Parameter(after, requires_grad=False)
    return changed


def _applied(decoder: Decoder, scheme: DecoderScheme) -> Decoder:
    """What `apply` makes of a copy whose weights are the decoder's own. ValueError where it writes into them."""
    before = {name: _version(weight) for name, weight in decoder.named_parameters()}
    changed = scheme.apply(shared_copy(decoder))
    for name, weight in decoder.named_parameters():
        if _version(weight) != before[name]:
            forget()
            raise ValueError(
                f"scheme wrote into {name}, which the unquantized model has too, and spoiled it: load() the model anew, and "
                "let apply(decoder) put a new weight in the place of the old one"
            )
    for name, linear in changed.matrices():
        _refuse_no_numbers(linear.weight, name)
    return changed


def _version(weight: Tensor) -> int:
    """A number that torch raises with each write."""
    return 0 if weight.is_inference() else weight._version


def _refuse_no_numbers(weight: Tensor, name: str) -> None:
    finite = weight.isfinite()
    if not bool(finite.all()):
        found = float(weight[~finite][0])
        raise ValueError(
            f"scheme returned {found} among the weights of {name}; look for a scale of 0, or one too small for its dtype"
        )


def _checked(after: Tensor, before: Tensor, name: str) -> Tensor:
    if not isinstance(after, Tensor) or after.shape != before.shape:
        got = list(after.shape) if isinstance(after, Tensor) else arguments.shown(after)
        raise ValueError(f"scheme must return a tensor {list(before.shape)} for {name}, but returned {got}")
    _refuse_no_numbers(after, name)
    return after.to(before.dtype)


def _own_bytes(model: LanguageModel, *others: LanguageModel) -> int:
    """Bytes of the weights that the others do not share with the model."""
    shared = {weight.data_ptr() for weight in model.decoder.parameters()}
    own = {
        weight.data_ptr(): weight.numel() * weight.element_size()
        for other in others
        for weight in other.decoder.parameters()
        if weight.data_ptr() not in shared
    }
    return sum(own.values())
