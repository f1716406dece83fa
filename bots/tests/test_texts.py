"""Create, Get, Update and Delete Text: sources that a client writes."""

import functools
from unittest import mock

import pytest

from bots.models import Bot, Chunk, Document
from bots.services import retrieval, written_sources
from chatplatform.models import Job
from chatplatform.testing import at_once, run_before, run_jobs
from identity.models import AuditEvent
from webhooks.models import Event

BODY = {"title": "Parking", "text": "Guests park for free behind the house.\n\nBring a permit."}


@pytest.fixture(autouse=True)
def _no_index():
    retrieval.clear_cache()


def path(bot, text_id=None):
    return f"/ai/{bot.pk}/train/text" + (f"/{text_id}" if text_id else "")


def create(person, bot, body=BODY):
    reply = person.post(path(bot), body)
    assert reply.status_code == 202, reply.content
    return reply.json()


def found(question="Where do guests park?"):
    hits = retrieval.search(Bot.objects.get(), question, language="en", limit=1).hits
    return hits[0].passage if hits else None


@pytest.mark.django_db(transaction=True)
def test_a_text_is_trained_and_found(ann, bot):
    shown = create(ann, bot)
    assert (shown["title"], shown["text"]) == (BODY["title"], BODY["text"])
    assert (shown["status"], shown["progress"], shown["error"]) == ("queued", 0, None)
    run_jobs()
    trained = ann.get(path(bot, shown["id"])).json()
    assert (trained["status"], trained["progress"], trained["language"]) == ("trained", 100, "en")
    passage = found()
    assert (passage.document_id, passage.title) == (shown["id"], "Parking")
    assert "behind the house" in passage.text
    (event,) = Event.objects.all()
    assert event.type == "document.trained"
    assert event.data["document"]["source"] == "text"


@pytest.mark.django_db(transaction=True)
def test_a_change_is_trained_again(ann, bot):
    shown = create(ann, bot)
    run_jobs()
    new = {"title": "Car park", "text": "Guests park at the station for nine euros."}
    reply = ann.put(path(bot, shown["id"]), new)
    assert reply.status_code == 200
    assert (reply.json()["status"], reply.json()["text"]) == ("queued", new["text"])
    assert reply.json()["updated_at"] > shown["updated_at"]
    assert reply.json()["created_at"] == shown["created_at"]
    assert "behind the house" in found().text, "the old words stay until the new ones are trained"
    run_jobs()
    assert "at the station" in found().text
    assert found().title == "Car park"
    assert Chunk.objects.count() == 1
    changed = AuditEvent.objects.get(action="document.changed")
    assert (changed.user, changed.subject) == (ann.user, f"document:{shown['id']}")
    assert changed.changes == {"file_name": "Car park.txt"}


@pytest.mark.django_db(transaction=True)
def test_the_same_words_again_change_nothing(ann, bot):
    shown = create(ann, bot)
    run_jobs()
    before = ann.get(path(bot, shown["id"])).json()
    assert ann.put(path(bot, shown["id"]), BODY).json() == before
    assert run_jobs() == 0
    assert not AuditEvent.objects.filter(action="document.changed").exists()


@pytest.mark.django_db(transaction=True)
def test_a_change_while_it_is_trained(ann, bot):
    shown = create(ann, bot)
    new = {"title": "Parking", "text": "Guests park at the station."}
    with run_before("chatplatform.jobs.commit", lambda: ann.put(path(bot, shown["id"]), new)):
        run_jobs()
    assert [passage.text for passage in Chunk.objects.all()] == [new["text"]]
    assert Document.objects.get().status == "trained"


@pytest.mark.django_db(transaction=True)
def test_delete(ann, bot):
    shown = create(ann, bot)
    run_jobs()
    assert ann.delete(path(bot, shown["id"])).status_code == 204
    assert found() is None
    assert not Document.objects.exists()
    assert ann.delete(path(bot, shown["id"])).status_code == 404
    assert AuditEvent.objects.filter(action="document.deleted").count() == 1


@pytest.mark.django_db(transaction=True)
def test_it_is_a_document_too(ann, bot):
    shown = create(ann, bot)
    document = f"/ai/{bot.pk}/train/document"
    assert ann.get(document).json()["items"] == [], "that list is of files"
    one = ann.get(f"{document}/{shown['id']}").json()
    assert (one["source"], one["file_name"], one["mime_type"]) == (
        "text", "Parking.txt", "text/plain",
    )  # fmt: skip
    original = ann.get(f"{document}/{shown['id']}/original")
    assert b"".join(original) == BODY["text"].encode()
    assert original["Content-Disposition"] == 'attachment; filename="Parking.txt"'
    important = ann.put(f"{document}/{shown['id']}/important", {"is_important": True})
    assert important.json()["is_important"] is True
    run_jobs()
    again = ann.post(f"{document}/reupload", {"document_ids": [shown["id"]]}).json()
    assert again == {"queued": [shown["id"]], "skipped": []}


def test_the_list(ann, bot):
    first = create(ann, bot)
    second = create(ann, bot, {"title": "Pets", "text": "Dogs are welcome."})
    ann.post(f"/ai/{bot.pk}/train/question-answer", {"question": "Pets?", "answer": "Yes."})
    page = ann.get(path(bot), {"limit": 1}).json()
    assert page["items"] == [second]
    assert ann.get(path(bot), {"cursor": page["next_cursor"]}).json()["items"] == [first]
    Document.objects.filter(pk=second["id"]).update(status="trained")
    only = ann.get(path(bot), {"status": "trained"}).json()["items"]
    assert [item["id"] for item in only] == [second["id"]]


def test_a_text_twice(ann, bot):
    first = create(ann, bot)
    other = create(ann, bot, {"title": "Pets", "text": "Dogs are welcome."})
    for reply in (
        ann.post(path(bot), {**BODY, "title": "Again"}),
        ann.put(path(bot, other["id"]), BODY),
    ):
        assert (reply.status_code, reply.json()["code"]) == (409, "source_exists")
        assert reply.json()["document_id"] == first["id"]
    assert ann.get(path(bot, other["id"])).json() == other
    assert Document.objects.count() == Job.objects.count() == 2


def test_the_limit_of_a_bot(ann, bot):
    with mock.patch.dict(written_sources.LIMITS, {"text": 1}):
        create(ann, bot)
        reply = ann.post(path(bot), {"title": "Pets", "text": "Dogs are welcome."})
    assert (reply.status_code, reply.json()["code"]) == (409, "document_limit")
    assert Document.objects.count() == 1


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"title": ""}, "title"),
        ({"title": " \n"}, "title"),
        ({"title": "x" * 201}, "title"),
        ({"title": None}, "title"),
        ({"text": ""}, "text"),
        ({"title": " \x1c\x1f"}, "title"),
        ({"text": " \n-- "}, "text"),
        ({"text": "x" * 20_001}, "text"),
        ({"text": "a\x00b"}, "text"),
        ({"more": 1}, "more"),
        ({"answer": "Yes."}, "answer"),
    ],
)
def test_a_wrong_body(ann, bot, change, name):
    shown = create(ann, bot)
    for reply in (
        ann.post(path(bot), BODY | change), ann.put(path(bot, shown["id"]), BODY | change)
    ):  # fmt: skip
        assert reply.status_code == 422
        assert reply.json()["detail"][0]["loc"] == ["body", name]
    assert Document.objects.count() == Job.objects.count() == 1


def test_a_title_of_any_characters_makes_a_file_name(ann, bot):
    shown = create(ann, bot, {"title": "../a/b\n\u202etxt é", "text": "Open."})
    assert shown["title"] == "../a/b \u202etxt é"
    document = Document.objects.get()
    assert document.file_name == ".. a b txt é.txt"
    assert ann.get(f"/ai/{bot.pk}/train/document/{document.pk}/original").status_code == 200


def test_a_file_and_a_pair_are_no_texts(ann, bot):
    pair = ann.post(
        f"/ai/{bot.pk}/train/question-answer", {"question": "Pets?", "answer": "Yes."}
    ).json()
    assert ann.get(path(bot, pair["id"])).status_code == 404
    assert ann.put(path(bot, pair["id"]), BODY).status_code == 404
    assert ann.delete(path(bot, pair["id"])).status_code == 404
    assert Document.objects.get().content == "Yes."


@pytest.mark.django_db(transaction=True)
def test_the_same_text_at_once(ann, bot):
    replies = at_once(*[functools.partial(ann.post, path(bot), BODY)] * 4)
    assert sorted(reply.status_code for reply in replies) == [202, 409, 409, 409]
    assert Document.objects.count() == Job.objects.count() == 1
