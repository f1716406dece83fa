"""Replies made again with what the bot knows today; nobody is told of them."""

import html
import re
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from bots.models import GoldenQuestion
from bots.search.hybrid_index import DEFAULT_THRESHOLD
from bots.testing import trained
from chatplatform.models import Job
from chatplatform.testing import run_jobs, stub_model
from chats.models import Conversation, Feedback, Message, Notification, ReplayedReply
from chats.services.reply import replays
from chats.testing import make_chat
from identity.models import CreditEntry
from identity.testing import signed_in
from webhooks.models import Event

pytestmark = pytest.mark.django_db(transaction=True)

HOURS = "OPENING HOURS\n\nThe shop is open from nine to five on weekdays.\n"
RETURNS = "RETURNS\n\nYou may return damaged goods within thirty days and get your money back.\n"
OPEN = "When is the shop open on weekdays?"
RETURN = "Within how many days may I return damaged goods?"
NOWHERE = "Who won the chess olympiad?"


@pytest.fixture
def replied(bot, add_message):
    """A question in a chat of its own, and what the bot said to it then."""

    def reply(question, decision, text="Then.", chat=None, source="Old", **receipt) -> Message:
        row = chat or make_chat(bot)
        # As every message that comes in: its language was detected.
        asked = add_message(row, "customer", question, language="en")
        cited = {"document_id": 1, "title": source, "url": None, "page": None, "quote": "x"}
        citations = [cited] if decision == "answered" else []
        # An answer tells of the search that found it.
        found = {"knowledge_version": 0} if decision == "answered" else {}
        stored = {"decision": decision, **found, **receipt}
        said: Message = add_message(
            row, "bot", text, in_reply_to=asked, receipt=stored, citations=citations
        )
        return said

    return reply


@pytest.fixture
def day(bot, replied):
    """Ten replies of today; by hand: 2 gained, 2 lost, 1 changed, 2 answered, 3 unanswered."""
    trained(bot, HOURS, title="Hours")
    trained(bot, RETURNS, title="Returns")
    return [
        (replied(OPEN, "below_gate"), "gained"),
        (replied("How long may I return damaged goods?", "no_answer"), "gained"),
        (replied("Do you sell gift cards?", "answered", "Yes, at the till."), "lost"),
        (replied("Is there a car park?", "answered", "Behind the house."), "lost"),
        (replied(RETURN, "answered", "Thirty days.", source="Returns"), "answered"),
        (
            replied("Until what time are you open on weekdays?", "answered", source="Hours"),
            "answered",
        ),
        (replied("Do I get my money back for damaged goods?", "answered"), "changed"),
        (replied(NOWHERE, "below_gate"), "unanswered"),
        (replied("How do I bake sourdough bread?", "below_gate"), "unanswered"),
        (replied("What is the capital of Peru?", "nothing_to_quote"), "unanswered"),
    ]


def state():
    """What a customer, a webhook or a report could notice."""
    return (
        list(Conversation.objects.order_by("pk").values()),
        list(Message.objects.order_by("pk").values()),
        [model.objects.count() for model in (Event, Notification, Feedback, CreditEntry)],
    )


def test_a_day_is_made_again_and_every_change_is_right_by_hand(ann, ben, cara, bot, day):
    before = state()
    path = f"/ai/{bot.pk}/replays"
    body = {"day": timezone.now().date().isoformat()}
    started = ann.post(path, body)
    assert (started.status_code, started.json()["total"]) == (202, 10)
    one = f"{path}/{started.json()['id']}"
    assert [ben.get(one).json()[name] for name in ("engine", "error", "finished_at")] == [None] * 3
    refused = ann.post(path, body)
    assert (refused.status_code, refused.json()["code"]) == (409, "replay_running")
    run_jobs()
    done = ben.get(one).json()
    kinds = ("gained", "lost", "changed", "answered", "unanswered")
    counts = {name: done[name] for name in kinds}
    assert counts == {"gained": 2, "lost": 2, "changed": 1, "answered": 2, "unanswered": 3}
    taken_over = ben.get(f"{one}/replies?change=changed").json()["items"]
    assert [(row["then"]["sources"], row["today"]["sources"]) for row in taken_over] == [
        (["Old"], ["Returns"])
    ]
    assert (done["status"], done["done"], done["is_cut"]) == ("done", 10, False)
    assert (done["engine"], done["with_calls"]) == ("extractive", 0)
    rows = ben.get(f"{one}/replies").json()["items"]
    assert [(row["message_id"], row["change"]) for row in rows] == [
        (str(reply.pk), change) for reply, change in day
    ]
    first = ben.get(f"{one}/replies?change=gained").json()["items"][0]
    assert first["chat_id"] == str(day[0][0].conversation_id)
    assert (first["then"]["text"], first["then"]["is_answered"]) == ("Then.", False)
    assert "nine to five" in first["today"]["text"]
    assert first["today"]["sources"] == ["Hours"]
    assert state() == before, "no message, no event, no figure, no credit"
    assert cara.get(one).status_code == 404


def test_a_day_ends_at_the_clients_midnight_and_leaves_out_what_was_no_question(
    ann, client_a, bot, day, replied
):
    client_a.timezone = "Pacific/Kiritimati"  # 14 hours ahead
    client_a.save()
    replied("Hello", "small_talk")
    replied(OPEN, "answered", calls=["c1"])
    replied(OPEN, "answered", chat=make_chat(bot, is_preview=True))
    # No search of this bot has found these: the bot cannot lose them.
    by_hand = replied("Do you sell gift cards?", "answered")
    Message.objects.filter(pk=by_hand.pk).update(receipt={"decision": "answered"})
    moved_in = make_chat(bot)
    replied("Is there a car park?", "answered", chat=moved_in)
    Conversation.objects.filter(pk=moved_in.pk).update(imported_at=timezone.now())
    today = timezone.now() + timedelta(hours=14)
    replay = replays.start(bot, day=today.date(), by=ann.user)
    begun = today.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(hours=14)
    expected = Message.objects.filter(created_at__gte=begun, pk__in=[item.pk for item, _ in day])
    assert (len(replay.message_ids), replay.with_calls) == (expected.count(), 1)
    tomorrow = (today + timedelta(days=1)).date().isoformat()
    refused = ann.post(f"/ai/{bot.pk}/replays", {"day": tomorrow})
    assert refused.status_code == 422


def test_a_limit_cuts_the_day_and_a_job_that_runs_twice_counts_once(ann, bot, day):
    body = {"day": timezone.now().date().isoformat(), "limit": 3}
    started = ann.post(f"/ai/{bot.pk}/replays", body).json()
    assert (started["total"], started["is_cut"]) == (3, True)
    run_jobs()
    replays.replay_next(started["id"])
    done = ann.get(f"/ai/{bot.pk}/replays/{started['id']}").json()
    assert (done["done"], done["gained"], done["lost"]) == (3, 2, 1)
    assert ReplayedReply.objects.count() == 3


def test_one_reply_is_shown_beside_what_was_said(ann, ben, cara, bot, day):
    reply = day[0][0]
    path = f"/ai/chat/{reply.conversation_id}/messages/{reply.pk}/replay"
    before = state()
    turn = ann.post(path, {}).json()
    assert (turn["question"], turn["then"]["text"]) == (OPEN, "Then.")
    assert (turn["then"]["decision"], turn["today"]["decision"]) == ("below_gate", "answered")
    assert "nine to five" in turn["today"]["text"]
    assert (turn["today"]["engine"], turn["called_functions"]) == ("extractive", False)
    assert turn["today"]["confidence"] > DEFAULT_THRESHOLD
    lost = day[2][0]
    turn = ann.post(f"/ai/chat/{lost.conversation_id}/messages/{lost.pk}/replay", {}).json()
    assert turn["today"]["handoff_reason"] == "no_answer"
    assert state() == before
    assert ben.post(path, {}).status_code == 403
    assert cara.post(path, {}).status_code == 404
    asked = f"/ai/chat/{reply.conversation_id}/messages/{reply.in_reply_to_id}/replay"
    assert ann.post(asked, {}).status_code == 404
    alone = Message.objects.filter(pk=reply.pk)
    alone.update(in_reply_to=None)
    refused = ann.post(path, {})
    assert (refused.status_code, refused.json()["code"]) == (409, "nothing_to_replay")


def test_a_follow_up_is_read_with_the_lines_before_it(ann, bot, add_message, replied):
    trained(bot, HOURS + "\nOn Saturdays the shop is open from ten to two.\n", title="Hours")
    chat = make_chat(bot)
    replied(OPEN, "answered", "From nine to five.", chat=chat)
    reply = replied("And on Saturdays?", "below_gate", chat=chat)
    # The chat was reopened since.
    Conversation.objects.filter(pk=chat.pk).update(read_from_seq=99, assign_type="queue")
    turn = ann.post(f"/ai/chat/{chat.pk}/messages/{reply.pk}/replay", {}).json()
    assert "ten to two" in turn["today"]["text"]


def test_a_models_tokens_are_paid_and_without_credits_the_day_ends(
    ann, client_a, bot, day, settings
):
    with stub_model.running() as stub:
        settings.LLM_BASE_URL, settings.LLM_MODEL = stub.base_url, "stub"
        reply = day[4][0]
        path = f"/ai/chat/{reply.conversation_id}/messages/{reply.pk}/replay"
        left = client_a.subscription.credits_left
        assert ann.post(path, {}).status_code == 200
        client_a.subscription.refresh_from_db()
        assert client_a.subscription.credits_left < left
        client_a.subscription.credits_left = 0
        client_a.subscription.save()
        assert ann.post(path, {}).status_code == 402
        started = ann.post(
            f"/ai/{bot.pk}/replays", {"day": timezone.now().date().isoformat()}
        ).json()
        run_jobs()
    failed = ann.get(f"/ai/{bot.pk}/replays/{started['id']}").json()
    assert (failed["status"], failed["finished_at"] is not None) == ("failed", True)
    assert "credits" in failed["error"]
    ann.user.language = "de"
    ann.user.save()
    page = signed_in(ann.user).get(reverse("admin:chats_replay_change", args=[started["id"]]))
    assert page.status_code == 200
    assert failed["error"] not in html.unescape(page.content.decode())
    assert not Job.objects.filter(name="chats.replay_next", state="queued").exists()


@pytest.mark.full
def test_the_site_shows_both_and_starts_a_day(ann, ben, bot, day):
    site = signed_in(ann.user)
    reply = day[0][0]
    why = reverse("admin:chats_why", args=[reply.conversation_id, reply.pk])
    again = reverse("admin:chats_again", args=[reply.conversation_id, reply.pk])
    assert again in site.get(why).content.decode()
    page = site.post(again).content.decode()
    assert "Then." in page
    assert "nine to five" in page
    form = reverse("admin:chats_replay_replay_day")
    sent = site.post(form, {"bot": bot.pk, "day": timezone.now().date().isoformat()})
    assert site.get(sent["Location"])["Refresh"] == "3"
    run_jobs()
    seen = site.get(sent["Location"])
    assert "Refresh" not in seen
    assert "10 of 10" in seen.content.decode()
    assert "Yes, at the till." in seen.content.decode()
    assert '<progress value="10" max="10"' in seen.content.decode()
    browser = signed_in(ben.user)
    assert again not in browser.get(why).content.decode()
    assert browser.post(again).status_code == 403


def test_each_reply_that_is_another_one_is_judged_on_the_page(ann, ben, bot, day, monkeypatch):
    replay = replays.start(bot, day=timezone.now().date(), by=ann.user)
    run_jobs()
    monkeypatch.setattr("chats.pages.replays._SHOWN", 1)
    page = reverse("admin:chats_replay_change", args=[replay.pk])
    site = signed_in(ann.user)
    first = site.get(page).content.decode()
    assert (OPEN in first, "How long may I" in first) == (True, False)
    for reply in (day[0][0], day[2][0], day[6][0]):  # gained, lost, changed
        assert reverse("admin:chats_answer", args=[reply.pk]) in first
    (onward,) = re.findall(r'href="(\?gained=[^"#]+)#gained"', first)
    second = site.get(page + onward).content.decode()
    assert (OPEN in second, "How long may I" in second) == (False, True)
    assert "?gained=" not in second
    assert site.get(f"{page}?gained=none").status_code == 200
    # Its question is kept as a golden one, which expects the source of today's answer.
    add = reverse("admin:bots_goldenquestion_add_question")
    gained, _lost, _changed = (
        html.unescape(link) for link in re.findall(f'href="({add}[^"]+)"', first)
    )
    offered = site.get(gained).context["form"]
    assert offered["question"].value() == OPEN
    sent = {name: offered[name].value() for name in ("bot", "question", "expected_source")}
    assert site.post(add, sent).status_code == 302
    assert GoldenQuestion.objects.get(bot=bot).expected_source == "Hours"
    agent = signed_in(ben.user)
    read = agent.get(page).content.decode()
    assert (OPEN in read, "golden" in read.partition('id="gained"')[2]) == (True, False)


def test_what_there_was_to_choose_stands_below_what_was_said_then(ann, server, bot):
    trained(bot, HOURS, title="Hours")
    trained(bot, RETURNS, title="Returns")
    chat = server.post("/ai/client/chat", {"channel": "web"}).json()["id"]
    asked = {"text": "Do you sell gift cards?", "reply": "async"}
    assert server.post(f"/ai/client/chat/{chat}", asked).status_code == 202
    run_jobs()
    trained(bot, "GIFT CARDS\n\nWe sell gift cards at the till.\n", title="Cards")
    replay = replays.start(bot, day=timezone.now().date(), by=ann.user)
    run_jobs()
    site = signed_in(ann.user)
    page = site.get(reverse("admin:chats_replay_change", args=[replay.pk])).content.decode()
    (then,) = re.findall(r'"gained".*?Original answer</p>\s*<p[^>]*>(.*?)</p>', page, re.DOTALL)
    assert then.endswith("one of these helps:\n▸ RETURNS\n▸ OPENING HOURS\n▸ Talk to a person")
