"""Five Triton kernels, each the plain form of its idea: what a program reads, in which order, and what it keeps.

A kernel is written for one *program*: a few warps that load whole tiles (tl.arange), work on them in registers, and
store the result. Its launch starts as many programs as the data need; tl.program_id says which one this is.

Three habits run through all of them. Neighbouring threads read neighbouring memory and each thread 16 bytes at once:
Triton arranges this itself where the addresses of a tile run on and begin at a multiple of 16 bytes. Loads are widened
to float32 at once, whatever was stored, so that sums lose nothing. And indices that grow with the data are 64 bits
wide: rows * columns of a large matrix passes 2^31.

This module needs Triton; kernels.py, which launches them, does not.
"""

import triton
import triton.language as tl


@triton.jit
def copy_kernel(source, target, size, BLOCK: tl.constexpr):
    """target[i] = source[i], in any dtype: nothing is computed, so it is moved as it is."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(target + i, tl.load(source + i, mask=i < size), mask=i < size)


@triton.jit
def triad_kernel(b, c, a, scalar, size, BLOCK: tl.constexpr):
    """a[i] = b[i] + scalar * c[i]: two arrays read, one written."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    summand = tl.load(b + i, mask=i < size).to(tl.float32)
    factor = tl.load(c + i, mask=i < size).to(tl.float32)
    tl.store(a + i, summand + scalar * factor, mask=i < size)


@triton.jit
def read_kernel(source, sums, size, BLOCK: tl.constexpr, TILES: tl.constexpr):
    """sums[program] = the sum of TILES tiles of BLOCK values: read everything, write almost nothing.

    Each thread adds to values of its own and the threads meet once, at the end; to meet in every tile would make them wait.
    """
    first = tl.program_id(0).to(tl.int64) * TILES * BLOCK
    total = tl.zeros((BLOCK,), tl.float32)
    for tile in range(TILES):
        i = first + tile * BLOCK + tl.arange(0, BLOCK)
        total += tl.load(source + i, mask=i < size, other=0).to(tl.float32)
    tl.store(sums + tl.program_id(0), tl.sum(total, 0))


@triton.jit
def gemv_kernel(weight, x, y, rows, COLUMNS: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """y[row] = sum over columns of weight[row, column] * x[column], ROWS rows a program.

    weight [rows, COLUMNS] is read once and x [COLUMNS] by every program: small, it stays in the cache.
    """
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    total = tl.zeros((ROWS, BLOCK), tl.float32)
    for start in range(0, COLUMNS, BLOCK):
        column = start + tl.arange(0, BLOCK)
        there = (row < rows)[:, None] & (column < COLUMNS)[None, :]
        w = tl.load(weight + row[:, None] * COLUMNS + column[None, :], mask=there, other=0).to(tl.float32)
        total += w * tl.load(x + column, mask=column < COLUMNS, other=0).to(tl.float32)[None, :]
    tl.store(y + row, tl.sum(total, 1), mask=row < rows)


@triton.jit
def distance(words, zero, PLACE: tl.constexpr):
    """code - zero, float32, of the 4-bit code at bits 4 * PLACE (0 to 4) of each word, without a conversion.

    In the float 2^(23 - 4 * PLACE) that bit of the mantissa counts 1, and the mantissa is empty: the code, left where it
    stands, adds itself. One mask and one exact subtraction; instructions that convert integers are fewer a clock.
    """
    power = (words & (15 << (4 * PLACE))) | ((150 - 4 * PLACE) << 23)
    return power.to(tl.float32, bitcast=True) - (zero + (1 << (23 - 4 * PLACE)))


@triton.jit
def distances(words, zero):
    """words uint32 [A, B, C], eight codes each, as code - zero, float32 [A, B, 8 * C]. zero float32 [A, B, 1].

    tl.interleave takes from its two arguments in turn; each thread does so among its own registers.
    """
    high = words >> 16
    even = tl.interleave(
        tl.interleave(distance(words, zero, 0), distance(high, zero, 0)),
        tl.interleave(distance(words, zero, 2), distance(high, zero, 2)),
    )
    odd = tl.interleave(
        tl.interleave(distance(words, zero, 1), distance(high, zero, 1)),
        tl.interleave(distance(words, zero, 3), distance(high, zero, 3)),
    )
    return tl.interleave(even, odd)


@triton.jit
def gemv_w4a16_kernel(
    words,
    scales,
    zero_points,
    x,
    y,
    rows,
    GROUPS: tl.constexpr,
    GROUP: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """y[row] = sum over groups of scale * (sum over the group of (code - zero_point) * x): weights are never written out.

    words int32 [rows, GROUPS * GROUP / 8]: eight codes each, the first in the lowest bits. scales float16 [rows, GROUPS].
    zero_points: two a byte, the first in the low bits, row after row. x [GROUPS * GROUP]. BLOCK groups a step.
    """
    WORDS: tl.constexpr = GROUP // 8
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    total = tl.zeros((ROWS, BLOCK), tl.float32)
    for start in range(0, GROUPS, BLOCK):
        group = start + tl.arange(0, BLOCK)
        place = row[:, None] * GROUPS + group[None, :]
        there = (row < rows)[:, None] & (group < GROUPS)[None, :]
        word = place[:, :, None] * WORDS + tl.arange(0, WORDS)[None, None, :]
        w = tl.load(words + word, mask=there[:, :, None], other=0).to(tl.uint32, bitcast=True)
        pair = tl.load(zero_points + place // 2, mask=there, other=0).to(tl.int32)
        zero = ((pair >> (place % 2 * 4).to(tl.int32)) & 15).to(tl.float32)
        column = group[:, None] * GROUP + tl.arange(0, GROUP)[None, :]
        activations = tl.load(x + column, mask=(group < GROUPS)[:, None], other=0).to(tl.float32)
        dot = tl.sum(distances(w, zero[:, :, None]) * activations[None, :, :], 2)
        total += tl.load(scales + place, mask=there, other=0).to(tl.float32) * dot
    tl.store(y + row, tl.sum(total, 1), mask=row < rows)
