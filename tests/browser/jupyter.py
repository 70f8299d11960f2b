"""A JupyterLab server of a test's own: its settings, records and sockets lie in a temporary folder, on a free port."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Theme = Literal["light", "dark"]
THEMES: tuple[Theme, ...] = ("light", "dark")

START_SECONDS, STOP_SECONDS = 180, 30


@dataclass(frozen=True)
class Lab:
    """A running server. url: its root, without a slash at the end. home: the folder of all that it keeps."""

    url: str
    token: str
    home: Path

    def address(self, path: str) -> str:
        return f"{self.url}{path}?token={self.token}"

    def use_theme(self, theme: Theme) -> None:
        """For pages opened from now on."""
        folder = self.home / "settings" / "@jupyterlab" / "apputils-extension"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "themes.jupyterlab-settings").write_text(json.dumps({"theme": f"JupyterLab {theme.title()}"}))

    def forget_open_tabs(self) -> None:
        """The next page begins empty; JupyterLab would open what was open before, each with a kernel."""
        shutil.rmtree(self.home / "workspaces", ignore_errors=True)

    def stop_kernels(self) -> None:
        for session in self.request("/api/sessions"):
            self.request(f"/api/sessions/{session['id']}", method="DELETE")

    def request(self, path: str, method: str = "GET") -> Any:
        asked = urllib.request.Request(self.url + path, method=method, headers={"Authorization": f"token {self.token}"})
        with urllib.request.urlopen(asked, timeout=60) as answer:
            body = answer.read()
        return json.loads(body) if body else None


@contextmanager
def jupyter_lab(root: Path, home: Path, *options: str, cwd: Path | None = None) -> Iterator[Lab]:
    """JupyterLab of this interpreter with `root` as its folder; `home` takes everything else it writes."""
    options = (f"--ServerApp.root_dir={root}", *options)
    with serving([sys.executable, "-m", "jupyterlab", *_as_root(), *server_options(), *options], home, cwd) as lab:
        yield lab


def server_options() -> list[str]:
    """No window, and a free port of 127.0.0.1; where another process takes it first, the server takes the next."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    return [
        "--no-browser",
        "--ServerApp.ip=127.0.0.1",
        f"--port={port}",
        f"--ServerApp.token={secrets.token_hex(16)}",
    ]


@contextmanager
def serving(command: Sequence[str], home: Path, cwd: Path | None = None) -> Iterator[Lab]:
    """Run a command that starts a Jupyter server, wait until that answers, and end its whole process group after."""
    home.mkdir(parents=True, exist_ok=True)
    log = home / "server.log"
    with log.open("ab") as output:
        process = subprocess.Popen(
            command, cwd=cwd, env=environment(home), stdout=output, stderr=output, start_new_session=True
        )
    try:
        yield _wait_for(process, home, log)
    finally:
        _end(process)
        for left in (home / "runtime").glob("jpserver-*.json"):
            left.unlink()


def environment(home: Path) -> Mapping[str, str]:
    """This process's environment, but nothing of the user's own Jupyter, or of a learner, is read or written."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "JPY_", "LLMSERVING_"))
    }
    return {
        **kept,
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "IPYTHONDIR": str(home / "ipython"),
    }


def _as_root() -> list[str]:
    return ["--allow-root"] if os.geteuid() == 0 else []


def _wait_for(process: subprocess.Popen[bytes], home: Path, log: Path) -> Lab:
    """The server that has noted itself in the runtime folder and answers there."""
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        with suppress(OSError, ValueError, StopIteration):
            info = json.loads(next((home / "runtime").glob("jpserver-*.json")).read_text())
            lab = Lab(f"http://127.0.0.1:{info['port']}", info["token"], home)
            lab.request("/api/status")
            return lab
        time.sleep(0.1)
    why = "did not answer in time" if process.poll() is None else f"ended with {process.returncode}"
    raise RuntimeError(f"the server {why}:\n{log.read_text(errors='replace')[-4000:]}")


def _end(process: subprocess.Popen[bytes]) -> None:
    """First by asking, so that the server ends its kernels, which are no members of its group."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        process.wait(STOP_SECONDS)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
