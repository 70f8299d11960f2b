"""Run a notebook of the instructor's from end to end, every cell, with the network blocked, and weigh it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted(path for path in (ROOT / "notebooks").rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts)

_BLOCK_NETWORK = """
import ipaddress, socket

_connect = socket.socket.connect

def connect(self, address):
    if self.family in (socket.AF_INET, socket.AF_INET6) and not ipaddress.ip_address(address[0]).is_loopback:
        raise OSError(f"the network is blocked, but something asked for {address}")
    return _connect(self, address)

def getaddrinfo(host, *args, _lookup=socket.getaddrinfo, **options):
    if host not in (None, "localhost", "127.0.0.1", "::1"):
        raise OSError(f"the network is blocked, but something looked up {host}")
    return _lookup(host, *args, **options)

socket.socket.connect = connect
socket.getaddrinfo = getaddrinfo
"""

_WEIGH = """
import json, resource
_usage = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps({"cpu_s": _usage.ru_utime + _usage.ru_stime, "peak_bytes": _usage.ru_maxrss * 1024}))
"""


@dataclass(frozen=True)
class Run:
    notebook: Any
    cpu_s: float
    peak_bytes: int

    def outputs(self, cell_id: str) -> list[Any]:
        return next(cell.outputs for cell in self.notebook.cells if cell.get("id") == cell_id)


def run_offline(path: Path, folder: Path) -> Run:
    """Run a copy of the notebook in `folder`; an error in a cell raises, and so does any use of the network."""
    site = folder / "site"
    site.mkdir(parents=True, exist_ok=True)
    (site / "sitecustomize.py").write_text(_BLOCK_NETWORK)
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell(_WEIGH))
    environment = {**os.environ, "PYTHONPATH": str(site), "LLMSERVING_RECORDS": "off"}
    client = NotebookClient(notebook, timeout=180, resources={"metadata": {"path": str(folder)}})
    client.execute(env=environment)
    weight = json.loads(notebook.cells.pop().outputs[0].text)
    return Run(notebook, weight["cpu_s"], weight["peak_bytes"])
