"""Download Attachment: the link's signature is the credential."""

import http.client
import shutil
import time
import uuid
from contextlib import closing
from unittest import mock

import pytest

from chats.models import Attachment
from chats.testing import make_chat
from chats.tests.test_send_files import MARKUP, PNG, send

pytestmark = pytest.mark.usefixtures("own_media")


@pytest.fixture
def fetch(nobody):
    """`fetch(link)`: the response and its body."""

    def get(link, query=None):
        reply = nobody.get(link, query)
        body = b"".join(reply.streaming_content) if reply.streaming else reply.content
        reply.close()
        return reply, body

    return get


@pytest.fixture
def link(server, chat):
    """A link to an image whose bytes are also a web page."""
    sent = send(server, chat, (b'the "bill".html', PNG + MARKUP))
    return sent.json()["message"]["content"][0]["url"]


def test_a_file_is_downloaded_and_never_run_by_a_browser(fetch, link):
    reply, body = fetch(link)
    assert (reply.status_code, body) == (200, PNG + MARKUP)
    assert reply["Content-Type"] == "image/png"
    assert reply["Content-Disposition"] == 'attachment; filename="the \\"bill\\".html.png"'
    assert reply["X-Content-Type-Options"] == "nosniff"
    assert reply["Content-Security-Policy"] == "sandbox; default-src 'none'"
    assert reply["Content-Length"] == str(len(PNG + MARKUP))
    assert "private" in reply["Cache-Control"]


@pytest.mark.django_db(transaction=True)
def test_a_download_from_a_real_server(web_port, server, chat, settings, tmp_path):
    """The file is streamed with all headers."""
    data = PNG + bytes(3_000_000)
    sent = send(server, chat, (b"a.png", data)).json()["message"]["content"][0]
    folder = settings.DATA_DIR / "media" / "attachments"
    shutil.copytree(tmp_path / "attachments", folder, dirs_exist_ok=True)
    with closing(http.client.HTTPConnection("127.0.0.1", web_port, timeout=60)) as connection:
        connection.request("GET", sent["url"].removeprefix(settings.PUBLIC_URL))
        reply = connection.getresponse()
        body = reply.read()
    assert (reply.status, body == data) == (200, True)
    assert reply.headers["Content-Disposition"] == 'attachment; filename="a.png"'
    assert reply.headers["X-Content-Type-Options"] == "nosniff"
    assert reply.headers["Content-Security-Policy"].startswith("sandbox")


def test_a_text_file_is_plain_text(fetch, server, chat):
    sent = send(server, chat, ("Grüße.txt".encode(), b"<b>Hello</b>"))
    reply, _ = fetch(sent.json()["message"]["content"][0]["url"])
    assert reply["Content-Type"] == "text/plain"
    assert reply["Content-Disposition"] == "attachment; filename*=utf-8''Gr%C3%BC%C3%9Fe.txt"


def test_another_files_signature_is_refused(nobody, server, bot, chat, link):
    other = send(server, make_chat(bot), (b"secret.png", PNG)).json()["message"]["content"][0]
    its_path = other["url"].partition("?")[0]
    signature = link.partition("=")[2]
    reply = nobody.get(its_path, {"signature": signature})
    assert (reply.status_code, reply.json()["code"]) == (403, "forbidden")


@pytest.mark.parametrize(("hours", "status"), [(23, 200), (25, 403)])
def test_a_link_is_valid_for_a_day(fetch, link, hours, status):
    made_at = time.time() - hours * 3600
    with mock.patch("django.core.signing.time.time", return_value=made_at):
        old = Attachment.signed_url(str(Attachment.objects.get().pk))
    assert fetch(old)[0].status_code == status


@pytest.mark.parametrize(
    "change", [lambda s: s[:-1], lambda s: "A" + s, str.swapcase, lambda s: ""]
)
def test_a_tampered_link_is_refused(nobody, link, change):
    path, _, signature = link.partition("?signature=")
    assert nobody.get(path, {"signature": change(signature)}).status_code == 403


@pytest.mark.parametrize("query", [{}, {"signature": ["a", "b"]}, {"signature": "x" * 201}])
def test_a_wrong_query_is_refused(nobody, link, query):
    assert nobody.get(link.partition("?")[0], query).status_code == 422


def test_a_missing_file_is_not_found(nobody, link):
    missing = Attachment.signed_url(str(uuid.uuid4()))
    assert nobody.get(missing).status_code == 404
    Attachment.objects.get().file.delete(save=False)
    reply = nobody.get(link)
    assert (reply.status_code, reply.json()["code"]) == (404, "not_found")


def test_each_reading_of_a_message_gives_a_valid_link(fetch, server, chat, link):
    (message,) = server.get(f"/ai/client/chat/history/{chat.pk}").json()["items"]
    assert fetch(message["content"][0]["url"])[0].status_code == 200
