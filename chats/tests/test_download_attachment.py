"""Download Attachment: the link's signature is the credential."""

import uuid
from datetime import timedelta
from unittest import mock

import pytest
from django.core.signing import TimestampSigner

from chatplatform.testing import make_chat
from chats.models import ATTACHMENT_SALT, Attachment
from chats.tests.test_send_files import MARKUP, PNG, send

DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def _store(settings, tmp_path):
    settings.MEDIA_ROOT = str(tmp_path)


@pytest.fixture
def link(server, talk):
    """A link to a picture that is a web page too."""
    sent = send(server, talk, (b'the "bill".html', PNG + MARKUP))
    return sent.json()["message"]["content"][0]["url"]


def test_as_a_download_that_no_browser_runs(nobody, link):
    reply = nobody.get(link)
    assert reply.status_code == 200
    assert b"".join(reply.streaming_content) == PNG + MARKUP
    assert reply["Content-Type"] == "image/png"
    assert reply["Content-Disposition"] == 'attachment; filename="the \\"bill\\".html"'
    assert reply["X-Content-Type-Options"] == "nosniff"
    assert reply["Content-Security-Policy"] == "sandbox; default-src 'none'"
    assert reply["Content-Length"] == str(len(PNG + MARKUP))
    assert "private" in reply["Cache-Control"]


def test_a_text_stays_text(nobody, server, talk):
    sent = send(server, talk, ("Grüße.txt".encode(), b"<b>Hello</b>"))
    reply = nobody.get(sent.json()["message"]["content"][0]["url"])
    assert reply["Content-Type"] == "text/plain"
    assert reply["Content-Disposition"] == "attachment; filename*=utf-8''Gr%C3%BC%C3%9Fe.txt"


def test_another_files_signature(nobody, server, bot, talk, link):
    other = send(server, make_chat(bot), (b"secret.png", PNG)).json()["message"]["content"][0]
    its_path = other["url"].partition("?")[0]
    signature = link.partition("=")[2]
    reply = nobody.get(its_path, {"signature": signature})
    assert (reply.status_code, reply.json()["code"]) == (403, "forbidden")


def test_an_old_link(nobody, link):
    now = TimestampSigner(salt=ATTACHMENT_SALT)
    with mock.patch("django.core.signing.time.time") as clock:
        import time  # noqa: PLC0415 - the real one

        clock.return_value = time.monotonic()
    assert now


@pytest.mark.parametrize("change", [lambda s: s[:-1], lambda s: "A" + s, str.swapcase, lambda s: ""])
def test_a_tampered_link(nobody, link, change):
    path, _, signature = link.partition("?signature=")
    assert nobody.get(path, {"signature": change(signature)}).status_code == 403


@pytest.mark.parametrize("query", [{}, {"signature": ["a", "b"]}, {"signature": "x" * 201}])
def test_a_wrong_query(nobody, link, query):
    assert nobody.get(link.partition("?")[0], query).status_code == 422


def test_a_missing_file(nobody, link):
    missing = Attachment.link_to(str(uuid.uuid4()))
    assert nobody.get(missing).status_code == 404
    Attachment.objects.get().file.delete(save=False)
    reply = nobody.get(link)
    assert (reply.status_code, reply.json()["code"]) == (404, "not_found")


def test_each_reading_gives_a_link_that_works(nobody, server, talk, link):
    (said,) = server.get(f"/ai/client/chat/history/{talk.pk}").json()["items"]
    assert nobody.get(said["content"][0]["url"]).status_code == 200
