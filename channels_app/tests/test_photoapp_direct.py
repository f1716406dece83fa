"""photoapp's direct login: an account is connected by itself, without a page."""

from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from django.utils import timezone

from bots.testing import make_bot
from channels_app.models import ChannelConnection, InboundItem, Outcome
from channels_app.services import token_refresh
from channels_app.tests.helpers import ACCOUNT
from chatplatform.models import Job
from chatplatform.testing import run_jobs
from chats.models import Conversation, Message
from identity.models import ChannelAccessToken

pytestmark = pytest.mark.django_db(transaction=True)
HOME = "https://app.shop.example/channels/done"


def begin(photoapp, bot=None):
    path = photoapp.path(f"connect/{(bot or photoapp.bot).pk}")
    return photoapp.ann.post(path, {"redirect_uri": HOME, "login": "direct"}).json()["consent_url"]


def end(photoapp, back, *, bot=None, person=None, **changes):
    query = {name: values[0] for name, values in parse_qs(urlsplit(back).query).items()}
    body = {
        "redirect_uri": HOME, "login": "direct", "code": query["code"], "state": query["state"],
    }  # fmt: skip
    path = photoapp.path(f"connect/{(bot or photoapp.bot).pk}")
    return (person or photoapp.ann).post(path, body | changes)


@pytest.fixture
def direct(photoapp):
    """An account that is connected to Ann's bot by a direct login."""
    reply = end(photoapp, photoapp.sim.consent(begin(photoapp), accounts=[ACCOUNT]))
    assert reply.status_code == 200, reply.content
    return ChannelConnection.objects.get(pk=reply.json()["id"])


@pytest.fixture
def say(direct, photoapp, bot, ben):
    """`say("Hello")`: an agent writes to a customer; the message after the jobs ran."""
    type(bot).objects.filter(pk=bot.pk).update(agent_reply=True)
    photoapp.write("Is anybody there?")
    run_jobs()

    def say(text="Hello"):
        path = f"/ai/chat/{Conversation.objects.get().pk}/manual"
        sent = ben.post(path, {"text": text})
        run_jobs()
        return Message.objects.get(pk=sent.json()["id"])

    return say


def test_a_person_consents_and_the_account_itself_is_connected(photoapp, direct):
    assert (direct.status, direct.account_id) == ("connected", ACCOUNT)
    assert direct.account_name
    assert direct.details == {"login": "direct"}
    left = direct.token_expires_at - timezone.now()
    assert timedelta(days=59) < left <= timedelta(days=60), "the token of an hour was exchanged"
    assert not ChannelAccessToken.objects.exists(), "no page, no token of a person"
    last = photoapp.sim.calls()[-1]
    assert (last["base"], last["method"]) == ("direct", "POST")
    assert last["path"].endswith(f"/{ACCOUNT}/subscribed_apps")


def test_who_refuses_or_comes_back_wrong_connects_nothing(photoapp, ben, cara):
    back = photoapp.sim.consent(begin(photoapp), accounts=[ACCOUNT])
    assert end(photoapp, back, state="made-up").json()["code"] == "invalid_state"
    assert end(photoapp, back, person=cara).status_code == 404
    assert end(photoapp, back, code="made-up").json()["code"] == "provider_refused"
    again = end(photoapp, back)
    assert (again.status_code, again.json()["code"]) == (400, "invalid_state"), "it was used"
    assert not ChannelConnection.objects.exclude(status="pending").exists()
    assert not photoapp.sim.calls(what="subscriptions")


def test_an_account_belongs_to_one_bot_however_it_was_connected(photoapp, account, ann):
    other = make_bot(ann.client)
    back = photoapp.sim.consent(begin(photoapp, other), accounts=[ACCOUNT])
    assert end(photoapp, back, bot=other).json()["code"] == "account_taken"
    same = end(photoapp, photoapp.sim.consent(begin(photoapp), accounts=[ACCOUNT]))
    assert same.json()["id"] == str(account.pk), "its own bot takes it over from the page"
    account.refresh_from_db()
    assert account.details == {"login": "direct"}


def test_without_its_app_the_setting_is_named(photoapp, settings):
    settings.PHOTOAPP_DIRECT_APP_ID = ""
    body = {"redirect_uri": HOME, "login": "direct"}
    reply = photoapp.ann.post(photoapp.bot_path("connect"), body)
    assert (reply.status_code, reply.json()["setting"]) == (503, "PHOTOAPP_DIRECT_APP_ID")


def test_messages_go_both_ways_at_the_accounts_own_host(photoapp, say):
    message = say()
    photoapp.settle()
    message.refresh_from_db()
    assert (message.status, photoapp.replies()) == ("read", ["Hello"])
    assert {call["base"] for call in photoapp.sim.calls(what="sends")} == {"direct"}
    assert Message.objects.filter(sender_type="agent").count() == 1, "its echo is no new message"
    assert not InboundItem.objects.exclude(outcome=Outcome.PROCESSED).exists()


def test_a_send_that_was_cut_off_goes_out_once_and_its_echo_tells(photoapp, say):
    photoapp.sim.fault("reset_after", what="sends")
    message = say()
    assert message.status == "pending"
    photoapp.settle()
    message.refresh_from_db()
    assert (message.status, photoapp.replies()) == ("read", ["Hello"])


def due_soon(row):
    row.token_expires_at = timezone.now() + timedelta(days=9)
    row.save()
    token_refresh.enqueue_due()
    run_jobs()
    row.refresh_from_db()


@pytest.mark.parametrize("status", ["connected", "error"])
def test_a_token_is_renewed_before_its_end_also_while_something_is_wrong(photoapp, direct, status):
    token_refresh.enqueue_due()
    assert run_jobs() == 0, "60 days are left"
    photoapp.sim.advance(2 * 86400)
    before, direct.status = direct.access_token, status
    due_soon(direct)
    assert direct.access_token != before
    assert direct.token_expires_at > timezone.now() + timedelta(days=50)


def test_a_refused_renewal_leaves_a_good_token_as_it_is(photoapp, direct):
    before = direct.access_token
    due_soon(direct)  # younger than a day
    assert (direct.status, direct.access_token) == ("connected", before)
    assert Job.objects.get(name="channels_app.refresh_token").state == "queued"


def test_a_token_that_was_taken_back_means_to_consent_again(photoapp, direct, say):
    photoapp.sim.end_tokens("revoked", value=direct.access_token)
    assert say().status == "failed"
    direct.refresh_from_db()
    assert direct.status == "expired"
    assert photoapp.replies() == []


def test_giving_up_ends_the_accounts_own_subscription(photoapp, direct, ann):
    assert ann.put(photoapp.bot_path("disconnect")).json()["status"] == "disconnected"
    last = photoapp.sim.calls()[-1]
    assert (last["base"], last["method"]) == ("direct", "DELETE")
    assert last["path"].endswith(f"/{ACCOUNT}/subscribed_apps")
    direct.refresh_from_db()
    assert direct.access_token == ""
