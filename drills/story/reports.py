"""Ann reads reports about the earlier chapters; they agree with the lists of chats."""

from datetime import UTC, datetime, timedelta
from typing import Any

from drills.platform import wait_until
from drills.story.world import World


def tell(world: World) -> None:
    options = world.ann.get("/report/adhoc/filter-options")
    bots = {row["id"]: row["chats"] for row in options["bots"]}
    wanted = {
        "bot_ids": [world.bot_id],
        "group_by": ["channel"],
        "metrics": ["chats", "handed_off"],
    }
    report = world.ann.post("/report/adhoc/search", wanted)
    assert sum(row["chats"] for row in report["rows"]) == report["totals"]["chats"]
    assert report["totals"]["chats"] == bots[world.bot_id]
    assert report["totals"]["handed_off"] > 0
    totals = wanted | {"format": "csv", "metrics": ["chats"], "group_by": ["month"]}
    file = world.ann.call("POST", "/report/adhoc/export", json=totals)
    assert file.content.decode("utf-8-sig").startswith("month,chats")
    by_worker(world, wanted | {"group_by": []}, rows=report["totals"]["chats"])
    overview = world.ann.get("/report/chat-overview")
    assert sum(row["chats"] for row in overview["by_bot"]) == overview["current"]["chats"]
    of_bot = world.ann.get(f"/report/chat-overview/{world.bot_id}")
    assert of_bot["current"]["chats"] == report["totals"]["chats"]
    upset = {"sentiments": ["negative"], "statuses": ["open"], "metrics": ["chats"]}
    warnings = {row["code"]: row for row in world.ann.get("/report/warning-dashboard")["warnings"]}
    warned = warnings["negative_sentiment"]["count"] if "negative_sentiment" in warnings else 0
    assert warned == world.ann.post("/report/adhoc/search", upset)["totals"]["chats"]
    until = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    muted = world.ann.put("/report/warning-dashboard/mute", {"code": "low_ratings", "until": until})
    assert {row["code"] for row in muted["warnings"]} == set(warnings)
    for row in warnings.values():
        assert row["what_to_do"], row
        assert row["link"].startswith("/admin/"), row
    tools = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    for caller in (world.ann, world.server):
        listed = caller.post("/mcp", tools)["result"]["tools"]
        assert "search_content" in {tool["name"] for tool in listed}


def by_worker(world: World, wanted: dict[str, Any], *, rows: int) -> None:
    """Export a report that has more rows than one answer holds, through a worker."""
    path = "/report/adhoc/export"
    export = world.ann.call("POST", path, json=wanted).json()
    assert export["rows"] == rows
    path += f"/{export['id']}"
    wait_until(lambda: world.ann.call("GET", path).status_code == 200, what="the export")
    assert world.ann.call("GET", path).text.count("\n") == rows + 1
