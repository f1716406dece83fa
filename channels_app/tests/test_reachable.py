"""`can_reply` of chats whose account was given up, has expired, or is back."""

from datetime import timedelta

import pytest
from django.utils import timezone

from channels_app.services import token_refresh
from channels_app.tests.helpers import PAGE
from chatplatform.testing import run_before, run_jobs
from chats.models import Conversation

pytestmark = pytest.mark.django_db(transaction=True)


def can_reply(person):
    return [chat["can_reply"] for chat in person.get("/ai/chats").json()["items"]]


def is_subscribed(socialnet):
    accounts = socialnet.sim.state()["accounts"]
    return next(account["is_subscribed"] for account in accounts if account["id"] == PAGE)


def test_nobody_can_reply_through_an_account_that_was_given_up(socialnet, agents_chat, ann):
    assert can_reply(ann) == [True]
    ann.put(socialnet.bot_path("disconnect_page"), {"page_id": PAGE})
    assert can_reply(ann) == [False]
    ann.put(socialnet.bot_path("reconnect_page"), {"page_id": PAGE})
    assert can_reply(ann) == [True]


def test_nobody_can_reply_while_the_token_has_expired(socialnet, agents_chat, ann, ben):
    socialnet.sim.end_tokens("password", account=PAGE)
    ben.post(f"/ai/chat/{agents_chat.pk}/manual", {"text": "Hello"})
    run_jobs()
    assert can_reply(ann) == [False]
    socialnet.write("I am new here", user="binh")
    run_jobs()
    assert can_reply(ann) == [False, False], "nor in a chat that began since"


def test_a_token_that_cannot_be_renewed_ends_with_its_time(socialnet, agents_chat, page, ben):
    page.token_expires_at = timezone.now() - timedelta(minutes=1)
    page.save()
    token_refresh.enqueue_due()
    reply = ben.post(f"/ai/chat/{agents_chat.pk}/manual", {"text": "Hello"})
    assert (reply.status_code, reply.json()["code"]) == (409, "channel_not_connected")
    page.refresh_from_db()
    assert page.status == "expired"


def test_a_chat_that_ended_meanwhile_learns_it_when_its_customer_writes(
    socialnet, agents_chat, ann
):
    ann.put(socialnet.bot_path("disconnect_page"), {"page_id": PAGE})
    ann.post(f"/ai/chat/end-chat/{agents_chat.pk}")
    Conversation.objects.update(status="ended")
    ann.put(socialnet.bot_path("reconnect_page"), {"page_id": PAGE})
    socialnet.write("One more thing")
    run_jobs()
    chat = Conversation.objects.exclude(status="ended").get()
    assert (chat.is_reachable, ann.get(f"/ai/chat/{chat.pk}").json()["can_reply"]) == (True, True)


def test_the_late_end_of_a_subscription_does_not_end_the_one_made_since(socialnet, page, ann):
    def reconnect():
        reply = ann.put(socialnet.bot_path("reconnect_page"), {"page_id": PAGE})
        assert reply.status_code == 200, reply.content

    with run_before("channels_app.services.connections.subscribing", reconnect):
        ann.put(socialnet.bot_path("disconnect_page"), {"page_id": PAGE})
    page.refresh_from_db()
    assert (page.status, is_subscribed(socialnet)) == ("connected", True)
    ann.put(socialnet.bot_path("disconnect_page"), {"page_id": PAGE})
    assert not is_subscribed(socialnet)
