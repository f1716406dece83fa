"""Guards over every list of the API and of the site: none has a preview in it."""

from typing import Any

import pytest
from django.contrib import admin
from django.urls import reverse

from bots.models import Bot
from chatplatform.testing import run_jobs
from chatplatform.tests.served import ALL, callers, rows_of, send, undone
from chats.models import Conversation, Customer, Feedback, Summary
from identity.testing import Person, make_key, signed_in

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.full]
WORD = "zanzibar"
# POSTs that answer with rows; all others are GETs.
POSTED: dict[tuple[str, str], Any] = {("POST", "/report/adhoc/search"): {"group_by": []}}
SITE_PAGES = (
    "admin:index", "failures", "admin:chats_unanswered", "reports_overview", "reports_adhoc",
    "reports_warnings",
)  # fmt: skip


@pytest.fixture
def preview(ann: Person, bot: Bot) -> Conversation:
    """A preview that waits for a person, with all that a chat can have."""
    lines = [{"role": "user", "content": f"May I bring a {WORD}?"}]
    assert ann.post(f"/ai/{bot.pk}/generate-chat", {"messages": lines}).status_code == 200
    run_jobs()
    chat = Conversation.objects.get()
    path = f"/ai/chat/{chat.pk}"
    body: dict[str, Any]
    for more in (f"Who sells a {WORD}?", f"A person about the {WORD}, please"):
        body = {"messages": [{"role": "user", "content": more}]}
        assert ann.post(f"{path}/generate", body).status_code == 200
        run_jobs()
    for what, body in (
        ("feedback", {"rating": 1, "comment": f"The {WORD} again"}),
        ("tags", {"tags": ["vip"]}),
        ("manual", {"text": f"The {WORD} note", "is_note": True}),
    ):
        assert ann.post(f"{path}/{what}", body).status_code < 300, what
    Summary.objects.create(
        client=chat.client, conversation=chat, summary=WORD, language="en", message_count=1,
        engine="extractive",
    )  # fmt: skip
    run_jobs()
    chat.refresh_from_db()
    assert (chat.assign_type, chat.is_preview) == ("queue", True)
    return chat


def traces(reply: Any, chat: Conversation) -> list[str]:
    """What an answer tells of a preview."""
    text = b"".join(reply) if reply.streaming else reply.content
    marks = (WORD, chat.chat_code, str(chat.pk), chat.customer.external_id or "")
    return [item for item in marks if item.encode() in text]


def test_no_list_of_the_api_has_a_preview(ann, preview):
    key = make_key(ann.client)
    Conversation.objects.update(created_at="2026-01-01T00:00:00Z")  # exports leave out new rows
    seen: list[str] = []
    with undone():
        ids = rows_of(ann, key)
        ids["bot_id"] = preview.bot_id
        for served in ALL:
            if served.method != "GET" and served.at not in POSTED:
                continue
            for caller in callers(served.declared.access, ann, key):
                reply = send(caller, served, ids, POSTED.get(served.at))
                if reply.status_code >= 400 or reply["Content-Type"] == "text/event-stream":
                    continue
                assert not traces(reply, preview), served
                seen.append(str(served))
    assert len(seen) > 80, seen
    assert ann.get("/ai/chats", {"q": WORD}).json()["items"] == []
    own = ann.get("/ai/chats?previews=true").json()["items"]
    assert [item["id"] for item in own] == [str(preview.pk)]


def test_no_page_of_the_site_has_a_preview(ann, preview, staff):
    owner = signed_in(ann.user)
    opened = [(path, owner.get(path)) for path in map(reverse, SITE_PAGES)]
    for model, page in admin.site._registry.items():
        path = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
        reader = owner if page.read_by else staff  # type: ignore[attr-defined]
        opened.append((path, reader.get(path)))
    for model in (Conversation, Customer, Feedback, Summary):
        path = reverse(f"admin:chats_{model._meta.model_name}_changelist")
        opened += [(path, staff.get(path)), (f"{path}export", owner.get(f"{path}export-list/"))]
        found = owner.get(path, {"q": WORD})
        assert not found.context["cl"].queryset.exists(), path
    for path, reply in opened:
        assert (reply.status_code, traces(reply, preview)) == (200, []), path
    assert b"Get started" in owner.get(reverse("admin:index")).content
    assert "try/" not in owner.get(reverse("admin:search"), {"s": WORD}).content.decode()
