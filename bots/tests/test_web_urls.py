"""Add Web Url, Update Web Url By Id, Get Web Urls, Delete Web Url By."""

import socket
from datetime import timedelta
from unittest import mock

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from bots.models import Bot, Chunk, Document, WebPage, WebUrl
from bots.services import web_urls
from bots.tasks import crawl_due
from chatplatform.models import Job
from chatplatform.testing import run_jobs
from chatplatform.testing.refused_urls import BLOCKED_URLS
from identity.models import AuditEvent, Role
from identity.testing import make_person

pytestmark = pytest.mark.usefixtures("own_media")

URL = "http://93.184.215.14/help"


def path(bot, web_url_id=None):
    return f"/ai/{bot.pk}/train/web-url" + (f"/{web_url_id}" if web_url_id else "")


def add(person, bot, url=URL, **fields):
    reply = person.post(path(bot), {"url": url, **fields})
    assert reply.status_code == 202, reply.content
    return reply.json()


def crawls():
    return Job.objects.filter(name="bots.crawl_web_url")


def finish(**fields):
    Job.objects.all().delete()
    WebUrl.objects.update(**{"status": "trained", "progress": 100, **fields})


# --- add ----------------------------------------------------------------------------------------


def test_it_works(ann, bot):
    body = add(ann, bot, f"{URL}?utm_source=x#top", crawl_depth=2, refresh_hours=24)
    row = WebUrl.objects.get()
    assert body == {
        "id": row.pk, "url": URL, "crawl_depth": 2, "refresh_hours": 24, "status": "queued",
        "progress": 0, "error": None, "page_count": 0, "last_fetched_at": None,
        "page_counts": {"training": 0, "trained": 0, "unchanged": 0, "refused": 0, "failed": 0},
        "pages": [],
    }  # fmt: skip
    assert row.client_id == ann.client.pk
    assert crawls().get().args == {"web_url_id": row.pk}


def test_a_viewer_reads(ann, bot):
    add(ann, bot)
    viewer = make_person(bot.client, Role.VIEWER, "Val")
    assert viewer.get(path(bot)).status_code == 200
    assert viewer.post(path(bot), {"url": URL + "2"}).status_code == 403
    assert viewer.delete(path(bot, WebUrl.objects.get().pk)).status_code == 403
    assert WebUrl.objects.count() == 1


@pytest.mark.parametrize("url", BLOCKED_URLS, ids=lambda url: url[:40] or "empty")
def test_a_forbidden_address(ann, bot, url, settings, monkeypatch):
    settings.EGRESS_ALLOW = []
    monkeypatch.setattr(
        "chatplatform.egress.transport._connected", lambda *_: pytest.fail("connected")
    )
    reply = ann.post(path(bot), {"url": url})
    assert reply.status_code == 422
    assert reply.json()["detail"][0]["loc"] == ["body", "url"]
    assert not WebUrl.objects.exists()
    assert not Job.objects.exists()


def test_a_name_that_resolves_to_a_private_address(ann, bot, monkeypatch):
    place = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.0.0.7", 80))
    real = socket.getaddrinfo

    def resolve(host, *args, **kwargs):
        return [place] if host == "intranet.example" else real(host, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    assert ann.post(path(bot), {"url": "http://intranet.example/"}).status_code == 422
    assert not WebUrl.objects.exists()


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"url": None},
        {"url": URL, "crawl_depth": 4},
        {"url": URL, "crawl_depth": -1},
        {"url": URL, "refresh_hours": 0},
        {"url": URL, "no_such_field": "trained"},
        {"url": "http://93.184.215.14/" + "ü" * 1_000},
    ],
)
def test_a_wrong_body(ann, bot, body):
    assert ann.post(path(bot), body).status_code == 422
    assert not WebUrl.objects.exists()


def test_the_same_address_twice(ann, bot):
    add(ann, bot)
    reply = ann.post(path(bot), {"url": URL + "#again"})
    assert (reply.status_code, reply.json()["code"]) == (409, "web_url_exists")
    assert crawls().count() == 1


def test_the_limit_of_a_bot(ann, bot):
    add(ann, bot)
    with mock.patch("bots.services.web_urls.MAX_WEB_URLS", 1):
        reply = ann.post(path(bot), {"url": URL + "2"})
    assert (reply.status_code, reply.json()["code"]) == (409, "web_url_limit")
    assert WebUrl.objects.count() == 1


# --- update -------------------------------------------------------------------------------------


def test_another_depth_or_address_is_crawled_again(ann, bot):
    web_url = add(ann, bot)
    for change in ({"crawl_depth": 1}, {"url": URL + "/more"}):
        finish(error_code="timeout")
        reply = ann.put(path(bot, web_url["id"]), change)
        assert reply.status_code == 200
        assert {**reply.json(), **change} == reply.json()
        assert (reply.json()["status"], reply.json()["error"]) == ("queued", None)
        assert crawls().count() == 1


def test_other_hours_crawl_nothing(ann, bot):
    web_url = add(ann, bot, crawl_depth=1)
    now = timezone.now()
    finish(last_fetched_at=now)
    body = {"refresh_hours": 6, "url": URL, "crawl_depth": 1}
    reply = ann.put(path(bot, web_url["id"]), body)
    assert (reply.json()["status"], reply.json()["refresh_hours"]) == ("trained", 6)
    assert WebUrl.objects.get().next_fetch_at == now + timedelta(hours=6)
    ann.put(path(bot, web_url["id"]), {"refresh_hours": None})
    assert WebUrl.objects.get().next_fetch_at is None
    assert not Job.objects.exists()


def test_an_update_to_an_address_that_is_taken_or_forbidden(ann, bot):
    web_url = add(ann, bot)
    add(ann, bot, URL + "2")
    assert ann.put(path(bot, web_url["id"]), {"url": URL + "2"}).status_code == 409
    assert ann.put(path(bot, web_url["id"]), {"url": "http://10.0.0.1/"}).status_code == 422
    assert ann.put(path(bot, web_url["id"]), {}).json()["url"] == URL
    assert set(WebUrl.objects.values_list("url", flat=True)) == {URL, URL + "2"}


# --- list ---------------------------------------------------------------------------------------


def with_pages(bot, name, pages=3):
    row = WebUrl.objects.create(client=bot.client, bot=bot, url=f"http://{name}.example/")
    for number in range(pages):
        document = Document.objects.create(
            client=bot.client, bot=bot, web_url=row, url=f"{row.url}{number}", sha256="0" * 64,
            file_name="a.html", mime_type="text/html", size_bytes=1,
            status=["trained", "failed", "queued"][number % 3], error_code="empty" * (number == 1),
        )  # fmt: skip
        WebPage.objects.create(
            client=bot.client, web_url=row, url=document.url, document=document, http_status=200,
            status="trained", fetched_at=timezone.now(),
        )  # fmt: skip
    WebPage.objects.create(
        client=bot.client, web_url=row, url=f"{row.url}no", status="refused", reason="robots",
        fetched_at=timezone.now(),
    )  # fmt: skip
    return row


def test_pages_and_counts(ann, bot):
    row = with_pages(bot, "shop")
    (shown,) = ann.get(path(bot)).json()["items"]
    assert [(page["url"].removeprefix(row.url), page["status"], page["reason"])
            for page in shown["pages"]] == [
        ("1", "failed", "empty"), ("no", "refused", "robots"), ("0", "trained", None),
        ("2", "training", None),
    ]  # fmt: skip
    assert shown["pages"][1]["http_status"] is None
    assert shown["page_counts"] == {
        "training": 1, "trained": 1, "unchanged": 0, "refused": 1, "failed": 1,
    }  # fmt: skip


def test_a_long_list_takes_no_more_queries_and_shows_fifty_pages(ann, bot, monkeypatch):
    counts = []
    for number in range(3):
        with_pages(bot, f"shop{number}", pages=60 if number else 1)
        with CaptureQueriesContext(connection) as queries:
            listed = ann.get(path(bot)).json()["items"]
        counts.append(len(queries))
    assert len(set(counts)) == 1
    assert [len(item["pages"]) for item in listed] == [50, 50, 2]
    assert listed[0]["page_counts"]["trained"] == 20
    first = ann.get(path(bot), {"limit": 2}).json()
    rest = ann.get(path(bot), {"limit": 2, "cursor": first["next_cursor"]}).json()
    assert [item["id"] for item in first["items"] + rest["items"]] == [
        item["id"] for item in listed
    ]


# --- delete -------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_delete_removes_pages_documents_and_passages(ann, bot, tmp_path):
    web_url = add(ann, bot)
    file = tmp_path / "documents" / "page"
    file.parent.mkdir()
    file.write_text("x")
    document = Document.objects.create(
        client=bot.client, bot=bot, web_url_id=web_url["id"], url=URL, file="documents/page",
        file_name="a.html", mime_type="text/html", size_bytes=1, sha256="0" * 64,
    )  # fmt: skip
    Chunk.objects.create(client=bot.client, bot=bot, document=document, position=0, text="x",
                         sentences=[], language="en")  # fmt: skip
    reply = ann.delete(path(bot, web_url["id"]))
    assert (reply.status_code, reply.content) == (204, b"")
    assert not any(model.objects.exists() for model in (WebUrl, WebPage, Document, Chunk))
    assert file.exists(), "it goes after the commit, by a job"
    assert run_jobs() == 2
    assert not file.exists()
    assert Bot.objects.get().knowledge_version == 2
    (event,) = AuditEvent.objects.filter(action="web_url.deleted")
    assert (event.user, event.subject) == (ann.user, f"web_url:{web_url['id']}")
    assert event.changes == {"url": URL, "documents": 1}
    assert ann.delete(path(bot, web_url["id"])).status_code == 404
    with mock.patch("chatplatform.egress.request", side_effect=AssertionError("asked")):
        run_jobs()


# --- others -------------------------------------------------------------------------------------


def test_another_bot_of_the_client(ann, bot):
    web_url = add(ann, bot)
    other = Bot.objects.get(pk=ann.post("/ai/bot", {"bot_name": "Other"}).json()["id"])
    assert ann.put(path(other, web_url["id"]), {"url": URL + "2"}).status_code == 404
    assert ann.delete(path(other, web_url["id"])).status_code == 404
    assert WebUrl.objects.get().url == URL


def test_nobody(ann, bot, nobody):
    web_url = add(ann, bot)
    assert nobody.post(path(bot), {"url": URL}).status_code == 401
    assert nobody.delete(path(bot, web_url["id"])).status_code == 401


# --- the schedule -------------------------------------------------------------------------------


def test_a_due_crawl_is_queued_once(ann, bot):
    add(ann, bot, refresh_hours=1)
    add(ann, bot, URL + "2")
    now = timezone.now()
    finish(next_fetch_at=None)
    due = WebUrl.objects.filter(refresh_hours=1)
    due.update(next_fetch_at=now + timedelta(minutes=1))
    crawl_due()
    assert not crawls().exists()
    due.update(next_fetch_at=now - timedelta(minutes=1))
    for _ in range(2):
        crawl_due()
    assert crawls().get().args == {"web_url_id": due.get().pk}
    assert (due.get().status, due.get().next_fetch_at) == ("queued", None)


def test_a_running_crawl_is_not_queued_by_hand(ann, bot):
    add(ann, bot)
    row = WebUrl.objects.get()
    assert not web_urls.crawl_again(row)
    finish()
    assert web_urls.crawl_again(row)
    assert crawls().count() == 1
