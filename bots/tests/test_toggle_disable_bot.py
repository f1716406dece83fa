"""Toggle Disable Bot."""

import pytest

from bots.models import Bot
from identity.models import AuditEvent
from identity.testing import make_key


def path(bot):
    return f"/ai/bot/{bot.pk}/toggle-disable"


def audit():
    return list(AuditEvent.objects.order_by("pk").values_list("action", "subject"))


def test_off_and_on_again(ann, bot):
    reply = ann.put(path(bot), {"is_disabled": True})
    assert (reply.status_code, reply.json()["is_disabled"]) == (200, True)
    assert reply.json() == ann.get(f"/ai/bot/{bot.pk}").json()
    assert ann.put(path(bot), {"is_disabled": False}).json()["is_disabled"] is False
    assert audit() == [("bot.disabled", f"bot:{bot.pk}"), ("bot.enabled", f"bot:{bot.pk}")]
    assert set(AuditEvent.objects.values_list("user", flat=True)) == {ann.user.pk}


def test_repeating_changes_nothing(ann, bot):
    first = ann.put(path(bot), {"is_disabled": True}).json()
    assert ann.put(path(bot), {"is_disabled": True}).json() == first
    assert len(audit()) == 1


def test_a_disabled_bots_chats_go_to_people(ann, bot):
    ann.put(path(bot), {"is_disabled": True})
    chat = make_key(ann.client, bot_id=bot.pk).post("/ai/client/chat", {"customer": {}}).json()
    assert (chat["assign_type"], chat["handoff_reason"]) == ("queue", "bot_disabled")


@pytest.mark.parametrize("wrong", [{}, {"is_disabled": None}, {"is_disabled": 7}, {"no": True}])
def test_a_wrong_body(ann, bot, wrong):
    assert ann.put(path(bot), wrong).status_code == 422
    assert not Bot.objects.get().is_disabled
