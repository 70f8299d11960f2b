"""A learner's kernel with the network blocked, to run cells in one after the other."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from jupyter_client.manager import start_new_kernel
from llmserving.exercises.session import RECORDS_VARIABLE

from grader.kernel import KERNEL

CELL_TIMEOUT_S = 120

BLOCK_NETWORK = """
import ipaddress as _ip, socket as _socket
_connect, _lookup = _socket.socket.connect, _socket.getaddrinfo
def _only_here(self, address):
    if self.family in (_socket.AF_INET, _socket.AF_INET6) and not _ip.ip_address(address[0]).is_loopback:
        raise OSError(f"the network is blocked, but a cell asked for {address}")
    return _connect(self, address)
def _no_names(host, *args, **options):
    if host not in (None, "localhost", "127.0.0.1", "::1"):
        raise OSError(f"the network is blocked, but a cell looked up {host}")
    return _lookup(host, *args, **options)
_socket.socket.connect, _socket.getaddrinfo = _only_here, _no_names
"""


@contextmanager
def kernel() -> Iterator[Callable[[str], dict[str, Any]]]:
    """A learner's kernel in an empty folder, with the network blocked: a function from a cell's source to what it shows.

    That is the mime bundle of the cell's value; under "stdout" what it printed, and under "error" and "stderr" what went
    wrong, if anything did.
    """
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, RECORDS_VARIABLE: "off", "IPYTHONDIR": folder}
        manager, client = start_new_kernel(
            kernel_name=KERNEL, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

        def run(source: str) -> dict[str, Any]:
            shown: dict[str, Any] = {}

            def note(message: Mapping[str, Any]) -> None:
                content = message["content"]
                if message["msg_type"] == "execute_result":
                    shown.update(content["data"])
                elif message["msg_type"] == "error":
                    shown["error"] = f"{content['ename']}: {content['evalue']}"
                elif message["msg_type"] == "stream":
                    shown[content["name"]] = shown.get(content["name"], "") + content["text"]

            client.execute_interactive(source, allow_stdin=False, output_hook=note, timeout=CELL_TIMEOUT_S)
            return shown

        try:
            run(BLOCK_NETWORK)
            yield run
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)
