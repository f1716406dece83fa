"""Create, Get, Update and Delete Question Answer, and how the answer wins."""

from unittest import mock

import pytest

from bots.language.normalization import same_question_key
from bots.models import Bot, Chunk, Document
from bots.services import retrieval, written_sources
from bots.testing import trained
from chatplatform.models import Job
from chatplatform.testing import run_jobs
from identity.models import AuditEvent

QUESTION = "May I return damaged goods?"
ANSWER = "Yes, always.\n\nBring the receipt, and the box if you still have it."
BODY = {"question": QUESTION, "answer": ANSWER}
# Says something else about the same.
MANUAL = "You may return damaged goods within thirty days. Damaged goods need a form."


@pytest.fixture(autouse=True)
def _no_index():
    retrieval.clear_cache()


def path(bot, pair_id=None):
    return f"/ai/{bot.pk}/train/question-answer" + (f"/{pair_id}" if pair_id else "")


def create(person, bot, body=BODY):
    reply = person.post(path(bot), body)
    assert reply.status_code == 202, reply.content
    return reply.json()


def ask(server, text):
    """The bot's reply to a question, in a chat of its own."""
    chat = server.post("/ai/client/chat", {}).json()["id"]
    server.post(f"/ai/client/chat/{chat}", {"text": text, "reply": "async"})
    run_jobs()
    items = server.get(f"/ai/client/chat/history/{chat}").json()["items"]
    return [message for message in items if message["sender"]["type"] == "bot"][-1:]


@pytest.mark.django_db(transaction=True)
def test_the_written_answer_is_the_reply(ann, server, bot):
    document = trained(bot, MANUAL)
    pair = create(ann, bot)
    run_jobs()
    for question in (
        QUESTION,
        "may I return DAMAGED good",
        "Hello, can I return damaged goods please",
    ):
        (reply,) = ask(server, question)
        assert reply["content"][0]["text"] == ANSWER
        assert reply["citations"] == [
            {"document_id": pair["id"], "title": QUESTION, "url": None, "page": None,
             "quote": ANSWER, "section": None, "number": None}
        ]  # fmt: skip
    (reply,) = ask(server, "Within how many days may I return damaged goods?")
    assert document.pk in {item["document_id"] for item in reply["citations"]}


@pytest.mark.django_db(transaction=True)
def test_it_wins_over_an_important_document_and_passes_any_threshold(ann, server, bot, client_a):
    document = trained(bot, MANUAL)
    ann.put(f"/ai/{bot.pk}/train/document/{document.pk}/important", {"is_important": True})
    client_a.config.answer_threshold = 1
    client_a.config.save()
    create(ann, bot)
    run_jobs()
    (reply,) = ask(server, QUESTION)
    assert reply["content"][0]["text"] == ANSWER


@pytest.mark.django_db(transaction=True)
def test_it_does_not_answer_another_question(ann, server, bot):
    create(ann, bot, {"question": "Do you ship to France?", "answer": "Yes, for nine euros."})
    run_jobs()
    for other in ("Do you ship from France?", "Do you ship to Germany?", "Why ship to France?"):
        result = retrieval.search(Bot.objects.get(), other, language="en")
        assert result.confidence < 1


ON_DOGS = ("May I bring my dog?", "Yes, dogs may come in.")
ON_FRANCE = ("Do you ship to France?", "Yes, for nine euros.")
IN_VIETNAMESE = ("Tôi mang chó theo được không?", "Được, chó được vào mọi phòng.")


@pytest.mark.parametrize(
    ("pair", "other", "is_answered"),
    [
        (ON_DOGS, "May I bring my cat?", False),
        (ON_DOGS, "May I take my dog?", True),
        (ON_FRANCE, "Do you ship to Germany?", False),
        (ON_FRANCE, "Can you deliver my order to Spain?", False),
        (ON_FRANCE, "Can you deliver my order to France?", True),
        (IN_VIETNAMESE, "Tôi mang mèo theo được không?", False),
    ],
)
@pytest.mark.django_db(transaction=True)
def test_a_pair_answers_no_question_on_another_thing(ann, server, bot, pair, other, is_answered):
    trained(bot, "The pool is open from May to September. Towels are at the desk.")
    question, answer = pair
    create(ann, bot, {"question": question, "answer": answer})
    run_jobs()
    said = [reply["content"][0]["text"] for reply in ask(server, other)]
    assert any(answer in text for text in said) == is_answered


@pytest.mark.django_db(transaction=True)
def test_a_question_in_other_words_finds_it_among_documents(ann, server, bot):
    trained(bot, "The pool is open from May to September. Towels are at the desk.")
    body = {"question": "What are your opening hours?", "answer": "Nine to six, but on Sundays."}
    pair = create(ann, bot, body)
    run_jobs()
    (reply,) = ask(server, "When do you open?")
    assert reply["content"][0]["text"].startswith(body["answer"])
    assert reply["citations"][0]["document_id"] == pair["id"]


@pytest.mark.django_db(transaction=True)
def test_a_change_is_trained_again(ann, server, bot):
    pair = create(ann, bot)
    run_jobs()
    new = {"question": "Are dogs welcome?", "answer": "Yes, in all rooms."}
    changed = ann.put(path(bot, pair["id"]), new)
    assert changed.status_code == 200
    assert {name: changed.json()[name] for name in new} == new
    assert changed.json()["status"] == "queued"
    run_jobs()
    (reply,) = ask(server, "are dogs welcome")
    assert reply["content"][0]["text"] == new["answer"]
    assert retrieval.search(Bot.objects.get(), QUESTION, language="en").confidence < 1
    assert [passage.heading for passage in Chunk.objects.all()] == [new["question"]]
    audited = AuditEvent.objects.get(action="document.changed")
    assert (audited.user, audited.changes) == (ann.user, {"file_name": f"{new['question']}.txt"})


@pytest.mark.django_db(transaction=True)
def test_delete(ann, bot):
    pair = create(ann, bot)
    run_jobs()
    assert ann.delete(path(bot, pair["id"])).status_code == 204
    assert retrieval.search(Bot.objects.get(), QUESTION, language="en").hits == ()
    assert ann.get(path(bot, pair["id"])).status_code == 404


@pytest.mark.django_db(transaction=True)
def test_without_an_encoder_it_wins_too(ann, bot):
    trained(bot, MANUAL)
    with mock.patch("bots.language.embedding._encoder", return_value=None):
        create(ann, bot)
        run_jobs()
        result = retrieval.search(Bot.objects.get(), QUESTION, language="en")
    assert [hit.passage.text for hit in result.hits] == [ANSWER]


@pytest.mark.django_db(transaction=True)
def test_vietnamese_without_diacritics(ann, bot):
    body = {"question": "Shop mở cửa lúc mấy giờ?", "answer": "Tám giờ sáng mỗi ngày."}
    pair = create(ann, bot, body)
    run_jobs()
    assert ann.get(path(bot, pair["id"])).json()["language"] == "vi"
    row = Bot.objects.get()
    for question in ("shop mo cua luc may gio", "Mấy giờ shop mở cửa vậy ạ?"):
        (hit,) = retrieval.search(row, question, language="vi").hits
        assert hit.passage.text == body["answer"]
    assert retrieval.search(row, "Shop đóng cửa lúc mấy giờ?", language="vi").confidence < 1


def test_the_same_question():
    same = same_question_key("What are your opening hours?")
    assert same_question_key("what are the opening hours of the shop") == same
    assert same_question_key("What are the opening hours of the bar?") != same
    assert same_question_key("What's the opening hour, please?") == same
    assert same_question_key("When are your opening hours?") != same
    assert same_question_key("Could you please?") == ""
    assert same_question_key("") == ""


@pytest.mark.django_db(transaction=True)
def test_a_question_of_filler_words_alone_matches_no_other(ann, bot):
    create(ann, bot, {"question": "Can you?", "answer": "We can."})
    run_jobs()
    assert retrieval.search(Bot.objects.get(), "May I?", language="en").confidence < 1


@pytest.mark.django_db(transaction=True)
def test_an_answer_of_any_length_is_quoted_whole(ann, server, bot):
    answer = "The rule says so. " * 200
    create(ann, bot, {"question": QUESTION, "answer": answer})
    run_jobs()
    assert Chunk.objects.count() == 1
    (reply,) = ask(server, QUESTION)
    assert reply["content"][0]["text"] == answer.strip()


def test_the_list_and_the_original(ann, bot):
    first = create(ann, bot)
    second = create(ann, bot, {"question": "Dogs?", "answer": "Welcome."})
    ann.post(f"/ai/{bot.pk}/train/text", {"title": "Pets", "text": "Dogs are welcome."})
    assert ann.get(path(bot)).json() == {"items": [second, first], "next_cursor": None}
    assert ann.get(path(bot), {"status": "trained"}).json()["items"] == []
    original = ann.get(f"/ai/{bot.pk}/train/document/{second['id']}/original")
    assert b"".join(original) == b"Dogs?\n\nWelcome."


def test_a_question_twice(ann, bot):
    first = create(ann, bot)
    other = create(ann, bot, {"question": "Dogs?", "answer": "Welcome."})
    double = {"question": f"  {QUESTION.upper()}\n", "answer": "No."}
    for reply in (ann.post(path(bot), double), ann.put(path(bot, other["id"]), double)):
        assert (reply.status_code, reply.json()["code"]) == (409, "source_exists")
        assert reply.json()["document_id"] == first["id"]
    assert Document.objects.count() == Job.objects.count() == 2
    again = ann.put(path(bot, first["id"]), {"question": QUESTION, "answer": "No."})
    assert again.status_code == 200


def test_the_limit_of_a_bot(ann, bot):
    with mock.patch.dict(written_sources.LIMITS, {"question_answer": 1}):
        create(ann, bot)
        reply = ann.post(path(bot), {"question": "Dogs?", "answer": "Welcome."})
    assert (reply.status_code, reply.json()["code"]) == (409, "document_limit")
    assert Document.objects.count() == 1


@pytest.mark.parametrize(
    "change",
    [
        {"question": ""}, {"question": "?!"}, {"question": "\x1d?"}, {"question": "x" * 301},
        {"question": None},
        {"answer": ""}, {"answer": "  "}, {"answer": "x" * 4_001}, {"title": "Dogs"},
    ],
)  # fmt: skip
def test_a_wrong_body(ann, bot, change):
    shown = create(ann, bot)
    assert ann.post(path(bot), BODY | change).status_code == 422
    assert ann.put(path(bot, shown["id"]), BODY | change).status_code == 422
    assert Document.objects.count() == Job.objects.count() == 1
