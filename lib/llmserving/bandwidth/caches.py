"""How large the last-level cache is, as the operating system tells it; in a virtual machine that is often the host's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from llmserving.units import BYTES_PER_UNIT

LINUX_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
# What macOS calls it, the largest that there is first; Apple's own processors have no L3 that is told.
MAC_NAMES = ("hw.l3cachesize", "hw.perflevel0.l2cachesize", "hw.l2cachesize")


def last_level_cache(folder: Path = LINUX_CACHES) -> int | None:
    """Bytes of the processor's last cache before the memory; None where the operating system does not tell."""
    if sys.platform == "darwin":
        return _mac_cache()
    return _linux_cache(folder)


def _linux_cache(folder: Path) -> int | None:
    sizes: dict[int, int] = {}
    try:
        for cache in sorted(folder.glob("index*")):
            if (cache / "type").read_text().strip() != "Instruction":
                size = (cache / "size").read_text().strip()  # such as 2048K
                unit = BYTES_PER_UNIT[f"{size[-1]}iB"] if size[-1] in "KMG" else 1
                sizes[int((cache / "level").read_text())] = int(size.rstrip("KMG")) * unit
    except (OSError, ValueError, IndexError, KeyError):
        return None
    return sizes[max(sizes)] or None if sizes else None


def _mac_cache() -> int | None:
    for name in MAC_NAMES:
        try:
            told = subprocess.run(["sysctl", "-n", name], capture_output=True, text=True, timeout=5, check=True)
            if int(told.stdout) > 0:
                return int(told.stdout)
        except (OSError, ValueError, subprocess.SubprocessError):
            continue
    return None
