"""The crawl job: pages become documents, in a first crawl and in later ones."""

import threading
from datetime import timedelta
from unittest import mock

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.utils import timezone

from bots.ingest import extraction, page_links
from bots.models import Bot, Chunk, Document, WebPage, WebUrl
from bots.services import crawls, documents, retrieval, training, web_urls
from bots.tasks import crawl_web_url
from bots.tests.web_site import html, serving
from chatplatform.jobs import relay
from chatplatform.models import Job
from chatplatform.testing import run_before, run_jobs
from webhooks.models import Event

# Claims and leases compare with the database's clock, which stands still in one transaction.
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _quick(request, tmp_path, settings, monkeypatch):
    """No pauses; without `in_earnest` also no child processes and no encoder."""
    settings.MEDIA_ROOT = tmp_path
    settings.CRAWL_DELAY_SECONDS = 0
    settings.CRAWL_PAGE_SECONDS = 0.5
    retrieval.clear_cache()
    if "in_earnest" not in request.fixturenames:
        monkeypatch.setattr(page_links, "read_page", page_links._page)
        monkeypatch.setattr(extraction, "extract_in_child", extraction.extract)
        monkeypatch.setattr("bots.language.embedding.available", lambda: False)


@pytest.fixture
def in_earnest():
    """With child processes and vectors."""


@pytest.fixture
def site(settings):
    with serving() as site:
        settings.EGRESS_ALLOW = [site.host_port]
        yield site


def text(number):
    return f"Rule number {number} of our shop says that parcel {number} is sent on day {number}."


def add(person, bot, site, path="/", depth=2, **fields):
    body = {"url": site.at(path), "crawl_depth": depth, **fields}
    reply = person.post(f"/ai/{bot.pk}/train/web-url", body)
    assert reply.status_code == 202
    return WebUrl.objects.get(pk=reply.json()["id"])


def again(web_url):
    assert web_urls.crawl_again(web_url)
    run_jobs()


def get_web_url(person, bot):
    (item,) = person.get(f"/ai/{bot.pk}/train/web-url").json()["items"]
    return item


def pages(site):
    rows = {row.url.removeprefix(site.at("")): row for row in WebPage.objects.all()}
    return {path: row.reason or row.status for path, row in rows.items()}


def stored():
    return set(default_storage.listdir("documents")[1])


@pytest.mark.full
def test_it_works(ann, bot, site, in_earnest):
    site.pages = {"/": html(text(1), "/a"), "/a": html(text(2), head="<title>Second</title>")}
    add(ann, bot, site, depth=1)
    run_jobs()
    web_url = get_web_url(ann, bot)
    assert (web_url["status"], web_url["progress"], web_url["error"]) == ("trained", 100, None)
    assert (web_url["page_count"], web_url["page_counts"]["trained"]) == (2, 2)
    assert web_url["last_fetched_at"].endswith("Z")
    assert [page["status"] for page in web_url["pages"]] == ["trained", "trained"]
    (hit,) = retrieval.search(
        Bot.objects.get(), "On what day is parcel 2 sent?", language="en", limit=1
    ).hits
    assert (hit.passage.url, hit.passage.title) == (site.at("/a"), "Second")
    assert set(Event.objects.values_list("type", flat=True)) == {"document.trained"}
    assert Event.objects.count() == 2


def hostile(site, other):
    """Sixty pages with loops, and all kinds of hostile ones."""
    site.pages = {f"/{n}": html(text(n), f"/{n + 1}", "/", f"/{n}#x") for n in range(60)}
    site.pages |= {
        "/robots.txt": f"User-agent: *\nDisallow: /admin\nSitemap: {site.at('/map.xml')}",
        "/map.xml": (200, {}, f"<urlset><url><loc>{site.at('/59')}</loc></url></urlset>".encode()),
        "/": html(
            text(100), *(f"/{n}" for n in range(58)), "/missing", "/drip", "/bomb", "/endless",
            "/hop/0", "/inside", "/admin", "/same", "/nofollow", other.at("/"),
            "http://blog.example/", f"http://localhost:{other.server_port}/",
        ),
        "/same": html(text(7), "/8", "/", "/7#x"),
        "/nofollow": html(text(101), "/never", head='<meta name="robots" content="nofollow">'),
        "/inside": (302, {"Location": other.at("/metadata")}, b""),
    }  # fmt: skip


@pytest.mark.full
def test_a_hostile_site(ann, bot, site):
    with serving() as other:
        hostile(site, other)
        add(ann, bot, site)
        run_jobs()
        web_url, met = get_web_url(ann, bot), pages(site)
        assert other.connections == 0
    assert {path: reason for path, reason in met.items() if reason != "trained"} == {
        "/missing": "not_found", "/drip": "timeout", "/bomb": "too_large",
        "/endless": "too_large", "/hop/0": "too_many_redirects", "/inside": "blocked",
        "/admin": "robots", "/same": "duplicate", "/60": "not_found",
    }  # fmt: skip
    assert {path for path, reason in met.items() if reason == "trained"} == {
        "/", "/nofollow", *(f"/{n}" for n in range(60))
    }  # fmt: skip
    assert (web_url["status"], web_url["page_count"]) == ("trained", 62)
    assert web_url["page_counts"] == {
        "training": 0, "trained": 62, "unchanged": 0, "refused": 6, "failed": 3,
    }  # fmt: skip
    assert Document.objects.filter(status="trained").count() == 62
    assert not {"/never", "/admin"} & set(site.paths())


def test_a_second_crawl_of_the_same_site(ann, bot, site):
    headers = {"ETag": '"1"', "Content-Type": "text/html"}
    site.pages = {"/": (200, headers, html(text(1), "/a").encode()), "/a": html(text(2))}
    web_url = add(ann, bot, site)
    run_jobs()
    passages, files = list(Chunk.objects.values_list("pk", flat=True)), stored()
    again(web_url)
    assert pages(site) == {"/": "unchanged", "/a": "unchanged"}
    assert WebPage.objects.get(url=site.at("/")).http_status == 304
    assert list(Chunk.objects.values_list("pk", flat=True)) == passages
    assert stored() == files
    assert get_web_url(ann, bot)["status"] == "trained"
    assert Job.objects.filter(name="bots.train_document").count() == 2


def test_a_page_whose_file_is_lost_is_fetched_and_stored_again(ann, bot, site):
    headers = {"ETag": '"1"', "Content-Type": "text/html"}
    site.pages = {"/": (200, headers, html(text(1), "/a").encode()), "/a": html(text(2))}
    web_url = add(ann, bot, site)
    run_jobs()
    default_storage.delete(str(Document.objects.get(url=site.at("/")).file.name))
    again(web_url)
    assert WebPage.objects.get(url=site.at("/")).http_status == 200
    assert get_web_url(ann, bot)["status"] == "trained"
    assert set(pages(site)) == {"/", "/a"}
    names = set(Document.objects.values_list("file", flat=True))
    assert {f"documents/{name}" for name in stored()} == names
    again(web_url)
    assert WebPage.objects.get(url=site.at("/")).http_status == 304


def test_a_changed_page_is_trained_again(ann, bot, site):
    site.pages = {"/": html(text(1))}
    web_url = add(ann, bot, site)
    run_jobs()
    first = Document.objects.get()
    site.pages = {"/": html(text(2))}
    again(web_url)
    second = Document.objects.get()
    assert second.pk == first.pk
    assert second.file.name != first.file.name
    assert {f"documents/{name}" for name in stored()} == {second.file.name}
    assert "parcel 2" in Chunk.objects.get().text


@pytest.mark.full
def test_documents_of_pages_that_are_gone_are_deleted(ann, bot, site):
    site.pages = {"/": html(text(1), "/a", "/b", "/c"), "/a": html(text(2)), "/b": html(text(3)),
                  "/c": html(text(4))}  # fmt: skip
    web_url = add(ann, bot, site)
    run_jobs()
    del site.pages["/a"]
    site.pages["/b"] = (503, {}, b"")
    site.pages["/"] = html(text(1), "/a", "/b")
    again(web_url)
    # Pages that fail for now are kept, and so is /c: not all pages were read.
    urls = set(Document.objects.values_list("url", flat=True))
    assert urls == {site.at("/"), site.at("/b"), site.at("/c")}
    assert pages(site) == {"/": "trained", "/a": "not_found", "/b": "http_error", "/c": "trained"}
    site.pages["/b"] = html(text(3))
    again(web_url)
    assert set(pages(site)) == {"/", "/a", "/b"}
    assert len(stored()) == Document.objects.count() == 2


def test_a_page_that_becomes_noindex_is_deleted(ann, bot, site):
    site.pages = {"/": html(text(1), "/a"), "/a": html(text(2))}
    web_url = add(ann, bot, site)
    run_jobs()
    version = Bot.objects.get().knowledge_version
    site.pages["/a"] = html(text(2), head='<meta name="robots" content="noindex">')
    again(web_url)
    assert pages(site) == {"/": "unchanged", "/a": "noindex"}
    assert Document.objects.get().url == site.at("/")
    assert len(stored()) == 1
    assert Bot.objects.get().knowledge_version > version


def test_changing_the_address_deletes_the_old_pages(ann, bot, site, settings):
    site.pages = {"/": html(text(1))}
    web_url = add(ann, bot, site)
    run_jobs()
    with serving() as other:
        other.pages = {"/": html(text(2), "/broken"), "/broken": (500, {}, b"")}
        settings.EGRESS_ALLOW = [other.host_port]
        ann.put(f"/ai/{bot.pk}/train/web-url/{web_url.pk}", {"url": other.at("/")})
        run_jobs()
        assert Document.objects.get().url == other.at("/")
        assert set(pages(other)) == {"/", "/broken"}


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ((404, {}, b""), "not_found"),
        ((500, {}, b""), "http_error"),
        ((302, {"Location": "http://127.0.0.1:1/"}, b""), "blocked"),
        (html("", head='<meta name="robots" content="noindex">'), "noindex"),
        (html("..."), "no_page_trained"),
    ],
)
def test_an_address_without_a_page(ann, bot, site, answer, code):
    site.pages = {"/": answer}
    add(ann, bot, site, refresh_hours=1)
    run_jobs()
    web_url = get_web_url(ann, bot)
    assert (web_url["status"], web_url["error"]["code"]) == ("failed", code)
    assert web_url["error"]["message"] == crawls.MESSAGES[code]
    soon = timezone.now() + timedelta(minutes=55)
    assert WebUrl.objects.filter(next_fetch_at__gt=soon).exists()
    if code == "no_page_trained":
        assert (web_url["pages"][0]["status"], web_url["pages"][0]["reason"]) == ("failed", "empty")


def test_an_unreachable_site_keeps_its_documents(ann, bot, site):
    site.pages = {"/": html(text(1))}
    web_url = add(ann, bot, site)
    run_jobs()
    site.pages = {"/": (410, {}, b"")}
    again(web_url)
    assert get_web_url(ann, bot)["error"]["code"] == "not_found"
    assert Document.objects.get().status == "trained"


@pytest.mark.parametrize("moment", ["chatplatform.media.store", "bots.ingest.chunking.chunk"])
def test_deleted_while_it_is_crawled_or_trained(ann, bot, site, moment):
    is_crawling = moment == "chatplatform.media.store"
    site.pages = {"/": html(text(1), *["/a"] * is_crawling), "/a": html(text(2))}
    web_url = add(ann, bot, site)

    def delete():
        assert ann.delete(f"/ai/{bot.pk}/train/web-url/{web_url.pk}").status_code == 204

    with run_before(moment, delete):
        run_jobs()
    assert set(Job.objects.values_list("state", flat=True)) == {"done"}
    assert site.paths() == ["/robots.txt", "/"]
    assert not Document.objects.exists()
    assert not Chunk.objects.exists()
    assert not stored()


def test_changed_while_it_is_crawled(ann, bot, site):
    site.pages = {"/": html(text(1), "/a"), "/a": html(text(2)), "/b": html(text(3))}
    web_url = add(ann, bot, site)

    def change():
        path = f"/ai/{bot.pk}/train/web-url/{web_url.pk}"
        assert ann.put(path, {"url": site.at("/b")}).status_code == 200

    with run_before("chatplatform.media.store", change):
        run_jobs()
    assert [row.url for row in Document.objects.all()] == [site.at("/b")]
    assert get_web_url(ann, bot)["status"] == "trained"
    assert len(stored()) == 1


def test_changed_when_its_last_page_is_fetched(ann, bot, site):
    """What the old crawl has not found stays, since the next crawl may find it."""
    whole = {"/": html(text(1), "/a"), "/a": html(text(2))}
    site.pages = whole
    web_url = add(ann, bot, site)
    run_jobs()
    before = set(Document.objects.values_list("pk", flat=True))
    real = crawls._finish

    def finish(*args):
        if site.pages is not whole:
            site.pages = whole
            path = f"/ai/{bot.pk}/train/web-url/{web_url.pk}"
            body = {"url": web_url.url, "crawl_depth": 1}
            assert ann.put(path, body).status_code == 200
        real(*args)

    site.pages = {"/": html(text(1))}
    with mock.patch("bots.services.crawls._finish", finish):
        again(web_url)
    assert set(Document.objects.values_list("pk", flat=True)) == before
    assert get_web_url(ann, bot)["status"] == "trained"


def test_a_killed_worker(ann, bot, site):
    site.pages = {"/": html(text(1), "/a"), "/a": html(text(2))}
    add(ann, bot, site)
    # As after SIGKILL: nothing after the second page, and a lease that nothing renews.
    with (
        mock.patch("bots.services.crawls._finish", side_effect=KeyboardInterrupt),
        pytest.raises(KeyboardInterrupt),
    ):
        run_jobs()
    assert get_web_url(ann, bot)["status"] == "training"
    Job.objects.filter(state="running").update(lease_until=timezone.now() - timedelta(minutes=1))
    relay.sweep()
    run_jobs()
    web_url = get_web_url(ann, bot)
    assert (web_url["status"], web_url["page_counts"]["unchanged"]) == ("trained", 2)
    assert Document.objects.count() == len(stored()) == 2
    assert Chunk.objects.count() == 2


def test_a_lost_lease_stops_the_crawl(ann, bot, site):
    site.pages = {"/": html(text(1))}
    add(ann, bot, site)

    def steal():
        Job.objects.filter(state="running").update(state="done")

    with run_before("chatplatform.media.store", steal):
        run_jobs()
    assert not Document.objects.exists()
    assert not WebPage.objects.exists()
    assert not stored()


def test_a_second_run_does_nothing(ann, bot, site):
    site.pages = {"/": html(text(1))}
    web_url = add(ann, bot, site)
    run_jobs()
    site.requests.clear()
    crawl_web_url(web_url_id=web_url.pk)
    crawl_web_url(web_url_id=999_999_999)
    crawls.update_status(web_url.pk)
    assert not site.requests
    assert get_web_url(ann, bot)["status"] == "trained"


def test_no_attempt_is_left(ann, bot, site):
    web_url = add(ann, bot, site, refresh_hours=1)
    Job.objects.update(max_attempts=1)
    with mock.patch("bots.services.crawls._pages", side_effect=RuntimeError("broken")):
        run_jobs()
    assert Job.objects.get().state == "dead"
    assert get_web_url(ann, bot)["error"]["code"] == "interrupted"
    assert WebUrl.objects.get().next_fetch_at is not None
    # It can be started again.
    site.pages = {"/": html(text(1))}
    again(web_url)
    assert get_web_url(ann, bot)["status"] == "trained"


def test_a_dead_crawl_leaves_a_new_request_alone(ann, bot, site):
    site.pages = {"/": html(text(1)), "/b": html(text(2))}
    web_url = add(ann, bot, site)
    Job.objects.update(max_attempts=1)

    def change():
        path = f"/ai/{bot.pk}/train/web-url/{web_url.pk}"
        assert ann.put(path, {"url": site.at("/b")}).status_code == 200

    with (
        run_before("chatplatform.media.store", change),
        mock.patch("bots.services.crawls._lock_and_report", side_effect=[RuntimeError("broken")]),
    ):
        assert run_jobs(limit=1) == 1
    assert get_web_url(ann, bot)["status"] == "queued"
    assert not stored()
    run_jobs()
    assert Document.objects.get().url == site.at("/b")
    assert get_web_url(ann, bot)["status"] == "trained"


def test_a_sitemap_that_lists_nothing(ann, bot, site):
    site.pages = {"/": (200, {}, b"<urlset></urlset>")}
    add(ann, bot, site)
    run_jobs()
    assert get_web_url(ann, bot)["error"]["code"] == "empty"


@pytest.mark.full
def test_progress(ann, bot, site):
    # The links of the second page lower the share of pages that were fetched.
    site.pages = {"/": html(text(1), "/a"), "/a": html(text(2), "/b", "/c", "/d")}
    site.pages |= {f"/{name}": html(text(number)) for number, name in enumerate("bcd", 3)}
    add(ann, bot, site)
    seen: list[int] = []
    real = crawls._record_outcome

    def record(*args):
        seen.append(WebUrl.objects.get().progress)
        real(*args)

    learn = training._split

    def learned(document):
        seen.append(get_web_url(ann, bot)["progress"])
        return learn(document)

    with (
        mock.patch("bots.services.crawls._record_outcome", record),
        mock.patch("bots.services.training._split", learned),
    ):
        run_jobs()
    assert seen == sorted(seen)
    assert seen[:5] == [25, 25, 30, 40, 49]
    assert seen[5] >= crawls.FETCHED_PERCENT
    assert seen[-1] < 100


def test_the_limit_of_pages_of_a_bot(ann, bot, site):
    site.pages = {"/": html(text(1), "/a"), "/a": html(text(2))}
    add(ann, bot, site)
    with mock.patch("bots.services.crawls.MAX_PAGES_OF_BOT", 1):
        run_jobs()
    assert pages(site) == {"/": "trained", "/a": "bot_limit"}
    assert get_web_url(ann, bot)["page_counts"]["refused"] == 1
    assert len(stored()) == 1


def test_deleting_the_last_queued_page_ends_the_crawl(ann, bot, site):
    site.pages = {"/": html(text(1), "/a"), "/a": html(text(2))}
    add(ann, bot, site)
    with mock.patch("bots.services.documents.enqueue_training"):
        run_jobs()
    assert get_web_url(ann, bot)["page_counts"]["training"] == 2
    first, second = Document.objects.order_by("pk")
    documents.enqueue_training(first)
    run_jobs()
    assert get_web_url(ann, bot)["status"] == "training"
    assert ann.delete(f"/ai/{bot.pk}/train/document/{second.pk}").status_code == 204
    run_jobs()
    web_url = get_web_url(ann, bot)
    assert (web_url["status"], len(web_url["pages"])) == ("trained", 1)


def test_an_upload_with_the_bytes_of_a_page_is_a_separate_document(ann, bot, site):
    page = html(text(1))
    site.pages = {"/": page}
    web_url = add(ann, bot, site)
    run_jobs()
    files = [SimpleUploadedFile("page.html", page.encode())]
    assert ann.upload(f"/ai/{bot.pk}/train/document", files=files).status_code == 202
    run_jobs()
    ann.delete(f"/ai/{bot.pk}/train/web-url/{web_url.pk}")
    assert Document.objects.get().file_name == "page.html"


def test_two_crawls_of_one_address_at_once(ann, bot, site):
    site.pages = {"/": html(text(1), "/a"), "/a": html(text(2))}
    web_url = add(ann, bot, site)
    threads = [threading.Thread(target=lambda: _in_own_connection(web_url.pk)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    run_jobs()
    assert get_web_url(ann, bot)["status"] == "trained"
    assert Document.objects.count() == WebPage.objects.count() == len(stored()) == 2


def _in_own_connection(web_url_id):
    crawl_web_url(web_url_id=web_url_id)
    connection.close()
