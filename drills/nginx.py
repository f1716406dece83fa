"""A real nginx: with TLS by the samples of docs/operations.md, or as the balancer of two cells."""

import os
import re
import signal
import ssl
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from drills.platform import ROOT, Platform, free_port

CONNECTIONS = 1024


def samples() -> list[str]:
    """The documentation's nginx samples: the upstreams of several hosts, and the server."""
    text = (ROOT / "docs" / "operations.md").read_text()
    found = re.findall(r"```nginx\n(.*?)```", text, re.S)
    assert len(found) == 2, "docs/operations.md has another number of samples for nginx"
    return found


def _replaced(text: str, *pairs: tuple[str, str]) -> str:
    for given, own in pairs:
        assert given in text, f"the sample has no {given}"
        text = text.replace(given, own)
    return text


def configuration(folder: Path, port: int, upstreams: Sequence[str]) -> str:
    """The samples, with the drill's ports and certificate, as a whole configuration."""
    several, server = samples()
    server = _replaced(
        server,
        ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
        ("chat.example;", "localhost;"),
        ("/etc/ssl/chat.example.pem", f"{folder}/tls.pem"),
        ("/etc/ssl/private/chat.example.key", f"{folder}/tls.key"),
    )
    if len(upstreams) == 1:
        server = _replaced(server, ("http://127.0.0.1:8000", f"http://{upstreams[0]}"))
    else:
        hosts, settings = several.split("\n\n# In the location:\n")
        addresses = zip(("10.0.0.11:8000", "10.0.0.12:8000"), upstreams, strict=True)
        server = _replaced(server, ("proxy_pass http://127.0.0.1:8000;", settings))
        server = _replaced(hosts, *addresses) + server
    return _whole(folder, server)


def _whole(folder: Path, http: str) -> str:
    """A configuration that needs no files outside a folder."""
    temporary = "".join(
        f"{name}_temp_path {folder}/{name};\n"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    # Otherwise its workers run as a user who cannot write to the drill's folder.
    user = "user root;\n" if os.geteuid() == 0 else ""
    events = f"events {{ worker_connections {CONNECTIONS}; }}\n"
    return (
        f"{user}daemon off;\npid {folder}/pid;\nerror_log {folder}/error.log;\n{events}"
        f"http {{\naccess_log off;\n{temporary}{http}}}\n"
    )


@contextmanager
def nginx(folder: Path, port: int, upstreams: Sequence[str]) -> Iterator[None]:
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    made = ["-keyout", f"{folder}/tls.key", "-out", f"{folder}/tls.pem", "-days", "2"]
    new = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes"]
    subprocess.run([*new, *made, *names], check=True, capture_output=True)
    path = folder / "nginx.conf"
    path.write_text(configuration(folder, port, upstreams))
    process = subprocess.Popen(["nginx", "-e", f"{folder}/error.log", "-c", str(path)])
    try:
        yield
    finally:
        process.terminate()
        process.wait(10)


def trust(folder: Path) -> ssl.SSLContext:
    """A TLS context for callers that trusts the certificate of this folder's nginx."""
    return ssl.create_default_context(cafile=folder / "tls.pem")


class Balancer:
    """nginx, which routes requests to cells by the prefix of their API key."""

    def __init__(self, folder: Path, cells: tuple[Platform, Platform]) -> None:
        self.port, self._folder, self._cells = free_port(), folder, cells
        self._table: dict[str, int] = {}
        folder.mkdir()
        self._write()
        command = ["nginx", "-e", f"{folder}/error.log", "-c", f"{folder}/nginx.conf"]
        self._process = subprocess.Popen(command)

    def lead(self, prefix: str, cell: int) -> None:
        """Route a key's requests to a cell without failing any request."""
        self._table[prefix] = cell
        self._write()
        self._process.send_signal(signal.SIGHUP)

    def _write(self) -> None:
        lines = "".join(f'        "~^{key}\\." cell{cell};\n' for key, cell in self._table.items())
        upstreams = "".join(
            f"    upstream cell{number} {{ server 127.0.0.1:{cell.port}; keepalive 16; }}\n"
            for number, cell in enumerate(self._cells)
        )
        every = " ".join(f"server 127.0.0.1:{cell.port};" for cell in self._cells)
        upstreams += f"    upstream cells {{ {every} }}\n"
        http = (
            f"{upstreams}"
            f"    map $http_api_key $cell {{\n        default cell0;\n{lines}    }}\n"
            "    proxy_http_version 1.1;\n"
            '    proxy_set_header Connection "";\n'
            "    proxy_set_header Host $http_host;\n"
            f"    server {{\n        listen 127.0.0.1:{self.port};\n"
            "        location / { proxy_pass http://$cell; }\n"
            # A link is opened without a key, so nginx asks one cell after the other for the file.
            "        location /ai/attachment/ {\n            proxy_pass http://cells;\n"
            "            proxy_next_upstream error http_404;\n        }\n    }\n"
        )
        (self._folder / "nginx.conf").write_text(_whole(self._folder, http))

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(20)
