"""The bot calls functions of the client's own server, some after an agent's approval."""

from typing import Any

from chatplatform.testing import mcp_server
from drills.story.world import Json, World, eventually

ORDER = {
    "type": "object", "properties": {"order_id": {"type": "string", "maxLength": 20}},
    "required": ["order_id"], "additionalProperties": False,
}  # fmt: skip


def tell(world: World) -> None:
    describe(world)
    look_up(world)
    refund(world)
    use_tools(world)
    take_steps(world)
    world.ann.post(f"/function-calling/{world.bot_id}", {"is_enabled": False, "functions": []})


def describe(world: World) -> None:
    at = f"http://{world.tool.host_port}/orders/{{order_id}}"
    functions: list[Json] = [
        {
            "name": "get_order", "description": "Where an order is.", "parameters": ORDER,
            "http": {"method": "GET", "url": at}, "secret_headers": {"Authorization": "Bearer s3"},
        },
        {
            "name": "refund", "description": "Refunds an order.", "parameters": ORDER,
            "http": {"method": "POST", "url": at}, "requires_approval": "agent",
        },
    ]  # fmt: skip
    path = f"/function-calling/{world.bot_id}"
    world.ann.post(path, {"is_enabled": True, "functions": functions})
    shown = world.ann.get(path)
    assert [row["name"] for row in shown["functions"]] == ["get_order", "refund"]
    assert shown["functions"][0]["secret_header_names"] == ["Authorization"]
    assert "s3" not in str(shown)


def ask_about(world: World, name: str, then: str) -> tuple[str, Json]:
    """Ask a question that the model answers with a function call, then with a text."""
    calls: list[Any] = [[name, {"order_id": "17"}]]
    world.model.play([calls, f"say:{then}"])
    chat_id = world.open_chat()["id"]
    turn = world.ask(chat_id, f"Please {name} order 17")
    return chat_id, turn


def look_up(world: World) -> None:
    chat_id, turn = ask_about(world, "get_order", "It is on its way.")
    assert turn["reply"]["content"][0]["text"] == "It is on its way."
    sent = world.tool.requests[-1]
    assert (sent.method, sent.path, sent.headers["Authorization"]) == (
        "GET", "/orders/17", "Bearer s3",
    )  # fmt: skip
    (call,) = world.ann.get(f"/function-calling/{world.bot_id}/events", chat_id=chat_id)["items"]
    assert (call["status"], call["http_status"]) == ("succeeded", 200)


def refund(world: World) -> None:
    chat_id, turn = ask_about(world, "refund", "Order 17 is refunded.")
    assert (turn["status"], turn["handoff_reason"]) == ("handed_off", "approval_needed")
    path = f"/function-calling/{world.bot_id}/events"
    (waiting,) = world.ann.get(path, chat_id=chat_id, status="waiting")["items"]
    requests = len(world.tool.requests)
    world.ben.post(f"{path}/{waiting['id']}/decision", {"approve": True})
    eventually(
        lambda: "Order 17 is refunded." in str(world.history(chat_id)[-1]), "the bot says so"
    )
    assert [row.method for row in world.tool.requests[requests:]] == ["POST"], "called once"
    (done,) = world.ann.get(path, chat_id=chat_id)["items"]
    assert done["status"] == "succeeded"
    world.ben.refused(409, "POST", f"{path}/{waiting['id']}/decision", {"approve": False})
    world.model.play("ok")


def use_tools(world: World) -> None:
    """Tools of an MCP server: chosen, called, changed, looked at again, and removed."""
    path = f"/function-calling/{world.bot_id}/mcp-servers"
    body = {"name": "Shop", "url": world.mcp.url, "token": mcp_server.TOKEN}
    row = world.ann.post(path, body)
    own = f"{path}/{row['id']}"
    world.ann.put(own, {"allowed": [{"name": "find_order"}]})
    calls: list[Any] = [["find_order", {"order_id": "18"}]]
    world.model.play([calls, "say:It is on its way."])
    world.ask(world.open_chat()["id"], "Please find_order order 18")
    assert world.mcp.calls == [("find_order", "18")]
    world.mcp.change()
    changed = world.ann.post(f"{own}/refresh")
    assert {tool["state"] for tool in changed["tools"]} == {"changed", "not_allowed"}
    assert [row["name"] for row in world.ann.get(path)["items"]] == ["Shop"]
    world.ann.delete(own)
    world.model.play("ok")


def take_steps(world: World) -> None:
    """A procedure that needs no model."""
    path = f"/ai/{world.bot_id}/procedures"
    steps = "ask order_id: Which order?\ncall get_order\nsay: Found {order_id}."
    one = {"name": "Find", "starts_with": ["Look my order up"], "steps": steps}
    world.ann.put(path, {"procedures": [one]})
    chat_id = world.open_chat()["id"]
    asked = world.ask(chat_id, "Look my order up")
    assert asked["reply"]["content"][0]["text"] == "Which order?"
    found = world.ask(chat_id, "1718")
    assert found["reply"]["content"][0]["text"] == "Found 1718."
    assert [row["name"] for row in world.ann.get(path)["procedures"]] == ["Find"]
    world.ann.put(path, {"procedures": []})
