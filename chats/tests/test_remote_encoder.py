"""An encoder of a client's or the operator's own: set, indexed, asked, down, and taken back."""

import json
import logging
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from bots.engine import remote_encoder
from bots.language import embedding
from bots.language.embedding import MODEL_ID
from bots.models import Chunk, Document, LanguageModel
from bots.services import reindexing
from bots.testing import make_bot, trained
from chatplatform.models import Job
from chatplatform.testing import run_jobs
from chats.models import Message
from chats.tests import embedding_server
from identity.models import AuditEvent, Role
from identity.testing import make_key, make_person

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not embedding.available(), reason="no sentence encoder here"),
]
DIMENSION = 400
PATH, KEY = "/ai/model?purpose=embeddings", "sk-very-secret"
TEXT = """# Delivery

Delivery takes three days and costs five euros.

# Returns

Guests get their money back within seven days after they have sent the goods.

# Opening hours

The shop is open from nine to six, and closed on Sundays.
"""
QUESTION = "Do guests get their money back?"


def vector(text):
    """A vector of the packaged encoder in a space of its own: longer, backwards, and not unit."""
    found = embedding.embed_passages([text])
    assert found is not None
    return [0.0] * (DIMENSION - embedding.DIMENSION) + (3 * found[0][::-1]).tolist()


@pytest.fixture
def encoder(settings):
    with embedding_server.running(vector) as server:
        settings.EGRESS_ALLOW = [f"127.0.0.1:{server.server_port}"]
        settings.LLM_BASE_URL = ""
        remote_encoder._failed_at.clear()
        yield server


@pytest.fixture
def body(encoder):
    return {"base_url": encoder.base_url, "model": "own-embed", "api_key": KEY}


def answer_to(bot, question=QUESTION):
    """What the bot answers; None if it hands over."""
    server = make_key(bot.client, "secret", bot.pk)
    chat = server.post("/ai/client/chat", {}).json()["id"]
    server.post(f"/ai/client/chat/{chat}", {"text": question, "reply": "async"})
    run_jobs()
    last = Message.objects.filter(conversation_id=chat).latest("seq")
    return last if (last.receipt or {}).get("decision") == "answered" else None


def models_of(bot):
    return set(Chunk.objects.filter(bot=bot).values_list("embedding_model", "dimension"))


@pytest.mark.full
def test_a_bot_is_indexed_anew_asked_and_taken_back(ann, bot, encoder, body):
    trained(bot, TEXT)
    before = answer_to(bot).text
    assert "seven days" in before
    reply = ann.put(PATH, body)
    assert reply.status_code == 200, reply.content
    shown = reply.json()
    assert (shown["purpose"], shown["indexed_percent"], shown["bot_id"]) == ("embeddings", 0, None)
    assert not encoder.requests
    assert models_of(bot) == {(MODEL_ID, 384)}
    run_jobs()
    assert ann.get("/ai/model").json()["items"][0]["indexed_percent"] == 100
    ((own_id, dimension),) = models_of(bot)
    assert own_id.startswith("own-embed@")
    assert dimension == DIMENSION
    assert set(encoder.keys) == {f"Bearer {KEY}"}
    encoder.requests.clear()
    assert "seven days" in answer_to(bot).text
    assert QUESTION in encoder.texts
    # What is trained now gets vectors of the new encoder alone.
    ann.post(f"/ai/{bot.pk}/train/text", {"title": "Pets", "text": "Dogs are welcome here."})
    run_jobs()
    assert models_of(bot) == {(own_id, dimension)}
    assert ann.delete(PATH).status_code == 204
    run_jobs()
    assert models_of(bot) == {(MODEL_ID, 384)}
    encoder.requests.clear()
    assert answer_to(bot).text == before
    assert not encoder.requests
    actions = AuditEvent.objects.filter(action__startswith="language_model")
    assert [row.changes["purpose"] for row in actions] == ["embeddings"] * 2


@pytest.mark.full
def test_the_way_back_takes_the_vectors_that_were_kept(ann, bot, encoder, body, monkeypatch):
    trained(bot, TEXT)
    kept = list(Chunk.objects.order_by("pk").values_list("vector", "sentence_vectors"))
    ann.put(PATH, body)
    run_jobs()
    assert list(Chunk.objects.order_by("pk").values_list("vector", "sentence_vectors")) != kept
    encoded: list[object] = []
    monkeypatch.setattr("bots.language.embedding.embed_passages", encoded.append)
    ann.delete(PATH)
    run_jobs()
    assert list(Chunk.objects.order_by("pk").values_list("vector", "sentence_vectors")) == kept
    assert not encoded


@pytest.mark.full
def test_answers_go_on_while_it_is_indexed_and_the_job_shows_its_progress(
    ann, bot, encoder, body, monkeypatch
):
    trained(bot, TEXT)
    monkeypatch.setattr(reindexing, "_SLICE", 1)
    ann.put(PATH, body)
    seen = []
    real = reindexing._encode_slice

    def watched(*args):
        real(*args)
        row = LanguageModel.objects.get()
        job = Job.objects.get(name="bots.reindex", state="running")
        seen.append((row.indexed_percent, job.progress, models_of(bot)))

    monkeypatch.setattr(reindexing, "_encode_slice", watched)
    run_jobs()
    total = Chunk.objects.count()
    percents = [100 - 100 * (total - n) // total for n in range(1, total + 1)]
    assert [percent for percent, _, _ in seen] == percents
    assert [progress for _, progress, _ in seen] == percents
    assert {models == {(MODEL_ID, 384)} for _, _, models in seen} == {True}


@pytest.mark.full
def test_a_server_that_is_down_loses_nothing(ann, bot, encoder, body, caplog):
    trained(bot, TEXT)
    ann.put(PATH, body)
    run_jobs()
    with caplog.at_level(logging.WARNING):
        encoder.mode = "500"
        words = answer_to(bot, "Guests get their money back?")
        assert words is not None
        assert "seven days" in words.text
        assert answer_to(bot, "Which films does the cinema show tonight?") is None
        asked = len(encoder.requests)
        assert answer_to(bot, "Will guests get their money back?") is not None
        assert len(encoder.requests) == asked, "no question waits for it soon after a failure"
        # A new document is trained, and found by its words.
        ann.post(f"/ai/{bot.pk}/train/text", {"title": "Pets", "text": "Dogs are welcome here."})
        run_jobs()
    document = Document.objects.get(title="Pets")
    assert document.status == "trained"
    assert list(document.chunks.values_list("embedding_model", flat=True)) == [""]
    assert "welcome" in answer_to(bot, "Dogs are welcome here?").text
    encoder.mode = "ok"
    remote_encoder._failed_at.clear()
    Job.objects.filter(name="bots.reindex").update(due_at="2020-01-01T00:00:00Z")
    run_jobs()
    assert len(models_of(bot)) == 1
    assert document.chunks.get().embedding_model.startswith("own-embed@")


@pytest.mark.full
def test_sentences_whose_vectors_failed_get_them_later(ann, bot, encoder, body):
    trained(bot, TEXT)
    ann.put(PATH, body)
    run_jobs()
    kept = list(Chunk.objects.order_by("pk").values_list("vector", "sentence_vectors"))
    Chunk.objects.update(sentence_vectors=b"")
    call_command("reindex", "--client", bot.client.code, stdout=StringIO())
    run_jobs()
    assert list(Chunk.objects.order_by("pk").values_list("vector", "sentence_vectors")) == kept


@pytest.mark.full
@pytest.mark.parametrize("mode", ["500", "nonsense", "short", "404"])
def test_an_encoder_that_never_worked_changes_no_answer(ann, bot, encoder, body, mode):
    trained(bot, TEXT)
    encoder.mode = mode
    ann.put(PATH, body)
    run_jobs()
    assert LanguageModel.objects.get().gate is None
    assert models_of(bot) == {(MODEL_ID, 384)}
    assert "seven days" in answer_to(bot).text
    failed = ann.post("/ai/model/test?purpose=embeddings").json()
    assert failed["is_working"] is False
    assert failed["error"]
    encoder.mode = "ok"
    works = ann.post("/ai/model/test?purpose=embeddings").json()
    assert (works["is_working"], works["answered_by"]) == (True, "own-embed")


@pytest.mark.full
def test_a_model_that_writes_and_an_encoder_stand_beside_each_other(ann, cara, bot, body):
    theirs = make_bot(cara.client)
    for item in (bot, theirs):
        trained(item, TEXT)
    ann.put(PATH, body)
    run_jobs()
    assert answer_to(bot).receipt["engine"] == "extractive"
    assert models_of(theirs) == {(MODEL_ID, 384)}
    writer = ann.put("/ai/model", body | {"model": "writes"}).json()
    assert (writer["purpose"], writer["indexed_percent"]) == ("chat", None)
    assert len(ann.get("/ai/model").json()["items"]) == 2
    assert cara.get("/ai/model").json()["items"] == []
    assert ann.delete("/ai/model").status_code == 204
    assert LanguageModel.objects.get().purpose == "embeddings"


def test_what_is_refused(ann, ben, bot, body):
    assert ann.put(f"{PATH}&bot_id={bot.pk}", body).status_code == 422
    assert ann.put(PATH, body | {"purpose": "chat"}).status_code == 422
    assert ann.put("/ai/model?purpose=other", body).status_code == 422
    assert ann.put(PATH, body | {"base_url": "http://10.0.0.7/v1"}).status_code == 422
    assert ann.post("/ai/model/test?purpose=embeddings").status_code == 404
    assert ben.put(PATH, body).status_code == 403
    trainer = make_person(ann.client, Role.AGENT, "Tom")
    assert trainer.delete(PATH).status_code == 403
    assert not LanguageModel.objects.exists()
    assert not Job.objects.filter(name="bots.reindex").exists()


def test_a_private_address_that_is_not_allowed_is_not_asked(ann, bot, settings, encoder, body):
    trained(bot, TEXT)
    ann.put(PATH, body)
    settings.EGRESS_ALLOW = []
    run_jobs()
    assert not encoder.requests
    assert models_of(bot) == {(MODEL_ID, 384)}


@pytest.mark.full
def test_in_the_site_it_is_set_shown_and_removed(ann, bot, encoder, body):
    trained(bot, TEXT)
    ann.browser.force_login(ann.user)
    form = body | {"purpose": "embeddings", "bot": "", "credits_per_1000_tokens": 1}
    path = reverse("admin:bots_languagemodel_set_model")
    ann.browser.post(path, form | {"bot": bot.pk})
    assert not LanguageModel.objects.exists()
    page = ann.browser.post(path, form, follow=True).content.decode()
    assert "own-embed works" in page
    row = LanguageModel.objects.get()
    assert (row.purpose, row.bot, row.api_key) == ("embeddings", None, KEY)
    listed = reverse("admin:bots_languagemodel_changelist")
    assert '<progress value="0" max="100"' in ann.browser.get(listed).content.decode()
    run_jobs()
    assert "<progress" not in ann.browser.get(listed).content.decode()
    edit = reverse("admin:bots_languagemodel_edit", args=[row.pk])
    changed = form | {"model": "newer", "api_key": ""}
    assert "newer works" in ann.browser.post(edit, changed, follow=True).content.decode()
    row.refresh_from_db()
    assert (row.model, row.purpose, row.gate, row.indexed_percent) == (
        "newer", "embeddings", None, 0,
    )  # fmt: skip
    remove = {"action": "remove", "_selected_action": [row.pk], "confirmed": "yes"}
    ann.browser.post(listed, remove)
    assert not LanguageModel.objects.exists()
    run_jobs()
    assert models_of(bot) == {(MODEL_ID, 384)}


@pytest.mark.full
def test_the_operators_encoder_is_fitted_by_a_command(bot, settings, encoder):
    trained(bot, TEXT)
    settings.EGRESS_ALLOW = []
    settings.EMBEDDING_BASE_URL, settings.EMBEDDING_MODEL = encoder.base_url, "shared"
    call_command("reindex", stdout=StringIO())
    run_jobs()
    assert models_of(bot) == {(MODEL_ID, 384)}, "it is not used before it is fitted"
    printed = StringIO()
    call_command("reindex", "--fit", stdout=printed)
    assert "of a company held out" in printed.getvalue()
    (line,) = [row for row in printed.getvalue().splitlines() if "EMBEDDING_GATE=" in row]
    settings.EMBEDDING_GATE = line.removeprefix("EMBEDDING_GATE=")
    assert [len(weights) for weights in json.loads(settings.EMBEDDING_GATE)] == [4, 4, 4]
    call_command("reindex", stdout=StringIO())
    run_jobs()
    ((own_id, _),) = models_of(bot)
    assert own_id.startswith("shared@")
    assert "seven days" in answer_to(bot).text
    settings.EMBEDDING_BASE_URL = ""
    call_command("reindex", "--client", bot.client.code, stdout=StringIO())
    run_jobs()
    assert models_of(bot) == {(MODEL_ID, 384)}
    with pytest.raises(CommandError):
        call_command("reindex", "--client", "nobody")
    settings.EMBEDDING_BASE_URL, encoder.mode = encoder.base_url, "503"
    with pytest.raises(CommandError, match="503"):
        call_command("reindex", "--fit")
