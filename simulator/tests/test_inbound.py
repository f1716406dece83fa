"""The simulated socialnet and photoapp: what customers do, as the platform is told."""

import pytest

from simulator.client import Refused
from simulator.tests.calls import PAGE, PHOTO, Caller, caller


@pytest.fixture
def at():
    with caller() as made:
        made.sim.subscribe(PAGE)
        made.sim.subscribe(PHOTO)
        yield made


def told(at: Caller, kind: str, account: str = PAGE, **more):
    """The one Messaging that the platform gets for what a customer does."""
    at.sim.act(account, "an", kind, **more)
    (body,) = at.events()
    (entry,) = body["entry"]
    (item,) = entry["messaging"]
    assert item["recipient"]["id"] == account or "is_echo" in item["message"]
    return item


@pytest.mark.parametrize("account", [PAGE, PHOTO])
def test_a_text_has_its_envelope(at, account):
    made = at.sim.act(account, "an", "text", text="hällo")
    (body,) = at.events()
    assert body["object"] == ("page" if account == PAGE else "instagram")
    assert body["entry"] == [{"id": account, "time": 1795226400000, "messaging": [{
        "sender": {"id": made["user_id"]}, "recipient": {"id": account},
        "timestamp": 1795226400000,
        "message": {"mid": made["message_id"], "text": "hällo"},
    }]}]  # fmt: skip


def test_each_account_tells_its_own_app(at):
    at.sim.act(PAGE, "an", "text")
    at.sim.act(PHOTO, "an", "text")
    at.events()
    assert [url for _, url, _, _ in at.platform.got] == [
        "http://platform.test/socialnet/webhook",
        "http://platform.test/photoapp/webhook",
    ]


def message(at: Caller, kind: str, account: str = PAGE, **more):
    inside = told(at, kind, account, **more)["message"]
    assert inside.pop("mid")
    return inside


def test_messages_of_socialnet(at):
    assert message(at, "quick_reply", title="Green", payload="G") == {
        "text": "Green", "quick_reply": {"payload": "G"},
    }  # fmt: skip
    assert message(at, "text", text="this", reply_to="m_1") == {
        "text": "this", "reply_to": {"mid": "m_1", "is_self_reply": False},
    }  # fmt: skip
    assert message(at, "sticker")["attachments"][0]["payload"]["sticker_id"] == 369239263222822
    assert message(at, "link", url="https://a.test")["attachments"][0]["type"] == "fallback"
    assert message(at, "location")["attachments"][0]["payload"] == {
        "coordinates": {"lat": 10.7642, "long": 106.6564},
    }  # fmt: skip
    assert message(at, "fallback")["attachments"] == [{"type": "fallback", "payload": None}]
    assert message(at, "ad", ad_id="6045")["referral"]["source"] == "ADS"
    assert message(at, "product")["referral"] == {"product": {"id": "p1"}}


def test_messages_of_photoapp(at):
    assert message(at, "story_reply", PHOTO)["reply_to"]["story"]["id"]
    assert message(at, "text", PHOTO, text="x", reply_to="a")["reply_to"] == {"mid": "a"}
    assert message(at, "story_mention", PHOTO)["attachments"][0]["type"] == "story_mention"
    assert message(at, "fallback", PHOTO)["attachments"] == [{"type": "like_heart"}]
    assert message(at, "unsupported", PHOTO) == {"is_unsupported": True}
    assert "sticker_id" not in message(at, "sticker", PHOTO)["attachments"][0]["payload"]


@pytest.mark.parametrize("kind", ["image", "audio", "video", "file", "reel"])
def test_attachments_can_be_fetched(at, kind):
    inside = message(at, "attachment", type=kind, count=2)
    assert [each["type"] for each in inside["attachments"]] == [kind, kind]
    path = inside["attachments"][0]["payload"]["url"].removeprefix(at.sim.origin)
    assert at.call("GET", path).status == 200


def test_a_customers_own_picture_is_sent(at):
    stored = at.sim.control("POST", "files", {"data": "iVBORw==", "type": "image/png", "name": "a"})
    inside = message(at, "attachment", url=stored["url"])
    path = inside["attachments"][0]["payload"]["url"].removeprefix(at.sim.origin)
    assert at.call("GET", path).body == b"\x89PNG"


def test_postbacks_and_referrals(at):
    postback = told(at, "postback", title="Start", payload="GO", ref="r1")["postback"]
    assert (postback["title"], postback["payload"]) == ("Start", "GO")
    assert postback["referral"] == {"ref": "r1", "source": "SHORTLINK", "type": "OPEN_THREAD"}
    assert "mid" not in told(at, "postback", without_mid=True)["postback"]
    assert told(at, "referral", ref="r2", ad_id="6")["referral"]["ad_id"] == "6"


def test_edits_and_unsends_name_the_message(at):
    mid = told(at, "text")["message"]["mid"]
    assert told(at, "edit", text="new")["message_edit"] == {
        "mid": mid, "text": "new", "num_edit": "1",
    }  # fmt: skip
    assert told(at, "edit", text="newer")["message_edit"]["num_edit"] == "2"
    assert told(at, "unsend")["message"] == {"mid": mid, "is_deleted": True}
    with pytest.raises(Refused, match="no such message"):
        at.sim.act(PAGE, "an", "edit", message_id="m_x")


@pytest.mark.parametrize("account", [PAGE, PHOTO])
def test_an_agent_elsewhere_then_reactions_reading_and_thumbs(at, account):
    echo = told(at, "agent_wrote", account, text="By hand")["message"]
    assert (echo["is_echo"], echo["text"]) == (True, "By hand")
    assert echo.get("app_id") == (26390203743090 if account == PAGE else None)
    assert told(at, "reaction", account)["reaction"] == {
        "mid": echo["mid"], "action": "react", "reaction": "love", "emoji": "❤️",
    }  # fmt: skip
    assert told(at, "unreact", account)["reaction"] == {"mid": echo["mid"], "action": "unreact"}
    read = told(at, "read", account)["read"]
    assert read == ({"watermark": 1795226400000} if account == PAGE else {"mid": echo["mid"]})


def test_deliveries_and_thumbs_of_socialnet(at):
    mid = told(at, "agent_wrote")["message"]["mid"]
    assert told(at, "delivered")["delivery"] == {"mids": [mid], "watermark": 1795226400000}
    assert told(at, "thumbs")["response_feedback"] == {"feedback": "Good response", "mid": mid}
    assert told(at, "raw", item={"optin": {"type": "x"}})["optin"] == {"type": "x"}


def test_what_cannot_be_done_is_told_with_what_can(at):
    with pytest.raises(Refused, match="known: .*quick_reply"):
        at.sim.act(PAGE, "an", "dance")
    with pytest.raises(Refused, match="no account"):
        at.sim.act("1", "an", "text")
    with pytest.raises(Refused, match="got no survey"):
        at.sim.act(PAGE, "an", "survey")
    with pytest.raises(Refused, match="no account"):
        at.sim.write_text("chatapp", PAGE, "an", "x")
    assert at.events() == []
