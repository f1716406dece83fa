"""What a provider writes beside a customer's words, in any form, never takes the words with it."""

import json
from typing import Any

import pytest

from channels_app.models import InboundItem, Outcome
from channels_app.tests.chatapp import message, of_chatapp
from channels_app.tests.helpers import (
    CONNECTED,
    PATHS,
    event,
    of_localapp,
    of_photoapp,
    post_signed,
)
from chatplatform.testing import run_jobs
from chats.models import Message

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("agents_answer")]
WORDS = "Look at this too"
DEEP: Any = json.loads("[" * 900 + "]" * 900)


def arrived(person, path, body) -> str:
    assert post_signed(person, path, body).status_code == 200
    run_jobs()
    return Message.objects.get(sender_type="customer").text


def says_what_came(message) -> bool:
    """Whether a message without readable words says so, and is not empty."""
    kinds = [line["kind"] for line in message.metadata["lines"]]
    return bool(message.text) and kinds in (["unsupported"], ["tapped"], ["answer"])


@pytest.mark.parametrize("payload", ["tv", ["a", "b"], 7, True, {"url": ["x"], "title": {}}, DEEP])
def test_an_attachment_of_any_payload_keeps_the_text(nobody, page, payload):
    attachment = {
        "type": "fallback", "title": "TV set", "url": "https://x.example/tv", "payload": payload,
    }  # fmt: skip
    part = {"message": {"mid": "m_1", "text": WORDS, "attachments": [attachment, "nothing", 5]}}
    assert arrived(nobody, "/socialnet/webhook", event(part)) == WORDS
    assert Message.objects.get(sender_type="customer").metadata["lines"] == [
        {"kind": "shared_link", "text": "TV set", "url": "https://x.example/tv"}
    ]


@pytest.mark.parametrize(
    "beside",
    [
        {"reply_to": "m_0"}, {"quick_reply": []}, {"referral": 5}, {"app_id": {}},
        {"metadata": [DEEP]}, {"mid": {"id": "m_1"}}, {"mid": "x" * 301},
        {"attachments": {"type": "image"}},
    ],
)  # fmt: skip
def test_a_field_of_another_form_keeps_the_text(nobody, page, beside):
    part = {"message": {"mid": "m_1", "text": WORDS, **beside}, "timestamp": "yesterday"}
    assert arrived(nobody, "/socialnet/webhook", event(part)) == WORDS


def test_a_message_without_an_id_is_stored_once(nobody, page):
    body = event({"message": {"text": WORDS}})
    for _ in range(2):
        assert arrived(nobody, "/socialnet/webhook", body) == WORDS
    assert InboundItem.objects.filter(outcome=Outcome.DUPLICATE).count() == 1


@pytest.mark.parametrize("depth", [60, 1_500, 100_000])
def test_what_nests_too_deeply_takes_nothing_with_it(nobody, page, depth):
    deep = {"message": {"mid": "m_0", "attachments": "DEEP"}, "note": '"[{'}
    body = event({"message": {"mid": "m_1", "text": WORDS}})
    body["entry"].insert(0, {"id": "1", "changes": [deep]})
    raw = json.dumps(body).encode().replace(b'"DEEP"', b'[{"a":' * depth + b"1" + b"}]" * depth)
    assert arrived(nobody, "/socialnet/webhook", raw) == WORDS


def test_bytes_that_are_no_text_take_nothing_with_them(nobody, page):
    body = json.dumps(event({"message": {"mid": "m_1", "text": WORDS}, "note": "NOTE"})).encode()
    assert arrived(nobody, "/socialnet/webhook", body.replace(b"NOTE", b"\xff\xfe")) == WORDS


@pytest.mark.parametrize(
    "part",
    [{"type": "unknown"}, {"type": "unsupported"}, {"type": "poll"},
     {"type": "interactive", "context": {"id": "wamid.0"}}],
)  # fmt: skip
def test_a_kind_that_is_not_handed_over_is_seen(nobody, number, part):
    body = of_chatapp(messages=[message(**part, text=None, errors=[{"code": 131051}])])
    assert post_signed(nobody, "/chatapp/webhook", body).status_code == 200
    run_jobs()
    assert says_what_came(Message.objects.get(sender_type="customer"))


@pytest.mark.parametrize("kind", ["system", "request_welcome", "reaction", "revoke"])
def test_what_is_no_message_opens_no_chat(nobody, number, kind):
    body = of_chatapp(messages=[message(type=kind, text=None)])
    assert post_signed(nobody, "/chatapp/webhook", body).status_code == 200
    run_jobs()
    assert not Message.objects.exists()
    assert InboundItem.objects.get().outcome == Outcome.UNSUPPORTED


@pytest.mark.parametrize("beside", [{"context": "wamid.0"}, {"referral": [1]}, {"timestamp": []}])
def test_a_text_of_chatapp_stays_beside_any_field(nobody, number, beside):
    body = of_chatapp(messages=[message(**beside, text={"body": WORDS})])
    assert arrived(nobody, "/chatapp/webhook", body) == WORDS


@pytest.mark.parametrize("unreadable", [[1], {"a": 1}, None, True, "", "x" * 301])
def test_a_text_of_chatapp_without_an_id_is_stored_once(nobody, number, unreadable):
    body = of_chatapp(messages=[message(text={"body": WORDS}) | {"id": unreadable}])
    for _ in range(2):
        assert arrived(nobody, "/chatapp/webhook", body) == WORDS
    assert InboundItem.objects.filter(outcome=Outcome.DUPLICATE).count() == 1


def test_a_place_without_readable_degrees_keeps_its_name(nobody, number, telegram_bot):
    at = {"latitude": "north", "longitude": 106.7, "name": WORDS}
    body = of_chatapp(messages=[message(type="location", text=None, location=at)])
    assert arrived(nobody, PATHS["chatapp"], body) == WORDS
    Message.objects.all().delete()
    body = of_telegram(text=None, location=at, venue={"title": WORDS})
    assert arrived(nobody, PATHS["telegram"], body) == WORDS


@pytest.mark.parametrize("kind", [["button_reply"], None, "image"])
def test_a_tap_keeps_its_title_whatever_its_type_says(nobody, number, kind):
    tap = {"type": kind, "button_reply": {"id": "b1", "title": WORDS}}
    body = of_chatapp(messages=[message(type="interactive", text=None, interactive=tap)])
    assert arrived(nobody, PATHS["chatapp"], body) == WORDS
    assert Message.objects.get(sender_type="customer").metadata["payload"] == "b1"


def test_a_question_of_a_product_keeps_its_words(nobody, oa):
    body = of_localapp("user_asking_product", {"msg_id": "m1", "text": WORDS, "product": 5})
    assert arrived(nobody, "/localapp/callback", body) == WORDS


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"1795226399980", b"9" * 5_000), (b'"NOTE"', b"-" + b"1" * 5_000), (b"NOTE", b"a\x01\tb"),
    ],
)  # fmt: skip
def test_a_value_that_no_parser_likes_takes_nothing_with_it(nobody, page, old, new):
    body = json.dumps(event({"message": {"mid": "m_1", "text": WORDS}, "note": "NOTE"})).encode()
    assert old in body
    assert arrived(nobody, "/socialnet/webhook", body.replace(old, new)) == WORDS


@pytest.mark.parametrize("name", ["entry", "messaging"])
def test_an_object_counts_as_a_list_of_one(nobody, page, name):
    body = event({"message": {"mid": "m_1", "text": WORDS}})
    parent = body if name == "entry" else body["entry"][0]
    (parent[name],) = parent[name]
    assert arrived(nobody, "/socialnet/webhook", body) == WORDS


@pytest.mark.parametrize("name", ["entry", "changes", "messages"])
def test_an_object_of_chatapp_counts_as_a_list_of_one(nobody, number, name):
    body = of_chatapp(messages=[message(text={"body": WORDS})])
    (entry,) = body["entry"]
    parents = {"entry": body, "changes": entry, "messages": entry["changes"][0]["value"]}
    (parents[name][name],) = parents[name][name]
    assert arrived(nobody, "/chatapp/webhook", body) == WORDS


LIST_REPLY = {"type": "list_reply", "list_reply": WORDS}
CARD = {"name": {}, "emails": [{"email": WORDS}]}


@pytest.mark.full
@pytest.mark.parametrize(
    "part",
    [
        {"type": None}, {"type": {"a": "text"}}, {"type": []}, {"text": WORDS},
        {"type": "interactive", "text": None, "interactive": LIST_REPLY},
    ],
)  # fmt: skip
def test_words_of_chatapp_are_read_in_any_form(nobody, number, part):
    body = of_chatapp(messages=[message(**{"text": {"body": WORDS}, **part})])
    assert arrived(nobody, "/chatapp/webhook", body) == WORDS


@pytest.mark.parametrize("cards", [[CARD], CARD])
def test_a_card_is_read_in_any_form(nobody, number, cards):
    body = of_chatapp(messages=[message(type="contacts", text=None, contacts=cards)])
    assert arrived(nobody, "/chatapp/webhook", body) == f"Contact: {WORDS}"


def test_a_text_of_chatapp_that_says_nothing_is_no_bubble(nobody, number):
    body = of_chatapp(messages=[message(text={"body": ""})])
    assert post_signed(nobody, "/chatapp/webhook", body).status_code == 200
    run_jobs()
    assert not Message.objects.exists()
    assert InboundItem.objects.get().outcome == Outcome.UNSUPPORTED


def test_a_tap_that_says_nothing_is_seen(nobody, page):
    assert post_signed(nobody, "/socialnet/webhook", event({"postback": {}})).status_code == 200
    run_jobs()
    assert says_what_came(Message.objects.get(sender_type="customer"))


def test_a_message_that_says_nothing_is_no_bubble(nobody, page):
    part = {"message": {"mid": "m_1", "text": ""}}
    assert post_signed(nobody, "/socialnet/webhook", event(part)).status_code == 200
    run_jobs()
    assert not Message.objects.exists()
    assert InboundItem.objects.get().outcome == Outcome.UNSUPPORTED


REPLY = {"type": "button_reply", "button_reply": {"title": ["Yes"]}}


@pytest.mark.parametrize(
    "part",
    [
        {"text": {"body": {}}}, {"type": "button", "button": {"text": {}}}, {"type": "order"},
        {"type": "interactive", "interactive": REPLY},
        {"type": "contacts", "contacts": [{"name": {}}]},
    ],
)  # fmt: skip
def test_content_of_chatapp_that_cannot_be_read_is_seen(nobody, number, part):
    body = of_chatapp(messages=[message(**{"text": None, **part})])
    assert post_signed(nobody, "/chatapp/webhook", body).status_code == 200
    run_jobs()
    assert says_what_came(Message.objects.get(sender_type="customer"))


def test_a_text_that_cannot_be_read_is_seen(nobody, page):
    body = event({"message": {"mid": "m_1", "text": {"a": 1}}})
    assert post_signed(nobody, "/socialnet/webhook", body).status_code == 200
    run_jobs()
    assert says_what_came(Message.objects.get(sender_type="customer"))


# By the channel: a callback with the words, and the path of each field that says of what kind it
# or a part of it is.
LINK = {"type": "fallback", "title": "TV set", "payload": {}}
LOCALAPP_LINK = {"type": "link", "payload": {"title": "TV set"}}
KINDS: dict[str, tuple[Any, list[list[Any]]]] = {
    "socialnet": (
        lambda: event({"message": {"text": WORDS, "attachments": [LINK]}}),
        [["object"], ["entry", 0, "messaging", 0, "message", "attachments", 0, "type"]],
    ),
    "photoapp": (
        lambda: of_photoapp({"message": {"text": WORDS, "attachments": [LINK]}}),
        [["object"], ["entry", 0, "messaging", 0, "message", "attachments", 0, "type"]],
    ),
    "chatapp": (
        lambda: of_chatapp(messages=[message(text={"body": WORDS})]),
        [
            ["object"], ["entry", 0, "changes", 0, "field"],
            ["entry", 0, "changes", 0, "value", "messages", 0, "type"],
        ],
    ),
    "localapp": (
        lambda: of_localapp(message={"text": WORDS, "attachments": [LOCALAPP_LINK]}),
        [["event_name"], ["message", "attachments", 0, "type"]],
    ),
    "telegram": (
        lambda: of_telegram(),
        [["message", "chat", "type"], ["message", "entities", 0, "type"], ["message", "gift"]],
    ),
}  # fmt: skip
ODD_KINDS: list[Any] = [
    None, "", 5, [], {"a": 1}, "x" * 5000, "\x00", "\ud800", "te\x00xt", "text\ud800", "image",
    "reaction", "system", "__class__", "user_",
]  # fmt: skip


def of_telegram(**changes: Any) -> dict[str, Any]:
    row = {
        "message_id": 1, "from": {"id": 5}, "chat": {"id": 5, "type": "private"},
        "date": 1795226121, "text": WORDS, "entities": [{"type": "bold", "offset": 0}],
    }  # fmt: skip
    return {"update_id": 900000021, "message": row | changes}


@pytest.mark.full
@pytest.mark.parametrize("channel", KINDS)
def test_the_words_are_kept_whatever_the_type_says(nobody, request, channel):
    request.getfixturevalue(CONNECTED[channel])
    callback, paths = KINDS[channel]
    for path in paths:
        for kind in ODD_KINDS:
            body = json.loads(json.dumps(callback()))
            parent = body
            for key in path[:-1]:
                parent = parent[key]
            parent[path[-1]] = kind
            text = arrived(nobody, PATHS[channel], body)
            assert text.startswith(WORDS), (path, kind, text)
            Message.objects.all().delete()
            InboundItem.objects.all().delete()


@pytest.mark.full
@pytest.mark.parametrize("kind", ["te\x00xt", "\ud800", "video", None, 5])
def test_an_edit_keeps_the_words_whatever_its_type_says(nobody, number, kind):
    arrived(nobody, PATHS["chatapp"], of_chatapp(messages=[message()]))
    edit = {
        "original_message_id": "wamid.1",
        "message": {"type": kind, "text": {"body": WORDS}},
    }
    part = message(id="wamid.2", type="edit", text=None, edit=edit)
    assert arrived(nobody, PATHS["chatapp"], of_chatapp(messages=[part])) == WORDS


@pytest.mark.parametrize("kind", ["ima\x00ge", "\ud800", "poll", "timestamp", None])
def test_a_picture_keeps_its_words_whatever_its_type_says(nobody, number, kind):
    image = {"id": "9", "mime_type": "image/jpeg", "caption": WORDS}
    body = of_chatapp(messages=[message(type=kind, text=None, image=image)])
    assert arrived(nobody, PATHS["chatapp"], body) == WORDS


def in_a_string(channel: str, raw: str) -> dict[str, Any]:
    """A callback with JSON in a string."""
    if channel == "chatapp":
        form = {"type": "nfm_reply", "nfm_reply": {"response_json": raw}}
        part = message(type="interactive", text=None, interactive=form)
        return of_chatapp(messages=[part])
    if channel == "localapp":
        return of_localapp(
            "user_send_link",
            {"msg_id": "m1", "attachments": [{"type": "link", "payload": {"description": raw}}]},
        )
    return of_telegram(text=None, web_app_data={"data": raw})


@pytest.mark.full
@pytest.mark.parametrize("channel", ["chatapp", "localapp", "telegram"])
@pytest.mark.parametrize(
    "beside",
    [
        '"phone": "\\ud83d x"', '"phone": "a\\u0000b"', '"a\\u0000b\\ud83d": "x"',
        f'"phone": {"9" * 5_000}', '"phone": NaN', f'"phone": {"[" * 900}{"]" * 900}',
    ],
)  # fmt: skip
def test_json_in_a_string_keeps_its_words(request, nobody, channel, beside):
    request.getfixturevalue(CONNECTED[channel])
    raw = f'{{"caption": "{WORDS}", {beside}}}'
    assert WORDS in arrived(nobody, PATHS[channel], in_a_string(channel, raw))
    assert InboundItem.objects.get().outcome == Outcome.PROCESSED


def test_a_message_of_telegram_without_a_number_keeps_the_words(nobody, telegram_bot):
    for _ in range(2):
        body = of_telegram(message_id={"a": 1})
        assert arrived(nobody, PATHS["telegram"], body) == WORDS
