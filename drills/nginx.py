"""A real nginx with TLS in front, by the samples of docs/operations.md."""

import os
import re
import ssl
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from drills.platform import ROOT

CONNECTIONS = 1024


def samples() -> list[str]:
    """The samples of nginx in the documentation: one host, and several."""
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
    temporary = "".join(
        f"{name}_temp_path {folder}/{name};\n"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    # Its children would else be somebody who may not write into the drill's folder.
    user = "user root;\n" if os.geteuid() == 0 else ""
    events = f"events {{ worker_connections {CONNECTIONS}; }}\n"
    return (
        f"{user}daemon off;\npid {folder}/pid;\nerror_log {folder}/error.log;\n{events}"
        f"http {{\naccess_log off;\n{temporary}{server}}}\n"
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
    """For callers: the certificate of the nginx of this folder."""
    return ssl.create_default_context(cafile=folder / "tls.pem")
