"""An Official Account is connected by a consent in the browser, and given up."""

from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from django.utils import timezone

from bots.testing import make_bot
from channels_app.models import ChannelConnection, OAuthAuthorization
from channels_app.services import token_refresh
from channels_app.tests.helpers import OA, run_waiting
from chatplatform.testing import run_jobs
from identity.models import AuditEvent, EmailNotification, Role, User
from identity.testing import make_person
from webhooks.models import Event

pytestmark = pytest.mark.django_db(transaction=True)
HOME = "https://app.shop.example/done?tab=2"


def begin(localapp, person=None, **more):
    path = localapp.bot_path("connect")
    reply = (person or localapp.ann).post(path, {"redirect_uri": HOME, **more})
    assert reply.status_code == 200, reply.content
    return reply.json()


def agree(localapp, pending, *, allow=True):
    """Where the provider sends the browser."""
    return localapp.sim.consent(pending["consent_url"], allow=allow)


def outcome(reply):
    """What the person's own page learns."""
    assert reply.status_code == 302, reply.content
    assert reply["Location"].startswith("https://app.shop.example/done?")
    return {name: values[0] for name, values in parse_qs(urlsplit(reply["Location"]).query).items()}


def test_a_person_consents_and_the_account_is_connected(localapp, nobody, ann, bot):
    pending = begin(localapp)
    assert (pending["status"], pending["account_id"]) == ("pending", None)
    query = parse_qs(urlsplit(pending["consent_url"]).query)
    assert len(query["code_challenge"][0]) == 43
    assert "verifier" not in pending["consent_url"]
    result = outcome(nobody.browser.get(agree(localapp, pending)))
    assert result == {
        "tab": "2", "channel": "localapp", "bot_id": str(bot.pk), "status": "connected",
        "account_id": OA,
    }  # fmt: skip
    shown = ann.get(localapp.bot_path("connection")).json()
    assert (shown["status"], shown["account_name"]) == ("connected", "Blue Shop")
    assert (shown["id"], shown["connected_by"]["external_id"]) == (pending["id"], str(ann.user.pk))
    row = ChannelConnection.objects.get()
    assert row.token_expires_at
    lasts = row.token_expires_at - timezone.now()
    assert timedelta(hours=24) < lasts <= timedelta(hours=25)
    assert row.refresh_token
    assert row.access_token not in str(shown) + str(result)
    assert Event.objects.filter(type="channel.connected").count() == 1
    assert AuditEvent.objects.get(action="channel.connected").user == ann.user


def test_a_state_is_used_once_and_only_ours_is_taken(localapp, nobody):
    back = agree(localapp, begin(localapp))
    assert outcome(nobody.browser.get(back))["status"] == "connected"
    for url in (back, "/localapp/callback", "/localapp/callback?state=x&code=y&oa_id=z"):
        reply = nobody.browser.get(url)
        assert (reply.status_code, reply.json()["code"]) == (400, "invalid_state")
    assert Event.objects.filter(type="channel.connected").count() == 1


def test_a_state_of_another_channel_is_not_taken(localapp, socialnet, nobody):
    pending = localapp.ann.post(socialnet.bot_path("connect"), {"redirect_uri": HOME}).json()
    state = parse_qs(urlsplit(pending["consent_url"]).query)["state"][0]
    reply = nobody.browser.get("/localapp/callback", {"state": state, "code": "x", "oa_id": OA})
    assert reply.json()["code"] == "invalid_state"
    assert not OAuthAuthorization.objects.exclude(used_at=None).exists()


@pytest.mark.parametrize("which", [0, 1])
def test_the_state_may_come_from_our_address_or_from_the_provider(localapp, nobody, which):
    back = urlsplit(agree(localapp, begin(localapp)))
    query = parse_qs(back.query)
    assert len(query["state"]) == 2
    once = {name: values[which if name == "state" else 0] for name, values in query.items()}
    assert outcome(nobody.browser.get(back.path, once))["status"] == "connected"


def test_a_consent_without_its_verifier_is_worth_nothing(localapp, nobody):
    pending = begin(localapp)
    authorization = OAuthAuthorization.objects.get()
    authorization.code_verifier = "x" * 43
    authorization.save()
    result = outcome(nobody.browser.get(agree(localapp, pending)))
    assert (result["status"], result["error"]) == ("pending", "provider_refused")
    row = ChannelConnection.objects.get()
    assert (row.status, row.access_token) == ("pending", "")
    assert "verifier" in row.last_error


def test_who_refuses_is_sent_on_and_nothing_is_connected(localapp, nobody):
    result = outcome(nobody.browser.get(agree(localapp, begin(localapp), allow=False)))
    assert (result["status"], result["error"]) == ("pending", "consent_refused")
    assert ChannelConnection.objects.get().status == "pending"


def test_another_account_than_the_asked_one_is_not_connected(localapp, nobody):
    result = outcome(nobody.browser.get(agree(localapp, begin(localapp, oa_id="77"))))
    assert result["error"] == "wrong_account"
    assert not ChannelConnection.objects.exclude(status="pending").exists()
    assert outcome(nobody.browser.get(agree(localapp, begin(localapp, oa_id=OA))))["account_id"]


def test_an_account_belongs_to_one_bot_and_its_tokens_stay_good(localapp, oa, ann, nobody):
    other = make_bot(ann.client)
    path = localapp.path(f"connect/{other.pk}")
    pending = ann.post(path, {"redirect_uri": HOME}).json()
    before = len(localapp.sim.calls(what="tokens", method="POST"))
    result = outcome(nobody.browser.get(agree(localapp, pending)))
    assert result["error"] == "account_taken"
    asked = [call for call in localapp.sim.calls(what="tokens", method="POST")[before:]
             if "access_token" in call["path"]]  # fmt: skip
    assert asked == [], "the code was not spent"
    oa.refresh_from_db()
    assert oa.status == "connected"


def test_who_lost_the_right_meanwhile_connects_nothing(localapp, ann, nobody):
    eve = make_person(ann.client, Role.ADMIN, "Eve")
    back = agree(localapp, begin(localapp, eve))
    User.objects.filter(full_name="Eve").update(role=Role.AGENT)
    assert outcome(nobody.browser.get(back))["error"] == "forbidden"
    assert not ChannelConnection.objects.filter(status="connected").exists()


@pytest.mark.parametrize("body", [{"redirect_uri": "http://shop.example/"}, {},
                                  {"redirect_uri": HOME, "oa_id": "a/b"}])  # fmt: skip
def test_a_wrong_body_begins_nothing(localapp, body):
    assert localapp.ann.post(localapp.bot_path("connect"), body).status_code == 422
    assert not OAuthAuthorization.objects.exists()


def test_giving_up_forgets_the_tokens_and_ignores_the_events(localapp, oa, ann):
    reply = ann.put(localapp.bot_path("disconnect_page"))
    assert (reply.status_code, reply.json()["status"]) == (200, "disconnected")
    oa.refresh_from_db()
    assert (oa.access_token, oa.refresh_token, oa.token_expires_at) == ("", "", None)
    localapp.write("Hello?")
    run_jobs()
    assert not Event.objects.filter(type="message.created").exists()
    assert ann.put(localapp.bot_path("disconnect_page")).json() == reply.json()


def test_an_account_that_was_given_up_is_connected_again(localapp, oa, ann, nobody):
    ann.put(localapp.bot_path("disconnect_page"))
    assert outcome(nobody.browser.get(agree(localapp, begin(localapp))))["status"] == "connected"
    shown = ann.get(localapp.bot_path("connection")).json()
    assert (shown["id"], shown["status"]) == (str(oa.pk), "connected")
    assert ChannelConnection.objects.count() == 1


# --- tokens are renewed -----------------------------------------------------------------------


def due_soon(row, hours=4):
    row.token_expires_at = timezone.now() + timedelta(hours=hours)
    row.save()


def test_a_token_is_renewed_before_its_end_and_not_sooner(localapp, oa):
    token_refresh.enqueue_due()
    assert run_jobs() == 0, "25 hours are left"
    due_soon(oa)
    before = (oa.access_token, oa.refresh_token)
    token_refresh.enqueue_due()
    run_jobs()
    oa.refresh_from_db()
    assert not {oa.access_token, oa.refresh_token} & set(before)
    assert oa.token_expires_at > timezone.now() + timedelta(hours=24)
    localapp.write("Hello")
    run_jobs()
    assert localapp.sim.calls(what="profiles"), "the new token is good"
    assert ChannelConnection.objects.get().status == "connected"


def test_a_used_refresh_token_means_to_consent_again(localapp, oa, ann):
    EmailNotification.objects.update_or_create(
        client=ann.client, defaults={"recipients": ["a@b.example"], "on_channel_error": True}
    )
    localapp.sim.end_tokens(channel="localapp", kind="refresh")
    due_soon(oa)
    token_refresh.enqueue_due()
    run_jobs()
    oa.refresh_from_db()
    assert oa.status == "expired"
    assert "-14014" in oa.last_error or "refresh token" in oa.last_error
    assert Event.objects.filter(type="channel.disconnected").count() == 1


def test_a_lost_answer_means_to_consent_again_since_the_old_pair_is_dead(localapp, oa):
    localapp.sim.fault("reset_after", channel="localapp", what="tokens")
    due_soon(oa)
    token_refresh.enqueue_due()
    run_jobs()
    oa.refresh_from_db()
    assert oa.status == "expired"


@pytest.mark.parametrize("fault", [{"kind": "http_503"}, {"kind": "code", "code": -32}])
def test_a_fault_that_passes_is_waited_for(localapp, oa, fault):
    localapp.sim.fault(channel="localapp", what="tokens", **fault)
    due_soon(oa)
    token = oa.access_token
    token_refresh.enqueue_due()
    run_jobs()
    oa.refresh_from_db()
    assert (oa.status, oa.access_token) == ("connected", token)
    run_waiting()
    oa.refresh_from_db()
    assert (oa.status, oa.access_token != token) == ("connected", True)


def test_tokens_that_come_after_the_account_was_given_up_are_not_kept(
    localapp, oa, ann, monkeypatch
):
    from channels_app.providers.localapp import Localapp  # noqa: PLC0415

    real = Localapp.refresh

    def given_up_meanwhile(self, account, refresh_token):
        tokens = real(self, account, refresh_token)
        assert ann.put(localapp.bot_path("disconnect_page")).status_code == 200
        return tokens

    monkeypatch.setattr(Localapp, "refresh", given_up_meanwhile)
    assert token_refresh.refresh(oa) is False
    row = ChannelConnection.objects.get()
    assert (row.status, row.access_token, row.refresh_token) == ("disconnected", "", "")
