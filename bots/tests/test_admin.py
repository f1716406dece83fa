"""Bots and their training in the admin site."""

import pytest
from django.apps import apps
from django.urls import reverse
from django.utils import timezone

from bots.models import (
    Chunk,
    Document,
    Function,
    FunctionCall,
    FunctionCalling,
    Prompt,
    SampleQuestion,
    WebPage,
    WebUrl,
)
from bots.testing import make_bot, trained
from chatplatform.models import Job


@pytest.fixture
def document(bot):
    row = Document.objects.create(
        client=bot.client, bot=bot, file_name="<b>hours</b>.txt", mime_type="text/plain",
        size_bytes=1, sha256="0" * 64, status="failed", error_code="timeout", error_message="Slow",
    )  # fmt: skip
    Prompt.objects.create(client=bot.client, bot=bot, version=1, content="Be kind")
    SampleQuestion.objects.create(
        client=bot.client, bot=bot, question="When <b>do</b> you open?", language="en"
    )
    Chunk.objects.create(
        client=bot.client, bot=bot, document=row, position=0, text="Open at nine",
        sentences=["Open at nine"], language="en", vector=b"\x00" * 1536,
    )  # fmt: skip
    return row


@pytest.fixture
def web_url(document):
    row = WebUrl.objects.create(
        client=document.client, bot=document.bot, url="http://shop.example/", status="trained"
    )
    WebPage.objects.create(
        client=document.client, web_url=row, document=document, url="http://shop.example/a",
        status="trained", fetched_at=timezone.now(),
    )  # fmt: skip
    return row


@pytest.mark.parametrize("name", ["bot", "prompt", "document", "chunk", "weburl"])
def test_lists_and_rows_open(staff, document, web_url, name):
    row = apps.get_model("bots", name)._default_manager.get()
    listed = staff.get(reverse(f"admin:bots_{name}_changelist"), {"q": "e"})
    assert listed.status_code == 200
    assert b"<b>hours" not in listed.content
    assert staff.get(reverse(f"admin:bots_{name}_change", args=[row.pk])).status_code == 200


@pytest.mark.full
@pytest.mark.parametrize("query", [{}, {"columns": "chunk_count"}])
def test_the_list_calls_a_column_as_its_page_does_and_sorts_by_it(staff, bot, query):
    for words in ("Long. " * 2000, "Short."):
        trained(bot, words)
    path, place = reverse("admin:bots_document_changelist"), 1 if query else 5
    listed = staff.get(path, query).content.decode()
    assert "Passages" in listed
    assert "Chunk count" not in listed
    up, down = (
        [row.chunk_count for row in staff.get(path, query | {"o": order}).context["cl"].result_list]
        for order in (f"{place}", f"-{place}")
    )
    assert up == sorted(up) != down == sorted(down, reverse=True)


def test_sample_questions_are_read_only(staff, document):
    shown = staff.get(reverse("admin:bots_bot_change", args=[document.bot_id]))
    assert b"When &lt;b&gt;do&lt;/b&gt; you open?" in shown.content
    assert b'name="sample_questions-0-question"' not in shown.content


def test_an_empty_list_of_calls_asks_for_a_function_only_if_there_is_none(site, bot, client_b):
    calls, advice = reverse("admin:bots_functioncall_changelist"), b"Add a function first"
    fields = {"name": "get_order", "description": "x", "parameters": {}, "method": "GET",
              "url": "https://shop.example/"}  # fmt: skip
    Function.objects.create(client=client_b, bot=make_bot(client_b), **fields)
    assert advice in site.get(calls).content
    Function.objects.create(client=bot.client, bot=bot, **fields)
    page = site.get(calls).content
    assert advice not in page
    assert b"empty-list" in page


@pytest.mark.parametrize("name", ["functioncalling", "function", "functioncall"])
def test_function_calling_shows_no_secret(staff, bot, name):
    FunctionCalling.objects.create(client=bot.client, bot=bot)
    Function.objects.create(
        client=bot.client, bot=bot, name="get_order", description="x", parameters={},
        method="GET", url="https://shop.example/", secret_headers='{"A": "very-secret"}',
    )  # fmt: skip
    FunctionCall.objects.create(
        client=bot.client, bot=bot, function_name="<b>get_order", status="failed", error="no"
    )
    row = apps.get_model("bots", name)._default_manager.get()
    listed = staff.get(reverse(f"admin:bots_{name}_changelist"), {"q": "e"})
    shown = staff.get(reverse(f"admin:bots_{name}_change", args=[row.pk]))
    assert (listed.status_code, shown.status_code) == (200, 200)
    assert b"secret" not in shown.content
    assert b"<b>get_order" not in listed.content + shown.content


def test_train_again(staff, document):
    chosen = {"action": "refresh", "_selected_action": [document.pk]}
    path = reverse("admin:bots_document_changelist")
    for _ in range(2):
        assert staff.post(path, chosen).status_code == 302
    document.refresh_from_db()
    assert (document.status, document.error_code) == ("queued", "")
    assert Job.objects.filter(name="bots.train_document").count() == 1


def test_crawl_now(staff, web_url):
    path = reverse("admin:bots_weburl_changelist")
    assert b"1 couldn&#x27;t be read" in staff.get(path).content
    chosen = {"action": "refresh", "_selected_action": [web_url.pk]}
    for _ in range(2):
        assert staff.post(path, chosen).status_code == 302
    web_url.refresh_from_db()
    assert web_url.status == "queued"
    assert Job.objects.filter(name="bots.crawl_web_url").count() == 1


def test_the_pages_of_an_address(staff, web_url):
    shown = staff.get(reverse("admin:bots_weburl_change", args=[web_url.pk])).content.decode()
    assert "http://shop.example/a" in shown
    assert "Timeout" in shown
    assert 'name="pages-0-url"' not in shown


def test_the_original_of_a_document_is_downloaded(client, ann, bot):
    written = ann.post(
        f"/ai/{bot.pk}/train/text", {"title": "Hours", "text": "Open at nine."}
    ).json()
    client.force_login(ann.user)
    page = client.get(reverse("admin:bots_document_change", args=[written["id"]]))
    link = reverse("admin:bots_document_original", args=[written["id"]])
    assert f'href="{link}"' in page.content.decode()
    reply = client.get(link)
    assert b"".join(reply.streaming_content) == b"Open at nine."
    assert reply["Content-Disposition"].startswith("attachment")


def test_nobody_downloads_another_clients_document(client, cara, document):
    client.force_login(cara.user)
    reply = client.get(reverse("admin:bots_document_original", args=[document.pk]))
    assert reply.status_code == 404
    client.logout()
    reply = client.get(reverse("admin:bots_document_original", args=[document.pk]))
    assert reply.status_code == 302


def test_the_page_says_that_an_original_is_lost(staff, document):
    reply = staff.get(reverse("admin:bots_document_original", args=[document.pk]), follow=True)
    assert "The stored file is missing" in reply.content.decode()
