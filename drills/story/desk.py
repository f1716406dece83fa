"""Ben's day at the desk: previews, lists, his work in a chat, and his notifications."""

import threading
from datetime import UTC, datetime, timedelta

from drills.story.chats import events_of
from drills.story.training import RETURNS
from drills.story.world import Json, World, eventually


def tell(world: World) -> None:
    try_the_bot(world)
    take_and_answer(world)
    give_back(world)
    snooze(world)
    prioritize(world)
    read_why(world)
    find_chats(world)
    read_notifications(world)
    save_replies(world)
    change_a_message(world)
    be_called(world)
    keep_views(world)
    watch_live(world)


def try_the_bot(world: World) -> None:
    body = {"messages": [{"role": "user", "content": RETURNS}]}
    with world.spends():
        first = world.ben.post(f"/ai/{world.bot_id}/generate-chat", body)
    assert first["citations"]
    more = {"messages": [{"role": "user", "content": "And when do you open?"}]}
    second = world.ben.post(f"/ai/chat/{first['chat_id']}/generate", more)
    assert second["message"]["in_reply_to"]
    previews = world.ben.get("/ai/chats", previews="true")["items"]
    assert first["chat_id"] in [chat["id"] for chat in previews]
    assert world.events("message.created", conversation_id=first["chat_id"]) == []


def wants_a_person(world: World, **body: object) -> str:
    """Open a chat that waits in the queue; return its id."""
    chat = world.open_chat(**body)
    turn = world.ask(chat["id"], "I want to talk to a person, please.")
    assert turn["status"] == "handed_off", turn
    return str(chat["id"])


def take_and_answer(world: World) -> None:
    chat_id = wants_a_person(world)
    path = f"/ai/chat/{chat_id}"
    assert world.ben.get(path)["waiting_since"]
    eventually(lambda: world.mails("To: desk@story.example", chat_id), "a mail about the handover")
    ben_id = world.ben.get("/identity/users/me")["id"]
    world.ben.post(f"{path}/assign", {"assign_type": "agent"})
    assert world.ben.get(path)["assignee"]["external_id"] == str(ben_id)
    sent = world.ben.post(f"{path}/manual", {"text": "Ben here. What is it?"})
    with_file = world.ben.upload(
        f"{path}/manual/files", [("files", ("form.txt", b"Form 7"))], text="Our form"
    )
    world.ben.post(f"{path}/manual", {"text": "@Ann Lee, a difficult one", "is_note": True})
    read = world.server.get(f"/ai/client/chat/history/{chat_id}")["items"]
    assert [row["id"] for row in read[-2:]] == [sent["id"], with_file["id"]], "the note is hidden"
    (file,) = [part for part in with_file["content"] if part["type"] == "file"]
    assert world.nobody.call("GET", file["url"]).content == b"Form 7"
    assert world.ben.get(path)["waiting_since"] is None
    world.ask(chat_id, "My parcel is lost.", reply="none")
    assert world.ben.get(path)["unread_count"] == 1
    world.ben.post(f"{path}/read")
    assert world.ben.get(path)["unread_count"] == 0
    assert world.events("message.read", conversation_id=chat_id)
    ended = world.ben.post(f"{path}/agent-end")
    assert ended["ended_by"] == "agent"
    steps = world.ben.get(f"{path}/steps")["items"]
    assert [step["type"].partition(".")[2] for step in steps] == ["handed_off", "assigned", "ended"]
    assert steps[-1]["by"]["external_id"] == str(ben_id)
    world.ben.refused(409, "POST", f"{path}/manual", {"text": "Too late"})


def give_back(world: World) -> None:
    chat_id = wants_a_person(world)
    world.ben.post(f"/ai/chat/{chat_id}/assign", {"assign_type": "agent"})
    given = world.ben.post(f"/ai/chat/{chat_id}/unassign")
    assert (given["assign_type"], given["assignee"]) == ("bot", None)
    assert world.ask(chat_id, RETURNS)["status"] == "answered", "the bot goes on"
    assert world.events("conversation.unassigned", conversation_id=chat_id)
    ended = world.ben.post(f"/ai/chat/{chat_id}/end")
    assert ended["ended_by"] == "agent"


def snooze(world: World) -> None:
    chat_id = wants_a_person(world)
    until = datetime.now(UTC) + timedelta(days=1)
    world.ben.post(f"/ai/chat/{chat_id}/snooze", {"until": until.isoformat()})
    assert chat_id in [row["id"] for row in world.ben.get("/ai/chats", status="snoozed")["items"]]
    world.ask(chat_id, "One more thing", reply="none")
    assert world.ben.get(f"/ai/chat/{chat_id}")["status"] == "open", "the customer wakes it"
    assert world.events("conversation.reopened", conversation_id=chat_id)
    world.ben.post(f"/ai/chat/{chat_id}/agent-end")
    reopened = world.ben.post(f"/ai/chat/{chat_id}/reopen")
    assert (reopened["status"], reopened["assignee"]["name"]) == ("open", "Ben Fox")


def prioritize(world: World) -> None:
    chat_id = wants_a_person(world)
    wants_a_person(world)
    changed = world.ben.put(f"/ai/chat/{chat_id}/priority", {"priority": "urgent"})
    assert changed["priority"] == "urgent"
    queue = world.ben.get("/ai/chats", assign_type="queue", status="open", sort="priority")
    assert queue["items"][0]["id"] == chat_id, "the most urgent is on top"
    assert world.events("conversation.prioritized", conversation_id=chat_id)


def read_why(world: World) -> None:
    chat_id = world.open_chat()["id"]
    reply = world.ask(chat_id, RETURNS)["reply"]
    receipt = world.ben.get(f"/ai/chat/{chat_id}/messages/{reply['id']}/receipt")
    assert (receipt["decision"], receipt["prompt_version"], receipt["model"]) == (
        "answered", 3, "stub",
    )  # fmt: skip
    assert receipt["passages"][0]["text"]
    assert receipt["usage"]["credits"] == 1


def find_chats(world: World) -> None:
    ben, path = world.ben, f"/ai/{world.bot_id}/chat-history"
    before = ben.get("/ai/chats/counts")
    chat_id = wants_a_person(world, customer={"external_id": "xaver", "name": "Xaver"})
    after = ben.get("/ai/chats/counts")
    assert after["unassigned"] == before["unassigned"] + 1
    found = ben.get("/ai/chats", q="Xaver")["items"]
    assert [row["id"] for row in found] == [chat_id], found
    customer = found[0]["customer_id"]
    assert [row["id"] for row in ben.get(f"/ai/chat/history/customer/{customer}")["items"]] == [
        chat_id
    ]
    assert chat_id in [row["id"] for row in ben.get(path, limit=100)["items"]]


def read_notifications(world: World) -> None:
    ann, path = world.ann, "/ai/chat/notifications"
    unread = ann.get(path, unread="true", limit=100)["items"]
    mention = next(row for row in unread if row["kind"] == "mentioned")
    ann.put(f"{path}/{mention['id']}/read")
    left = ann.get(path, unread="true", limit=100)["items"]
    assert mention["id"] not in [row["id"] for row in left]
    assert ann.put(f"{path}/read")["count"] == len(left) > 0
    assert ann.get(path, unread="true")["items"] == []


def save_replies(world: World) -> None:
    ben, path = world.ben, "/ai/chat/saved-replies"
    body = {"shortcut": "late", "texts": {"en": "Sorry, {customer.name}. {agent.name}"}}
    saved = ben.post(path, body)
    change = body | {"texts": {"en": "So sorry, {customer.name|friend}. {agent.name}"}}
    ben.put(f"{path}/{saved['id']}", change)
    chat = world.open_chat(customer={"name": "Zoe"})
    shown = ben.get(f"/ai/chat/{chat['id']}/saved-replies/{saved['id']}")
    assert shown["text"] == "So sorry, Zoe. Ben Fox"
    assert world.ann.get(path)["items"] == [], "Ben's own"
    ben.delete(f"{path}/{saved['id']}")
    assert ben.get(path)["items"] == []


def change_a_message(world: World) -> None:
    chat_id = wants_a_person(world)
    sent = world.ben.post(f"/ai/chat/{chat_id}/manual", {"text": "It cosst nothing."})
    path = f"/ai/chat/{chat_id}/messages/{sent['id']}"
    assert world.ben.put(path, {"text": "It costs nothing."})["edited_at"]
    read = world.server.get(f"/ai/client/chat/history/{chat_id}")["items"]
    assert read[-1]["content"][0]["text"] == "It costs nothing."
    assert world.ben.delete(path)["content"] == []
    assert len(world.events("message.updated", conversation_id=chat_id)) == 2


def be_called(world: World) -> None:
    """Ben's browser subscribes; no push service is called, since he reads what is new."""
    ben, path = world.ben, "/ai/chat/push-subscriptions"
    key = ben.get("/ai/chat/push-key")["public_key"]
    keys = {"p256dh": key, "auth": "BTBZMqHH6r4Tts7J_aSIgg"}
    made = ben.post(path, {"endpoint": "https://push.example/8f2c", "keys": keys})
    assert [row["id"] for row in ben.get(path)["items"]] == [made["id"]]
    ben.delete(f"{path}/{made['id']}")
    assert ben.get(path)["items"] == []


def keep_views(world: World) -> None:
    ben, path = world.ben, "/ai/chat/views"
    kept = ben.post(path, {"name": "Late", "query": "view=unassigned&min_wait_seconds=900"})
    assert [row["name"] for row in ben.get(path)["items"]] == ["Late"]
    assert world.ann.get(path)["items"] == [], "Ben's own"
    ben.delete(f"{path}/{kept['id']}")
    assert ben.get(path)["items"] == []


def watch_live(world: World) -> None:
    """Ann's live feed shows typing, viewers and messages, also to a browser with a ticket."""
    chat_id = world.open_chat()["id"]
    ticket = world.ann.post("/ai/chat/events/ticket")["ticket"]
    for caller, query in ((world.ann, {}), (world.nobody, {"ticket": ticket})):
        seen = Screen(world, caller.headers, query)
        for writer in (world.ben, world.server):
            writer.post(f"/ai/chat/{chat_id}/typing", {"is_typing": True})
        world.ben.post(f"/ai/chat/{chat_id}/viewing", {"is_viewing": True})
        world.ask(chat_id, "Hello?", reply="none")
        eventually(lambda s=seen: s.has("message.created"), "the message on the screen")
        assert seen.has("ready")
        eventually(lambda s=seen: s.count("typing") == 2, "both who type")
        eventually(lambda s=seen: s.has("viewing"), "who looks at the chat")
        seen.close()
    page_chat = world.open_chat(world.page)["id"]
    world.page.post(f"/ai/chat/{page_chat}/typing", {"is_typing": True})
    world.driven["GET", "/ai/chat/events"].add("bearer")


class Screen:
    """An open live feed, read by a thread."""

    def __init__(self, world: World, headers: dict[str, str], query: Json) -> None:
        self.text, self._is_closed = "", threading.Event()
        ready = threading.Event()

        def read() -> None:
            with world.http.stream(
                "GET", "/ai/chat/events", headers=headers, params=query
            ) as reply:
                assert reply.status_code == 200, reply.read()
                for line in reply.iter_text():
                    self.text += line
                    ready.set()
                    if self._is_closed.is_set():
                        return

        self._thread = threading.Thread(target=read, daemon=True)
        self._thread.start()
        assert ready.wait(20)

    def has(self, name: str) -> bool:
        return self.count(name) > 0

    def count(self, name: str) -> int:
        return [event for event, _ in events_of(self.text)].count(name)

    def close(self) -> None:
        self._is_closed.set()
