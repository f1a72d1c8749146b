"""Commands as programs of their own, started fast.

Loading the package takes a command longer than its work. Here one process loads it and forks for
each command: the child has its own folder, environment, standard input and output, and exit code,
as a program has that was started by itself.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

# What commands load; a command that needs more loads it by itself.
_LOADED = (
    "colonnade.__main__",
    "colonnade.cli",
    "colonnade.files",
    "colonnade.network",
    "colonnade.structure",
    "colonnade.tables",
    "colonnade.inference",
    "colonnade.kernels.counting",
    "colonnade.kernels.elimination",
    "colonnade.kernels.lattice",
)


class Programs:
    """The process that forks; it ends with the object."""

    def __init__(self, **environment: str) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._server = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
        )

    def run(self, arguments: list[str], folder: Path, text: bytes) -> tuple[int, bytes, bytes]:
        """Run a command in a folder; return its exit code and what it printed."""
        own = Path(self._folder.name)
        (own / "in").write_bytes(text)
        streams = [str(own / name) for name in ("in", "out", "err")]
        request = {"arguments": arguments, "folder": str(folder), "streams": streams}
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        print(json.dumps(request), file=self._server.stdin, flush=True)
        code = int(self._server.stdout.readline())
        return code, (own / "out").read_bytes(), (own / "err").read_bytes()

    def end(self) -> None:
        """End the process, and remove what commands have printed."""
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.close()
        self._server.wait()
        self._server.stdout.close()
        self._folder.cleanup()


def _serve() -> None:
    """Fork for each line of standard input, and answer with the exit code."""
    import importlib

    for name in _LOADED:
        importlib.import_module(name)
    for line in sys.stdin:
        request: dict[str, Any] = json.loads(line)
        child = os.fork()
        if not child:
            _perform(**request)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _perform(arguments: list[str], folder: str, streams: list[str]) -> None:
    """Be the command, in a process of its own; does not return."""
    import runpy

    code: Any = 1
    with contextlib.suppress(BaseException):
        for number, path in enumerate(streams):
            how = os.O_WRONLY | os.O_CREAT | os.O_TRUNC if number else os.O_RDONLY
            os.dup2(os.open(path, how, 0o600), number)
        sys.stdin = os.fdopen(0, encoding="utf-8")
        os.chdir(folder)
        sys.argv = ["colonnade", *arguments]
        try:
            sys.modules.pop("colonnade.__main__", None)
            runpy.run_module("colonnade", run_name="__main__", alter_sys=True)
            code = 0
        except SystemExit as end:
            code = end.code or 0
        except BaseException:
            import traceback

            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 1)


if __name__ == "__main__":
    _serve()
