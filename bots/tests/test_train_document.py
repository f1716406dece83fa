"""Training of uploaded files, and what the bot finds afterwards."""

import io
import threading
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest import mock

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection

from bots.models import Bot, Chunk, Document
from bots.services import documents, retrieval, stored_passages, training
from chatplatform.jobs import relay
from chatplatform.models import Job
from chatplatform.testing import run_before, run_jobs
from webhooks.models import Event

TEXT = (
    b"OPENING HOURS\n\nOur shop opens at nine o'clock and closes at six o'clock every day.\n\n"
    b"RETURNS\n\nYou may return damaged goods within thirty days and get your money back.\n"
)

# Claims and leases compare with the database's clock, which stands still in one transaction.
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _own_media(tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path
    retrieval.clear_cache()


def send(person, bot, data=TEXT, name="shop.txt"):
    reply = person.upload(f"/ai/{bot.pk}/train/document", files=[SimpleUploadedFile(name, data)])
    assert reply.status_code == 202
    return Document.objects.get(pk=reply.json()["items"][0]["id"])


def list_documents(person, bot):
    return person.get(f"/ai/{bot.pk}/train/document").json()["items"]


def events():
    return list(Event.objects.values_list("type", flat=True))


def test_it_works(ann, bot):
    document = send(ann, bot)
    run_jobs()
    (shown,) = list_documents(ann, bot)
    assert (shown["status"], shown["progress"], shown["error"]) == ("trained", 100, None)
    assert shown["language"] == "en"
    assert shown["chunk_count"] == Chunk.objects.filter(document=document).count() == 2
    assert shown["trained_at"].endswith("Z")
    assert events() == ["document.trained"]
    event = Event.objects.get()
    assert event.client_id == ann.client.pk
    assert event.data == {"bot_id": bot.pk, "document": shown}
    assert Bot.objects.get().knowledge_version == 4
    assert ann.get(f"/ai/bot/{bot.pk}").json()["file_setup"] is True


def test_the_bot_finds_it(ann, bot):
    document = send(ann, bot)
    run_jobs()
    result = retrieval.search(
        Bot.objects.get(), "Can I return damaged goods?", language="en", limit=1
    )
    (hit,) = result.hits
    assert "thirty days" in hit.passage.text
    assert hit.passage.document_id == document.pk
    assert hit.passage.title == "shop"
    assert len(hit.passage.sentence_vectors) == len(hit.passage.sentences)


def test_a_bot_without_documents_finds_nothing(bot):
    assert retrieval.search(bot, "Anything?", language="en").hits == ()


def test_a_bot_finds_only_its_own(ann, cara, bot):
    other = Bot.objects.get(pk=cara.post("/ai/bot", {"bot_name": "Hers"}).json()["id"])
    send(ann, bot)
    run_jobs()
    assert retrieval.search(other, "When do you open?", language="en").hits == ()


@pytest.mark.full
def test_new_knowledge_is_found_at_once(ann, bot):
    send(ann, bot)
    run_jobs()
    retrieval.search(Bot.objects.get(), "Do you sell tea?", language="en")
    send(ann, bot, b"We sell green tea and black tea in our shop.", "tea.txt")
    run_jobs()
    result = retrieval.search(Bot.objects.get(), "Do you sell tea?", language="en", limit=1)
    assert "green tea" in result.hits[0].passage.text


def test_vectors_of_another_model_are_ignored(ann, bot):
    send(ann, bot)
    run_jobs()
    Chunk.objects.update(embedding_model="other/model")
    result = retrieval.search(Bot.objects.get(), "Return damaged goods?", language="en", limit=1)
    assert result.vector is None
    assert "thirty days" in result.hits[0].passage.text


def test_two_questions_at_once_build_one_index(ann, bot):
    send(ann, bot)
    run_jobs()
    row = Bot.objects.get()

    def ask():
        try:
            retrieval.search(row, "Hours?", language="en")
        finally:
            connection.close()

    with mock.patch("bots.services.stored_passages.load", wraps=stored_passages.load) as load:
        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert load.call_count == 1


def test_the_memory_of_indexes_is_bounded(ann, bot):
    others = [Bot.objects.create(client=ann.client, bot_name=f"B{n}") for n in range(3)]
    with mock.patch("bots.services.retrieval.MAX_BOTS", 2):
        for other in others:
            retrieval.search(other, "Hello?", language="en")
        assert len(retrieval._cache._entries) == 2
        assert others[0].pk not in retrieval._cache._entries
    assert retrieval._cache._building == {}


def test_without_an_encoder_words_are_searched(ann, bot):
    with mock.patch("bots.language.embedding._encoder", return_value=None):
        send(ann, bot)
        run_jobs()
        result = retrieval.search(
            Bot.objects.get(), "Return damaged goods?", language="en", limit=1
        )
    assert "thirty days" in result.hits[0].passage.text
    assert set(Chunk.objects.values_list("embedding_model", "dimension")) == {("", 0)}


@pytest.mark.full
def test_training_again_replaces(ann, bot):
    document = send(ann, bot)
    run_jobs()
    before = set(Chunk.objects.values_list("pk", flat=True))
    assert documents.retrain(Document.objects.get()) is True
    assert documents.retrain(Document.objects.get()) is False
    run_jobs()
    after = set(Chunk.objects.filter(document=document).values_list("pk", flat=True))
    assert len(after) == 2
    assert not before & after
    assert events() == ["document.trained"] * 2


def test_a_second_run_changes_nothing(ann, bot):
    document = send(ann, bot)
    run_jobs()
    training.train(document.pk)
    assert events() == ["document.trained"]
    assert Bot.objects.get().knowledge_version == 4


def kill_worker(document):
    """The worker dies while it trains: the row stays as it was, and the lease expires."""
    with (
        mock.patch("chatplatform.jobs.commit", side_effect=SystemExit),
        pytest.raises(SystemExit),
    ):
        run_jobs()
    assert Document.objects.get(pk=document.pk).status == "training"
    Job.objects.filter(state="running").update(lease_until=datetime.now(UTC) - timedelta(seconds=1))
    assert relay.sweep() == 1


def test_a_killed_run_is_tried_again(ann, bot):
    document = send(ann, bot)
    kill_worker(document)
    assert not events()
    assert not Chunk.objects.exists()
    run_jobs()
    assert Document.objects.get().status == "trained"
    assert events() == ["document.trained"]
    assert Job.objects.get().attempts == 2


def test_progress_never_goes_back(ann, bot):
    document = send(ann, bot)
    Document.objects.update(status="training", progress=60)
    seen = []
    with run_before(
        "bots.language.embedding.embed_passages",
        lambda: seen.append(Document.objects.get().progress),
    ):
        training.train(document.pk)
    assert seen[0] >= 60, "a new run does not start at 0"
    assert Document.objects.get().progress == 100


@pytest.mark.full
def test_a_document_that_kills_every_worker_is_shown_as_failed(ann, bot):
    document = send(ann, bot)
    for _ in range(3):
        kill_worker(document)
    assert run_jobs() == 0
    (shown,) = list_documents(ann, bot)
    assert (shown["status"], shown["error"]["code"]) == ("failed", "interrupted")
    assert events() == ["document.failed"]
    assert Job.objects.get().state == "dead"


def test_a_run_without_its_lease_stores_nothing(ann, bot):
    send(ann, bot)

    def take_away():
        Job.objects.update(state="queued", lease_token=None, due_at="2100-01-01T00:00Z")

    with run_before("chatplatform.jobs.commit", take_away):
        run_jobs()
    assert Document.objects.get().status == "training"
    assert not Chunk.objects.exists()
    assert not events()


def bomb():
    """A small DOCX that unpacks to far too much."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", b" " * 30_000_000)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "name", "code"),
    [
        (bomb(), "bomb.docx", "too_large"),
        (b"%PDF-1.4 and then nothing", "broken.pdf", "malformed"),
        (b"--- ... ---", "dots.txt", "empty"),
    ],
)
def test_a_bad_file_is_shown_as_failed(ann, bot, data, name, code):
    send(ann, bot, data, name)
    run_jobs()
    (shown,) = list_documents(ann, bot)
    assert (shown["status"], shown["error"]["code"]) == ("failed", code)
    assert shown["error"]["message"]
    assert events() == ["document.failed"]
    assert Job.objects.get().state == "done"
    assert Job.objects.get().attempts == 1
    assert not Chunk.objects.exists()
    assert Bot.objects.get().knowledge_version == 1


def test_a_run_that_fails_leaves_a_document_queued_again_alone(ann, bot):
    """A crawl may replace the bytes of a page while its old ones are trained."""
    document = send(ann, bot, b"--- ... ---", "dots.txt")

    def queue_again():
        Document.objects.filter(pk=document.pk).update(status="queued", progress=0)

    with run_before("bots.services.training.fail", queue_again):
        training.train(document.pk)
    document.refresh_from_db()
    assert (document.status, document.error_code, document.error_message) == ("queued", "", "")
    assert not events()


@pytest.mark.full
def test_the_next_file_after_a_bad_one(ann, bot):
    send(ann, bot, bomb(), "bomb.docx")
    send(ann, bot)
    run_jobs()
    assert [item["status"] for item in list_documents(ann, bot)] == ["trained", "failed"]


def test_a_file_that_is_no_longer_there(ann, bot):
    document = send(ann, bot)
    Path(document.file.path).unlink()
    run_jobs()
    assert list_documents(ann, bot)[0]["error"]["code"] == "file_missing"


def test_a_document_deleted_before_its_training(ann, bot):
    document = send(ann, bot)
    assert ann.delete(f"/ai/{bot.pk}/train/document/{document.pk}").status_code == 204
    run_jobs()
    assert Job.objects.get(name="bots.train_document").state == "done"
    assert not events()


def test_a_document_deleted_while_it_is_trained(ann, bot):
    document = send(ann, bot)

    def delete():
        ann.delete(f"/ai/{bot.pk}/train/document/{document.pk}")

    with run_before("chatplatform.jobs.commit", delete):
        run_jobs()
    assert Job.objects.get(name="bots.train_document").state == "done"
    assert not Chunk.objects.exists()
    assert not events()


@pytest.mark.full
@pytest.mark.parametrize("is_trained", [False, True])
def test_an_upload_replaces_a_lost_file(ann, bot, is_trained):
    document = send(ann, bot)
    if is_trained:
        run_jobs()
    Path(document.file.path).unlink()
    run_jobs()
    ann.post(f"/ai/{bot.pk}/train/document/reupload", {"document_ids": [document.pk]})
    assert send(ann, bot).pk == document.pk
    run_jobs()
    (shown,) = list_documents(ann, bot)
    assert (shown["status"], shown["error"]) == ("trained", None)
    again = ann.post(f"/ai/{bot.pk}/train/document/reupload", {"document_ids": [document.pk]})
    assert again.json() == {"queued": [document.pk], "skipped": []}
