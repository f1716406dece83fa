"""Consent, pages listed, connected, given up and connected again."""

from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from django.db import connection as database
from django.utils import timezone

from bots.testing import make_bot
from channels_app.models import ChannelConnection, OAuthAuthorization
from channels_app.services import connections
from channels_app.tests.helpers import OTHER_PAGE, PAGE
from chatplatform.testing import at_once
from identity.models import AuditEvent, ChannelAccessToken, Role
from identity.testing import make_person
from webhooks.models import Event

pytestmark = pytest.mark.django_db
HOME = "https://app.shop.example/channels/done"


def begin(socialnet, person=None, bot=None):
    """Begin a consent; the pending connection."""
    path = socialnet.path(f"connect/{(bot or socialnet.bot).pk}")
    reply = (person or socialnet.ann).post(path, {"redirect_uri": HOME})
    assert reply.status_code == 200, reply.content
    return reply.json()


def agree(socialnet, pending):
    """What the provider's page sends back."""
    url = socialnet.sim.consent(pending["consent_url"], accounts=[PAGE, OTHER_PAGE])
    assert url.startswith(HOME)
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}


def come_back(socialnet, query, person=None, **changes):
    body = {"redirect_uri": HOME, "code": query["code"], "state": query["state"], **changes}
    return (person or socialnet.ann).post(socialnet.bot_path("connect"), body)


def connect(socialnet, page_id=PAGE, person=None):
    path = socialnet.bot_path("connect_page")
    return (person or socialnet.ann).post(path, {"page_id": page_id})


# --- consent ----------------------------------------------------------------------------------


def test_a_person_consents_lists_pages_and_connects_one(socialnet, ann):
    pending = begin(socialnet)
    assert (pending["status"], pending["account_id"]) == ("pending", None)
    reply = come_back(socialnet, agree(socialnet, pending))
    assert reply.status_code == 200, reply.content
    assert (reply.json()["status"], reply.json()["consent_url"]) == ("pending", None)
    ends_at = ChannelAccessToken.objects.get().expires_at
    assert ends_at
    assert ends_at > timezone.now() + timedelta(days=50), "exchanged for a long one"
    pages = ann.get(socialnet.bot_path("pages")).json()["items"]
    assert {page["id"] for page in pages} >= {PAGE, OTHER_PAGE}
    connected = connect(socialnet).json()
    assert (connected["status"], connected["account_name"]) == ("connected", "Blue Shop")
    assert connected["connected_by"]["external_id"] == str(ann.user.pk)
    assert connected["id"] == pending["id"]
    assert ann.get(socialnet.bot_path("connection")).json() == connected
    assert "socialnet" in {item["channel"] for item in socialnet.sim.state()["accounts"]
                           if item["id"] == PAGE and item["is_subscribed"]}  # fmt: skip


def test_a_stored_token_that_no_header_can_carry_is_a_refusal(socialnet, ann, page):
    person = ChannelAccessToken.objects.get()
    person.access_token = page.access_token = "EAA…"
    person.save()
    page.save()
    reply = ann.get(socialnet.bot_path("pages"))
    assert (reply.status_code, reply.json()["kind"]) == (502, "token")
    assert connect(socialnet, OTHER_PAGE).status_code in {409, 502}
    reply = ann.post(socialnet.bot_path("messages"), {"recipient_id": "61", "text": "Hi"})
    assert reply.status_code < 500
    assert ann.get(socialnet.bot_path("connection")).json()["status"] in {"connected", "expired"}


def test_the_token_is_encrypted_and_never_shown(socialnet, ann, page):
    stored = page.access_token
    assert stored.startswith("EAA")
    with database.cursor() as cursor:
        cursor.execute("SELECT c::text FROM channels_app_channelconnection c")
        assert stored not in cursor.fetchone()[0]
    shown = ann.get(socialnet.bot_path("connection")).content.decode()
    events = str(list(Event.objects.values_list("data", flat=True)))
    audit = str(list(AuditEvent.objects.values_list("changes", flat=True)))
    assert stored not in shown + events + audit


def is_refused(reply):
    assert (reply.status_code, reply.json()["code"]) == (400, "invalid_state")
    assert not ChannelAccessToken.objects.exists()


def test_a_state_is_used_once(socialnet):
    query = agree(socialnet, begin(socialnet))
    assert come_back(socialnet, query).status_code == 200
    ChannelAccessToken.objects.all().delete()
    is_refused(come_back(socialnet, query))


@pytest.mark.parametrize("state", [None, "", "x", "a:b:c"])
def test_a_state_that_is_not_ours_is_refused(socialnet, state):
    is_refused(come_back(socialnet, agree(socialnet, begin(socialnet)), state=state))


def test_a_state_is_one_persons(socialnet, ann):
    query = agree(socialnet, begin(socialnet))
    eve = make_person(ann.client, Role.ADMIN, "Eve")
    is_refused(come_back(socialnet, query, eve))
    assert come_back(socialnet, query).status_code == 200, "a refusal does not use it up"


def test_a_state_of_another_tenant_is_refused(socialnet, cara):
    query = agree(socialnet, begin(socialnet))
    theirs = make_bot(cara.client)
    path = f"/socialnet/{cara.client.pk}/connect/{theirs.pk}"
    body = {"redirect_uri": HOME, "code": query["code"], "state": query["state"]}
    is_refused(cara.post(path, body))


def test_a_state_is_one_bots_and_one_pages(socialnet, ann):
    other = make_bot(ann.client)
    query = agree(socialnet, begin(socialnet, bot=other))
    is_refused(come_back(socialnet, query))
    query = agree(socialnet, begin(socialnet))
    is_refused(come_back(socialnet, query, redirect_uri=f"{HOME}/"))


def test_a_state_ends_after_an_hour(socialnet):
    query = agree(socialnet, begin(socialnet))
    OAuthAuthorization.objects.update(expires_at=timezone.now())
    is_refused(come_back(socialnet, query))


def test_a_code_that_is_refused_stores_nothing(socialnet):
    query = agree(socialnet, begin(socialnet))
    reply = come_back(socialnet, query, code="wrong")
    assert (reply.status_code, reply.json()["code"]) == (502, "provider_refused")
    assert reply.json()["provider_code"]
    assert not ChannelAccessToken.objects.exists()


@pytest.mark.parametrize(
    "url",
    [
        "http://shop.example/", "ftp://x/", "//x", "https://", "javascript:alert(1)", "https://[",
        "https://shop.example\\@x/", "https://shop.example@x/", "https://shop.example/a b",
        "https://shop.example\r\n/", "https://shop.example:99999/",
    ],
)  # fmt: skip
def test_the_person_is_sent_back_over_https_alone(socialnet, url):
    reply = socialnet.ann.post(socialnet.bot_path("connect"), {"redirect_uri": url})
    assert reply.status_code == 422
    assert not OAuthAuthorization.objects.exists()


def test_this_machine_will_do_in_development(socialnet, settings):
    body = {"redirect_uri": "http://localhost:3000/done"}
    assert socialnet.ann.post(socialnet.bot_path("connect"), body).status_code == 200
    settings.DEVELOPMENT = False
    assert socialnet.ann.post(socialnet.bot_path("connect"), body).status_code == 422


def test_without_an_app_the_setting_is_named(socialnet, settings):
    settings.SOCIALNET_APP_ID = ""
    reply = socialnet.ann.post(socialnet.bot_path("connect"), {"redirect_uri": HOME})
    assert (reply.status_code, reply.json()["code"]) == (503, "channel_not_configured")
    assert reply.json()["setting"] == "SOCIALNET_APP_ID"


# --- tokens and lists -------------------------------------------------------------------------


def test_a_stored_token_is_the_same_row_as_identitys(socialnet, ann):
    first = ann.post("/identity/socialnet-access-token", {"access_token": "older"})
    assert first.status_code == 204
    token = socialnet.sim.token("socialnet")
    reply = ann.post(socialnet.path("user-token"), {"access_token": token, "expires_in": 3600})
    assert (reply.json()["status"], reply.json()["bot_id"]) == ("pending", None)
    assert reply.json()["token_expires_at"]
    assert ChannelAccessToken.objects.get().access_token == token
    assert ann.get(socialnet.bot_path("pages")).status_code == 200


def test_lists_and_connects_need_a_token(socialnet, ann):
    for reply in (ann.get(socialnet.bot_path("pages")), connect(socialnet)):
        assert (reply.status_code, reply.json()["code"]) == (409, "token_missing")
    ann.post(socialnet.path("user-token"), {"access_token": "x"})
    ChannelAccessToken.objects.update(expires_at=timezone.now())
    assert connect(socialnet).json()["code"] == "token_missing"


def test_the_list_of_pages_has_pages_of_its_own(socialnet, ann):
    socialnet.sim.add_accounts("page", 5)
    ann.post(socialnet.path("user-token"), {"access_token": socialnet.sim.token("socialnet")})
    seen, cursor = [], None
    for _ in range(10):
        query = {"limit": 3} | ({"cursor": cursor} if cursor else {})
        answer = ann.get(socialnet.bot_path("pages"), query).json()
        seen += [page["id"] for page in answer["items"]]
        cursor = answer["next_cursor"]
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) == 8


@pytest.mark.parametrize(
    "path",
    ["socialnet/{}/pages", "photoapp/{}/accounts", "chatapp/{}/accounts", "chatapp/{}/templates"],
)
def test_a_damaged_cursor_is_refused_before_there_is_an_account(ann, bot, path):
    path = f"/{path.format(ann.client.pk)}/{bot.pk}"
    assert ann.get(path).status_code == 409
    refused = ann.get(f"{path}?cursor=%ff")
    assert refused.status_code == 422
    assert refused.json()["detail"][0]["loc"] == ["query", "cursor"]


def test_a_page_without_the_task_is_not_offered(socialnet, ann, token):
    socialnet.sim.change_account(OTHER_PAGE, tasks=["ANALYZE"])
    pages = ann.get(socialnet.bot_path("pages")).json()["items"]
    assert OTHER_PAGE not in {page["id"] for page in pages}


def test_the_list_says_which_bot_has_a_page(socialnet, ann, page, bot):
    pages = {item["id"]: item for item in ann.get(socialnet.bot_path("pages")).json()["items"]}
    assert (pages[PAGE]["is_connected"], pages[PAGE]["bot_id"]) == (True, bot.pk)
    assert (pages[OTHER_PAGE]["is_connected"], pages[OTHER_PAGE]["bot_id"]) == (False, None)


# --- connected and given up -------------------------------------------------------------------


def test_connecting_again_changes_nothing(socialnet, page):
    assert connect(socialnet).status_code == 200
    assert ChannelConnection.objects.count() == 1


def test_a_page_belongs_to_one_bot(socialnet, page, ann, cara):
    other = make_bot(ann.client)
    path = socialnet.path(f"connect_page/{other.pk}")
    assert ann.post(path, {"page_id": PAGE}).json()["code"] == "account_taken"
    theirs = make_bot(cara.client)
    home = f"/socialnet/{cara.client.pk}"
    cara.post(f"{home}/user-token", {"access_token": socialnet.sim.token("socialnet")})
    reply = cara.post(f"{home}/connect_page/{theirs.pk}", {"page_id": PAGE})
    assert (reply.status_code, reply.json()["code"]) == (409, "account_taken")
    pages = cara.get(f"{home}/pages/{theirs.pk}").json()["items"]
    assert not any(item["is_connected"] for item in pages)


def test_a_bot_has_one_page(socialnet, page):
    reply = connect(socialnet, OTHER_PAGE)
    assert (reply.status_code, reply.json()["code"]) == (409, "bot_has_account")


def test_a_refusal_of_the_provider_is_passed_on(socialnet, token):
    socialnet.sim.fault("code", what="subscriptions", code=200, message="Not granted")
    reply = connect(socialnet)
    assert (reply.status_code, reply.json()["code"]) == (502, "provider_refused")
    assert (reply.json()["provider_code"], reply.json()["kind"]) == ("200", "permission")
    assert not ChannelConnection.objects.exclude(account_id="").exists()


def test_a_token_that_the_provider_repeats_is_not_shown(socialnet, token):
    words = f"Malformed access token {token}"
    socialnet.sim.fault("code", what="lists", code=190, message=words)
    reply = socialnet.ann.get(socialnet.bot_path("pages"))
    assert reply.json()["provider_message"].endswith("Malformed access token ...")
    assert token not in reply.content.decode()


def test_giving_up_forgets_the_token_and_ends_the_subscription(socialnet, page, ann):
    reply = ann.put(socialnet.bot_path("disconnect_page"), {"page_id": PAGE})
    assert (reply.status_code, reply.json()["status"]) == (200, "disconnected")
    page.refresh_from_db()
    assert (page.access_token, page.token_expires_at) == ("", None)
    account = next(item for item in socialnet.sim.state()["accounts"] if item["id"] == PAGE)
    assert not account["is_subscribed"]
    again = ann.put(socialnet.bot_path("disconnect_page"), {"page_id": PAGE})
    assert again.json() == reply.json()
    done = ["channel.connected", "channel.disconnected"]
    assert [event.type for event in Event.objects.order_by("id")] == done
    audited = AuditEvent.objects.filter(action__startswith="channel.").order_by("id")
    assert [(event.action, event.user_id) for event in audited] == [
        (action, ann.user.pk) for action in done
    ]
    assert ann.put(socialnet.bot_path("disconnect_page"), {"page_id": "999"}).status_code == 404


def test_giving_up_ends_a_second_consent(socialnet, page, ann):
    begin = {"redirect_uri": "https://app.shop.example/done"}
    assert ann.post(socialnet.bot_path("connect"), begin).json()["status"] == "pending"
    assert ann.get(socialnet.bot_path("connection")).json()["status"] == "connected"
    assert ann.put(socialnet.bot_path("disconnect_page"), "").json()["status"] == "disconnected"
    assert ann.get(socialnet.bot_path("connection")).json()["status"] == "disconnected"
    assert ann.put(socialnet.bot_path("reconnect_page"), "").json()["status"] == "connected"


def test_giving_up_works_without_the_provider(socialnet, page, ann):
    socialnet.sim.fault("http_503", what="subscriptions")
    reply = ann.put(socialnet.bot_path("disconnect_page"), {"page_id": PAGE}).json()
    assert reply["status"] == "disconnected"
    assert "Couldn't unsubscribe" in reply["last_error"]


def test_a_page_that_was_given_up_is_connected_again(socialnet, page, ann):
    ann.put(socialnet.bot_path("disconnect_page"), {"page_id": PAGE})
    reply = ann.put(socialnet.bot_path("reconnect_page"), {"page_id": PAGE})
    assert (reply.status_code, reply.json()["status"]) == (200, "connected")
    assert reply.json()["id"] == str(page.pk)
    page.refresh_from_db()
    assert page.access_token
    assert ann.put(socialnet.bot_path("reconnect_page"), {"page_id": OTHER_PAGE}).status_code == 404


def test_a_bot_without_a_page_is_disconnected(socialnet, ann, bot):
    reply = ann.get(socialnet.bot_path("connection")).json()
    assert (reply["status"], reply["id"], reply["bot_id"]) == ("disconnected", None, bot.pk)


@pytest.mark.parametrize("page_id", ["", "../me", "a/b", "x" * 101, "1?fields=x"])
def test_an_id_that_is_no_id_never_reaches_the_provider(socialnet, token, page_id):
    before = len(socialnet.sim.calls())
    assert connect(socialnet, page_id).status_code == 422
    assert len(socialnet.sim.calls()) == before


@pytest.mark.django_db(transaction=True)
def test_of_two_bots_that_want_a_page_at_once_one_gets_it(socialnet, token, ann):
    other = make_bot(ann.client)
    paths = [socialnet.bot_path("connect_page"), socialnet.path(f"connect_page/{other.pk}")]
    replies = at_once(*[lambda path=path: ann.post(path, {"page_id": PAGE}) for path in paths])
    assert sorted(reply.status_code for reply in replies) == [200, 409]
    assert ChannelConnection.objects.filter(status="connected").count() == 1


def test_a_refusal_of_an_older_token_does_not_end_the_newer_one(page):
    newer = ChannelConnection.objects.get(pk=page.pk)
    newer.access_token = "newer"
    newer.save()
    connections.mark_expired(page, "The old token was refused.")
    newer.refresh_from_db()
    assert (newer.status, newer.last_error) == ("connected", "")
    connections.mark_expired(newer, "The new one too.")
    newer.refresh_from_db()
    assert newer.status == "expired"
