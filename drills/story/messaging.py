"""Another system: its conversations through the messaging API, and its export of all data."""

import time

from drills.story.training import RETURNS
from drills.story.world import Json, World, eventually

AT = "/mesaging/conversations"


def tell(world: World) -> None:
    chat_id = write(world)
    sum_up(world, chat_id)
    end(world, chat_id)
    migrate(world, chat_id)


def write(world: World) -> str:
    body = {
        "requester": {"external_id": "u-9", "name": "Uma"},
        "group_id": "north",
        "tags": ["vip"],
    }
    chat = world.server.post(AT, body)
    path = f"{AT}/{chat['id']}"
    question = {"sender": {"type": "customer"}, "text": RETURNS, "generate_reply": True}
    world.server.post(f"{path}/messages", question)
    answered = eventually(
        lambda: world.server.get(f"{path}/messages")["items"][1:], "the bot's answer"
    )
    assert answered[0]["sender"]["type"] == "bot"
    assert answered[0]["citations"]
    shown = world.server.get(path)
    assert (shown["requester"]["external_id"], shown["tags"]) == ("u-9", ["vip"])
    (listed,) = world.server.get(AT, group_id="north")["items"]
    assert listed["id"] == chat["id"]
    assert world.ann.get(f"/ai/chat/{chat['id']}")["customer"]["name"] == "Uma", "at the desk"
    return str(chat["id"])


def sum_up(world: World, chat_id: str) -> None:
    path = f"{AT}/{chat_id}"
    world.server.refused(404, "GET", f"{path}/summary")
    draft = {
        "summary": "Uma asks about returns.", "key_points": ["Returns"],
        "customer_intent": "To return goods", "resolution": "answered",
    }  # fmt: skip
    with world.spends(), world.model_writes(draft):
        world.server.post(f"{path}/summary")
    assert world.server.get(f"{path}/summary")["summary"] == draft["summary"]
    with world.spends(), world.model_writes({"tags": [{"name": "returns", "confidence": 0.9}]}):
        world.server.post(f"{path}/ai-tags")
    assert [tag["name"] for tag in world.server.get(f"{path}/ai-tags")["tags"]] == ["returns"]
    assert world.ann.get(f"/ai/chat/{chat_id}")["tags"] == ["vip", "returns"]


def end(world: World, chat_id: str) -> None:
    world.server.put(f"{AT}/{chat_id}/end")
    assert world.ann.get(f"/ai/chat/{chat_id}")["ended_by"] == "api"
    assert world.events("conversation.ended", conversation_id=chat_id)


def migrate(world: World, chat_id: str) -> None:
    """Export everything, and later only what was added since."""
    time.sleep(6)  # rows are listed 5 seconds after they came
    for kind in ("conversations", "messages"):
        rows, cursor = [], None
        while True:
            more = {"cursor": cursor} if cursor else {}
            page = world.server.get(f"/ai/client/migrate/{kind}", limit=100, **more)
            rows += page["items"]
            cursor = page["resume_cursor"] or cursor
            if not page["next_cursor"]:
                break
        ids = [row["id"] for row in rows]
        assert len(ids) == len(set(ids))
        assert chat_id in chats_of(rows)
        new = world.open_chat(message="Since then")["id"]
        path = f"/ai/client/migrate/{kind}"
        # On a busy machine, answers to earlier chats may come first.
        eventually(
            lambda p=path, c=cursor, n=new: n in chats_of(world.server.get(p, cursor=c)["items"]),
            "what came since",
        )


def chats_of(rows: list[Json]) -> list[str]:
    """The chat of each exported row."""
    return [row.get("conversation_id", row["id"]) for row in rows]
