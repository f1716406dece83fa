"""The engines' insights: summaries, tags, sentiment, suggestions, translations."""

from drills.story.training import RETURNS
from drills.story.world import Json, World, eventually

DRAFT = {
    "summary": "A customer asks about returns.", "key_points": ["Returns"],
    "customer_intent": "To return goods", "resolution": "answered",
}  # fmt: skip


def tell(world: World) -> None:
    chat_id = world.open_chat()["id"]
    world.ask(chat_id, RETURNS)
    summarize_chat(world, chat_id)
    summarize_all(world)
    tag(world, chat_id)
    keep_the_list_of_tags(world, chat_id)
    feel(world, chat_id)
    suggest(world, chat_id)
    rewrite(world, chat_id)
    work_on_texts(world)


def summarize_chat(world: World, chat_id: str) -> None:
    with world.spends(), world.model_writes(DRAFT):
        world.ben.post(f"/ai/chat/{chat_id}/summarize")
    assert world.ben.get(f"/ai/chat/{chat_id}")["summary"] == DRAFT["summary"]
    (event,) = world.events("summary.created", conversation_id=chat_id)
    assert event["data"]["summary"]["key_points"] == ["Returns"]


def summarize_all(world: World) -> None:
    other = world.open_chat()["id"]
    world.ask(other, RETURNS)
    created = world.ben.get(f"/ai/chat/{other}")["created_at"]
    with world.spends(), world.model_writes(DRAFT):
        run = world.ben.post("/ai/chat/summary/calculate", {"created_from": created})

        def over() -> Json | None:
            shown: Json = world.ben.get(f"/ai/chat/summary/calculate/{run['id']}")
            return shown if shown["status"] == "done" else None

        done = eventually(over, "a run over all chats")
    assert (done["done"], done["failed"]) == (1, 0)
    assert world.ben.get(f"/ai/chat/{other}")["summary"] == DRAFT["summary"]


def tag(world: World, chat_id: str) -> None:
    ben, path = world.ben, f"/ai/chat/{chat_id}"
    ben.post(f"{path}/tags", {"tags": ["refund"]})
    ben.post(f"{path}/tags", {"tags": ["late"]})
    assert ben.get(path)["tags"] == ["refund", "late"], "added"
    ben.put(f"{path}/tags", {"tags": ["refund"]})
    assert ben.get(path)["tags"] == ["refund"], "replaced"
    assert len(world.events("tags.updated", conversation_id=chat_id)) == 3
    with world.spends(), world.model_writes({"tags": [{"name": "goods", "confidence": 0.9}]}):
        proposed = ben.post(f"{path}/tags/auto-temp")["tags"]
    assert [row["name"] for row in proposed] == ["goods"]
    assert ben.get(path)["tags"] == ["refund"], "nothing is stored"
    with world.spends(), world.model_writes({"tags": [{"name": "goods", "confidence": 0.9}]}):
        ben.post(f"{path}/tags/auto")
    assert ben.get(path)["tags"] == ["refund", "goods"]


def keep_the_list_of_tags(world: World, chat_id: str) -> None:
    ann = world.ann
    made = ann.post("/ai/tags", {"name": "urgent", "colour": "#d73a4a"})
    ann.put(f"/ai/tags/{made['id']}", {"name": "very urgent", "colour": "#000000"})
    listed = {row["name"]: row for row in ann.get("/ai/tags")["tags"]}
    assert listed["very urgent"]["colour"] == "#000000"
    assert listed["refund"]["count"] == 1
    ann.post(f"/ai/tags/{listed['refund']['id']}/merge", {"into": "very urgent"})
    eventually(
        lambda: "very urgent" in ann.get(f"/ai/chat/{chat_id}")["tags"], "the chat has the new tag"
    )
    assert "refund" not in ann.get(f"/ai/chat/{chat_id}")["tags"]
    ann.delete(f"/ai/tags/{made['id']}")
    eventually(
        lambda: ann.get(f"/ai/chat/{chat_id}")["tags"] == ["goods"], "the tag has left the chat"
    )
    assert "very urgent" not in [row["name"] for row in ann.get("/ai/tags")["tags"]]


def feel(world: World, chat_id: str) -> None:
    path = f"/ai/chat/{chat_id}"
    with world.spends(), world.model_writes({"sentiment": "negative", "score": -0.7}):
        world.ben.post(f"{path}/sentiment")
    assert world.ben.get(path)["sentiment"] == "negative"
    (event,) = world.events("sentiment.updated", conversation_id=chat_id)
    assert event["data"]["score"] == -0.7


def suggest(world: World, chat_id: str) -> None:
    before = len(world.history(chat_id))
    draft = {"suggestions": [{"text": "Within thirty days.", "snippets": [1]}]}
    for caller in (world.server, world.ben):
        with world.spends(), world.model_writes(draft):
            made = caller.post(f"/ai/client/chat/suggestions/{chat_id}", {"count": 1})
        (suggested,) = made["suggestions"]
        assert (suggested["text"], len(suggested["citations"])) == ("Within thirty days.", 1)
    assert len(world.history(chat_id)) == before, "nothing is said"


def rewrite(world: World, chat_id: str) -> None:
    body = {"text": "We close at 6, so come early please.", "style": "shorter"}
    with world.spends(), world.model_writes({"text": "We close at 6: come early."}):
        made = world.ben.post(f"/ai/chat/{chat_id}/rewrite", body)
    assert made["text"] == "We close at 6: come early."


def work_on_texts(world: World) -> None:
    server, body = world.server, {"text": "Hello, where is my parcel?", "out_lang_code": "vi"}
    answer = {"text": "Xin chào", "source_language": "en"}
    calls = [(server, "/client/translate"), (world.ben, "/client/translate"),
             (server, "/ai/translate")]  # fmt: skip
    for caller, path in calls:
        with world.spends(), world.model_writes(answer):
            reply = caller.call("POST", path, json=body)
        assert reply.json()["text"] == "Xin chào"
        assert body["text"] in str(world.model.requests[-1])
        assert ("Deprecation" in reply.headers) == (path == "/ai/translate")
    text = {"text": "We open at nine. We close at five."}
    with world.spends(), world.model_writes({"summary": "From nine to five.", "key_points": []}):
        assert server.post("/client/summarize", text)["summary"] == "From nine to five."
    for path in ("/client/translate", "/client/summarize"):
        world.page.refused(403, "POST", path, body)
