"""A small OpenID provider that asserts whatever claims a test sets, including false claims."""

import base64
import json
import secrets
import time
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from authlib.oauth2.rfc7636 import create_s256_code_challenge
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey

from chatplatform.testing.servers import serving

APPLICATION_ID, APPLICATION_SECRET = "chat-platform", "secret/of:the-provider"


class OpenIdProvider(ThreadingHTTPServer):
    """The provider. `claims` say who signs in; a claim whose value is None is left out."""

    daemon_threads = True

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.issuer = f"http://127.0.0.1:{self.server_port}"
        self.claims: dict[str, Any] = {}
        self.algorithm = "RS256"
        self.authentication = "client_secret_basic"
        # Fields that replace those of the response at a path.
        self.changes: dict[str, dict[str, Any]] = {}
        # The paths of all requests so far.
        self.asked: list[str] = []
        self.flows: dict[str, dict[str, str]] = {}
        self.new_key()

    @property
    def host_port(self) -> str:
        return f"127.0.0.1:{self.server_port}"

    def new_key(self) -> None:
        """Sign with another key from now on."""
        self.key = RSAKey.generate_key(2048, {"kid": secrets.token_hex(4), "use": "sig"})

    def approve(self, address: str) -> str:
        """Approve a sign-in as a person would; returns the URL that the person is redirected to."""
        query = dict(parse_qsl(urlsplit(address).query))
        code = secrets.token_urlsafe(16)
        self.flows[code] = query
        parameters = {"code": code, "state": query["state"], "iss": self.issuer}
        return f"{query['redirect_uri']}?{urlencode(parameters)}"

    def id_token(self, nonce: str) -> str:
        now = int(time.time())
        claims = {
            "iss": self.issuer, "aud": APPLICATION_ID, "sub": "sub-1", "nonce": nonce,
            "iat": now, "exp": now + 300, "email_verified": True, **self.claims,
        }  # fmt: skip
        claims = {name: value for name, value in claims.items() if value is not None}
        if self.algorithm == "none":
            parts = [{"alg": "none"}, claims]
            raw = [base64.urlsafe_b64encode(json.dumps(part).encode()) for part in parts]
            return b".".join(raw).decode().replace("=", "") + "."
        header = {"alg": self.algorithm, "kid": self.key.kid}
        if self.algorithm == "HS256":
            # An attack: the token is signed with the public key, which anyone can get, as a secret.
            return jwt.encode(header, claims, OctKey.import_key(self.key.as_pem(private=False)))
        return jwt.encode(header, claims, self.key)


def running(port: int = 0) -> AbstractContextManager[OpenIdProvider]:
    """A provider on this port of the loopback; 0: a free port."""
    return serving(OpenIdProvider(port))


class _Handler(BaseHTTPRequestHandler):
    server: OpenIdProvider
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path, issuer = urlsplit(self.path).path, self.server.issuer
        self.server.asked.append(path)
        if path == "/.well-known/openid-configuration":
            self._json({
                "issuer": issuer, "authorization_endpoint": f"{issuer}/authorize",
                "token_endpoint": f"{issuer}/token", "jwks_uri": f"{issuer}/jwks",
                "token_endpoint_auth_methods_supported": [self.server.authentication],
            })  # fmt: skip
        elif path == "/jwks":
            self._json({"keys": [self.server.key.as_dict(private=False)]})
        elif path == "/authorize":
            back = self.server.approve(self.path).replace("&", "&amp;")
            page = f'<title>Provider</title><link rel="icon" href="data:,"><a href="{back}">Go</a>'
            self._answer(200, "text/html", page.encode())
        else:
            self._answer(404, "text/plain", b"")

    def do_POST(self) -> None:
        form = dict(parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode()))
        self.server.asked.append(self.path)
        flow = self.server.flows.pop(form["code"], None)  # each code works once
        if (
            flow is None
            or not self._is_client(form)
            or form["redirect_uri"] != flow["redirect_uri"]
        ):
            self._answer(401, "application/json", b'{"error": "invalid_grant"}')
        elif create_s256_code_challenge(form["code_verifier"]) != flow["code_challenge"]:
            self._answer(400, "application/json", b'{"error": "invalid_grant"}')
        else:
            self._json({"id_token": self.server.id_token(flow["nonce"]), "token_type": "Bearer"})

    def _is_client(self, form: dict[str, str]) -> bool:
        if self.server.authentication == "client_secret_post":
            pair = (form.get("client_id"), form.get("client_secret"))
            return pair == (APPLICATION_ID, APPLICATION_SECRET)
        basic = base64.b64encode(f"{APPLICATION_ID}:secret%2Fof%3Athe-provider".encode()).decode()
        return self.headers["Authorization"] == f"Basic {basic}"

    def _json(self, body: dict[str, Any]) -> None:
        body |= self.server.changes.get(self.path, {})
        self._answer(200, "application/json", json.dumps(body).encode())

    def _answer(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing, to keep the tests' output readable."""
