"""Connections, callbacks and sends in the admin site."""

import json

import pytest
from django.urls import reverse
from django.utils import timezone

from channels_app.models import ChannelConnection, InboundCallback, OutboundSend
from channels_app.providers.errors import ADVICE, Kind
from channels_app.services import connections
from channels_app.tests.helpers import event, post_signed
from chatplatform.testing import run_jobs
from identity.models import User
from identity.testing import signed_in

pytestmark = pytest.mark.django_db(transaction=True)


def text(reply):
    assert reply.status_code == 200
    return reply.content.decode()


def test_a_connection_is_shown_without_its_token(staff, page):
    shown = text(staff.get(reverse("admin:channels_app_channelconnection_changelist")))
    assert "Blue Shop" in shown
    row = text(staff.get(reverse("admin:channels_app_channelconnection_change", args=[page.pk])))
    assert page.account_id in row
    assert page.access_token not in shown + row
    assert ChannelConnection.objects.count() == 1


def test_a_callback_says_what_became_of_its_items(staff, agents_chat, ann):
    body = event({"message": {"mid": "m_1", "text": "<b>hello</b>"}})
    body["entry"][0]["messaging"] += event({"strange": {}})["entry"][0]["messaging"]
    post_signed(ann, "/socialnet/webhook", body)
    run_jobs()
    assert text(staff.get(reverse("admin:channels_app_inboundcallback_changelist")))
    callback = InboundCallback.objects.latest("id")
    path = reverse("admin:channels_app_inboundcallback_change", args=[callback.pk])
    shown = text(staff.get(path))
    assert "strange" in shown
    assert "message:m_1" in shown
    assert "<b>hello</b>" not in shown


@pytest.mark.full
def test_a_send_is_shown(staff, agents_chat, ann, ben):
    ben.post(f"/ai/chat/{agents_chat.pk}/manual", {"text": "Hello"})
    run_jobs()
    assert "sent" in text(staff.get(reverse("admin:channels_app_outboundsend_changelist")))
    send = OutboundSend.objects.get()
    path = reverse("admin:channels_app_outboundsend_change", args=[send.pk])
    assert str(send.provider_message_id) in text(staff.get(path))
    User.objects.update(language="vi")
    ann.browser.force_login(ann.user)
    own = reverse("channel_account", args=[send.connection.channel, agents_chat.bot_id])
    shown = ann.browser.get(own)
    sends = shown.context["sends"]
    today = timezone.localdate()
    day, counts = sends["rows"][-1]
    assert (day, counts) == (f"{today.day}/{today.month}", (1, 0))
    assert json.loads(sends["chart"])["labels"][-1] == day
    assert f'scope="row" class="font-normal text-left">{day}</th>' in text(shown)


def test_a_failing_account_says_what_since_when_and_is_connected_again(page, ann, ben):
    connections.mark_error(page, "A review is due.")
    since = ChannelConnection.objects.get().failing_since
    assert since
    connections.mark_expired(page, "The token was refused.")
    assert ChannelConnection.objects.get().failing_since == since
    owner, agent = signed_in(ann.user), signed_in(ben.user)
    path = reverse("channel_account", args=["socialnet", page.bot_id])
    shown = text(owner.get(path))
    assert 'data-state="expired"' in shown
    assert "The token was refused." in shown
    assert 'value="again"' in shown
    assert 'value="again"' not in text(agent.get(path))
    assert agent.post(path, {"form": "again"}).status_code == 403
    assert path in text(owner.get(reverse("failures")))
    assert ChannelConnection.objects.get().status == "expired"
    assert owner.post(path, {"form": "again"})["Location"] == path
    row = ChannelConnection.objects.get()
    assert (row.status, row.failing_since) == ("connected", None)
    assert path not in text(owner.get(reverse("failures")))


def test_an_accounts_error_is_shown_in_the_readers_language(page, ann):
    connections.mark_expired(page, "The token was refused.")
    User.objects.update(language="de")
    owner = signed_in(ann.user)
    account = reverse("channel_account", args=["socialnet", page.bot_id])
    accounts = reverse("admin:channels_app_channelconnection_changelist")
    for path in (account, accounts, reverse("failures")):
        shown = text(owner.get(path))
        assert ADVICE[Kind.TOKEN] not in shown, path
        assert "(The token was refused.)" in shown, path


@pytest.mark.full
def test_refused_messages_stand_among_the_failures_and_in_the_picture(page, agents_chat, ann, ben):
    ben.post(f"/ai/chat/{agents_chat.pk}/manual", {"text": "Hello"})
    run_jobs()
    OutboundSend.objects.update(state="failed", error="The customer blocked us.")
    owner = signed_in(ann.user)
    failures = text(owner.get(reverse("failures")))
    assert "Blue Shop: The customer blocked us." in failures
    refused = f"?state__exact=failed&amp;connection__id__exact={page.pk}"
    assert refused in failures
    path = reverse("admin:channels_app_outboundsend_changelist")
    found = owner.get(path + refused.replace("&amp;", "&"))
    assert [row.error for row in found.context["cl"].result_list] == ["The customer blocked us."]
    shown = text(owner.get(reverse("channel_account", args=["socialnet", page.bot_id])))
    assert "Messages sent in the last 14 days" in shown
    agent = signed_in(ben.user)
    assert "blocked us" not in text(agent.get(reverse("failures")))
