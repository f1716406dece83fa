"""What happened to a row stands on its page: who, when and what, from the audit log and events."""

import re
from typing import Any

import pytest
from django.contrib import admin
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.urls import reverse
from django.utils.text import capfirst

from bots.models import Bot, Document
from bots.services import bots
from chatplatform.templatetags.row_history import MAX_ENTRIES
from chatplatform.tests.test_codes import RAW_CODE, texts
from chatplatform.tests.test_guard_site import STAFFS_LISTS, world
from chats.testing import make_chat
from identity.models import AuditEvent, User
from identity.services import audit, users
from identity.testing import signed_in
from webhooks.models import WebhookConfig
from webhooks.services import announce, event_history


def page_of(browser, row):
    meta = row._meta
    return browser.get(reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[row.pk]))


def activity(reply):
    """The words of the card on a page."""
    html = reply.content.decode()
    found = re.search(r'<section id="activity".*?</section>', html, re.DOTALL)
    assert found, "the page shows no activity"
    reply.content = found[0].encode()
    return " ".join(" ".join(texts(reply)).split())


@pytest.mark.full
def test_who_did_what_and_when_stands_on_the_page_the_newest_first(ann, ben):
    users.set_role(ann.client, user_id=ben.user.pk, role="viewer", by=ann.user)
    audit.record(ann.client.pk, "user.locked", by=None, subject=f"user:{ben.user.pk}")
    audit.record(ann.client.pk, "user.locked", by=None, subject=f"user:{ann.user.pk}99")
    shown = activity(page_of(signed_in(ann.user), ben.user))
    assert shown.count("Sign-in locked") == 1
    assert re.search("Role changed Role: agent → viewer Today [^,]+, Ann", shown)
    assert shown.index("Sign-in locked") < shown.index("Role changed")
    assert "System" in shown
    link = page_of(signed_in(ann.user), ben.user).content.decode()
    (path,) = re.findall(r'href="([^"]*subject__exact[^"]*)"', link)
    assert len(signed_in(ann.user).get(path).context["cl"].result_list) == 2


def test_a_chat_shows_its_moves_without_its_messages(ann, bot):
    chat = make_chat(bot)
    told: list[tuple[str, dict[str, Any]]] = [
        ("message.created", {}),
        ("conversation.handed_off", {"reason": "no_answer"}),
        ("conversation.assigned", {"by": {"external_id": "1", "name": "Bao"}}),
    ]
    for number, (kind, data) in enumerate(told, start=1):
        announce(ann.client.pk, kind, data, conversation_id=chat.pk, sequence=number)
    shown = activity(page_of(signed_in(ann.user), chat))
    assert re.search(
        "Conversation assigned .* Bao .*Conversation handed over The bot had no answer", shown
    )
    assert "Message created" not in shown
    assert "All events" in shown


def test_a_document_shows_its_training_by_an_index(ann, bot, mine_document, cara):
    data = {"id": mine_document.pk, "error": {"message": "It is empty."}}
    announce(ann.client.pk, "document.failed", {"document": data})
    announce(ann.client.pk, "document.trained", {"document": {"id": mine_document.pk + 1}})
    announce(cara.client.pk, "document.trained", {"document": data})
    announce(ann.client.pk, "customer.updated", {"customer": {"id": mine_document.pk}})
    shown = activity(page_of(signed_in(ann.user), mine_document))
    assert "Content couldn't be read It is empty." in shown
    assert "trained" not in shown
    assert "Customer" not in shown
    rows = event_history.about(ann.client.pk, "document", str(mine_document.pk))
    with connection.cursor() as cursor:
        # The table is small: its planner would rather sort.
        for way in ("seqscan", "bitmapscan", "sort"):
            cursor.execute(f"SET LOCAL enable_{way} = off")
    # The partitions' own names of the index `event_subject`.
    assert rows.explain().count("_coalesce_id_idx") >= 3


@pytest.fixture
def mine_document(bot):
    return Document.objects.create(
        client=bot.client, bot=bot, file_name="a.txt", mime_type="text/plain", size_bytes=1,
        sha256="0" * 64,
    )  # fmt: skip


def test_a_name_that_people_gave_stays_as_it_is(ann, bot):
    file = SimpleUploadedFile("sauna.md", b"The sauna opens at six.")
    sent = ann.upload(f"/ai/{bot.pk}/train/document", files=[file])
    assert sent.status_code == 202, sent.content
    made = ann.post("/ai/bot", {"bot_name": "late_check"})
    assert made.status_code == 201, made.content
    log = signed_in(ann.user)
    assert "File name: sauna.md" in activity(page_of(log, Document.objects.get()))
    named = activity(page_of(log, Bot.objects.get(bot_name="late_check")))
    assert "Name: late_check" in named
    entry = AuditEvent.objects.get(action="bot.created")
    assert "Name: late_check" in texts(page_of(log, entry))


def test_it_is_bounded_and_stands_on_the_page_that_sets_a_bot_up_too(ann, bot):
    for _ in range(MAX_ENTRIES + 5):
        audit.record(ann.client.pk, "bot.updated", by=ann.user, subject=f"bot:{bot.pk}",
                     changes={"fields": ["default_language", "style"]})  # fmt: skip
    browser = signed_in(ann.user)
    behaviour = browser.get(reverse("admin:bots_bot_behaviour", args=[bot.pk]))
    for page in (page_of(browser, bot), behaviour):
        shown = activity(page)
        assert shown.count("Bot settings changed Default language, Style") == MAX_ENTRIES


def test_columns_without_a_form_have_the_names_of_their_model(ann):
    made = ann.post("/webhook/config", {"url": "https://93.184.215.14/"}).json()
    path = f"/webhook/config/{made['id']}"
    assert ann.put(path, {"is_active": False}).status_code == 200
    row, browser = WebhookConfig.objects.get(), signed_in(ann.user)
    assert "Active: yes → no" in activity(page_of(browser, row))
    titles = {capfirst(spec.title) for spec in filters_of(browser, WebhookConfig)}
    assert titles == {"Active"}


def filters_of(browser, model):
    meta = model._meta
    page = browser.get(reverse(f"admin:{meta.app_label}_{meta.model_name}_changelist"))
    return page.context["cl"].filter_specs


def test_another_clients_entries_do_not_show(ann, bot, cara):
    audit.record(cara.client.pk, "bot.renamed", by=cara.user, subject=f"bot:{bot.pk}")
    shown = activity(page_of(signed_in(ann.user), bot))
    assert "renamed" not in shown
    assert cara.user.email not in shown


def test_only_whoever_reads_the_logs_sees_it(ben, bot):
    bots.set_disabled(bot, is_disabled=True, by=ben.user)
    assert AuditEvent.objects.exists()
    assert b'id="activity"' not in page_of(signed_in(ben.user), bot).content


@pytest.mark.full
def test_every_page_of_a_row_shows_it_in_words(db):
    rows = world("Ourownword")
    browser, logs = signed_in(rows[User]), {"auditevent", "event"}
    for model, row in rows.items():
        if model._meta.model_name in logs:
            assert b'id="activity"' not in page_of(browser, row).content
            continue
        if model in STAFFS_LISTS:
            continue
        page: Any = admin.site.get_model_admin(model)
        subject = page.audit_subject(row)
        changes = {"some_field": ["old_code", None], "is_on": True, "kinds": ["one.made"]}
        audit.record(rows[User].client_id, "row.changed_so", by=rows[User], subject=subject,
                     changes=changes)  # fmt: skip
        shown = activity(page_of(browser, row))
        assert "Row changed so" in shown, model
        for words in ("Some field: old code → –", "Is on: yes", "Kinds: one made"):
            assert words in shown, model
        assert not RAW_CODE.findall(shown.replace(rows[User].email, "")), model
