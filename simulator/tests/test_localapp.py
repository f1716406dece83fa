"""The simulated localapp: sends, uploads, receipts, and what customers send."""

import pytest

from simulator.tests.calls import OA, Caller, caller
from simulator.world import Json

DAY = 86_400


@pytest.fixture
def at():
    with caller() as made:
        yield made


@pytest.fixture
def token(at):
    return at.sim.tokens("localapp")["access_token"]


def send(at: Caller, token: str, message: Json, user: str = "an"):
    if not at.sim.thread(OA, user)["messages"]:
        at.written(OA, user)
        at.events()
    body = {"recipient": {"user_id": at.sim.thread(OA, user)["user_id"]}, "message": message}
    return at.localapp("POST", "/v3.0/oa/message/cs", body, token).json


def test_a_text_is_answered_and_followed_by_echo_receipt_and_reading(at, token):
    answer = send(at, token, {"text": "Hello"})
    user_id, message_id = answer["data"]["user_id"], answer["data"]["message_id"]
    assert (answer["error"], answer["message"]) == (0, "Success")
    assert len(message_id) == 20
    assert int(message_id, 16) > 0
    echo, received, seen = at.events()
    assert [event["event_name"] for event in (echo, received, seen)] == [
        "oa_send_text", "user_received_message", "user_seen_message",
    ]  # fmt: skip
    assert {event["sender"]["id"] for event in (echo, received, seen)} == {OA}
    assert {event["recipient"]["id"] for event in (echo, received, seen)} == {user_id}
    assert echo["message"] == {"msg_id": message_id, "text": "Hello"}
    assert received["message"] == {"msg_id": message_id}
    assert seen["message"] == {"msg_ids": [message_id]}


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ({"text": "ế" * 2000}, 0),
        ({"text": "x" * 2001}, -210),
        ({"text": " "}, -201),
        ({}, -201),
        ({"text": "x", "attachment": {"type": "poll", "payload": {}}}, -233),
        ({"attachment": {"type": "file", "payload": {"token": "none"}}}, -201),
    ],
)
def test_texts_and_kinds(at, token, message, code):
    assert send(at, token, message)["error"] == code
    assert len(at.sim.replies(OA, "an")) == (1 if code == 0 else 0)


def test_the_window_is_seven_days(at, token):
    assert send(at, token, {"text": "x"})["error"] == 0
    at.sim.advance(7 * DAY - 60)
    token = at.sim.tokens("localapp")["access_token"]
    assert send(at, token, {"text": "x"})["error"] == 0
    at.sim.advance(61)
    assert send(at, token, {"text": "x"})["error"] == -230


def test_who_is_unknown_or_gone_is_not_reached(at, token):
    body = {"recipient": {"user_id": "614200"}, "message": {"text": "x"}}
    assert at.localapp("POST", "/v3.0/oa/message/cs", body, token).json["error"] == -201
    at.sim.act(OA, "an", "text")
    at.sim.act(OA, "an", "gone")
    assert send(at, token, {"text": "x"})["error"] == -213


def test_old_sending_unknown_calls_and_tokens_are_refused(at, token):
    body = {"recipient": {"user_id": "1"}, "message": {"text": "x"}}
    assert at.localapp("POST", "/v2.0/oa/message", body, token).json["error"] == -240
    assert at.localapp("GET", "/v9.0/oa/x", token=token).json["error"] == -212
    assert at.localapp("GET", "/v2.0/oa/getoa", token="guess").json["error"] == -216


def template(payload: Json, text: str = "Pick") -> Json:
    return {"text": text, "attachment": {"type": "template", "payload": payload}}


def picture(**element) -> Json:
    return template({"template_type": "media", "elements": [{"media_type": "image", **element}]})


def test_a_picture_goes_by_address(at, token):
    url = f"{at.sim.origin}/media/sample-image/a.jpg"
    assert send(at, token, picture(url=url))["error"] == 0
    echo = at.events()[0]
    assert echo["event_name"] == "oa_send_image"
    assert echo["message"]["attachments"][0]["payload"]["url"] == url
    other = f"{at.sim.origin}/media/sample-file/a.pdf"
    assert send(at, token, picture(url=other))["error"] == -201
    assert send(at, token, picture(url=f"{at.sim.origin}/media/none/x"))["error"] == -201


def upload(at: Caller, token: str, kind: str, name: str, mime: str, data: bytes = b"x"):
    path = f"/localapp/v2.0/oa/upload/{kind}"
    return at.multipart(path, {}, ("file", name, mime, data), access_token=token).json


def test_uploads_have_types_and_sizes_and_are_sent_by_id(at, token):
    image = upload(at, token, "image", "a.png", "image/png")["data"]["attachment_id"]
    assert send(at, token, picture(attachment_id=image))["error"] == 0
    file = upload(at, token, "file", "a.pdf", "application/pdf")["data"]["token"]
    message = {"attachment": {"type": "file", "payload": {"token": file}}}
    assert send(at, token, message)["error"] == 0
    assert at.events()[-1]["event_name"] == "user_seen_message"
    assert upload(at, token, "image", "a.gif", "image/gif")["error"] == -201
    assert upload(at, token, "image", "a", "image/png")["error"] == -201
    large = upload(at, token, "image", "a.png", "image/png", bytes(1_000_001))
    assert large["error"] == -210


def test_an_upload_expires(at, token):
    image = upload(at, token, "image", "a.png", "image/png")["data"]["attachment_id"]
    at.sim.advance(7 * DAY + 1)
    token = at.sim.tokens("localapp")["access_token"]
    assert send(at, token, picture(attachment_id=image))["error"] == -100


@pytest.mark.parametrize(
    ("buttons", "code"),
    [
        ([{"title": "Yes", "type": "oa.query.show", "payload": "#yes"}] * 5, 0),
        ([{"title": "Yes", "type": "oa.query.show", "payload": "#yes"}] * 6, -210),
        ([{"title": "x" * 101, "type": "oa.query.show"}], -201),
        ([{"title": "Yes", "type": "oa.dance"}], -201),
    ],
)
def test_buttons_have_limits(at, token, buttons, code):
    assert send(at, token, template({"buttons": buttons}))["error"] == code


def test_a_tapped_button_comes_back_as_text(at, token):
    at.sim.act(OA, "an", "button", payload="#yes")
    assert at.events()[0]["message"]["text"] == "#yes"


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("image", "user_send_image"),
        ("gif", "user_send_gif"),
        ("audio", "user_send_audio"),
        ("video", "user_send_video"),
        ("sticker", "user_send_sticker"),
        ("file", "user_send_file"),
        ("location", "user_send_location"),
        ("link", "user_send_link"),
        ("business_card", "user_send_business_card"),
    ],
)
def test_customers_send_every_kind(at, token, kind, name):
    made = at.sim.act(OA, "an", kind)
    (event,) = at.events()
    assert event["event_name"] == name
    assert (event["sender"]["id"], event["recipient"]["id"]) == (made["user_id"], OA)
    assert event["message"]["msg_id"] == made["message_id"]
    payload = event["message"]["attachments"][0]["payload"]
    if kind == "location":
        assert payload == {"coordinates": {"latitude": "10.7642", "longitude": "106.6564"}}
    elif kind in {"image", "file", "video"}:
        path = payload["url"].removeprefix(at.sim.origin)
        assert at.call("GET", path).status == 200
    if kind == "file":
        assert payload["size"].isdigit()


def test_following_names_the_follower(at, token):
    at.sim.act(OA, "an", "unfollow")
    (event,) = at.events()
    assert (event["event_name"], event["oa_id"]) == ("unfollow", OA)
    assert event["follower"] == {"id": at.sim.thread(OA, "an")["user_id"]}
    assert "message" not in event
    assert not at.sim.thread(OA, "an")["follows"]
    at.sim.act(OA, "an", "follow")
    assert at.events()[0]["event_name"] == "follow"


def test_an_agent_in_the_console_a_reaction_and_other_events(at, token):
    at.sim.act(OA, "an", "agent_wrote", text="By hand")
    echo = at.events()[0]
    assert (echo["event_name"], echo["message"]["text"]) == ("oa_send_text", "By hand")
    at.sim.act(OA, "an", "reaction")
    reaction = at.events()[0]
    assert reaction["message"] == {"msg_id": echo["message"]["msg_id"], "react_icon": "/-heart"}
    at.sim.act(OA, "an", "raw", event_name="user_submit_info", item={"info": 1})
    assert at.events()[0]["event_name"] == "user_submit_info"


def test_without_a_consent_nothing_is_told(at):
    at.sim.act(OA, "an", "text")
    assert at.events() == []


def test_calls_a_minute_are_counted_down_and_refused(at, token):
    at.sim.limits(calls_a_minute=2)
    answers = [at.localapp("GET", "/v2.0/oa/getoa", token=token) for _ in range(3)]
    assert [each.headers["X-RateLimit-Remain"] for each in answers] == ["1", "0", "0"]
    assert [each.json["error"] for each in answers] == [0, 0, -32]
    at.sim.advance(60)
    assert at.localapp("GET", "/v2.0/oa/getoa", token=token).json["error"] == 0
