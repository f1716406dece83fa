"""A local web site for tests of crawls, with well-behaved and hostile pages."""

import gzip
import time
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from chatplatform.testing import servers

BOMB = gzip.compress(bytes(30_000_000))


def html(text: str, *links: str, head: str = "") -> str:
    anchors = "".join(f'<a href="{link}">{link}</a> ' for link in links)
    return f"<!doctype html><html><head>{head}</head><body><p>{text}</p>{anchors}</body></html>"


class Site(ThreadingHTTPServer):
    """Serves `pages`: text, or (status, headers, body), by path; records `requests` and `posts`."""

    daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.pages: dict[str, Any] = {}
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.posts: list[tuple[dict[str, str], bytes]] = []
        self.connections = 0

    @property
    def host_port(self) -> str:
        return f"127.0.0.1:{self.server_port}"

    def at(self, path: str) -> str:
        return f"http://{self.host_port}{path}"

    def paths(self) -> list[str]:
        return [path for path, _ in self.requests]

    def get_request(self) -> Any:
        self.connections += 1
        return super().get_request()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Tests close connections on purpose."""


class _Handler(BaseHTTPRequestHandler):
    server: Site

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.posts.append((self._named(), body))
        self._send(200, {"Content-Length": "0"}, b"")

    def _named(self) -> dict[str, str]:
        return {name.lower(): value for name, value in self.headers.items()}

    def do_GET(self) -> None:
        headers = self._named()
        self.server.requests.append((self.path, headers))
        if self.path == "/drip":
            return self._drip()
        if self.path == "/endless":
            return self._endless()
        if self.path.startswith("/hop/"):
            return self._send(302, {"Location": f"/hop/{int(self.path[5:]) + 1}"}, b"")
        if self.path == "/bomb":
            return self._send(200, {"Content-Type": "text/html", "Content-Encoding": "gzip"}, BOMB)
        page = self.server.pages.get(self.path, (404, {}, b"none"))
        if isinstance(page, str):
            page = (200, {"Content-Type": "text/html; charset=utf-8"}, page.encode())
        status, page_headers, body = page
        etag = page_headers.get("ETag")
        if etag and headers.get("if-none-match") == etag:
            return self._send(304, {"ETag": etag}, b"")
        return self._send(status, page_headers, body)

    def _send(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _drip(self) -> None:
        self.send_response(200)
        self.end_headers()
        for _ in range(100):
            self.wfile.write(b".")
            time.sleep(0.05)

    def _endless(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(10 * 2**30))
        self.end_headers()
        while True:
            self.wfile.write(b"x" * 65_536)


def serving(port: int = 0) -> AbstractContextManager[Site]:
    return servers.serving(Site(port))
