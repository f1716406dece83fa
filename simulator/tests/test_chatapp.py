"""The simulated chatapp: sends, statuses, media, templates, registration, what customers send."""

import json

import pytest

from simulator.tests.calls import NUMBER, WABA, Caller, caller
from simulator.world import Json

DAY = 86_400
AN = "84901234567"


@pytest.fixture
def at():
    with caller() as made:
        yield made


@pytest.fixture
def token(at):
    at.sim.subscribe(NUMBER)
    at.written(NUMBER)
    at.events()
    return at.sim.token("chatapp")


def send(at: Caller, token: str, kind: str = "text", value=None, **more):
    body = {"messaging_product": "whatsapp", "recipient_type": "individual", "to": AN, "type": kind,
            kind: {"body": "Hello"} if value is None else value, **more}  # fmt: skip
    return at.graph("POST", f"{NUMBER}/messages", body, token)


def values(at: Caller) -> list[Json]:
    return [body["entry"][0]["changes"][0]["value"] for body in at.events()]


def inbound(at: Caller, kind: str, user: str = "an", **more):
    at.sim.act(NUMBER, user, kind, **more)
    (value,) = values(at)
    return value["messages"][0]


def test_a_text_is_accepted_then_sent_delivered_and_read(at, token):
    answer = send(at, token, biz_opaque_callback_data="out_7").json
    message_id = answer["messages"][0]["id"]
    assert message_id.startswith("wamid.")
    assert answer["contacts"] == [{"input": AN, "wa_id": AN, "user_id": "VN.8510580419"}]
    statuses = [value["statuses"][0] for value in values(at)]
    assert [status["status"] for status in statuses] == ["sent", "delivered", "read"]
    assert {status["id"] for status in statuses} == {message_id}
    assert {status["recipient_id"] for status in statuses} == {AN}
    assert {status["biz_opaque_callback_data"] for status in statuses} == {"out_7"}
    assert "errors" not in statuses[0]
    assert at.sim.replies(NUMBER, "an")[0]["status"] == "read"


def test_a_customer_who_hides_the_number_is_reached_by_the_other_id(at, token):
    at.sim.act(NUMBER, "hidden", "text")
    (value,) = values(at)
    message, contact = value["messages"][0], value["contacts"][0]
    assert "from" not in message
    assert "wa_id" not in contact
    user_id = message["from_user_id"]
    assert user_id.startswith("VN.")
    body = {"messaging_product": "whatsapp", "recipient": user_id, "type": "text",
            "text": {"body": "Hello"}}  # fmt: skip
    assert at.graph("POST", f"{NUMBER}/messages", body, token).status == 200
    status = values(at)[0]["statuses"][0]
    assert status["recipient_user_id"] == user_id
    assert "recipient_id" not in status


def test_an_unknown_customer_is_refused_at_once_or_by_a_status(at, token):
    assert send(at, token, to="84000000000").error == (131026, None)
    assert at.events() == []
    at.sim.behaviour(NUMBER, fails_later=True)
    assert send(at, token, to="84000000000").status == 200
    (value,) = values(at)
    assert value["statuses"][0]["status"] == "failed"
    assert value["statuses"][0]["errors"][0]["code"] == 131026


def test_after_a_day_only_a_template_goes(at, token):
    at.sim.advance(DAY + 1)
    assert send(at, token).error == (131047, None)
    template = {
        "name": "hello_world", "language": {"code": "en_US"},
        "components": [{"type": "body", "parameters": [{"type": "text", "text": "An"}]}],
    }  # fmt: skip
    assert send(at, token, "template", template).status == 200
    at.sim.behaviour(NUMBER, fails_later=True)
    assert send(at, token).status == 200
    statuses = [value["statuses"][0] for value in values(at)]
    failed = [each["errors"][0]["code"] for each in statuses if each["status"] == "failed"]
    assert failed == [131047]
    assert at.sim.replies(NUMBER, "an")[-1]["status"] == "failed"


def test_a_send_fails_later_on_demand(at, token):
    at.sim.fault("fails_later", account=NUMBER, code=131000)
    assert send(at, token).status == 200
    assert send(at, token).status == 200
    found = [value["statuses"][0] for value in values(at)]
    assert [status["status"] for status in found] == ["failed", "sent", "delivered", "read"]
    assert found[0]["errors"][0]["code"] == 131000


@pytest.mark.parametrize(
    ("kind", "value", "code"),
    [
        ("text", {"body": "x" * 4096}, None),
        ("text", {"body": "x" * 4097}, 100),
        ("text", {"body": ""}, 100),
        ("poll", {"x": 1}, 131051),
        ("location", {"latitude": 1.5, "longitude": 2}, None),
        ("location", {"latitude": 1.5}, 131008),
        ("image", {"link": "http://127.0.0.1:1/x.png"}, 131053),
        ("image", {"id": "123"}, 131009),
        ("audio", {"id": "123", "caption": "x"}, 100),
    ],
)
def test_kinds_and_limits(at, token, kind, value, code):
    answer = send(at, token, kind, value)
    assert answer.status == (200 if code is None else 400)
    if code is not None:
        assert answer.error == (code, None)
        assert at.events() == []


def buttons(*titles: str) -> Json:
    replies = [{"type": "reply", "reply": {"id": f"i{n}", "title": t}}
               for n, t in enumerate(titles)]  # fmt: skip
    return {"type": "button", "body": {"text": "Pick"}, "action": {"buttons": replies}}


def menu(*rows: Json, button: str = "Choose") -> Json:
    sections = [{"title": "All", "rows": list(rows)}]
    action = {"button": button, "sections": sections}
    return {"type": "list", "body": {"text": "Pick"}, "action": action}


def row(number: int = 0, **more) -> Json:
    return {"id": f"r{number}", "title": "Row", **more}


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        (buttons("a", "b", "c"), True),
        (buttons("a", "b", "c", "d"), False),
        (buttons("x" * 20), True),
        (buttons("x" * 21), False),
        (buttons("a", "a"), False),
        ({**buttons("a"), "body": {"text": "x" * 1025}}, False),
        ({**buttons("a"), "footer": {"text": "x" * 61}}, False),
        (menu(*(row(n) for n in range(10))), True),
        (menu(*(row(n) for n in range(11))), False),
        (menu(row(title="x" * 25)), False),
        (menu(row(description="x" * 73)), False),
        (menu(row(), button="x" * 21), False),
        ({"type": "cta_url", "body": {"text": "Go"}, "action": {"name": "cta_url", "parameters": {
            "display_text": "Open", "url": "https://a.test/"}}}, True),
        ({"type": "carousel", "body": {"text": "Go"}, "action": {}}, False),
    ],
)  # fmt: skip
def test_interactive_messages_have_limits(at, token, value, fits):
    assert (send(at, token, "interactive", value).status == 200) is fits


def test_a_send_needs_the_product_the_permission_and_a_registered_number(at, token):
    assert send(at, token, messaging_product="x").error == (100, None)
    assert send(at, token, to="842855550001").error == (131021, None)
    at.graph("POST", f"{NUMBER}/deregister", {}, token)
    assert send(at, token).error == (133010, None)
    at.sim.end_tokens(scope="whatsapp_business_messaging")
    assert send(at, token).error == (10, None)


def test_a_number_is_registered_by_a_pin(at, token):
    path, whole = f"{NUMBER}/register", {"messaging_product": "whatsapp"}
    at.sim.change_account(NUMBER, is_registered=False, pin="123456")
    assert at.graph("POST", path, {**whole, "pin": "12"}, token).error == (100, None)
    for _ in range(3):
        assert at.graph("POST", path, {**whole, "pin": "000000"}, token).error == (133005, None)
    assert at.graph("POST", path, {**whole, "pin": "000000"}, token).error == (133016, None)
    fields = f"{NUMBER}?fields=platform_type"
    assert at.graph("GET", fields, token=token).json["platform_type"] == "NOT_APPLICABLE"
    assert at.graph("POST", path, {**whole, "pin": "123456"}, token).json == {"success": True}
    assert at.graph("GET", fields, token=token).json["platform_type"] == "CLOUD_API"


def test_media_of_a_customer_needs_the_token_and_dies_after_five_minutes(at, token):
    image = inbound(at, "image", text="Look")["image"]
    assert (image["mime_type"], image["caption"]) == ("image/jpeg", "Look")
    found = at.graph("GET", image["id"], token=token).json
    assert (found["sha256"], found["messaging_product"]) == (image["sha256"], "whatsapp")
    path = found["url"].removeprefix(at.sim.origin)
    assert at.call("GET", path).status == 401
    assert at.call("GET", f"{path}&access_token={token}").status == 401
    picture = at.call("GET", path, token=token)
    assert len(picture.body) == found["file_size"]
    assert picture.body.startswith(b"\xff\xd8")
    at.sim.advance(301)
    assert at.call("GET", path, token=token).status == 404
    renewed = at.graph("GET", image["id"], token=token).json["url"].removeprefix(at.sim.origin)
    assert at.call("GET", renewed, token=token).status == 200
    at.sim.advance(7 * DAY)
    assert at.graph("GET", image["id"], token=token).error == (100, 33)


def test_uploaded_media_is_sent_by_id(at, token):
    path = f"/graph/v26.0/{NUMBER}/media"
    form = {"messaging_product": "whatsapp", "type": "image/png"}
    file = ("file", "a.png", "image/png", b"\x89PNG")
    media_id = at.multipart(path, form, file, token).json["id"]
    assert send(at, token, "image", {"id": media_id, "caption": "Hi"}).status == 200
    large = ("file", "a.png", "image/png", bytes(5_000_001))
    assert at.multipart(path, form, large, token).error == (131053, None)
    odd = ("file", "a.exe", "image/tiff", b"x")
    assert at.multipart(path, {**form, "type": "image/tiff"}, odd, token).error == (100, None)


def test_reading_and_typing_are_marked(at, token):
    message_id = at.sim.act(NUMBER, "an", "text")["message_id"]
    body = {"messaging_product": "whatsapp", "status": "read", "message_id": message_id,
            "typing_indicator": {"type": "text"}}  # fmt: skip
    assert at.graph("POST", f"{NUMBER}/messages", body, token).json == {"success": True}
    thread = at.sim.thread(NUMBER, "an")
    assert (thread["typing"], thread["messages"][-1]["status"]) == (True, "read")
    wrong = {**body, "message_id": "wamid.x"}
    assert at.graph("POST", f"{NUMBER}/messages", wrong, token).error == (131009, None)


def test_a_template_is_made_approved_used_and_deleted(at, token):
    path = f"{WABA}/message_templates"
    body = {"name": "order_ready", "language": "vi", "category": "UTILITY",
            "components": [{"type": "BODY", "text": "{{1}}: {{2}}"}]}  # fmt: skip
    made = at.graph("POST", path, body, token).json
    assert made["status"] == "PENDING"
    parameters = [{"type": "text", "text": "An"}, {"type": "text", "text": "A1"}]
    template = {"name": "order_ready", "language": {"code": "vi"},
                "components": [{"type": "body", "parameters": parameters}]}  # fmt: skip
    assert send(at, token, "template", template).error == (132001, None)
    at.sim.act(NUMBER, "an", "template_status", name="order_ready", status="APPROVED")
    (change,) = [event["entry"][0]["changes"][0] for event in at.events()]
    assert change["field"] == "message_template_status_update"
    assert change["value"]["event"] == "APPROVED"
    assert send(at, token, "template", template).status == 200
    del parameters[0]
    assert send(at, token, "template", template).error == (132000, None)
    at.sim.act(NUMBER, "an", "template_status", name="order_ready", status="PAUSED")
    assert send(at, token, "template", template).error == (132015, None)
    names = [row["name"] for row in at.graph("GET", path, token=token).json["data"]]
    assert names == ["hello_world", "order_ready"]
    assert at.graph("DELETE", f"{path}?name=order_ready", token=token).json == {"success": True}
    assert send(at, token, "template", template).error == (132001, None)


# What customers send


def test_a_text_has_its_contact_and_number(at, token):
    at.sim.act(NUMBER, "an", "text", text="hello", reply_to="wamid.x", ad_id="77")
    (value,) = values(at)
    assert value["metadata"] == {"display_phone_number": "842855550001", "phone_number_id": NUMBER}
    assert value["contacts"] == [{
        "profile": {"name": "An Tran", "username": "an"}, "user_id": "VN.8510580419", "wa_id": AN,
    }]  # fmt: skip
    message = value["messages"][0]
    assert (message["from"], message["from_user_id"]) == (AN, "VN.8510580419")
    assert message["text"] == {"body": "hello"}
    assert message["context"]["id"] == "wamid.x"
    assert message["referral"]["source_id"] == "77"
    assert message["timestamp"].isdigit()


@pytest.mark.parametrize("kind", ["image", "video", "audio", "document", "sticker"])
def test_files_come_by_id(at, token, kind):
    inside = inbound(at, kind)[kind]
    assert at.graph("GET", inside["id"], token=token).json["id"] == inside["id"]
    assert ("filename" in inside, "voice" in inside) == (kind == "document", kind == "audio")


def test_other_messages(at, token):
    assert inbound(at, "location", name="Shop")["location"]["name"] == "Shop"
    assert inbound(at, "contacts")["contacts"][0]["phones"][0]["type"] == "CELL"
    assert inbound(at, "template_button")["button"] == {"payload": "P1", "text": "Yes"}
    assert inbound(at, "order")["order"]["product_items"][0]["quantity"] == 3
    assert inbound(at, "system")["system"]["type"] == "user_changed_number"
    assert inbound(at, "unsupported")["errors"][0]["code"] == 131051
    assert inbound(at, "text", group_id="g1")["group_id"] == "g1"


def test_taps_refer_to_what_was_sent(at, token):
    message_id = send(at, token, "interactive", buttons("Yes")).json["messages"][0]["id"]
    at.events()
    tapped = inbound(at, "button", payload="i0", title="Yes")
    assert tapped["context"] == {"from": "842855550001", "id": message_id}
    assert tapped["interactive"] == {
        "type": "button_reply", "button_reply": {"id": "i0", "title": "Yes"},
    }  # fmt: skip
    assert inbound(at, "list")["interactive"]["list_reply"] == {"id": "R1", "title": "Row"}
    form = inbound(at, "form", answers={"size": "L"})["interactive"]["nfm_reply"]
    assert json.loads(form["response_json"]) == {"size": "L"}


def test_reactions_edits_and_unsends_name_their_message(at, token):
    ours = send(at, token).json["messages"][0]["id"]
    at.events()
    assert inbound(at, "reaction")["reaction"] == {"message_id": ours, "emoji": "😮"}
    assert inbound(at, "unreact")["reaction"] == {"message_id": ours, "emoji": ""}
    theirs = inbound(at, "text")["id"]
    edit = inbound(at, "edit", text="new")["edit"]
    assert (edit["original_message_id"], edit["message"]["text"]) == (theirs, {"body": "new"})
    assert inbound(at, "unsend")["revoke"] == {"original_message_id": theirs}
    assert at.sim.thread(NUMBER, "an")["messages"][-1]["is_deleted"]


def test_statuses_echoes_and_account_news_on_demand(at, token):
    message_id = send(at, token).json["messages"][0]["id"]
    at.events()
    at.sim.act(NUMBER, "an", "status", status="failed", code=131049)
    status = values(at)[0]["statuses"][0]
    assert (status["id"], status["errors"][0]["code"]) == (message_id, 131049)
    at.sim.act(NUMBER, "an", "agent_wrote", text="From the phone")
    echo = values(at)[0]["message_echoes"][0]
    assert (echo["to"], echo["text"]["body"]) == (AN, "From the phone")
    at.sim.act(NUMBER, "an", "account_update", event="DISABLED_UPDATE")
    assert values(at)[0]["event"] == "DISABLED_UPDATE"
    at.sim.act(NUMBER, "an", "raw", field="hovercraft", item={"eels": 3})
    assert values(at)[0]["eels"] == 3
