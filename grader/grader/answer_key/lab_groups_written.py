"""The round trip of a matrix in groups, right and wrong, as learners write it. Each function stands for itself."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# An array has no type that a cell knows without an import.

from __future__ import annotations


def round_trip(weight, bits: int, group_size: int | None = None):
    def of_group(group):
        low, high = min(float(group.min()), 0.0), max(float(group.max()), 0.0)
        scale = (high - low) / (2**bits - 1)
        zero = round(-low / scale)
        return scale * (((group / scale).round() + zero).clip(0, 2**bits - 1) - zero)

    if group_size is None:
        return of_group(weight)
    back = weight.copy()
    for row in range(weight.shape[0]):
        for start in range(0, weight.shape[1], group_size):
            back[row, start : start + group_size] = of_group(weight[row, start : start + group_size])
    return back


def in_slices(weight, bits: int, group_size: int | None = None):
    back, columns = weight * 1.0, weight.shape[1]
    for start in range(0, columns, group_size or columns):
        piece = weight[:, start : start + (group_size or columns)]
        low, high = piece.min(axis=1, keepdims=True), piece.max(axis=1, keepdims=True)
        if group_size is None:
            low, high = low.min(), high.max()
        low, high = low.clip(None, 0), high.clip(0, None)
        scale = (high - low) / (2**bits - 1)
        zero = (-low / scale).round()
        codes = (zero + (piece / scale).round()).clip(0, 2**bits - 1)
        back[:, start : start + (group_size or columns)] = (codes - zero) * scale
    return back


def one_step_for_all(weight, bits: int, group_size: int | None = None):
    low, high = min(float(weight.min()), 0.0), max(float(weight.max()), 0.0)
    scale = (high - low) / (2**bits - 1)
    zero = round(-low / scale)
    return scale * (((weight / scale).round() + zero).clip(0, 2**bits - 1) - zero)


def a_step_a_row(weight, bits: int, group_size: int | None = None):
    axis = None if group_size is None else 1
    low, high = weight.min(axis=axis, keepdims=True).clip(None, 0), weight.max(axis=axis, keepdims=True).clip(0, None)
    scale = (high - low) / (2**bits - 1)
    zero = (-low / scale).round()
    return scale * (((weight / scale).round() + zero).clip(0, 2**bits - 1) - zero)


def down_the_columns(weight, bits: int, group_size: int | None = None):
    back, size = weight.copy(), group_size or weight.size
    for start in range(0, weight.shape[0], size):
        piece = weight[start : start + size]
        axis = None if group_size is None else 0
        low, high = piece.min(axis=axis, keepdims=True).clip(None, 0), piece.max(axis=axis, keepdims=True).clip(0, None)
        scale = (high - low) / (2**bits - 1)
        scale = scale + (scale == 0)
        zero = (-low / scale).round()
        back[start : start + size] = scale * (((piece / scale).round() + zero).clip(0, 2**bits - 1) - zero)
    return back


def rows_share_a_group(weight, bits: int, group_size: int | None = None):
    back, size = weight.copy(), group_size or weight.shape[1]
    for start in range(0, weight.shape[1], size):
        piece = weight[:, start : start + size]
        low, high = min(float(piece.min()), 0.0), max(float(piece.max()), 0.0)
        scale = (high - low) / (2**bits - 1)
        zero = round(-low / scale)
        back[:, start : start + size] = scale * (((piece / scale).round() + zero).clip(0, 2**bits - 1) - zero)
    return back


def first_group_s_step(weight, bits: int, group_size: int | None = None):
    first = weight if group_size is None else weight[:, :group_size]
    axis = None if group_size is None else 1
    low, high = first.min(axis=axis, keepdims=True).clip(None, 0), first.max(axis=axis, keepdims=True).clip(0, None)
    scale = (high - low) / (2**bits - 1)
    zero = (-low / scale).round()
    return scale * (((weight / scale).round() + zero).clip(0, 2**bits - 1) - zero)


def so_many_groups(weight, bits: int, group_size: int | None = None):
    size = weight.size if group_size is None else -(-weight.shape[1] // group_size)
    back = weight.copy()
    for start in range(0, weight.shape[1], size):
        piece = weight[:, start : start + size]
        axis = None if group_size is None else 1
        low, high = piece.min(axis=axis, keepdims=True).clip(None, 0), piece.max(axis=axis, keepdims=True).clip(0, None)
        scale = (high - low) / (2**bits - 1)
        scale = scale + (scale == 0)
        zero = (-low / scale).round()
        back[:, start : start + size] = scale * (((piece / scale).round() + zero).clip(0, 2**bits - 1) - zero)
    return back


def rest_left_alone(weight, bits: int, group_size: int | None = None):
    back, size = weight.copy(), group_size or weight.shape[1]
    for start in range(0, weight.shape[1] - size + 1, size):
        piece = weight[:, start : start + size]
        axis = None if group_size is None else 1
        low, high = piece.min(axis=axis, keepdims=True).clip(None, 0), piece.max(axis=axis, keepdims=True).clip(0, None)
        scale = (high - low) / (2**bits - 1)
        zero = (-low / scale).round()
        back[:, start : start + size] = scale * (((piece / scale).round() + zero).clip(0, 2**bits - 1) - zero)
    return back


def rest_dropped(weight, bits: int, group_size: int | None = None):
    size = group_size or weight.shape[1]
    kept = weight[:, : weight.shape[1] // size * size]
    groups = kept.reshape(1, -1) if group_size is None else kept.reshape(-1, size)
    low, high = groups.min(axis=1, keepdims=True).clip(None, 0), groups.max(axis=1, keepdims=True).clip(0, None)
    scale = (high - low) / (2**bits - 1)
    zero = (-low / scale).round()
    return (scale * (((groups / scale).round() + zero).clip(0, 2**bits - 1) - zero)).reshape(kept.shape)


def across_rows(weight, bits: int, group_size: int | None = None):
    flat = weight.reshape(-1)
    back, size = flat.copy(), group_size or weight.size
    for start in range(0, weight.size, size):
        piece = flat[start : start + size]
        low, high = min(float(piece.min()), 0.0), max(float(piece.max()), 0.0)
        scale = (high - low) / (2**bits - 1)
        zero = round(-low / scale)
        back[start : start + size] = scale * (((piece / scale).round() + zero).clip(0, 2**bits - 1) - zero)
    return back.reshape(weight.shape)


def rest_joined(weight, bits: int, group_size: int | None = None):
    back, size = weight.copy(), group_size or weight.shape[1]
    count = max(1, weight.shape[1] // size)
    for index in range(count):
        here = slice(index * size, (index + 1) * size if index < count - 1 else None)
        piece = weight[:, here]
        axis = None if group_size is None else 1
        low, high = piece.min(axis=axis, keepdims=True).clip(None, 0), piece.max(axis=axis, keepdims=True).clip(0, None)
        scale = (high - low) / (2**bits - 1)
        zero = (-low / scale).round()
        back[:, here] = scale * (((piece / scale).round() + zero).clip(0, 2**bits - 1) - zero)
    return back
