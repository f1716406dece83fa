"""Training in stages: words at once, then the vectors of passages, then those of sentences."""

from datetime import UTC, datetime, timedelta
from unittest import mock

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client as Browser
from django.urls import reverse

from bots.language import embedding
from bots.models import Bot, Chunk, Document
from bots.services import document_embedding, documents, retrieval
from bots.testing import make_bot
from chatplatform import jobs
from chatplatform.jobs import fair_share, leases, relay
from chatplatform.models import Job
from chatplatform.testing import run_before, run_jobs
from webhooks.models import Event

SECTIONS = {
    "OPENING HOURS": "Our shop opens at nine o'clock and closes at six o'clock every day.",
    "RETURNS": "You may return damaged goods within thirty days and get your money back.",
    "PARKING": "Guests park behind the house. Lorries must stay on the street.",
    "BREAKFAST": "Breakfast costs twelve euros and is served until half past ten.",
}
TEXT = "\n\n".join(f"{head}\n\n{text}" for head, text in SECTIONS.items()).encode()

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _long(tmp_path, settings, monkeypatch):
    """Own files; and four passages are a long document already, stored one by one."""
    settings.MEDIA_ROOT = tmp_path
    retrieval.clear_cache()
    monkeypatch.setattr(document_embedding, "SHORT_PASSAGES", 2)
    monkeypatch.setattr(document_embedding, "SLICE_PASSAGES", 1)


def send(person, bot, data=TEXT, name="shop.txt"):
    reply = person.upload(f"/ai/{bot.pk}/train/document", files=[SimpleUploadedFile(name, data)])
    assert reply.status_code == 202
    return reply.json()["items"][0]["id"]


def shown(person, bot, document_id):
    return person.get(f"/ai/{bot.pk}/train/document/{document_id}").json()


def counts(document_id):
    """Passages with a vector, and those whose sentences have theirs."""
    rows = Chunk.objects.filter(document_id=document_id)
    return rows.exclude(vector=b"").count(), rows.exclude(sentence_vectors=b"").count()


def find(bot, question):
    return retrieval.search(Bot.objects.get(pk=bot.pk), question, language="en")


def encoded_texts():
    """Counts what is encoded meanwhile."""
    return mock.patch(
        "bots.language.embedding.embed_passages",
        side_effect=embedding.embed_passages,
    )


def test_it_answers_by_words_as_soon_as_it_is_read(ann, bot):
    document = send(ann, bot)
    waiting = shown(ann, bot, document)
    assert (waiting["stage"], waiting["is_answering"], waiting["started_at"]) == (
        "waiting", False, None,
    )  # fmt: skip
    assert run_jobs(1) == 1
    read = shown(ann, bot, document)
    assert (read["status"], read["stage"], read["is_answering"]) == ("training", "passages", True)
    assert read["started_at"]
    assert read["trained_at"] is None
    assert counts(document) == (0, 0)
    found = find(bot, "Can I return damaged goods?")
    assert "thirty days" in found.hits[0].passage.text
    assert found.confidence > 0.77
    assert find(bot, "Who won the football game?").confidence < 0.77
    assert not Event.objects.exists()


@pytest.mark.full
def test_it_is_trained_when_all_stages_are_done(ann, bot):
    document = send(ann, bot)
    seen = []

    def note(*args, **kwargs):
        row = shown(ann, bot, document)
        seen.append((row["stage"], row["progress"]))
        return store(*args, **kwargs)

    store = document_embedding._store
    with mock.patch("bots.services.document_embedding._store", note):
        run_jobs()
    assert list(dict.fromkeys(stage for stage, _ in seen)) == ["passages", "sentences"]
    assert [percent for _, percent in seen] == sorted(percent for _, percent in seen)
    row = shown(ann, bot, document)
    assert (row["status"], row["stage"], row["progress"]) == ("trained", "complete", 100)
    assert counts(document) == (4, 4)
    assert [event.type for event in Event.objects.all()] == ["document.trained"]
    assert find(bot, "When may I bring back what is broken?").vector is not None


@pytest.mark.full
@pytest.mark.parametrize("stage", ["passages", "sentences"])
def test_a_worker_killed_while_it_encodes_loses_a_slice_at_most(ann, bot, stage):
    document = send(ann, bot)
    real = document_embedding._store

    def killed(row, at, *made, **how):
        if at == stage and counts(row.pk)[stage == "sentences"] == 2:
            raise SystemExit
        return real(row, at, *made, **how)

    with mock.patch("bots.services.document_embedding._store", killed), pytest.raises(SystemExit):
        run_jobs()
    assert shown(ann, bot, document)["is_answering"]
    Job.objects.filter(state="running").update(lease_until=datetime.now(UTC) - timedelta(seconds=1))
    assert relay.sweep() == 1
    with encoded_texts() as encode:
        run_jobs()
    left = 2 + 4 if stage == "passages" else 2
    assert encode.call_count == left
    assert counts(document) == (4, 4)
    assert Chunk.objects.count() == 4
    assert [event.type for event in Event.objects.all()] == ["document.trained"]


def test_a_document_whose_encoding_kills_every_worker_is_shown_as_failed(ann, bot):
    document = send(ann, bot)
    run_jobs(1)
    Job.objects.filter(name="bots.encode_document", args__end=1).delete()
    for _ in range(3):
        with (
            mock.patch("bots.services.document_embedding._store", side_effect=SystemExit),
            pytest.raises(SystemExit),
        ):
            run_jobs()
        Job.objects.filter(state="running").update(lease_until="2020-01-01T00:00Z")
        assert relay.sweep() == 1
    row = shown(ann, bot, document)
    assert (row["status"], row["error"]["code"]) == ("failed", "interrupted")
    assert row["is_answering"], "its words are known all the same"


@pytest.mark.full
def test_what_did_not_change_is_not_encoded_again(ann, cara, bot):
    document = send(ann, bot)
    run_jobs()
    with encoded_texts() as encode:
        documents.retrain(Document.objects.get())
        other = make_bot(ann.client)
        copy = send(ann, other)
        run_jobs()
        assert encode.call_count == 0
        assert counts(document) == counts(copy) == (4, 4)
        changed = TEXT.replace(b"twelve", b"fourteen")
        send(ann, bot, changed, "new.txt")
        run_jobs()
        assert encode.call_count == 2, "one passage, and its sentences"
        strange = send(cara, make_bot(cara.client))
        run_jobs()
        assert encode.call_count == 2 + 8, "another client's passages are not looked at"
    assert counts(strange) == (4, 4)


@pytest.mark.full
def test_vectors_of_another_model_are_made_anew(ann, bot):
    document = send(ann, bot)
    run_jobs()
    Chunk.objects.update(embedding_model="an older one")
    documents.retrain(Document.objects.get())
    run_jobs()
    rows = Chunk.objects.filter(document_id=document).values_list("embedding_model", flat=True)
    assert set(rows) == {embedding.MODEL_ID}


def test_passages_replaced_while_they_are_encoded_keep_no_old_vectors(ann, bot):
    document = send(ann, bot)
    run_jobs(1)

    def replaced():
        Chunk.objects.filter(document_id=document).delete()
        Document.objects.update(status="queued", stage="waiting")

    with run_before("bots.language.embedding.embed_passages", replaced):
        run_jobs(1)
    assert not Chunk.objects.exists()
    assert Document.objects.get().stage == "waiting"
    assert not Event.objects.exists()


def test_a_worker_without_an_encoder_leaves_the_words(ann, bot):
    document = send(ann, bot)
    run_jobs(1)
    with mock.patch("bots.language.embedding.available", return_value=False):
        run_jobs()
    row = shown(ann, bot, document)
    assert (row["status"], row["stage"]) == ("trained", "complete")
    assert counts(document) == (0, 0)
    assert find(bot, "Can I return damaged goods?").confidence > 0.77


@pytest.mark.full
def test_a_long_table_is_found_by_words_and_not_encoded(ann, bot, monkeypatch):
    monkeypatch.setattr(document_embedding, "MAX_ENCODED_ROWS", 2)
    rows = ["Article,Price", "Garden table,49 euros", "Office lamp,12 euros", "Bath rug,9 euros"]
    with encoded_texts() as encode:
        document = send(ann, bot, "\n".join(rows).encode(), "prices.csv")
        assert run_jobs(1) == 1
        row = shown(ann, bot, document)
        assert (row["status"], row["stage"], row["progress"]) == ("trained", "complete", 100)
        assert row["is_answering"]
        assert encode.call_count == 0
        found = find(bot, "How much is the garden table?")
        assert "49 euros" in found.hits[0].passage.text
        assert found.confidence > 0.77
        assert find(bot, "Who won the football game?").confidence < 0.77
        send(ann, bot, "\n".join(rows[:3]).encode(), "few.csv")
        run_jobs()
        assert encode.call_count > 0, "a short one is encoded"
    assert [event.type for event in Event.objects.all()] == ["document.trained"] * 2


def queued():
    """Document and end of the jobs that wait, in the order in which they get their turns."""
    order: list[int] = []
    while True:
        before = set(Job.objects.filter(state="done").values_list("pk", flat=True))
        job = Job.objects.filter(state="queued", name="bots.train_document").first()
        if job is None or not fair_share.run_next(job.pk):
            return order
        ran = Job.objects.filter(state="done").exclude(pk__in=before).get()
        order.append(ran.args["document_id"])


def test_clients_take_turns_and_small_files_go_first(ann, cara, bot):
    large, small = (send(ann, bot, TEXT * times, f"{times}.txt") for times in (3, 1))
    middle = send(ann, bot, TEXT * 2, "2.txt")
    leaflet = send(cara, make_bot(cara.client))
    with mock.patch("bots.services.training.train"):
        assert queued() == [small, leaflet, middle, large]
        assert fair_share.run_next(Job.objects.latest("pk").pk) is False


@pytest.mark.full
def test_a_long_document_lets_others_have_their_turn(ann, cara, bot):
    send(ann, bot)
    run_jobs(1)
    assert Job.objects.filter(name="bots.encode_document", state="queued").count() == 2
    leaflet = send(cara, make_bot(cara.client))
    leases.run(Job.objects.get(name="bots.encode_document", args__end=0).pk)
    assert sum(counts(Document.objects.get(bot=bot).pk)) == 1, "one slice"
    waiting = Job.objects.filter(name="bots.encode_document", state="queued")
    assert waiting.count() == 2, "it goes on in a job of its own"
    assert fair_share.run_next(waiting[0].pk)
    assert Document.objects.get(pk=leaflet).stage == "passages"
    run_jobs()
    assert set(Document.objects.values_list("status", flat=True)) == {"trained"}


def test_a_job_alone_goes_on(ann, bot):
    send(ann, bot)
    run_jobs(1)
    assert not jobs.should_yield(jobs.Queue.TRAIN, client_id=ann.client.pk, priority=1)
    leases.run(Job.objects.get(name="bots.encode_document", args__end=0).pk)
    assert counts(Document.objects.get().pk) == (4, 0)
    assert Document.objects.get().stage == "sentences"


def test_a_document_held_back_answers_only_after_its_run(ann, bot):
    Bot.objects.update(hold_back_worse=True)
    path = f"/ai/{bot.pk}/golden-questions"
    assert ann.post(path, {"question": "When?", "expected_words": ["six"]}).status_code == 201
    document = send(ann, bot)
    run_jobs(1)
    row = shown(ann, bot, document)
    assert (row["stage"], row["is_held"], row["is_answering"]) == ("passages", True, False)
    assert not find(bot, "Can I return damaged goods?").hits


def test_the_site_says_the_stage_and_that_a_document_takes_long(ann, bot):
    send(ann, bot)
    run_jobs(1)
    browser, page = Browser(), reverse("admin:bots_bot_content", args=[bot.pk])
    browser.force_login(ann.user)
    short = browser.get(page).content.decode()
    assert "in use, search is still improving" in short
    assert "long document" not in short
    Document.objects.update(started_at=datetime.now(UTC) - timedelta(minutes=7))
    assert "long document, 7 minutes so far" in browser.get(page).content.decode()
