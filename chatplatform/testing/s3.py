"""An S3 server for tests, based on moto, that fails according to its mode.

Modes: ok, slow (responds after the caller's timeout), error (500 to all requests), gone (closes the
connection without a response), full (accepts one more file, then error).
"""

import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from boto3.session import Session
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

_CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "tests",
    "AWS_SECRET_ACCESS_KEY": "tests",
    "AWS_REGION": "eu-central-1",
    "AWS_DEFAULT_REGION": "eu-central-1",
}


class S3Server:
    """A server with one new bucket."""

    def __init__(self, address: str = "127.0.0.1") -> None:
        self.mode = "ok"
        self._moto = DomainDispatcherApplication(create_backend_app)
        self._server = make_server(address, 0, self._answer, threaded=True)
        self._server.log_startup = lambda: None  # type: ignore[method-assign]
        self.bucket = f"files-{uuid.uuid4()}"
        self.environ = {
            **_CREDENTIALS,
            "AWS_ENDPOINT_URL_S3": f"http://{address}:{self._server.port}",
            "MEDIA_BUCKET": self.bucket,
        }
        session = Session(
            aws_access_key_id="tests", aws_secret_access_key="tests", region_name="us-east-1"
        )
        url = self.environ["AWS_ENDPOINT_URL_S3"]
        self._bucket = session.resource("s3", endpoint_url=url).Bucket(self.bucket)

    def names(self) -> set[str]:
        """The names of all stored files."""
        return {item.key for item in self._bucket.objects.all()}

    def empty(self) -> None:
        """Remove all files."""
        self._bucket.objects.delete()

    def put(self, name: str, data: bytes = b"x") -> None:
        """Store a file directly, not through the platform."""
        self._bucket.put_object(Key=name, Body=data)

    def _answer(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        if self.mode == "error":
            start_response("500 Internal Server Error", [("Content-Length", "0")])
            return [b""]
        if self.mode == "gone":
            environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
            return [b""]
        if self.mode == "slow":
            time.sleep(1)
            if self.mode != "slow":  # the caller gave up, and another test may count the files now
                start_response("503 Service Unavailable", [("Content-Length", "0")])
                return [b""]
        answer: Iterable[bytes] = self._moto(environ, start_response)
        if self.mode == "full" and environ["REQUEST_METHOD"] == "PUT":
            self.mode = "error"
        return answer

    @contextmanager
    def keeping_files(self, settings: Any, monkeypatch: Any) -> Iterator["S3Server"]:
        """In the block, this process stores the platform's files here; then they are removed."""
        for name, value in self.environ.items():
            monkeypatch.setenv(name, value)
        settings.MEDIA_BUCKET = self.bucket
        settings.MEDIA_TIMEOUT_SECONDS = 0.3
        backend = {"BACKEND": "chatplatform.media_stores.bucket.Bucket"}
        settings.STORAGES = {**settings.STORAGES, "default": backend}
        self.mode = "ok"
        yield self
        self.mode = "ok"
        self.empty()

    @contextmanager
    def serving(self) -> Iterator["S3Server"]:
        threading.Thread(target=self._server.serve_forever, args=(0.005,), daemon=True).start()
        try:
            self._bucket.create()
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()


@contextmanager
def running(address: str = "127.0.0.1") -> Iterator[S3Server]:
    """A server on a free port of the loopback, or of another address."""
    with S3Server(address).serving() as server:
        yield server
