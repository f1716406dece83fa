"""The site's form for how bots answer, and what they do without an answer."""

import pytest
from django.test import Client as Browser
from django.urls import reverse

from identity.models import AuditEvent, ClientConfig


@pytest.mark.parametrize(
    ("chosen", "stored", "words"),
    [
        ("", None, "In the widget and on messaging channels"),
        ("true", True, "In all chats"),
        ("false", False, "Never"),
    ],
)
def test_an_admin_changes_the_settings(ann, cara, chosen, stored, words):
    browser = Browser()
    browser.force_login(ann.user)
    config = ClientConfig.objects.get(client=ann.client)
    path = reverse("admin:identity_clientconfig_answering", args=[config.pk])
    assert "In the widget" in browser.get(path).content.decode()
    before = config.version
    form = {"ask_again_before_handoff": chosen, "handoff_on_no_answer": "on"}
    page = browser.post(path, form, follow=True).content.decode()
    assert "Saved." in page
    assert words in page
    config.refresh_from_db()
    assert config.ask_again_before_handoff is stored
    assert config.handoff_on_no_answer
    # What is not ticked is off.
    assert (config.answer_while_waiting, config.confirm_answers) == (False, False)
    assert config.version == before + 1
    assert AuditEvent.objects.filter(action="config.updated").count() == 1
    other = Browser()
    other.force_login(cara.user)
    assert other.post(path, {"ask_again_before_handoff": "true"}).status_code == 404
