"""The server of the explorer: one page and one question, on this machine only."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import secrets
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from colonnade.arrays import Floats
from colonnade.exceptions import ColonnadeError, expected, require
from colonnade.explore.beliefs import Answer, Beliefs
from colonnade.explore.reasons import next_questions, reasons
from colonnade.explore.situation import Situation
from colonnade.network import BayesianNetwork
from colonnade.report.page import MAX_MARGIN_STATES, describe, rendered
from colonnade.report.tables import rounded

HOST = "127.0.0.1"
_MAX_MESSAGE = 1 << 20  # bytes of a question
_MAX_MOVED = 8
_MIN_MOVED = 0.005
_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Explorer:
    """The page of a network with live answers, at an address that nobody can guess.

    Needs the extra ``explore``.

    Parameters
    ----------
    network : BayesianNetwork
    model : str
        What copied commands call the file of the network.
    title : str, optional
        Heading of the page.
    port : int, optional
        0 for any that is free.
    idle : float, optional
        Seconds without a request after which :meth:`run` returns.

    Examples
    --------
    >>> from colonnade import Dag, fit
    >>> explorer = Explorer(fit({"a": [0, 1]}, Dag([], ["a"])), "model.json")
    >>> explorer.address.startswith("http://127.0.0.1:")
    True
    >>> explorer.close()
    """

    def __init__(
        self,
        network: BayesianNetwork,
        model: str,
        *,
        title: str | None = None,
        port: int = 0,
        idle: float = 3600.0,
    ) -> None:
        # Before the work, not after it.
        require("uvicorn", feature="The explorer", extra="explore")
        require("starlette", feature="The explorer", extra="explore")
        require("jinja2", feature="The explorer", extra="explore")
        self.network, self.model, self.idle = network, model, idle
        self.beliefs = Beliefs(network)
        self._usual = self.beliefs.answer(Situation())
        found = describe(network, title=title)
        found["live"] = {"draws": self.beliefs.draws, "minutes": round(idle / 60.0, 1)}
        page = rendered(found, live=True)
        self._page = page.text.encode("utf-8")
        self._policy = f"{page.policy}; frame-ancestors 'none'"
        self._token = secrets.token_urlsafe(24)
        self._socket = _bound(port)
        self._port = self._socket.getsockname()[1]
        self._last = time.monotonic()

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://{HOST}:{self._port}/{self._token}/"

    def close(self) -> None:
        """Give the address up without serving it."""
        self._socket.close()

    def run(self) -> bool:
        """Serve until Ctrl-C, or until nothing was asked for some time; then return True."""
        uvicorn = require("uvicorn", feature="The explorer", extra="explore")
        config = uvicorn.Config(
            self.application(),
            log_level="warning",
            access_log=False,
            lifespan="off",
            server_header=False,
            date_header=False,
            ws="none",
            timeout_graceful_shutdown=2,
        )
        server = uvicorn.Server(config)
        idle = False

        async def serve() -> None:
            nonlocal idle
            watch = asyncio.create_task(server.serve(sockets=[self._socket]))
            while not watch.done():
                await asyncio.wait([watch], timeout=min(1.0, self.idle / 4.0))
                if time.monotonic() - self._last > self.idle and not watch.done():
                    idle = server.should_exit = True
            await watch

        def end(*_: Any) -> None:
            server.should_exit = True

        # Ctrl-C is how a person ends this, so it is no error; the server would raise it again.
        server.capture_signals = contextlib.nullcontext
        with _interrupting(end):
            asyncio.run(serve())
        return idle

    def application(self) -> Any:
        """Return the ASGI application: a page, and answers to its questions."""
        starlette = require("starlette.applications", feature="The explorer", extra="explore")
        routing = require("starlette.routing", feature="The explorer", extra="explore")
        routes = [
            routing.Route(f"/{self._token}/", self._show, methods=["GET"]),
            routing.Route(f"/{self._token}/ask", self._ask, methods=["POST"]),
        ]
        return starlette.Starlette(routes=routes)

    async def _show(self, request: Any) -> Any:
        if not self._own(request):
            return self._response(b"", 403, "text/plain")
        return self._response(self._page, 200, "text/html; charset=utf-8")

    async def _ask(self, request: Any) -> Any:
        """Answer one question; pages of other origins and forms cannot ask any."""
        kind = request.headers.get("content-type", "").partition(";")[0].strip()
        if not self._own(request) or kind != "application/json":
            return self._response(b"", 403, "text/plain")
        content = bytearray()
        async for chunk in request.stream():
            content += chunk
            if len(content) > _MAX_MESSAGE:
                return self._response(b"", 413, "text/plain")
        try:
            answer, status = self.answered(json.loads(bytes(content))), 200
        except ColonnadeError as error:
            answer, status = {"error": str(error)}, 400
        except (ValueError, RecursionError):
            answer, status = {"error": "Expected JSON."}, 400
        text = json.dumps(answer, allow_nan=False).encode("ascii")
        return self._response(text, status, "application/json")

    def answered(self, message: Any) -> dict[str, Any]:
        """Answer what a page sent, in plain values."""
        message = dict(message) if isinstance(message, dict) else message
        target = message.pop("target", None) if isinstance(message, dict) else None
        situation = Situation.of(message, self.network)
        answer = self.beliefs.answer(situation)
        python = command = why = ask = None
        if type(target) is int and 0 <= target < len(self.network):
            python = situation.as_python(self.network, target)
            command = situation.as_command(self.network, target, self.model)
            why = reasons(self.beliefs, situation, target)
            ask = next_questions(self.beliefs, situation, target)
        return {
            "means": _shortened(answer.means),
            "lower": _shortened(answer.lower),
            "upper": _shortened(answer.upper),
            "log_probability": round(answer.log_probability, 6),
            "moved": self._moved(answer, situation),
            "reasons": why,
            "next": ask,
            "python": python,
            "command": command,
        }

    def _moved(self, answer: Answer, situation: Situation) -> list[dict[str, Any]]:
        """The variables whose distribution is farthest from the one with nothing observed."""
        fixed = {*situation.observed, *situation.done}
        found = []
        for k, (now, usual) in enumerate(zip(answer.means, self._usual.means, strict=True)):
            distance = float(np.abs(now - usual).sum() / 2.0)
            if k not in fixed and distance >= _MIN_MOVED:
                state = int(np.abs(now - usual).argmax())
                found.append(
                    {
                        "variable": k,
                        "distance": rounded(distance),
                        "state": state,
                        "before": rounded(usual[state]),
                        "now": rounded(now[state]),
                    }
                )
        found.sort(key=lambda each: -each["distance"])
        return found[:_MAX_MOVED]

    def _own(self, request: Any) -> bool:
        """Whether a request was made for this address by this page, and note the time."""
        here = {f"{HOST}:{self._port}", f"localhost:{self._port}"}
        origin = request.headers.get("origin")
        own = request.headers.get("host") in here
        own = own and (origin is None or origin in {f"http://{place}" for place in here})
        if own:
            self._last = time.monotonic()
        return own

    def _response(self, content: bytes, status: int, kind: str) -> Any:
        responses = require("starlette.responses", feature="The explorer", extra="explore")
        headers = {**_HEADERS, "Content-Security-Policy": self._policy}
        return responses.Response(content, status, headers, kind)


@contextlib.contextmanager
def _interrupting(action: Callable[..., None]) -> Iterator[None]:
    """Let Ctrl-C do something else for a while, unless it is ignored or this is another thread."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, action)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _bound(port: int) -> socket.socket:
    """Return a socket at a port of this machine, or any that is free for 0."""
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((HOST, port))
    except OSError as error:
        found.close()
        what = "a port that is free" if error.errno == errno.EADDRINUSE else "a port to be used"
        raise expected(what, "port", port, "choose another one, or leave it out") from None
    return found


def _shortened(ends: list[Floats] | None) -> Any:
    return None if ends is None else [rounded(end[:MAX_MARGIN_STATES]) for end in ends]
