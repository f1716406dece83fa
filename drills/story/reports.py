"""Ann reads figures of what happened before: they agree with the lists of chats."""

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
    file = world.ann.call("POST", "/report/adhoc/export", json=wanted | {"format": "csv"})
    assert file.content.decode("utf-8-sig").startswith("channel,chats,handed_off")
    overview = world.ann.get("/report/chat-overview")
    assert sum(row["chats"] for row in overview["by_bot"]) == overview["current"]["chats"]
    of_bot = world.ann.get(f"/report/chat-overview/{world.bot_id}")
    assert of_bot["current"]["chats"] == report["totals"]["chats"]
    upset = {"sentiments": ["negative"], "statuses": ["open"], "metrics": ["chats"]}
    warnings = {row["code"]: row for row in world.ann.get("/report/warning-dashboard")["warnings"]}
    warned = warnings["negative_sentiment"]["count"] if "negative_sentiment" in warnings else 0
    assert warned == world.ann.post("/report/adhoc/search", upset)["totals"]["chats"]
    for row in warnings.values():
        assert row["what_to_do"], row
        assert row["link"].startswith("/admin/"), row
