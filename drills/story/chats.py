"""Customers write from a website with a public key, and through the client's server."""

import hmac
import json

from drills.story.training import RETURNS
from drills.story.world import Caller, Json, World, eventually


def tell(world: World) -> None:
    for key in (world.server, world.page):
        open_and_ask(world, key)
        stream(world, key)
        answer_later(world, key)
        send_files(world, key)
        report_arrivals(world, key)
        take_along(world, key)
        rate_and_end(world, key)
    answer_as_assistant(world)
    list_chats(world)
    rate_for_the_customer(world)
    know_the_visitor(world)


def open_and_ask(world: World, key: Caller) -> None:
    chat = key.post("/ai/client/chat", {"customer": {"name": "Zoe"}, "language": "en"})
    path = f"/ai/client/chat/{chat['id']}"
    with world.spends():
        turn = key.post(path, {"text": RETURNS, "reply": "wait"})
    assert turn["reply"]["citations"], turn
    thanks = key.post(path, {"text": "Thank you!", "reply": "wait"})
    assert thanks["reply"]["content"][0]["text"] == "You are welcome at Story."
    shown = key.get(path)
    assert (shown["status"], shown["chat_code"]) == ("open", chat["chat_code"])
    assert shown["message_count"] == 4, "the welcome is none"
    changed = key.post(
        f"/ai/client/chat/customer/{chat['id']}",
        {"email": "zoe@shop.example", "attributes": {"order": 17}},
    )
    assert changed["customer"]["email"] == "zoe@shop.example"
    texts = [message["content"][0]["text"] for message in key.get(
        f"/ai/client/chat/history/{chat['id']}"
    )["items"]]  # fmt: skip
    assert texts[0] == "Hello at Story!", "the welcome"
    assert texts[1] == RETURNS
    by_code = key.get(f"/ai/client/chat/messages/{chat['chat_code']}")["items"]
    assert len(by_code) == len(texts) == 5
    customer_id = world.ann.get(f"/ai/chat/{chat['id']}")["customer_id"]
    customer = world.ann.get(f"/ai/customers/{customer_id}")
    assert (customer["name"], customer["attributes"]) == ("Zoe", {"order": 17})


def stream(world: World, key: Caller) -> None:
    chat = world.open_chat(key)
    body = {"text": RETURNS, "reply": "stream"}
    reply = key.call("POST", f"/ai/client/chat/{chat['id']}", json=body)
    events = events_of(reply.text)
    names = [name for name, _ in events]
    assert (names[0], names[-1]) == ("message", "done")
    text = "".join(data["text"] for name, data in events if name == "delta")
    last = events[-1][1]["reply"]
    assert text.strip() in last["content"][0]["text"]
    assert world.history(chat["id"])[-1]["id"] == last["id"]


def events_of(text: str) -> list[tuple[str, Json]]:
    """The server-sent events of a stream's text."""
    found = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line)
        if "data" in lines:
            found.append((lines.get("event", ""), json.loads(lines["data"])))
    return found


def answer_later(world: World, key: Caller) -> None:
    """A message that is answered only on demand, and one that is answered by itself."""
    chat = world.open_chat(key)
    assert world.ask(chat["id"], RETURNS, reply="none", by=key)["status"] == "not_expected"
    turn = key.post(f"/ai/client/chat/auto-response/{chat['id']}")
    assert turn["reply"]["in_reply_to"] == turn["message"]["id"]
    again = key.post(f"/ai/client/chat/auto-response/{chat['id']}")
    assert again["reply"]["id"] == turn["reply"]["id"], "answered once"
    assert world.ask(chat["id"], "When do you open?", reply="async", by=key)["status"] == "pending"
    eventually(lambda: len(world.history(chat["id"])) == 5, "an answer by a worker")


def send_files(world: World, key: Caller) -> None:
    chat = world.open_chat(key)
    turn = key.upload(
        f"/ai/client/chat/files/{chat['id']}",
        [("files", ("receipt.txt", b"Shoes, 20 euros"))],
        message="My receipt", reply="none",
    )  # fmt: skip
    (file,) = [part for part in turn["message"]["content"] if part["type"] == "file"]
    assert world.nobody.call("GET", file["url"]).content == b"Shoes, 20 euros"
    world.nobody.refused(403, "GET", file["url"][:-3] + "xyz")


def report_arrivals(world: World, key: Caller) -> None:
    chat = world.open_chat(key)
    reply = world.ask(chat["id"], RETURNS, by=key)["reply"]
    path = f"/ai/client/chat/{chat['id']}"
    for kind in ("delivered", "read"):
        key.post(f"{path}/{kind}", {"message_id": reply["id"]})
        announced = world.events(f"message.{kind}", conversation_id=chat["id"])
        assert reply["id"] in [event["data"]["message"]["id"] for event in announced]
        assert world.history(chat["id"])[-1]["status"] == kind


def take_along(world: World, key: Caller) -> None:
    chat = world.open_chat(key)
    world.ask(chat["id"], RETURNS, by=key)
    path = f"/ai/client/chat/{chat['id']}"
    lines = key.get(f"{path}/transcript")["messages"]
    assert [line["text"] for line in lines][:2] == ["Hello at Story!", RETURNS]
    assert RETURNS in key.call("GET", f"{path}/transcript.txt").text
    assert RETURNS in world.ann.call("GET", f"/ai/chat/{chat['id']}/transcript.txt").text
    key.post(f"{path}/transcript/mail", {"email": "zoe@story.example"})
    eventually(lambda: world.mails("To: zoe@story.example"), "the transcript by mail")


def rate_and_end(world: World, key: Caller) -> None:
    chat = world.open_chat(key)
    world.ask(chat["id"], RETURNS, by=key)
    ended = key.post(f"/ai/chat/{chat['id']}/end")
    assert ended["status"] == "ended"
    assert world.ann.get(f"/ai/chat/{chat['id']}")["ended_by"] == "customer"
    assert world.events("conversation.ended", conversation_id=chat["id"])
    asked = eventually(
        lambda: [m for m in world.history(chat["id"]) if m["content"][0]["type"] == "feedback"],
        "the customer is asked for feedback",
    )
    assert len(asked) == 1
    key.post(f"/ai/chat/{chat['id']}/feedback", {"rating": 4, "comment": "Quick"})
    (given,) = world.ann.get("/ai/chat/feedbacks", chat_id=chat["id"])["items"]
    assert (given["rating"], given["comment"]) == (4, "Quick")


def rate_for_the_customer(world: World) -> None:
    """A person enters a rating that a customer gave on the telephone, and corrects it."""
    chat = world.open_chat()
    world.ask(chat["id"], RETURNS)
    for rating in (2, 3):
        world.ben.post(f"/ai/chat/{chat['id']}/feedback", {"rating": rating})
    (given,) = world.ann.get("/ai/chat/feedbacks", chat_id=chat["id"])["items"]
    assert given["rating"] == 3
    assert world.events("feedback.updated", conversation_id=chat["id"])


def know_the_visitor(world: World) -> None:
    """The client's server signs the visitor's identity; the website cannot claim it alone."""
    secret = world.ann.post(f"/ai/bot/{world.bot_id}/identity-secret")["secret"]
    customer = {"external_id": "c-18"}
    visitor = Caller(world, "public key", {"API-KEY": world.page.headers["API-KEY"]})
    visitor.refused(401, "POST", "/ai/client/chat", {"customer": customer})
    signature = hmac.new(secret.encode(), b"c-18", "sha256").hexdigest()
    signed = {"customer": customer, "identity_signature": signature, "message": "Hello"}
    chat = visitor.post("/ai/client/chat", signed)
    assert world.ann.get(f"/ai/chat/{chat['id']}")["customer"]["external_id"] == "c-18"
    world.page.refused(404, "GET", f"/ai/client/chat/{chat['id']}")
    for caller in (visitor, world.server):
        known = caller.post("/ai/client/visitor", customer | {"identity_signature": signature})
        assert [row["id"] for row in known["chats"]] == [chat["id"]]


def answer_as_assistant(world: World) -> None:
    chat = world.open_chat()
    world.ask(chat["id"], "Is my parcel on its way?", reply="none")
    path = f"/ai/client/chat/assistant/{chat['id']}"
    message = world.server.post(path, {"text": "It comes tomorrow."})
    shown = world.history(chat["id"])[-1]
    assert (shown["id"], shown["sender"]["type"]) == (message["id"], "bot")
    assert shown["content"][0]["text"] == "It comes tomorrow."


def list_chats(world: World) -> None:
    customer = {"external_id": "c-17", "name": "Yan"}
    chat = world.open_chat(customer=customer, message="Do you sell socks?")
    newest = world.server.get("/ai/client/chats", q="sell socks")["items"]
    assert [row["id"] for row in newest] == [chat["id"]]
    both = world.server.get(f"/ai/client/chat/history-with-customer/{chat['id']}")
    assert both["customer"]["external_id"] == "c-17"
    assert both["items"][1]["content"][0]["text"] == "Do you sell socks?"
