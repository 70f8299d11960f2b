"""How much memory is free for buffers: of the machine, and of the container that this may run in."""

from __future__ import annotations

import os
from pathlib import Path

# A container's limit and use, as cgroups of version 2 and 1 tell them.
LIMITS = (
    ("sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory.current"),
    ("sys/fs/cgroup/memory/memory.limit_in_bytes", "sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def available_memory(root: Path = Path("/")) -> int | None:
    """Bytes that can be allocated without pushing anybody out; None where the operating system does not tell."""
    found = [_machine_memory(root), *(_room(root / limit, root / used) for limit, used in LIMITS)]
    known = [num_bytes for num_bytes in found if num_bytes is not None]
    return min(known) if known else None


def _machine_memory(root: Path) -> int | None:
    try:
        for line in (root / "proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _room(limit: Path, used: Path) -> int | None:
    try:
        return max(0, int(limit.read_text()) - int(used.read_text()))
    except (OSError, ValueError):  # "max" where there is no limit
        return None
