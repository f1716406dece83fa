"""The web process: files and streams are closed if the reader disconnects."""

import asyncio

import pytest
from django.http import FileResponse

from chatplatform.live.streaming import ServerSent, with_pings
from chatplatform.web.asgi_application import Application

SCOPE = {
    "type": "http", "method": "GET", "path": "/a", "query_string": b"", "headers": [],
    "http_version": "1.1",
}  # fmt: skip


@pytest.fixture
def application():
    application = Application()
    yield application
    application.threads.shutdown()
    application.waiting.shutdown()


def serve_once(application, send):
    """Serve a request whose sender disconnects right after it."""
    messages = [{"type": "http.request"}]

    async def receive():
        await asyncio.sleep(0.01)
        return messages.pop() if messages else {"type": "http.disconnect"}

    async def serve():
        await asyncio.wait_for(application.serve(SCOPE, receive, send), 10)

    asyncio.run(serve())


async def send_nothing(message):
    """A connection that accepts no data."""
    await asyncio.Event().wait()


async def fail_to_send(message):
    raise ConnectionResetError


def test_a_file_is_closed_when_its_reader_disconnects(application, monkeypatch, tmp_path):
    (tmp_path / "a.bin").write_bytes(bytes(1_000_000))
    file = (tmp_path / "a.bin").open("rb")
    monkeypatch.setattr(application, "respond", lambda scope, body: FileResponse(file))
    serve_once(application, send_nothing)
    assert file.closed


def test_a_file_is_closed_when_it_cannot_be_sent(application, monkeypatch, tmp_path):
    (tmp_path / "a.bin").write_bytes(bytes(1_000_000))
    file = (tmp_path / "a.bin").open("rb")
    monkeypatch.setattr(application, "respond", lambda scope, body: FileResponse(file))
    with pytest.raises(ConnectionResetError):
        serve_once(application, fail_to_send)
    assert file.closed


def test_a_stream_that_nobody_reads_ends_at_once():
    ended = []
    started = asyncio.Event()

    async def events():
        try:
            yield ServerSent("ready", {})
            started.set()
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    async def read_and_leave():
        async def read():
            async for _ in with_pings(events()):
                pass

        reading = asyncio.ensure_future(read())
        await started.wait()
        reading.cancel()
        await asyncio.wait({reading})
        for _ in range(3):
            await asyncio.sleep(0)
        assert ended

    asyncio.run(read_and_leave())
