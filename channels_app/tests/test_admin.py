"""Connections, callbacks and sends in the admin site."""

import pytest
from django.test import Client as Browser
from django.urls import reverse

from channels_app.models import ChannelConnection, InboundCallback, OutboundSend
from channels_app.tests.helpers import event, post_signed
from chatplatform.testing import run_jobs
from identity.models import User

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def staff():
    browser = Browser()
    browser.force_login(User.objects.create_superuser("staff@example.com", full_name="Staff"))
    return browser


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


def test_a_send_is_shown(staff, agents_chat, ben):
    ben.post(f"/ai/chat/{agents_chat.pk}/manual", {"text": "Hello"})
    run_jobs()
    assert "sent" in text(staff.get(reverse("admin:channels_app_outboundsend_changelist")))
    send = OutboundSend.objects.get()
    path = reverse("admin:channels_app_outboundsend_change", args=[send.pk])
    assert str(send.provider_message_id) in text(staff.get(path))
