"""Train the bot with instructions, files, texts, questions and web pages; then delete them."""

from datetime import UTC, datetime

from bots.tests.web_site import html
from drills.story.world import Json, World, eventually

GUIDE = b"""# The Story shop

## Returns

You may return damaged goods within thirty days and get your money back. Bring the receipt.

## Opening hours

Our shop opens at nine o'clock in the morning and closes at six o'clock in the evening.
"""
RETURNS = "May I return damaged goods?"


def tell(world: World) -> None:
    write_prompts(world)
    upload_files(world)
    write_texts(world)
    write_questions(world)
    read_web_pages(world)
    ask_golden_questions(world)
    answer_what_was_asked(world)


def trained(world: World, path: str, id: int) -> Json:
    """Wait until a worker has trained a source."""

    def find() -> Json | None:
        rows = [row for row in world.ann.get(path)["items"] if row["id"] == id]
        assert not rows or rows[0]["status"] != "failed", rows
        return rows[0] if rows and rows[0]["status"] == "trained" else None

    found: Json = eventually(find, f"training of {path} {id}")
    return found


def says(world: World, question: str) -> Json:
    """The bot's reply in a new chat."""
    turn = world.ask(world.open_chat()["id"], question)
    assert turn["reply"], turn
    reply: Json = turn["reply"]
    return reply


def write_prompts(world: World) -> None:
    ann, path = world.ann, f"/ai/{world.bot_id}/train/prompt"
    first = ann.post(path, {"content": "You help at Story.", "tone": "dry"})
    ann.post(path, {"content": "You help at Story. Be brief.", "tone": "cheerful"})
    assert ann.get(path)["version"] == 2
    assert ann.get(path, version=1)["content"] == first["content"]
    ann.post(f"{path}/versions/1/restore")
    versions = ann.get(f"{path}/versions")["items"]
    assert [row["version"] for row in versions] == [3, 2, 1]
    assert ann.get(path)["tone"] == "dry"


def upload_files(world: World) -> None:
    ann, path = world.ann, f"/ai/{world.bot_id}/train/document"
    parts = [("files", ("guide.md", GUIDE)), ("files", ("note.txt", b"Dogs are welcome here."))]
    guide, note = ann.upload(path, parts)["items"]
    trained(world, path, guide["id"])
    trained(world, path, note["id"])
    asked_with = len(world.model.requests)
    assert says(world, RETURNS)["citations"][0]["document_id"] == guide["id"]
    assert "You help at Story." in str(world.model.requests[asked_with:]), "the prompt"
    assert ann.call("GET", f"{path}/{guide['id']}/original").content == GUIDE
    assert ann.get(f"{path}/{guide['id']}")["chunk_count"] >= 1
    for caller in (ann, world.server):
        found = caller.get(f"/ai/{world.bot_id}/search", q="Are dogs welcome?")["passages"]
        assert "Dogs are welcome here." in {passage["text"] for passage in found}
    ann.put(f"{path}/{note['id']}/important", {"is_important": True})
    assert ann.get(f"{path}/{note['id']}")["is_important"]
    before = ann.get(f"{path}/{guide['id']}")["trained_at"]
    queued = ann.post(f"{path}/reupload", {"document_ids": [guide["id"], 10**9]})
    assert queued["skipped"] == [{"id": 10**9, "reason": "not_found"}]
    eventually(
        lambda: trained(world, path, guide["id"])["trained_at"] != before, "trained once more"
    )
    ann.delete(f"{path}/{note['id']}")
    ann.refused(404, "GET", f"{path}/{note['id']}")
    assert world.events("document.trained")


def write_texts(world: World) -> None:
    ann, path = world.ann, f"/ai/{world.bot_id}/train/text"
    body = {"title": "Parking", "text": "Parking behind the shop is free for two hours."}
    text = ann.post(path, body)
    trained(world, path, text["id"])
    assert "two hours" in says(world, "Is parking behind the shop free?")["content"][0]["text"]
    change = body | {"text": "Parking behind the shop is free for five hours."}
    ann.put(f"{path}/{text['id']}", change)
    trained(world, path, text["id"])
    assert ann.get(f"{path}/{text['id']}")["text"] == change["text"]
    assert "five hours" in says(world, "Is parking behind the shop free?")["content"][0]["text"]
    ann.delete(f"{path}/{text['id']}")
    assert ann.get(path)["items"] == []


def write_questions(world: World) -> None:
    ann, path = world.ann, f"/ai/{world.bot_id}/train/question-answer"
    pair = {"question": "Do you sell gift cards?", "answer": "Yes, gift cards start at ten euros."}
    row = ann.post(path, pair)
    trained(world, path, row["id"])
    assert "ten euros" in says(world, pair["question"])["content"][0]["text"]
    pair["answer"] = "Yes, gift cards start at twenty euros."
    ann.put(f"{path}/{row['id']}", pair)
    trained(world, path, row["id"])
    assert ann.get(f"{path}/{row['id']}")["answer"] == pair["answer"]
    assert "twenty euros" in says(world, pair["question"])["content"][0]["text"]
    ann.delete(f"{path}/{row['id']}")
    assert ann.get(path)["items"] == []


def read_web_pages(world: World) -> None:
    ann, path, site = world.ann, f"/ai/{world.bot_id}/train/web-url", world.site
    text = "Our repair service mends shoes within three working days for every customer."
    site.pages["/repairs"] = html(text)
    site.pages["/wool"] = html("Woollen clothes must be washed by hand in cold water only.")
    row = ann.post(path, {"url": site.at("/repairs")})
    trained(world, path, row["id"])
    reply = says(world, "How quickly does the repair service mend shoes?")
    assert reply["citations"][0]["url"] == site.at("/repairs")
    ann.put(f"{path}/{row['id']}", {"url": site.at("/wool")})
    eventually(lambda: "/wool" in site.paths(), "the new address is fetched")
    trained(world, path, row["id"])
    sources = ann.get(f"/ai/{world.bot_id}/train/document")["items"]
    assert sources, "files are listed"
    ann.delete(f"{path}/{row['id']}")
    assert ann.get(path)["items"] == []


def delete_all_content(world: World) -> None:
    """At the end of the story, a key deletes all content of its bot."""
    assert world.server.delete("/ai/client/documents")["deleted"] >= 1
    assert world.ann.get(f"/ai/{world.bot_id}/train/document")["items"] == []
    assert world.server.delete("/ai/client/documents")["deleted"] == 0


def ask_golden_questions(world: World) -> None:
    ann, questions = world.ann, f"/ai/{world.bot_id}/golden-questions"
    added = ann.post(questions, {"question": RETURNS, "expected_words": ["thirty days"]})
    other = ann.post(questions, {"question": "Is this one needed?"})
    ann.put(f"{questions}/{other['id']}", {"question": "Is this one not needed?"})
    ann.delete(f"{questions}/{other['id']}")
    ann.post(f"{questions}/collect", {"source": "answers"})
    assert added["id"] in [row["id"] for row in ann.get(questions)["items"]]
    runs = f"/ai/{world.bot_id}/golden-runs"
    path = f"{runs}/{ann.post(runs, {})['id']}"
    run: Json = eventually(
        lambda: next((item for item in [ann.get(path)] if item["status"] == "done"), None),
        "the golden run",
    )
    assert run["done"] == run["total"] >= 1
    assert ann.get(runs)["items"][0]["passed"] == run["passed"]
    ann.refused(409, "POST", f"{path}/publish")
    let_a_worse_answer_through(world, runs)


def let_a_worse_answer_through(world: World, runs: str) -> None:
    """A worse answer is held back and discarded twice, then published."""
    ann, pairs = world.ann, f"/ai/{world.bot_id}/train/question-answer"
    documents = f"/ai/{world.bot_id}/train/document"
    pair = {"question": RETURNS, "answer": "Within thirty days, with the receipt."}
    row = ann.post(pairs, pair)["id"]
    trained(world, pairs, row)
    bot = ann.get(f"/ai/bot/{world.bot_id}")
    ann.put(f"/ai/bot/{world.bot_id}/update-bot", bot | {"hold_back_worse": True})
    seen = {""}

    def make_worse() -> str:
        """The path of the run that holds the worse answer back."""
        ann.put(f"{pairs}/{row}", pair | {"answer": "Never, not even with the receipt."})
        held: Json = eventually(
            lambda: next(
                (item for item in ann.get(runs)["items"]
                 if item["outcome"] == "held" and item["id"] not in seen), None,
            ),
            "the worse answer is held back",
        )  # fmt: skip
        seen.add(held["id"])
        assert held["broke"] == [RETURNS]
        assert "thirty days" in says(world, RETURNS)["content"][0]["text"]
        return f"{runs}/{held['id']}"

    make_worse()
    assert ann.post(f"{documents}/{row}/discard")["held_change"] is None
    ann.post(f"{make_worse()}/discard")
    assert ann.get(f"{documents}/{row}")["held_change"] is None
    assert ann.post(f"{make_worse()}/publish")["outcome"] == "published"
    assert "Never" in says(world, RETURNS)["content"][0]["text"]
    ann.refused(409, "POST", f"{documents}/{row}/discard")
    ann.delete(f"{pairs}/{row}")
    ann.put(f"/ai/bot/{world.bot_id}/update-bot", bot)


def answer_what_was_asked(world: World) -> None:
    """Answer an unanswered question, ask it again, and regenerate its reply."""
    ann, path = world.ann, f"/ai/{world.bot_id}/unanswered-questions"
    chat = world.open_chat()["id"]
    asked = world.ask(chat, "Do unicorns eat marzipan potatoes?")
    found: Json = eventually(
        lambda: next(
            (item for item in ann.get(path)["items"] if "unicorns" in item["question"]), None
        ),
        "the question is grouped",
    )
    group = f"{path}/{found['id']}"
    assert [row["chat_id"] for row in ann.get(f"{group}/chats")["items"]] == [chat]
    ann.post(f"{group}/ask")
    ann.post(f"{group}/answer", {"answer": "Unicorns eat nothing but marzipan potatoes."})
    eventually(lambda: ann.get(group)["status"] == "answered", "the question has its answer")
    turn = ann.post(f"/ai/chat/{chat}/messages/{asked['reply']['id']}/replay")
    assert turn["today"]["is_answered"]
    assert not turn["then"]["is_answered"]
    replays = f"/ai/{world.bot_id}/replays"
    day = datetime.now(UTC).date().isoformat()
    replay = f"{replays}/{ann.post(replays, {'day': day})['id']}"
    eventually(lambda: ann.get(replay)["status"] == "done", "the day is made again")
    gained = ann.get(f"{replay}/replies", change="gained")["items"]
    assert chat in [row["chat_id"] for row in gained]
    assert ann.get(replays)["items"][0]["gained"] == len(gained)
