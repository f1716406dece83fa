"""Get Client Config Languages, by user and by API key, and Update Client Config Languages."""

import pytest

from bots.models import Bot
from bots.testing import make_bot
from identity.models import AuditEvent, Client, Role
from identity.testing import make_key, make_person

PATH = "/identity/languages"
BY_KEY = "/identity/languages/by-api-key"


def codes(reply):
    assert reply.status_code == 200
    return [item["code"] for item in reply.json()["languages"]]


def test_all_languages_of_the_clients_bots_its_own_first(ann, cara):
    make_bot(ann.client, languages=["vi", "en"], default_language="vi")
    make_bot(ann.client, languages=["de", "vi"], default_language="de")
    make_bot(ann.client, languages=["fr"], default_language="fr", is_disabled=True)
    make_bot(cara.client, languages=["ja"], default_language="ja")
    reply = make_person(ann.client, Role.VIEWER, "Vic").get(PATH)
    assert codes(reply) == ["en", "de", "vi"]
    assert reply.json()["default_language"] == "en"
    assert [item["is_default"] for item in reply.json()["languages"]] == [True, False, False]
    assert codes(cara.get(PATH)) == ["en", "ja"]


def test_a_client_without_bots_has_its_own_language(ann):
    Client.objects.update(default_language="vi")
    assert ann.get(PATH).json() == {
        "default_language": "vi",
        "languages": [
            {"code": "vi", "name": "Vietnamese", "native_name": "Tiếng Việt", "is_default": True}
        ],
    }


def test_a_language_without_a_name_shows_its_code(ann):
    make_bot(ann.client, languages=["xal", "pt-PT"], default_language="xal")
    names = {item["code"]: item["name"] for item in ann.get(PATH).json()["languages"]}
    assert names == {"en": "English", "xal": "xal", "pt-PT": "Portuguese"}


def test_a_key_shows_the_languages_of_its_bot(ann):
    bot = make_bot(ann.client, languages=["vi", "ko"], default_language="ko")
    make_bot(ann.client, languages=["de"], default_language="de")
    for scope in ("secret", "public"):
        assert codes(make_key(ann.client, scope, bot.pk).get(BY_KEY)) == ["ko", "vi"]
    assert codes(make_key(ann.client).get(BY_KEY)) == ["en", "de", "ko", "vi"]


def test_each_has_its_own_credential(ann, nobody):
    key = make_key(ann.client)
    assert ann.get(BY_KEY).status_code == 401
    assert key.get(PATH).status_code == 401
    assert nobody.get(BY_KEY, {"API-KEY": key.headers["API-KEY"]}).status_code == 401
    assert nobody.get(PATH).status_code == 401


def body(default, *codes):
    return {"default_language": default, "languages": [{"code": code} for code in codes]}


def test_languages_that_are_set(ann, cara):
    make_bot(ann.client, languages=["de"], default_language="de")
    reply = ann.put(PATH, body("vi", "en", "vi"))
    assert codes(reply) == ["vi", "en"]
    assert reply.json() == ann.get(PATH).json()
    assert codes(make_key(ann.client).get(BY_KEY)) == ["vi", "en"]
    assert ann.get("/identity/client").json()["default_language"] == "vi"
    assert Bot.objects.get().languages == ["de"], "bots keep theirs"
    assert codes(cara.get(PATH)) == ["en"]
    event = AuditEvent.objects.get(action="languages.updated")
    assert event.changes == {"default": "vi", "languages": ["en", "vi"]}
    # Without languages they follow the bots again.
    assert codes(ann.put(PATH, body("en"))) == ["en", "de"]


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        body("de", "en"),
        body("en", "en", "en"),
        body("English"),
        body("en", "?"),
        body("en", *[f"en-{n:03}" for n in range(51)]),
        {"default_language": "en", "languages": ["en"]},
        body("en", "en") | {"more": 1},
    ],
)
def test_wrong_languages_change_nothing(ann, wrong):
    assert ann.put(PATH, wrong).status_code == 422
    assert Client.objects.get(pk=ann.client.pk).languages == []


def test_only_an_admin_sets_them(ann, ben, nobody):
    assert ben.put(PATH, body("vi", "vi")).status_code == 403
    assert make_key(ann.client).put(PATH, body("vi", "vi")).status_code == 401
    assert Client.objects.get(pk=ann.client.pk).languages == []
