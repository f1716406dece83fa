"""A frozen client is refused without a trace, its jobs and deliveries wait, and others go on."""

from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from channels_app.models import ChannelConnection, InboundCallback
from channels_app.tests.helpers import PAGE, event, post_signed
from chatplatform.jobs import leases, relay
from chatplatform.models import Job
from chatplatform.testing import run_jobs
from chatplatform.tests.job_work import NAME
from chatplatform.web import health
from chats.models import Conversation, Message
from chats.services.desk import timers
from chats.testing import make_chat
from identity.models import ApiKey, AuditEvent, RefreshToken, User
from identity.services import api_keys, move_freeze
from identity.testing import PASSWORD, make_key, signed_in

pytestmark = pytest.mark.django_db(transaction=True)
CHAT = "/ai/client/chat"


@pytest.fixture
def frozen(client_a, bot):
    move_freeze.freeze(client_a, by=None)
    api_keys._cache.clear()
    client_a.refresh_from_db()
    return client_a


def refused(reply):
    assert (reply.status_code, reply.json()["code"]) == (503, "client_frozen")
    assert int(reply["Retry-After"]) > 0


def test_requests_are_refused_and_leave_nothing(server, page, ann, cara, client_a):
    chat = server.post(CHAT, {}).json()
    ApiKey.objects.update(last_used_at=timezone.now() - timedelta(days=1))
    move_freeze.freeze(client_a, by=None)
    api_keys._cache.clear()
    before = (Message.objects.count(), Conversation.objects.count(), Job.objects.count())
    keys = set(ApiKey.objects.values_list("pk", "last_used_at"))
    for _ in range(2):
        refused(server.post(f"{CHAT}/{chat['id']}", {"text": "Hi", "client_message_id": "1"}))
        refused(server.get(f"{CHAT}/history/{chat['id']}"))
        refused(page.post(CHAT, {}))
        refused(ann.get("/ai/bot"))
    after = (Message.objects.count(), Conversation.objects.count(), Job.objects.count())
    assert after == before
    assert set(ApiKey.objects.values_list("pk", "last_used_at")) == keys
    assert cara.get("/ai/bot").status_code == 200
    move_freeze.unfreeze(client_a, by=None)
    api_keys._cache.clear()
    sent = server.post(f"{CHAT}/{chat['id']}", {"text": "Hi", "client_message_id": "1",
                                                "reply": "none"})  # fmt: skip
    assert sent.status_code == 200
    assert ann.get("/ai/bot").status_code == 200


def test_nobody_signs_in_meanwhile(ann, frozen):
    people = list(User.objects.values())
    tokens = RefreshToken.objects.count()
    form = {"grant_type": "password", "username": ann.user.email, "password": PASSWORD}
    refused(ann.browser.post("/identity/token2", form))
    browser = signed_in(ann.user)
    assert browser.get("/admin/chats/conversation/").status_code == 503
    move_freeze.unfreeze(frozen, by=None)
    assert browser.get("/admin/chats/conversation/").status_code == 200
    assert RefreshToken.objects.count() == tokens
    assert [row["password"] for row in people] == list(
        User.objects.values_list("password", flat=True)
    )


def test_a_refresh_token_outlives_the_refusal(ann, client_a):
    form = {"grant_type": "password", "username": ann.user.email, "password": PASSWORD}
    token = ann.browser.post("/identity/token2", form).json()["refresh_token"]
    move_freeze.freeze(client_a, by=None)
    again = {"grant_type": "refresh_token", "refresh_token": token}
    refused(ann.browser.post("/identity/token2", again))
    move_freeze.unfreeze(client_a, by=None)
    assert ann.browser.post("/identity/token2", again).status_code == 200


def test_jobs_wait_and_run_afterwards(work, frozen, client_b):
    own = [Job.objects.create(client_id=item.pk, name=NAME) for item in (frozen, client_b)]
    due = {job_id for job_id, _ in relay.take_due()}
    assert due == {own[1].pk}
    assert leases.claim(own[0].pk) is None
    leases.run(own[1].pk)
    assert relay.seconds_to_next() == relay.IDLE_SECONDS
    Job.objects.update(due_at=timezone.now() - timedelta(hours=1))
    health._jobs()
    assert len(work.calls) == 1
    move_freeze.unfreeze(frozen, by=None)
    run_jobs()
    assert len(work.calls) == 2


def test_timers_leave_its_chats_alone(bot, client_b, client_a):
    old = timezone.now() - timedelta(days=3)
    chat = make_chat(bot, last_message_at=old)
    move_freeze.freeze(client_a, by=None)
    assert timers.end_inactive() == 0
    move_freeze.unfreeze(client_a, by=None)
    assert timers.end_inactive() == 1
    chat.refresh_from_db()
    assert chat.status == "ended"


def test_a_provider_sends_its_callback_again(nobody, bot, sim, client_a):
    own = {"client": client_a, "bot": bot, "status": "connected"}
    ChannelConnection.objects.create(**own, channel="socialnet", account_id=PAGE)
    hello = event({"message": {"mid": "m_1", "text": "hello"}})
    move_freeze.freeze(client_a, by=None)
    refused(post_signed(nobody, "/socialnet/webhook", hello))
    assert not InboundCallback.objects.exists()
    move_freeze.unfreeze(client_a, by=None)
    assert post_signed(nobody, "/socialnet/webhook", hello).status_code == 200


@pytest.mark.full
def test_the_command_waits_and_both_ways_are_audited(client_a, capsys):
    for _ in range(2):
        call_command("freeze_client", client_a.code)
    client_a.refresh_from_db()
    assert client_a.frozen_at
    for _ in range(2):
        call_command("freeze_client", client_a.code, undo=True)
    rows = AuditEvent.objects.filter(client=client_a, action__contains="frozen")
    assert [row.action for row in rows.order_by("pk")] == ["client.frozen", "client.unfrozen"]
    with pytest.raises(CommandError, match="no client"):
        call_command("freeze_client", "nobody")
    assert make_key(client_a).get("/ai/customers").status_code == 200
