"""The client's own server receives webhooks; the other chapters check their events, too."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from chatplatform.signatures import is_signed
from chatplatform.testing.tool_server import ToolRequest
from drills.story.world import Json, World, eventually

CONFIG = "/webhook/config"


def tell(world: World) -> None:
    config = listen(world)
    hear(world, config)
    rotate(world, config)
    replay(world, config)
    mute_and_delete(world, config)


def heard(world: World, path: str = "/hook") -> Iterator[ToolRequest]:
    return (request for request in world.tool.requests if request.path == path)


def heard_ids(world: World) -> list[str]:
    return [request.headers["webhook-id"] for request in heard(world)]


def listen(world: World) -> Json:
    body = {"url": f"http://{world.tool.host_port}/hook", "event_types": ["message.created"]}
    config: Json = world.ann.post(CONFIG, body)
    shown = world.ann.get(CONFIG)
    assert (shown["id"], shown["secret"]) == (config["id"], None), "the secret is shown once"
    assert [row["id"] for row in world.ann.get("/webhook/configs")["items"]] == [config["id"]]
    tested = world.ann.post("/webhook/test")
    assert (tested["status"], tested["http_status"]) == ("succeeded", 200)
    assert tested["event_id"] in heard_ids(world)
    return config


def say(world: World, text: str) -> str:
    """Send a customer's message; return the id of its event."""
    chat_id = world.open_chat()["id"]
    world.ask(chat_id, text, reply="none")
    (event,) = world.events("message.created", conversation_id=chat_id)
    return str(event["id"])


def hear(world: World, config: Json) -> None:
    event_id = say(world, "Do you hear me?")
    eventually(lambda: event_id in heard_ids(world), "the webhook")
    (sent,) = [row for row in heard(world) if row.headers["webhook-id"] == event_id]
    headers = {name.lower(): value for name, value in sent.headers.items()}
    assert is_signed(config["secret"], headers=headers, body=sent.body)
    assert sent.json()["data"]["message"]["content"][0]["text"] == "Do you hear me?"
    assert delivered(world, event_id)["data"] == sent.json()["data"]


def delivered(world: World, event_id: str) -> Json:
    """Wait until an event's delivery is in the log, just after the receiver got it."""

    def succeeded() -> Json | None:
        event: Json = world.ann.get(f"/webhook/events/{event_id}")
        return event if event["deliveries"][0]["status"] == "succeeded" else None

    event: Json = eventually(succeeded, "the delivery in the log")
    return event


def rotate(world: World, config: Json) -> None:
    fresh = world.ann.post(f"{CONFIG}/rotate-secret")
    assert fresh["secret"] != config["secret"]
    event_id = say(world, "And now?")
    eventually(lambda: event_id in heard_ids(world), "the webhook after the rotation")
    (sent,) = [row for row in heard(world) if row.headers["webhook-id"] == event_id]
    headers = {name.lower(): value for name, value in sent.headers.items()}
    for secret in (config["secret"], fresh["secret"]):
        assert is_signed(secret, headers=headers, body=sent.body), "both sign for a day"


def replay(world: World, config: Json) -> None:
    first = heard_ids(world)[-1]
    # A delivery is in flight until its outcome is in the log, and a replay ignores it.
    delivered(world, first)
    world.ann.post(f"/webhook/events/{first}/replay")
    eventually(lambda: heard_ids(world).count(first) == 2, "the same event again")
    start = datetime.now(UTC) - timedelta(minutes=5)
    body = {"created_from": start.isoformat(), "state": "all", "type": "message.created"}
    before = len(heard_ids(world))
    assert world.ann.post("/webhook/replay", body)["config_id"] == config["id"]
    eventually(lambda: len(heard_ids(world)) >= before + 2, "the events of five minutes")


def mute_and_delete(world: World, config: Json) -> None:
    path, body = f"{CONFIG}/{config['id']}", {"url": config["url"], "is_active": False}
    world.ann.put(path, body)
    assert world.ann.get(CONFIG)["disabled_reason"] == "by_hand"
    event_id = say(world, "Nobody hears this.")
    world.ann.put(path, body | {"is_active": True})
    later = say(world, "But this.")
    eventually(lambda: later in heard_ids(world), "the webhook is on again")
    assert event_id not in heard_ids(world), "nothing is queued meanwhile"
    world.ann.delete(path)
    world.ann.refused(404, "GET", CONFIG)
