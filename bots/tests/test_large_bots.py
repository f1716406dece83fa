"""Large bots: their passages are found by indexes of the database, and answer as others' do."""

from datetime import UTC, datetime, timedelta
from unittest import mock

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection

from bots.models import Bot, Chunk, Document
from bots.services import document_embedding, large_bots, retrieval, stored_passages
from bots.tasks import backfill_large_bots
from chatplatform.models import Job, JobState
from chatplatform.testing import run_jobs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.full]
QUESTION = "Can I return damaged goods?"
TEXTS = {
    "returns.txt": b"RETURNS\n\nYou may return damaged goods within thirty days.",
    "hours.txt": b"OPENING HOURS\n\nOur shop opens at nine o'clock and closes at six o'clock.",
    "tea.txt": b"TEA\n\nWe sell green tea and black tea. Ask for the Quokkaroo blend.",
    "vi.txt": "GIAO HÀNG\n\nChúng tôi giao hàng trong vòng hai ngày làm việc.".encode(),
}


@pytest.fixture(autouse=True)
def _small_is_large(tmp_path, settings):
    settings.MEDIA_ROOT, settings.LARGE_BOT_PASSAGES = tmp_path, 1
    retrieval.clear_cache()


def teach(person, bot, texts):
    files = [SimpleUploadedFile(name, data) for name, data in texts.items()]
    assert person.upload(f"/ai/{bot.pk}/train/document", files=files).status_code == 202
    run_jobs()


@pytest.fixture
def taught(ann, bot):
    """A bot whose passages are never read as a whole."""
    teach(ann, bot, TEXTS)
    with mock.patch(
        "bots.services.stored_passages.load", side_effect=AssertionError("all were read")
    ):
        yield bot


def found(bot, question, language="en"):
    return retrieval.search(Bot.objects.get(pk=bot.pk), question, language=language)


def ids():
    with connection.cursor() as cursor:
        cursor.execute("SELECT chunk_id FROM bots_passage ORDER BY 1")
        return [pk for (pk,) in cursor.fetchall()]


def test_it_answers_as_a_small_bot_does(taught, settings):
    asked = [
        (QUESTION, "en", "thirty days"),
        ("When do you open?", "en", "nine o'clock"),
        ("Do you have Quokkaroo?", "en", "Quokkaroo"),
        ("Bao lâu thì giao hàng?", "vi", "hai ngày"),
        ("bao lau thi giao hang", "vi", "hai ngày"),
        ("Can I retrun damgaed goods?", "en", "thirty days"),
    ]
    large = [found(taught, question, language) for question, language, _ in asked]
    settings.LARGE_BOT_PASSAGES = 1_000
    retrieval.clear_cache()
    with mock.patch.object(stored_passages, "load", wraps=large_load):
        small = [found(taught, question, language) for question, language, _ in asked]
    for (question, _, text), a, b in zip(asked, large, small, strict=True):
        assert text in a.hits[0].passage.text, question
        assert [hit.passage.id for hit in a.hits] == [hit.passage.id for hit in b.hits], question
        assert a.confidence == pytest.approx(b.confidence, abs=0.01), question


large_load = stored_passages.load


def test_the_best_passage_is_a_candidate(taught, monkeypatch):
    for counts, question, language, text in [
        ({"_MAX_NEAREST": 1}, QUESTION, "en", "thirty days"),
        ({"_MAX_NEAREST": 1}, "Bao lâu thì giao hàng?", "vi", "hai ngày"),
        ({"_MAX_BY_WORDS": 1}, "Do you have Quokkaroo?", "en", "Quokkaroo"),
        ({"_MAX_BY_WORDS": 1}, "bao lau thi giao hang", "vi", "hai ngày"),
    ]:
        for name in (
            "_MAX_NEAREST",
            "_MAX_BY_WORDS",
            "_MAX_IMPORTANT",
            "_SAMPLE_SIZE",
            "_WITH_NEIGHBORS",
        ):
            monkeypatch.setattr(large_bots, name, counts.get(name, 0))
        hits = large_bots.LargeIndex(taught.pk).search(question, language=language).hits
        assert text in hits[0].passage.text, question
        assert len(hits) <= 2, "the rest was no candidate"


def test_a_half_filled_bot_is_searched_in_memory_and_filled(taught):
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM bots_passage WHERE chunk_id = %s", [ids()[0]])
    retrieval.clear_cache()
    with mock.patch.object(stored_passages, "load", wraps=large_load) as load:
        assert "thirty days" in found(taught, QUESTION).hits[0].passage.text
    assert load.call_count == 1
    backfill_large_bots()
    run_jobs()
    assert len(ids()) == Chunk.objects.count()


def test_a_customer_is_answered_from_it(taught, server):
    chat = server.post("/ai/client/chat", {"bot_id": taught.pk}).json()["id"]
    server.post(f"/ai/client/chat/{chat}", {"text": QUESTION, "reply": "async"})
    run_jobs()
    items = server.get(f"/ai/client/chat/history/{chat}").json()["items"]
    assert "thirty days" in str(items[-1]["content"])
    assert items[-1]["sender"]["type"] == "bot"


def test_a_deleted_document_is_forgotten(ann, taught):
    document = Document.objects.get(file_name="returns.txt")
    gone = set(Chunk.objects.filter(document=document).values_list("pk", flat=True))
    assert gone < set(ids())
    assert ann.delete(f"/ai/{taught.pk}/train/document/{document.pk}").status_code == 204
    assert ids() == list(Chunk.objects.order_by("pk").values_list("pk", flat=True))
    texts = [hit.passage.text for hit in found(taught, QUESTION).hits]
    assert texts
    assert not any("thirty days" in text for text in texts)


def test_what_it_learns_later_is_found(ann, taught):
    assert "bicycle" not in str(found(taught, "May I rent a bicycle?").hits[0].passage.text)
    teach(ann, taught, {"bikes.txt": b"BICYCLES\n\nYou may rent a bicycle for nine euros a day."})
    assert "nine euros" in found(taught, "May I rent a bicycle?").hits[0].passage.text


@pytest.mark.parametrize(
    "hidden",
    [{"pending_review": True}, {"valid_to": datetime.now(UTC) - timedelta(days=1)},
     {"valid_from": datetime.now(UTC) + timedelta(days=1)}],
)  # fmt: skip
def test_what_does_not_count_now_is_not_found(taught, hidden):
    document = Document.objects.get(file_name="returns.txt")
    Document.objects.filter(pk=document.pk).update(**hidden)
    retrieval.clear_cache()
    assert all(hit.passage.document_id != document.pk for hit in found(taught, QUESTION).hits)
    with_it = retrieval.index_with(Bot.objects.get(pk=taught.pk), [document.pk])
    seen = with_it.search(QUESTION, language="en").hits[0].passage.document_id
    assert (seen == document.pk) is ("pending_review" in hidden)


def test_other_bots_passages_are_not_found(ann, cara, taught):
    other = Bot.objects.get(pk=cara.post("/ai/bot", {"bot_name": "Hers"}).json()["id"])
    teach(cara, other, {"a.txt": b"GOODS\n\nDamaged goods are never taken back.",
                        "b.txt": b"HOURS\n\nWe are always closed."})  # fmt: skip
    assert len(ids()) == Chunk.objects.count()
    assert {hit.passage.document_id for hit in found(other, QUESTION).hits} == set(
        Document.objects.filter(bot=other).values_list("pk", flat=True)
    )
    own = set(Document.objects.filter(bot=taught).values_list("pk", flat=True))
    assert {hit.passage.document_id for hit in found(taught, QUESTION).hits} <= own


def test_until_it_is_backfilled_it_is_searched_in_memory(taught):
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM bots_passage")
    retrieval.clear_cache()
    with mock.patch.object(stored_passages, "load", wraps=large_load) as load:
        assert "thirty days" in found(taught, QUESTION).hits[0].passage.text
    assert load.call_count == 1
    large_bots.backfill(taught.pk)
    assert "thirty days" in found(taught, QUESTION).hits[0].passage.text
    assert len(ids()) == Chunk.objects.count()


def test_missing_passages_are_backfilled(ann, taught, settings):
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM bots_passage")
    settings.LARGE_BOT_PASSAGES = 1_000
    backfill_large_bots()
    run_jobs()
    assert ids() == [], "it is small"
    settings.LARGE_BOT_PASSAGES = 1
    backfill_large_bots()
    run_jobs()
    assert len(ids()) == Chunk.objects.count()
    backfill_large_bots()
    assert not Job.objects.filter(name="bots.backfill_search_table", state=JobState.QUEUED).exists()


def test_rows_of_a_long_table_are_found_by_their_words(ann, taught, monkeypatch):
    monkeypatch.setattr(document_embedding, "MAX_ENCODED_ROWS", 1)
    teach(ann, taught, {"prices.csv": b"Article,Price\nQuastel lamp,12 euros\nRug,9 euros\n"})
    assert Chunk.objects.filter(vector=b"").count() == 2
    assert len(ids()) == Chunk.objects.count()
    hit = found(taught, "What does the Quastel lamp cost?").hits[0]
    assert "12 euros" in hit.passage.text
    assert "thirty days" in found(taught, QUESTION).hits[0].passage.text


def test_a_long_run_goes_on_in_another_job(taught, monkeypatch):
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM bots_passage")
    monkeypatch.setattr(large_bots, "_RUN_SECONDS", -1)
    large_bots.backfill(taught.pk)
    assert ids() == []
    queued = Job.objects.filter(name="bots.backfill_search_table", state=JobState.QUEUED)
    assert [job.args for job in queued] == [{"bot_id": taught.pk}]


@pytest.mark.django_db(transaction=False)
def test_without_the_extension_every_bot_is_searched_in_memory(ann, bot):
    with connection.cursor() as cursor:
        cursor.execute(
            "DROP TRIGGER delete_passages ON bots_chunk; DROP TABLE bots_passage;"
            " DROP FUNCTION bots_delete_passages; DROP EXTENSION vector"
        )
    teach(ann, bot, TEXTS)
    assert not Job.objects.filter(name="bots.backfill_search_table").exists()
    assert "thirty days" in found(bot, QUESTION).hits[0].passage.text
