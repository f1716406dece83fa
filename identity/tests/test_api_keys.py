"""List, Create and Revoke Api Key, and the use of keys."""

import time
from datetime import timedelta

import pytest
from django.test import RequestFactory
from django.utils import timezone

from chatplatform.api.errors import Forbidden
from identity.auth import API_KEY, BEARER_OR_API_KEY, SECRET_KEY, InvalidApiKey, origin_matches
from identity.models import ApiKey
from identity.services import api_keys

PATH = "/identity/api-keys"


def opens(access, key, **headers):
    request = RequestFactory().get("/", headers={"API-KEY": key, **headers})
    return access.authenticate(request)


def is_refused(access, key):
    try:
        return opens(access, key) is None
    except InvalidApiKey:
        return True


def test_the_key_is_shown_once_and_opens(ann):
    reply = ann.post(PATH, {"name": "Shop"})
    assert reply.status_code == 201
    key = reply.json()["key"]
    assert key.startswith(reply.json()["prefix"] + ".")
    assert opens(SECRET_KEY, key).client == ann.client
    assert opens(BEARER_OR_API_KEY, key).key.name == "Shop"
    listed = ann.get(PATH)
    assert key.partition(".")[2] not in listed.content.decode()
    (item,) = listed.json()["items"]
    assert item["key"] is None
    assert item["last_used_at"] is not None


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": " "},
        {"name": "x", "scope": "root"},
        {"name": "x", "scope": "public"},
        {"name": "x", "bot_id": 2**63},
        {"name": "x", "expires_at": "2001-01-01T00:00:00Z"},
        {"name": "x", "id": 1},
    ],
)
def test_wrong_body(ann, body):
    assert ann.post(PATH, body).status_code == 422
    assert not ApiKey.objects.exists()


def test_a_bot_that_is_not_there(ann):
    reply = ann.post(PATH, {"name": "x", "bot_id": 10**12})
    assert (reply.status_code, reply.json()["field"]) == (404, "bot_id")
    assert not ApiKey.objects.exists()


def test_an_agent_may_not(ann, ben):
    key, _ = api_keys.create(ann.client, name="x", scope="secret")
    assert ben.post(PATH, {"name": "x"}).status_code == 403
    assert ben.get(PATH).status_code == 403
    assert ben.delete(f"{PATH}/{key.pk}").status_code == 403
    assert ApiKey.objects.get().revoked_at is None


def test_another_client_sees_and_ends_nothing(ann, cara, bot):
    key, text = api_keys.create(ann.client, name="x", scope="secret")
    assert cara.get(PATH).json()["items"] == []
    assert cara.delete(f"{PATH}/{key.pk}").status_code == 404
    foreign = cara.post(PATH, {"name": "x", "bot_id": bot.pk})
    assert (foreign.status_code, foreign.json()["field"]) == (404, "bot_id")
    assert opens(API_KEY, text)


def test_revoked_at_once_and_again(ann):
    key, text = api_keys.create(ann.client, name="x", scope="secret")
    assert opens(API_KEY, text)
    assert ann.delete(f"{PATH}/{key.pk}").status_code == 204
    first = ApiKey.objects.get().revoked_at
    assert is_refused(API_KEY, text)
    assert ann.delete(f"{PATH}/{key.pk}").status_code == 204
    assert ApiKey.objects.get().revoked_at == first
    assert ann.delete(f"{PATH}/{2**70}").status_code == 404


def test_another_process_notices_within_a_second(ann, monkeypatch):
    key, text = api_keys.create(ann.client, name="x", scope="secret")
    assert opens(API_KEY, text)
    ApiKey.objects.filter(pk=key.pk).update(revoked_at=timezone.now())
    clock = time.monotonic() + 1.0
    monkeypatch.setattr(time, "monotonic", lambda: clock)
    assert is_refused(API_KEY, text)


def test_wrong_expired_and_malformed_keys(ann):
    key, text = api_keys.create(ann.client, name="x", scope="secret")
    for wrong in (text[:-1], key.prefix + "." + "x" * 43, "a.b", "", "\0." + "x" * 43, "é"):
        assert is_refused(API_KEY, wrong)
    with pytest.raises(InvalidApiKey):
        opens(BEARER_OR_API_KEY, "wrong")
    ApiKey.objects.filter(pk=key.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert is_refused(API_KEY, text)


def test_a_public_key_is_bound_to_its_pages(ann, bot):
    bot.allowed_domain = "shop.example,*.acme.example"
    bot.save()
    _, text = api_keys.create(ann.client, name="x", scope="public", bot_id=bot.pk)
    assert opens(API_KEY, text, Origin="https://shop.example").key.bot_id == bot.pk
    assert opens(API_KEY, text)
    with pytest.raises(Forbidden):
        opens(API_KEY, text, Origin="null")
    with pytest.raises(Forbidden):
        SECRET_KEY.find_caller(RequestFactory().get("/", headers={"API-KEY": text}))


@pytest.mark.parametrize(
    ("origin", "fits"),
    [
        ("https://shop.example", True),
        ("https://SHOP.example:8443", True),
        ("https://a.b.acme.example", True),
        ("http://localhost:3000", True),
        ("https://acme.example", False),
        ("https://.acme.example", False),
        ("https://evilacme.example", False),
        ("https://shop.example.evil.example", False),
        ("http://shop.example", False),
        ("https://shop.example@evil.example", False),
        ("https://[", False),
        ("null", False),
        ("", False),
    ],
)
def test_origins(origin, fits):
    assert origin_matches(origin, ["shop.example", "*.acme.example", "localhost"]) is fits


def test_no_page_where_none_is_allowed():
    assert not origin_matches("https://shop.example", [])


def test_who_sends_no_key_is_told_how(nobody):
    missing = nobody.get("/ai/bot/config")
    assert (missing.status_code, missing.json()["detail"]) == (401, "Send the header API-KEY.")
    wrong = nobody.get("/ai/bot/config", **{"API-KEY": "AAAAAAAAAAAA.wrong"})
    assert (wrong.status_code, wrong.json()["detail"]) == (401, "Invalid API key")
    assert missing["WWW-Authenticate"] == wrong["WWW-Authenticate"] == "API-KEY"
