"""The audit log tells in words what changed in a bot, and is found by other words for a setting."""

import pytest
from django.urls import reverse

LOG = reverse("admin:identity_auditevent_changelist")


@pytest.fixture
def change(ann, bot):
    def put(**values):
        reply = ann.put(f"/ai/bot/{bot.pk}/update-bot", values)
        assert reply.status_code == 200, reply.content

    return put


def shown(site, **query):
    return site.get(LOG, query).content.decode()


def test_lists_say_what_was_added_and_removed(site, change):
    change(languages=["en", "vi"])
    assert "languages: added English, Vietnamese" in shown(site)
    change(languages=["en", "de"])
    assert "languages: added German, removed Vietnamese" in shown(site)


def test_a_greeting_is_a_welcome_message(site, change):
    change(welcome_message={"en": "Xin chao"})
    change(primary_color="#123456")
    found = shown(site, q="greeting")
    assert "Xin chao" in found
    assert "#123456" not in found
