"""The simulated socialnet and photoapp: what a send may hold, what is answered, what follows."""

import copy

import pytest

from simulator.tests.calls import PAGE, PHOTO, Answer, Caller, caller
from simulator.world import Json

DAY = 86_400
SURVEY: Json = {"attachment": {"type": "template", "payload": {
    "template_type": "customer_feedback", "title": "How did we do?",
    "subtitle": "Two short questions for you", "button_title": "Rate us",
    "feedback_screens": [{"questions": [{
        "id": "chat_01H9", "type": "csat", "title": "How was this chat?", "score_label": "neg_pos",
        "score_option": "five_stars",
        "follow_up": {"type": "free_form", "placeholder": "Tell us more"},
    }]}],
    "business_privacy": {"url": "https://shop.example/privacy"}, "expires_in_days": 3,
}}}  # fmt: skip


@pytest.fixture
def at():
    with caller() as made:
        yield made


class Sender:
    """Sends from one account to one customer, who has written."""

    def __init__(self, at: Caller, account: str) -> None:
        self.at, self.account = at, account
        app = "socialnet" if account == PAGE else "photoapp"
        at.sim.subscribe(account)
        self.token = at.sim.token(app, account)
        self.user_id = at.written(account)
        at.events()

    def send(self, message=None, **more) -> Answer:
        body = {"recipient": {"id": self.user_id}, "messaging_type": "RESPONSE", **more}
        if message is not None:
            body["message"] = message
        return self.at.graph("POST", f"{PAGE}/messages", body, self.token)

    def picture(self, kind: str = "png") -> str:
        return f"{self.at.sim.origin}/media/sample-{kind}/file"


@pytest.fixture
def page(at):
    return Sender(at, PAGE)


@pytest.fixture
def photo(at):
    return Sender(at, PHOTO)


def refused(sender: Sender, message=None, **more) -> tuple[int, int | None]:
    """The error of a send that must change nothing and be followed by nothing."""
    answer = sender.send(message, **more)
    assert answer.status >= 400
    assert sender.at.sim.replies(sender.account, "an") == []
    assert sender.at.events() == []
    return answer.error


def test_a_text_is_answered_and_followed_by_echo_delivered_and_read(at, page):
    answer = page.send({"text": "Hello", "metadata": "out_7"})
    mid = answer.json["message_id"]
    assert answer.json == {"recipient_id": page.user_id, "message_id": mid}
    assert mid.startswith("m_")
    echo, delivered, read = [body["entry"][0]["messaging"][0] for body in at.events()]
    assert (echo["sender"]["id"], echo["recipient"]["id"]) == (PAGE, page.user_id)
    assert echo["message"] == {
        "mid": mid, "is_echo": True, "app_id": 900000001, "metadata": "out_7", "text": "Hello",
    }  # fmt: skip
    assert delivered["delivery"]["mids"] == [mid]
    assert "timestamp" not in delivered
    assert read["read"]["watermark"] >= delivered["delivery"]["watermark"]
    assert at.sim.replies(PAGE, "an")[0]["status"] == "read"


def test_photoapp_has_an_echo_and_a_reading_of_the_message_and_no_receipt(at, photo):
    mid = photo.send({"text": "Hello"}).json["message_id"]
    echo, read = [body["entry"][0] for body in at.events()]
    assert echo["id"] == PHOTO
    assert echo["messaging"][0]["message"] == {"mid": mid, "is_echo": True, "text": "Hello"}
    assert read["messaging"][0]["read"] == {"mid": mid}


def test_what_follows_can_be_late_or_missing(at, page):
    at.sim.behaviour(PAGE, echo=120, delivered=None, read=None)
    page.send({"text": "Hello"})
    assert at.events() == []
    at.sim.advance(61)
    assert len(at.events()) == 1
    assert at.sim.replies(PAGE, "an")[0]["status"] == "sent"


@pytest.mark.parametrize(
    ("text", "fits"), [("x" * 2000, True), ("ế" * 2000, True), ("x" * 2001, False), (" ", False)]
)
def test_socialnet_counts_characters(page, text, fits):
    assert (page.send({"text": text}).status == 200) is fits


@pytest.mark.parametrize(
    ("text", "fits"),
    [("x" * 1000, True), ("x" * 1001, False), ("ế" * 333, True), ("ế" * 334, False)],
)
def test_photoapp_counts_bytes(photo, text, fits):
    assert (photo.send({"text": text}).status == 200) is fits


def test_a_customer_who_never_wrote_is_unknown(page, photo):
    page.user_id = "6100000000000000"
    assert refused(page, {"text": "x"}) == (100, 2018001)
    body = {"recipient": {"id": "7100000000000000"}, "message": {"text": "x"}}
    answer = photo.at.graph("POST", f"{PHOTO}/messages", body, photo.token)
    assert answer.error == (100, 2534014)


def test_a_customer_who_left_is_not_available(at, page):
    at.sim.act(PAGE, "an", "gone")
    assert refused(page, {"text": "x"}) == (551, 1545041)
    at.sim.act(PAGE, "an", "back")
    assert page.send({"text": "x"}).status == 200


def test_after_a_day_the_window_is_closed_but_for_a_humans_tag(at, page):
    at.sim.advance(DAY + 1)
    assert refused(page, {"text": "x"}) == (10, 2018278)
    tagged = {"messaging_type": "MESSAGE_TAG", "tag": "HUMAN_AGENT"}
    assert page.send({"text": "x"}, **tagged).status == 200
    at.sim.advance(6 * DAY)
    assert page.send({"text": "x"}, **tagged).error == (10, 2018278)
    at.written(PAGE)
    assert page.send({"text": "x"}).status == 200


def test_the_window_of_photoapp_has_its_own_subcode(at, photo):
    at.sim.advance(DAY + 1)
    assert refused(photo, {"text": "x"}) == (10, 2534022)


@pytest.mark.parametrize("tag", ["ACCOUNT_UPDATE", "CUSTOMER_FEEDBACK", "x", ""])
def test_old_and_unfit_tags_are_refused(page, tag):
    assert refused(page, {"text": "x"}, messaging_type="MESSAGE_TAG", tag=tag) == (100, None)


def test_socialnet_wants_a_messaging_type_and_photoapp_does_not(page, photo):
    assert refused(page, {"text": "x"}, messaging_type="") == (100, None)
    assert photo.send({"text": "x"}, messaging_type="").status == 200


def reply(title: str = "Green", payload: str = "G") -> Json:
    return {"content_type": "text", "title": title, "payload": payload}


@pytest.mark.parametrize(
    ("replies", "fits"),
    [
        ([reply()] * 13, True),
        ([reply()] * 14, False),
        ([reply("x" * 20)], True),
        ([reply("x" * 21)], False),
        ([reply(payload="x" * 1001)], False),
        ([{"content_type": "user_email"}], True),
        ([{"content_type": "location"}], False),
    ],
)
def test_quick_replies_have_limits(page, replies, fits):
    assert (page.send({"text": "Pick", "quick_replies": replies}).status == 200) is fits


def button(**more) -> Json:
    return {"type": "postback", "title": "Yes", "payload": "Y", **more}


@pytest.mark.parametrize(
    ("text", "buttons", "fits"),
    [
        ("Pick", [button()] * 3, True),
        ("Pick", [button()] * 4, False),
        ("Pick", [], False),
        ("x" * 641, [button()], False),
        ("Pick", [button(title="x" * 21)], False),
        ("Pick", [{"type": "web_url", "title": "Open", "url": "https://a.test/"}], True),
        ("Pick", [{"type": "web_url", "title": "Open", "url": "a.test"}], False),
    ],
)
def test_button_templates_have_limits(page, text, buttons, fits):
    payload = {"template_type": "button", "text": text, "buttons": buttons}
    message = {"attachment": {"type": "template", "payload": payload}}
    assert (page.send(message).status == 200) is fits


def media(url: str, kind: str = "image", **more) -> Json:
    return {"attachment": {"type": kind, "payload": {"url": url, **more}}}


def test_media_by_address_is_fetched_and_can_be_used_again(at, page):
    answer = page.send(media(page.picture(), is_reusable=True)).json
    again = {"attachment": {"type": "image", "payload": {"attachment_id": answer["attachment_id"]}}}
    assert page.send(again).status == 200
    echo = at.events()[0]["entry"][0]["messaging"][0]["message"]
    assert echo["attachments"][0]["payload"]["url"] == page.picture()
    at.sim.advance(91 * DAY)
    at.written(PAGE)
    assert page.send(again).error == (100, 2018074)


def test_media_of_another_type_or_without_an_address_is_refused(page, photo):
    assert refused(page, media(page.picture("file"))) == (100, 2018047)
    assert refused(page, media(f"{page.at.sim.origin}/media/none/x")) == (100, 2018008)
    assert refused(page, media("https://x", "contact")) == (100, None)
    assert photo.send(media(photo.picture("sticker"))).error == (100, 2018047)
    assert photo.send(media(photo.picture("file"), "file")).status == 200


def test_media_that_is_too_large_is_refused(at, page):
    stored = at.sim.simulator.world.store(bytes(8_000_001), "image/png")
    assert refused(page, media(f"{at.sim.origin}/media/{stored.id}/x")) == (100, 2018047)


def test_several_pictures_go_in_one_photoapp_message(photo):
    one = {"type": "image", "payload": {"url": photo.picture()}}
    assert photo.send({"attachments": [one] * 10}).status == 200
    assert photo.send({"attachments": [one] * 11}).error == (100, None)


def test_files_are_uploaded_by_address_or_multipart(at, page):
    path = f"/graph/v26.0/{PAGE}/message_attachments"
    by_url = at.call("POST", path, {"message": media(page.picture())}, page.token)
    file = ("filedata", "a.png", "image/png", b"\x89PNG")
    message = '{"attachment":{"type":"image","payload":{"is_reusable":true}}}'
    by_file = at.multipart(path, {"message": message}, file, page.token)
    for answer in (by_url, by_file):
        attachment_id = answer.json["attachment_id"]
        body = {"attachment": {"type": "image", "payload": {"attachment_id": attachment_id}}}
        assert page.send(body).status == 200
    one_call = at.multipart(
        f"/graph/v26.0/{PAGE}/messages",
        {"recipient": f'{{"id":"{page.user_id}"}}', "message": message,
         "messaging_type": "RESPONSE"},
        file, page.token,
    )  # fmt: skip
    assert one_call.json["message_id"]


def test_typing_and_seen_go_alone(at, page):
    assert page.send(sender_action="typing_on").json == {"recipient_id": page.user_id}
    assert at.sim.thread(PAGE, "an")["typing"]
    assert page.send(sender_action="mark_seen").status == 200
    assert at.sim.thread(PAGE, "an")["messages"][0]["status"] == "read"
    assert refused(page, {"text": "x"}, sender_action="typing_on") == (100, None)
    assert refused(page, sender_action="dance") == (100, None)


def test_the_owner_of_a_photoapp_account_can_switch_access_off(at, photo):
    at.sim.change_account(PHOTO, allows_access=False)
    assert refused(photo, {"text": "x"}) == (200, 2534041)


def test_a_survey_is_sent_and_answered(at, page):
    assert page.send(SURVEY).status == 200
    at.events()
    at.sim.act(PAGE, "an", "survey", score=5, comment="Quick and kind")
    (body,) = at.events()
    assert body == {"object": "page", "entry": [{"time": body["entry"][0]["time"], "messaging": [{
        "sender": {"id": page.user_id}, "recipient": {"id": PAGE},
        "messaging_feedback": {"feedback_screens": [{"screen_id": 0, "questions": {
            "chat_01H9": {"type": "csat", "payload": "5",
                          "follow_up": {"type": "free_form", "payload": "Quick and kind"}},
        }}]},
    }]}]}  # fmt: skip


def test_a_survey_without_a_comment_has_no_follow_up(at, page):
    page.send(SURVEY)
    at.events()
    at.sim.act(PAGE, "an", "survey", score=1)
    screens = at.events()[0]["entry"][0]["messaging"][0]["messaging_feedback"]["feedback_screens"]
    assert screens[0]["questions"]["chat_01H9"] == {"type": "csat", "payload": "1"}


def test_a_tagged_survey_goes_for_seven_days(at, page):
    at.sim.advance(6 * DAY)
    assert page.send(SURVEY).error == (10, 2018278)
    tagged = {"messaging_type": "MESSAGE_TAG", "tag": "CUSTOMER_FEEDBACK"}
    assert page.send(SURVEY, **tagged).status == 200


def survey(path: str, value) -> Json:
    """The survey with one value changed; `path` names the keys, numbers are indexes."""
    changed = copy.deepcopy(SURVEY)
    inside = changed["attachment"]["payload"]
    *way, last = path.split(".")
    for name in way:
        inside = inside[int(name) if name.isdigit() else name]
    inside[last] = value
    return changed


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("title", "x" * 66),
        ("title", "See https://a.test"),
        ("subtitle", "x" * 81),
        ("button_title", "x" * 21),
        ("feedback_screens", []),
        ("feedback_screens", SURVEY["attachment"]["payload"]["feedback_screens"] * 2),
        ("feedback_screens.0.questions.0.id", "chat-01"),
        ("feedback_screens.0.questions.0.id", "x" * 81),
        ("feedback_screens.0.questions.0.type", "stars"),
        ("feedback_screens.0.questions.0.title", "Hm?"),
        ("feedback_screens.0.questions.0.score_option", "zero_to_ten"),
        ("feedback_screens.0.questions.0.score_label", "x"),
        ("feedback_screens.0.questions.0.follow_up", {"type": "csat"}),
        ("business_privacy", {}),
        ("expires_in_days", 8),
        ("expires_in_days", 0),
    ],
)
def test_surveys_have_rules(page, path, value):
    assert refused(page, survey(path, value)) == (100, None)


def test_photoapp_has_no_survey(photo):
    assert refused(photo, SURVEY) == (100, None)
