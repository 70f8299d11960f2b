"""How a kernel is cut: how much a program does at once, and how many programs it takes.

A thread should load 16 bytes at once, and several such pieces before it waits for the first. The sizes here give a
thread four to eight. They are choices by arithmetic, not by measurement.
"""

from __future__ import annotations

from dataclasses import dataclass

THREADS_PER_WARP = 32


@dataclass(frozen=True)
class LaunchSizes:
    """programs: how many are started. constants: the kernel's constexpr arguments. warps: of 32 threads, a program."""

    programs: int
    constants: dict[str, int]
    warps: int = 4


def stream_sizes(size: int, tiles: int = 0) -> LaunchSizes:
    """For `size` values in a row, 2048 a tile: 16 values a thread, four loads of 16 bytes in float32, two in 16 bits.

    tiles: how many a program works through one after the other, where the kernel takes that.
    """
    block = 2048
    constants = {"BLOCK": block} | ({"TILES": tiles} if tiles else {})
    return LaunchSizes(_parts(size, block * max(tiles, 1)), constants)


def gemv_sizes(rows: int, columns: int) -> LaunchSizes:
    """For weights [rows, columns] of 16 bits: all threads side by side on 1024 columns, 16 bytes each, of four rows at once.

    Side by side, so that a thread keeps the same columns in every row and reads x for them once.
    """
    block = min(1024, _power_of_two(columns))
    return LaunchSizes(_parts(rows, 4), {"COLUMNS": columns, "ROWS": 4, "BLOCK": block})


def gemv_w4a16_sizes(rows: int, columns: int, group_size: int) -> LaunchSizes:
    """For packed weights [rows, columns]: all threads side by side on 4096 columns, 32 codes each, of four rows at once.

    ValueError where a group is no power of two, which tiles are, or shorter than the 32 codes of one 16-byte load.
    """
    if group_size < 32 or group_size != _power_of_two(group_size):
        raise ValueError(f"the kernel takes groups of 32, 64, 128 … weights (a power of two), but got {group_size}")
    groups = columns // group_size
    block = min(max(4096 // group_size, 1), _power_of_two(groups))
    return LaunchSizes(_parts(rows, 4), {"GROUPS": groups, "GROUP": group_size, "ROWS": 4, "BLOCK": block})


def _parts(size: int, part: int) -> int:
    return -(-size // part)


def _power_of_two(size: int) -> int:
    """The smallest power of two that is not below `size`."""
    return 1 << (size - 1).bit_length()
