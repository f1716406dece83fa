"""Create a bot, its keys and its appearance; at the end delete it."""

import json

from chatplatform.tests.served import PNG
from drills.story.world import World, eventually

HELLO = {"en": "Hello at Story!", "de": "Guten Tag!"}


def tell(world: World) -> None:
    make(world)
    make_keys(world)
    offer_languages(world)
    ask_for_a_name(world)
    say_welcome(world)
    show_a_banner(world)
    offer_questions(world)
    switch_off_and_on(world)
    have_a_model(world)


def make(world: World) -> None:
    ann = world.ann
    world.bot_id = ann.post("/ai/bot", {"bot_name": "Helper"})["id"]
    change = {
        "bot_question": "How can I help?", "export_enabled": True, "languages": ["en", "de"],
        "default_language": "en", "primary_color": "#224466",
    }  # fmt: skip
    ann.put(f"/ai/bot/{world.bot_id}/update-bot", change)
    assert change.items() <= ann.get(f"/ai/bot/{world.bot_id}").items()
    spare = ann.post("/ai/bot", {"bot_name": "Spare"})["id"]
    assert [bot["id"] for bot in ann.get("/ai/bot")["items"]] == [world.bot_id, spare]
    ann.delete(f"/ai/bot/{spare}")
    ann.refused(404, "GET", f"/ai/bot/{spare}")


def make_keys(world: World) -> None:
    ann, keys = world.ann, {}
    for scope in ("secret", "public"):
        body = {"name": f"Story {scope}", "scope": scope, "bot_id": world.bot_id}
        keys[scope] = ann.post("/identity/api-keys", body)
    world.server = world.key(keys["secret"]["key"], "secret")
    world.page = world.key(keys["public"]["key"], "public")
    lost = ann.post("/identity/api-keys", {"name": "Lost", "scope": "secret"})
    secret = ann.post(f"/ai/bot/{world.bot_id}/identity-secret")["secret"]
    assert secret not in json.dumps(ann.get(f"/ai/bot/{world.bot_id}")), "shown once"
    caller = world.key(lost["key"], "secret")
    change = {"name": "Lost and found", "requests_per_minute": 600}
    assert change.items() <= ann.put(f"/identity/api-keys/{lost['id']}", change).items()
    ann.put(f"/identity/api-keys/{lost['id']}", {"name": "Lost"})
    caller.get("/identity/languages/by-api-key")
    ann.delete(f"/identity/api-keys/{lost['id']}")
    caller.refused(401, "GET", "/identity/languages/by-api-key")
    listed = {row["name"]: row for row in ann.get("/identity/api-keys")["items"]}
    assert listed["Lost"]["revoked_at"]
    assert not any(row["key"] for row in listed.values()), "a key is shown once"


def offer_languages(world: World) -> None:
    wanted = {"default_language": "de", "languages": [{"code": "de"}, {"code": "en"}]}
    world.ann.put("/identity/languages", wanted)
    shown = world.ann.get("/identity/languages")
    assert [row["code"] for row in shown["languages"]] == ["de", "en"]
    new = world.ann.post("/ai/bot", {"bot_name": "German"})
    assert (new["languages"], new["default_language"]) == (["de", "en"], "de")
    world.ann.delete(f"/ai/bot/{new['id']}")
    for key in (world.server, world.page):
        assert key.get("/identity/languages/by-api-key")["default_language"] == "en", "the bot's"


def ask_for_a_name(world: World) -> None:
    path = f"/ai/{world.bot_id}/customer-info-field"
    field = {
        "name": "order", "label": {"en": "Order"}, "type": "number", "ask_before_chat": True,
        "required": True,
    }  # fmt: skip
    world.ann.put(path, {"fields": [field]})
    assert world.ann.get(path)["fields"][0]["name"] == "order"
    error = world.page.refused(422, "POST", "/ai/client/chat", {})
    assert "order" in str(error["detail"]), "the field is wanted before a chat"
    world.ann.put(path, {"fields": [field | {"required": False}]})


def say_welcome(world: World) -> None:
    path = f"/ai/{world.bot_id}/welcome-message"
    world.ann.put(path, {"messages": HELLO})
    assert world.ann.get(path)["messages"] == HELLO
    for key, language in ((world.server, "en"), (world.page, "de")):
        config = key.get("/ai/bot/config", language=language)
        assert config["welcome_message"] == HELLO[language]
        assert config["bot_question"] == "How can I help?"
        assert config["customer_info_fields"][0]["name"] == "order"


def show_a_banner(world: World) -> None:
    ann, path = world.ann, f"/ai/{world.bot_id}/banner"
    shown = ann.upload(
        f"/ai/{world.bot_id}/upload-banner-image",
        [("file", ("banner.png", PNG, "image/png"))],
        link="https://story.example/sale",
    )
    assert world.http.get(shown["url"]).headers["Content-Type"] == shown["mime_type"]
    for key in (world.server, world.page):
        assert key.get("/ai/banner")["link"] == "https://story.example/sale"
    ann.put(path, {"alt": "Sale", "valid_from": "2999-01-01T00:00:00Z"})
    assert ann.get(path)["alt"] == "Sale"
    assert world.page.get("/ai/banner")["url"] is None, "not yet"
    ann.delete(path)
    assert ann.get(path)["url"] is None


def offer_questions(world: World) -> None:
    path = f"/ai/bot/{world.bot_id}/sample-questions"
    world.ann.put(path, {"questions": [{"question": "May I return goods?", "language": "en"}]})
    for caller in (world.ann, world.server, world.page):
        (offered,) = caller.get(path, language="en")["items"]
        assert offered["question"] == "May I return goods?"


def switch_off_and_on(world: World) -> None:
    path = f"/ai/bot/{world.bot_id}/toggle-disable"
    world.ann.put(path, {"is_disabled": True})
    chat = world.open_chat()
    assert chat["assign_type"] == "queue", "people answer"
    world.ann.put(path, {"is_disabled": False})
    eventually(lambda: world.open_chat()["assign_type"] == "bot", "the bot answers again")


def have_a_model(world: World) -> None:
    own = f"/ai/model?bot_id={world.bot_id}"
    body = {"base_url": world.model.base_url, "model": "own", "api_key": "sk-story"}
    world.ann.put(own, body)
    (listed,) = world.ann.get("/ai/model")["items"]
    assert (listed["bot_id"], listed["has_api_key"]) == (world.bot_id, True)
    assert "sk-story" not in json.dumps(listed)
    world.model.json_answer = {"text": "Xin chào"}
    world.model.play("json")
    assert world.ann.post(f"/ai/model/test?bot_id={world.bot_id}")["is_working"] is True
    world.model.play("ok")
    world.ann.delete(own)
    assert world.ann.get("/ai/model")["items"] == []
