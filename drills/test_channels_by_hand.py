"""A customer and an agent go through a whole chat on each channel of the running platform."""

import json
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import httpx2
import pytest

from drills.channel_shop import ANSWER, CONSENTED, QUESTION, Shop
from drills.platform import Platform, wait_until

pytestmark = pytest.mark.timeout(1800)
DAY = 86_400
PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63606060"
    "00000004000127349c0a0000000049454e44ae426082"
)


class Walk(Shop):
    """A channel of the running platform, with the people on both sides."""

    @cached_property
    def agent(self) -> dict[str, str]:
        return self.platform.login("amy@demo.example", self.platform.secret("demo_password"))

    def is_connected(self) -> bool:
        path = "connection" + ("" if self.channel == "photoapp" else f"/{self.bot}")
        found = self.call("GET", path)
        rows = found if isinstance(found, list) else [found]
        return "connected" in [row["status"] for row in rows]

    def connect_again(self) -> None:
        if self.channel == "localapp":
            self.connect()
            return
        operation, body = {
            "socialnet": ("reconnect_page", {"page_id": self.account}),
            "photoapp": ("connect_page", {"page_id": self.account}),
            "chatapp": ("connect", {"phone": {"phone_number_id": self.account}}),
        }[self.channel]
        method = "PUT" if operation == "reconnect_page" else "POST"
        self.call(method, f"{operation}/{self.bot}", json=body)

    def act(self, kind: str, **values: Any) -> None:
        self.sim.act(self.account, "an", kind, channel=self.channel, **values)

    def shown(self) -> list[dict[str, Any]]:
        """The messages that the customer sees."""
        return list(self.sim.thread(self.account, "an")["messages"])

    def thread(self) -> list[dict[str, Any]]:
        """The messages that the platform has, oldest first."""
        query = {"recipient_id": self.customer_id, "limit": 100}
        return list(
            self.platform.call("GET", self.path(f"messages/{self.bot}"), self.agent, params=query)[
                "items"
            ]
        )[::-1]

    @property
    def customer_id(self) -> str:
        return str(self.sim.thread(self.account, "an")["user_id"])

    def chat(self) -> dict[str, Any]:
        """The customer's latest chat."""
        chat_id = self.thread()[-1]["conversation_id"]
        return dict(self.platform.call("GET", f"/ai/chat/{chat_id}", self.agent))

    def ask(self, text: str) -> dict[str, Any]:
        """The customer writes and gets one answer, which is reported as delivered and read."""
        before = len(self.shown())
        self.act("text", text=text)
        wait_until(lambda: len(self.shown()) == before + 2, what=f"an answer to {text!r}")
        self.wait_until_read()
        question = next(
            message
            for message in reversed(self.thread())
            if message["sender"]["type"] == "customer"
        )
        answers = [message for message in self.thread() if message["in_reply_to"] == question["id"]]
        assert [answer["content"][0]["text"] for answer in answers] == [self.shown()[-1]["text"]]
        assert len(self.shown()) == before + 2
        return answers[0]

    def wait_until_read(self) -> None:
        ours = {"bot", "system", "agent"}
        wait_until(
            lambda: all(m["status"] in {"read", "failed"} for m in self.thread()
                        if m["sender"]["type"] in ours),
            what="the ticks",
        )  # fmt: skip

    def send(self, status: int = 201, **body: Any) -> dict[str, Any]:
        """Send a message as the agent."""
        message = {"recipient_id": self.customer_id, **body}
        reply = self.platform.client.post(
            self.path(f"messages/{self.bot}"), headers=self.agent, json=message
        )
        assert reply.status_code == status, reply.text
        return dict(reply.json())

    def wait_for(self, message_id: str, status: str) -> dict[str, Any]:
        def found() -> dict[str, Any]:
            return next(message for message in self.thread() if message["id"] == message_id)

        wait_until(lambda: found()["status"] == status, what=f"{message_id} {status}")
        return found()


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    with Platform(tmp_path_factory.mktemp("shop")) as running:
        yield running


@pytest.fixture(params=CONSENTED)
def walk(request: pytest.FixtureRequest, platform: Platform) -> Walk:
    return Walk.open(platform, request.param)


def test_a_chat_from_the_consent_to_the_reconnection(walk: Walk) -> None:
    refused = walk.consent(allow=False)
    assert "code" not in refused
    assert not walk.is_connected()
    walk.connect()
    assert walk.is_connected()
    assert ANSWER in walk.ask(QUESTION)["content"][0]["text"]
    first = _hand_over(walk)
    _customer_does_more(walk)
    _window(walk)
    _end(walk, first)
    again = walk.chat()
    assert (again["id"], again["status"], again["assign_type"]) == (first, "open", "bot")
    _disconnect(walk)
    # The agent's last message assigned the chat to the agent.
    walk.platform.call("POST", f"/ai/chat/{first}/assign", walk.agent, json={"assign_type": "bot"})
    assert ANSWER in walk.ask(QUESTION)["content"][0]["text"]
    assert walk.chat()["id"] == first
    assert "Does anybody read this?" not in json.dumps(walk.thread())


def _hand_over(walk: Walk) -> str:
    """The agent takes the chat and sends texts, choices and files; returns the chat's id."""
    walk.ask("I want to talk to a person")
    chat = walk.chat()
    assert (chat["assign_type"], chat["handoff_reason"]) == ("queue", "customer_asked")
    chat_id = str(chat["id"])
    walk.platform.call(
        "POST", f"/ai/chat/{chat_id}/assign", walk.agent, json={"assign_type": "agent"}
    )
    before = len(walk.shown())
    walk.send(text="Amy here.")
    options = [{"label": "Red", "value": "red"}, {"label": "Blue", "value": "blue"}]
    walk.send(content=[{"type": "text", "text": "Which one?", "options": options}])
    files = {"files": ("picture.png", PICTURE, "image/png")}
    walk.platform.call("POST", f"/ai/chat/{chat_id}/manual/files", walk.agent, files=files)
    wait_until(lambda: len(walk.shown()) == before + 3, what="three messages of the agent")
    walk.wait_until_read()
    assert [m["text"] for m in walk.shown()[before : before + 2]] == ["Amy here.", "Which one?"]
    assert {m["status"] for m in walk.thread()[-3:]} == {"read"}
    return chat_id


def _customer_does_more(walk: Walk) -> None:
    """The customer sends a picture, reacts, edits and unsends, as far as the channel allows."""
    kinds = walk.sim.control("GET", "")["kinds"][walk.channel]
    walk.act("reaction", emoji="❤️")
    wait_until(lambda: "❤️" in [m["customer_reaction"] for m in walk.thread()], what="the reaction")
    walk.act("text", text="A text to edit")
    wait_until(lambda: walk.thread()[-1]["content"][0]["text"] == "A text to edit", what="it")
    if "edit" in kinds:
        walk.act("edit", text="Edited")
        wait_until(lambda: walk.thread()[-1]["edited_at"], what="the edit")
        assert walk.thread()[-1]["content"][0]["text"] == "Edited"
        walk.act("unsend")
        wait_until(lambda: walk.thread()[-1]["deleted_at"], what="that it is taken back")
        assert walk.thread()[-1]["content"] == []
    walk.act("attachment" if "attachment" in kinds else "image")
    wait_until(
        lambda: [part["type"] for part in walk.thread()[-1]["content"]] == ["image"],
        what="the picture",
    )
    assert httpx2.get(_here(walk, walk.thread()[-1]["content"][0]["url"])).status_code == 200


def _here(walk: Walk, url: str) -> str:
    return str(httpx2.URL(url).copy_with(host="127.0.0.1", port=walk.platform.port, scheme="http"))


def _window(walk: Walk) -> None:
    """After the reply window only a tagged message is sent, until the customer writes again."""
    assert walk.chat()["can_reply"]
    walk.sim.advance(8 * DAY if walk.channel == "localapp" else DAY + 3600)
    late = walk.wait_for(walk.send(text="Are you still there?")["id"], "failed")
    assert late["error"]
    chat = walk.chat()
    assert not chat["can_reply"]
    before = len(walk.shown())
    refused = walk.send(409, text="And now?")
    assert refused["code"] == "reply_window_closed"
    assert refused["reply_window_expires_at"] == chat["reply_window_expires_at"]
    if walk.channel in {"socialnet", "photoapp"}:
        tagged = walk.send(text="With a tag.", tag="HUMAN_AGENT")
        walk.wait_for(tagged["id"], "read")
        before += 1
    else:
        walk.send(422, text="With a tag.", tag="HUMAN_AGENT")
    assert len(walk.shown()) == before
    walk.act("text", text="Here I am again")
    wait_until(lambda: walk.chat()["can_reply"], what="an open window")
    walk.wait_for(walk.send(text="Welcome back.")["id"], "read")


def _end(walk: Walk, chat_id: str) -> None:
    """End the chat; the channel's survey follows, if any. A message soon after reopens it."""
    walk.platform.call("POST", f"/ai/chat/{chat_id}/end", walk.agent)
    rated = [chat_id] if walk.channel == "socialnet" else []
    if rated:
        wait_until(lambda: "customer_feedback" in json.dumps(walk.shown()[-1]), what="the survey")
        walk.act("survey", score=4, comment="Quick help")
        wait_until(lambda: _ratings(walk, chat_id), what="the rating")
        row = _ratings(walk, chat_id)[0]
        assert (row["rating"], row["comment"]) == (4, "Quick help")
    assert ANSWER in walk.ask(QUESTION)["content"][0]["text"]
    assert [row["chat_id"] for row in _ratings(walk, chat_id)] == rated
    surveys = [m for m in walk.shown() if "customer_feedback" in json.dumps(m)]
    assert len(surveys) == len(rated)


def _ratings(walk: Walk, chat_id: str) -> list[dict[str, Any]]:
    rows = walk.platform.call("GET", "/ai/chat/feedbacks", walk.owner, params={"limit": 5})["items"]
    return [row for row in rows if row["chat_id"] == chat_id]


def _disconnect(walk: Walk) -> None:
    """A disconnected account ignores callbacks; then it is connected again."""
    walk.disconnect()
    before, seen = walk.thread(), len(walk.shown())
    if walk.channel != "localapp":
        walk.sim.subscribe(walk.account)
    walk.act("text", text="Does anybody read this?")
    walk.sim.wait_until_quiet()
    assert walk.send(409, text="To nobody")["code"] == "channel_not_connected"
    assert [m["id"] for m in walk.thread()] == [m["id"] for m in before]
    assert len(walk.shown()) == seen + 1
    walk.connect_again()
