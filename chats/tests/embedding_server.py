"""An OpenAI-compatible server of embeddings for tests; standard library only.

Modes: ok, any status such as 500, nonsense (no vectors), short (one vector too few).
"""

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from chatplatform.testing.servers import serving


class EmbeddingServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, vector: Callable[[str], list[float]]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.vector = vector
        self.mode = "ok"
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    @property
    def texts(self) -> list[str]:
        """All texts whose vectors were requested."""
        return [text for request in self.requests for text in request["input"]]


def running(vector: Callable[[str], list[float]]) -> AbstractContextManager[EmbeddingServer]:
    """A server on a free port of the loopback; `vector` returns the vector of a text."""
    return serving(EmbeddingServer(vector))


class _Handler(BaseHTTPRequestHandler):
    server: EmbeddingServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(request)
        self.server.keys.append(self.headers.get("Authorization"))
        mode = self.server.mode
        if self.path != "/v1/embeddings":
            return self._answer(404, {})
        if mode.isdecimal():
            return self._answer(int(mode), {"error": {"message": "no"}})
        rows = [
            {"object": "embedding", "index": number, "embedding": self.server.vector(text)}
            for number, text in enumerate(request["input"])
        ]
        if mode == "nonsense":
            rows = [row | {"embedding": "x"} for row in rows]
        if mode == "short":
            rows = rows[1:]
        # A server may return the vectors in any order.
        return self._answer(200, {"object": "list", "data": rows[::-1], "model": request["model"]})

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: Any) -> None:
        """Log nothing, to keep the tests' output readable."""
