"""Set Important Document, and its effect on answers."""

from datetime import UTC, datetime, timedelta

import pytest

from bots.models import Bot, Document
from bots.search import answer_extraction
from bots.services import retrieval
from bots.testing import make_bot, trained
from identity.models import AuditEvent, Role
from identity.testing import make_person

OLD = "You may return damaged goods within thirty days."
NEW = "You may return damaged goods within sixty days."
QUESTION = "Within how many days may I return damaged goods?"
MORE = (
    "Green tea costs two coins a cup.", "The shop opens at nine in the morning.",
    "Bicycles are rented by the hour.", "Parking is free for customers.",
    "Gift cards are valid for a year.", "The cafe serves soup at noon.",
)  # fmt: skip
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def _no_index():
    retrieval.clear_cache()


@pytest.fixture
def documents(bot):
    old, new = trained(bot, OLD, "Old"), trained(bot, NEW, "New")
    for text in MORE:
        trained(bot, text, "More")
    return old, new


def path(document):
    return f"/ai/{document.bot_id}/train/document/{document.pk}/important"


def moment(delta):
    return (datetime.now(UTC) + delta).isoformat()


def answer(question=QUESTION):
    result = retrieval.search(Bot.objects.get(), question, language="en")
    return answer_extraction.extract(question, language="en", result=result, threshold=0.5)


def cited(question=QUESTION):
    reply = answer(question)
    return [item.document_id for item in reply.citations] if reply else []


def test_set_and_unset(ann, documents):
    _, new = documents
    before = Bot.objects.get().knowledge_version
    body = {"is_important": True, "valid_from": "2026-01-01T00:00:00Z", "valid_to": None}
    reply = ann.put(path(new), body)
    assert reply.status_code == 200
    shown = reply.json()
    assert (shown["id"], shown["is_important"]) == (new.pk, True)
    assert (shown["valid_from"], shown["valid_to"]) == ("2026-01-01T00:00:00.000Z", None)
    assert shown in ann.get(f"/ai/{new.bot_id}/train/document").json()["items"]
    assert Bot.objects.get().knowledge_version == before + 1
    assert ann.put(path(new), body).json() == shown
    assert Bot.objects.get().knowledge_version == before + 1, "nothing changed"
    kept = ann.put(path(new), {"is_important": False}).json()
    assert (kept["is_important"], kept["valid_from"]) == (False, shown["valid_from"])
    ends = {"valid_to": "2025-12-31T00:00:00Z"}
    assert ann.put(path(new), ends).json()["detail"][0]["loc"] == ["body", "valid_to"]
    actions = AuditEvent.objects.filter(action="document.importance_changed")
    assert [item.subject for item in actions] == [f"document:{new.pk}"] * 2


@pytest.mark.parametrize(
    "wrong",
    [
        {"is_important": None},
        {"is_important": True, "valid_from": "2026-01-01T00:00:00"},
        {"is_important": True, "valid_from": "tomorrow"},
        {
            "is_important": True,
            "valid_from": "2026-01-02T00:00:00Z",
            "valid_to": "2026-01-02T00:00:00Z",
        },
        {"is_important": True, "more": 1},
    ],
)
def test_a_wrong_body(ann, documents, wrong):
    before = Bot.objects.get().knowledge_version
    assert ann.put(path(documents[1]), wrong).status_code == 422
    assert not Document.objects.filter(is_important=True).exists()
    assert Bot.objects.get().knowledge_version == before


def test_who_may(ann, cara, documents):
    _, new = documents
    on = {"is_important": True}
    assert make_person(ann.client, Role.VIEWER).put(path(new), on).status_code == 403
    assert cara.put(path(new), on).status_code == 404
    other = make_bot(ann.client)
    elsewhere = f"/ai/{other.pk}/train/document/{new.pk}/important"
    assert ann.put(elsewhere, on).status_code == 404
    assert not Document.objects.filter(is_important=True).exists()
    assert ann.put(path(new), on).status_code == 200


@pytest.mark.parametrize("which", [0, 1])
def test_an_important_document_wins_over_contradicting_ones(ann, documents, which):
    assert set(cited()) == {document.pk for document in documents}, "without it both are shown"
    chosen = documents[which]
    ann.put(path(chosen), {"is_important": True})
    reply = answer()
    assert reply
    assert reply.text == (OLD, NEW)[which]
    assert cited() == [chosen.pk]


def test_an_important_document_does_not_answer_other_questions(ann, documents):
    _, new = documents
    ann.put(path(new), {"is_important": True})
    question = "What does a cup of green tea cost?"
    result = retrieval.search(Bot.objects.get(), question, language="en", limit=2)
    assert "tea" in result.hits[0].passage.text
    assert new.pk in {hit.passage.document_id for hit in result.hits}
    assert new.pk not in cited(question)
    off_topic = "Who wrote the play about the prince of Denmark?"
    result = retrieval.search(Bot.objects.get(), off_topic, language="en")
    assert new.pk in {hit.passage.document_id for hit in result.hits}
    assert (
        answer_extraction.extract(off_topic, language="en", result=result, threshold=0.77) is None
    )


@pytest.mark.parametrize("is_important", [True, False])
@pytest.mark.parametrize(
    ("begins", "ends"), [(HOUR, None), (HOUR, 2 * HOUR), (None, -HOUR), (-2 * HOUR, -HOUR)]
)
def test_outside_its_period_a_document_is_not_used(ann, documents, begins, ends, is_important):
    old, new = documents
    body = {
        "is_important": is_important,
        "valid_from": moment(begins) if begins else None,
        "valid_to": moment(ends) if ends else None,
    }
    assert ann.put(path(new), body).status_code == 200
    assert cited() == [old.pk]
    result = retrieval.search(Bot.objects.get(), QUESTION, language="en", limit=50)
    assert new.pk not in {hit.passage.document_id for hit in result.hits}


def test_a_period_ends_while_the_index_is_in_memory(ann, documents, monkeypatch):
    old, new = documents
    ann.put(
        path(new),
        {"is_important": True, "valid_from": moment(HOUR), "valid_to": moment(2 * HOUR)},
    )
    now = datetime.now(UTC)

    class Clock(datetime):
        @classmethod
        def now(cls, tz=None):
            return now

    monkeypatch.setattr(retrieval, "datetime", Clock)
    assert cited() == [old.pk]
    now += 1.5 * HOUR
    assert cited() == [new.pk]
    now += HOUR
    assert cited() == [old.pk]


def test_a_bot_whose_texts_have_all_expired_finds_nothing(ann, bot):
    only = trained(bot, NEW)
    ann.put(path(only), {"is_important": True, "valid_to": moment(-HOUR)})
    result = retrieval.search(Bot.objects.get(), QUESTION, language="en")
    assert (result.hits, result.confidence) == ((), 0)
