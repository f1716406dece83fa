"""Every change of what a bot knows is held back until its test questions pass, whatever it is."""

from datetime import UTC, datetime, timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client as Browser
from django.urls import reverse

from bots.models import Bot, Chunk, Document
from chatplatform.models import Job
from chatplatform.testing import run_before, run_jobs
from chats.models import Message
from identity.models import AuditEvent
from identity.testing import make_key

pytestmark = pytest.mark.django_db(transaction=True)
QUESTION = "How many days does the delivery take?"
RIGHT, WRONG = "The delivery takes three days.", "The delivery takes ninety days."
PAST = (datetime.now(UTC) - timedelta(days=1)).isoformat()


def written(ann, bot, kind, body):
    made = ann.post(f"/ai/{bot.pk}/train/{kind}", body)
    assert made.status_code == 202, made.content
    return made.json()["id"]


def upload(ann, bot, text):
    files = [SimpleUploadedFile("delivery.txt", text.encode())]
    reply = ann.upload(f"/ai/{bot.pk}/train/document", files=files)
    assert reply.status_code == 202, reply.content
    return reply.json()["items"][0]["id"]


@pytest.fixture(autouse=True)
def _files(tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path


@pytest.fixture
def live(ann, bot, request):
    """The id of a document that is live, with a test question that it answers."""
    kind = getattr(request, "param", "text")
    if kind == "file":
        document_id = upload(ann, bot, RIGHT)
    elif kind == "text":
        document_id = written(ann, bot, kind, {"title": "Delivery", "text": RIGHT})
    else:
        document_id = written(ann, bot, kind, {"question": QUESTION, "answer": RIGHT})
    run_jobs()
    golden = {"question": QUESTION, "expected_words": ["three days"]}
    assert ann.post(f"/ai/{bot.pk}/golden-questions", golden).status_code == 201
    Bot.objects.filter(pk=bot.pk).update(hold_back_worse=True)
    return document_id


def asked(bot):
    server = make_key(bot.client, "secret", bot.pk)
    chat = server.post("/ai/client/chat", {}).json()["id"]
    server.post(f"/ai/client/chat/{chat}", {"text": QUESTION, "reply": "async"})
    run_jobs()
    return Message.objects.filter(conversation_id=chat).latest("seq").text


def try_it():
    """The run begins at once; it waits ten seconds for further documents."""
    run_jobs()
    Job.objects.filter(name="bots.ask_golden").update(due_at="2026-01-01T00:00:00Z")
    run_jobs()


def latest_run(ann, bot):
    return ann.get(f"/ai/{bot.pk}/golden-runs").json()["items"][0]


def shown(ann, bot, document_id):
    return ann.get(f"/ai/{bot.pk}/train/document/{document_id}").json()


def edit_answer(ann, bot, pk):
    body = {"question": QUESTION, "answer": WRONG}
    reply = ann.put(f"/ai/{bot.pk}/train/question-answer/{pk}", body)
    assert reply.status_code == 200
    held = reply.json()["held_change"]
    assert (held["content"], held["title"], held["changed"]) == (WRONG, None, [])
    assert reply.json()["answer"] == RIGHT, "what is live"


def edit_text(ann, bot, pk):
    body = {"title": "Delivery", "text": WRONG}
    assert ann.put(f"/ai/{bot.pk}/train/text/{pk}", body).status_code == 200


def replace_file(ann, bot, pk):
    site = Browser()
    site.force_login(ann.user)
    page = reverse("admin:bots_bot_document", args=[bot.pk, pk])
    file = SimpleUploadedFile("delivery2.txt", WRONG.encode())
    site.post(page, {"form": "replace", "files": file})
    assert Document.objects.get(pk=pk).draft_file


def expire(ann, bot, pk):
    reply = ann.put(f"/ai/{bot.pk}/train/document/{pk}/important", {"valid_to": PAST})
    assert (reply.status_code, reply.json()["valid_to"]) == (200, None)


def delete(ann, bot, pk):
    assert ann.delete(f"/ai/{bot.pk}/train/document/{pk}").status_code == 204


CHANGES = pytest.mark.parametrize(
    ("live", "change", "then"),
    [
        ("question-answer", edit_answer, "ninety"),
        ("text", edit_text, "ninety"),
        ("file", replace_file, "ninety"),
        ("text", expire, None),
        ("file", delete, None),
    ],
    indirect=["live"],
)


@pytest.mark.full
@CHANGES
def test_a_change_that_breaks_a_question_is_held_until_it_is_published(
    ann, bot, live, change, then
):
    change(ann, bot, live)
    try_it()
    run = latest_run(ann, bot)
    assert (run["document_ids"], run["outcome"], run["broke"]) == ([live], "held", [QUESTION])
    held = shown(ann, bot, live)
    assert (held["is_held"], held["is_answering"], held["status"]) == (True, True, "trained")
    assert held["held_change"]
    assert "three days" in asked(bot)
    assert ann.post(f"/ai/{bot.pk}/golden-runs/{run['id']}/publish").status_code == 200
    run_jobs()
    answer = asked(bot)
    assert "three days" not in answer
    assert then is None or then in answer
    left = Document.objects.filter(pk=live).first()
    assert left is None or (left.draft, left.pending_review, left.draft_file.name) == (
        None, False, "",
    )  # fmt: skip
    assert not Chunk.objects.filter(is_draft=True).exists()


@CHANGES
def test_a_held_change_is_discarded(ann, ben, bot, live, change, then):
    before = shown(ann, bot, live)
    change(ann, bot, live)
    try_it()
    run = latest_run(ann, bot)
    discard = f"/ai/{bot.pk}/golden-runs/{run['id']}/discard"
    assert ben.post(discard).status_code == 403
    assert ann.post(discard).status_code == 200
    assert AuditEvent.objects.filter(action="golden_run.discarded").count() == 1
    run_jobs()
    after = shown(ann, bot, live)
    changing = ("progress", "started_at", "trained_at")
    assert [after[name] for name in after if name not in changing] == [
        before[name] for name in before if name not in changing
    ]
    assert "three days" in asked(bot)
    assert not Chunk.objects.filter(is_draft=True).exists()
    assert ann.post(discard).json()["code"] == "not_held"


def test_a_change_that_breaks_nothing_goes_live_by_itself(ann, bot, live):
    body = {"title": "Delivery", "text": "The delivery takes three days, or one by express."}
    ann.put(f"/ai/{bot.pk}/train/text/{live}", body)
    run_jobs()
    assert "express" not in asked(bot), "not tested yet"
    try_it()
    assert latest_run(ann, bot)["outcome"] == "published"
    assert "express" in asked(bot)
    assert shown(ann, bot, live)["held_change"] is None


def test_a_document_that_is_deleted_while_its_change_is_read_has_no_other_change(ann, bot, live):
    edit_text(ann, bot, live)
    with run_before("bots.ingest.chunking.chunk", lambda: delete(ann, bot, live)):
        run_jobs()
    held = shown(ann, bot, live)
    assert (held["status"], held["stage"], held["is_answering"]) == ("trained", "complete", True)
    assert (held["held_change"]["is_deleted"], held["held_change"]["content"]) == (True, None)
    assert not Chunk.objects.filter(is_draft=True).exists()
    try_it()
    run = latest_run(ann, bot)
    assert (run["outcome"], run["broke"]) == ("held", [QUESTION])
    assert ann.post(f"/ai/{bot.pk}/golden-runs/{run['id']}/publish").status_code == 200
    assert not Document.objects.filter(pk=live).exists()


def test_what_is_live_written_again_ends_a_held_change(ann, bot, live):
    edit_text(ann, bot, live)
    try_it()
    body = {"title": "Delivery", "text": RIGHT}
    assert ann.put(f"/ai/{bot.pk}/train/text/{live}", body).json()["held_change"] is None
    assert shown(ann, bot, live)["is_held"] is False
    assert latest_run(ann, bot)["outcome"] == "overtaken"


def test_a_later_change_is_tested_instead_of_the_earlier_one(ann, bot, live):
    edit_text(ann, bot, live)
    try_it()
    first = latest_run(ann, bot)
    body = {"title": "Delivery", "text": "The delivery takes three days at most."}
    ann.put(f"/ai/{bot.pk}/train/text/{live}", body)
    try_it()
    assert latest_run(ann, bot)["outcome"] == "published"
    assert "at most" in asked(bot)
    refused = ann.post(f"/ai/{bot.pk}/golden-runs/{first['id']}/publish")
    assert refused.json()["code"] == "not_held"


def test_a_held_change_goes_live_with_the_next_one_if_the_check_is_off(ann, bot, live):
    edit_text(ann, bot, live)
    try_it()
    Bot.objects.update(hold_back_worse=False)
    later = (datetime.now(UTC) + timedelta(days=9)).isoformat()
    ann.put(f"/ai/{bot.pk}/train/document/{live}/important", {"valid_to": later})
    assert "ninety" in asked(bot)


@pytest.mark.parametrize("is_on", [False, True])
def test_a_deletion_that_is_held_back_is_not_undone_by_another_use(ann, bot, live, is_on):
    delete(ann, bot, live)
    Bot.objects.update(hold_back_worse=is_on)
    for change in ({"is_important": True}, {"valid_to": PAST}):
        reply = ann.put(f"/ai/{bot.pk}/train/document/{live}/important", change)
        assert (reply.status_code, reply.json()["code"]) == (409, "deletion_held")
    held = shown(ann, bot, live)
    assert (held["held_change"]["is_deleted"], held["is_important"]) == (True, False)


@pytest.mark.parametrize("live", ["text", "question-answer"], indirect=True)
@pytest.mark.parametrize("is_on", [False, True])
def test_a_deletion_that_is_held_back_is_not_undone_by_a_new_text(ann, bot, live, is_on):
    delete(ann, bot, live)
    Bot.objects.update(hold_back_worse=is_on)
    kind = Document.objects.get(pk=live).source.replace("_", "-")
    path = f"/ai/{bot.pk}/train/{kind}/{live}"
    body = {"title": "Delivery", "text": WRONG}
    if kind == "question-answer":
        body = {"question": QUESTION, "answer": WRONG}
    reply = ann.put(path, body)
    assert (reply.status_code, reply.json()["code"]) == (409, "deletion_held")
    assert shown(ann, bot, live)["held_change"]["is_deleted"] is True
    discarded = ann.post(f"/ai/{bot.pk}/train/document/{live}/discard").json()
    assert (discarded["held_change"], discarded["is_held"]) == (None, False)
    assert ann.put(path, body).status_code == 200


@pytest.mark.parametrize("live", ["file"], indirect=True)
def test_a_deletion_that_is_held_back_is_not_undone_by_a_new_file(ann, bot, live, tmp_path):
    delete(ann, bot, live)
    site = Browser()
    site.force_login(ann.user)
    page = reverse("admin:bots_bot_document", args=[bot.pk, live])
    before = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    file = SimpleUploadedFile("delivery2.txt", WRONG.encode())
    assert site.post(page, {"form": "replace", "files": file}).status_code == 200
    assert shown(ann, bot, live)["held_change"]["is_deleted"] is True
    assert sorted(path for path in tmp_path.rglob("*") if path.is_file()) == before


@pytest.fixture
def failed(ann, bot, live):
    """The page of a file whose new version cannot be read."""
    site = Browser()
    site.force_login(ann.user)
    page = reverse("admin:bots_bot_document", args=[bot.pk, live])
    assert "discard" not in site.get(page).context["parts"]
    site.post(page, {"form": "replace", "files": SimpleUploadedFile("dots.txt", b"--- ... ---")})
    run_jobs()
    assert shown(ann, bot, live)["status"] == "failed"
    return site, page


@pytest.mark.full
@pytest.mark.parametrize("live", ["file"], indirect=True)
def test_a_new_version_that_cannot_be_read_is_discarded_on_its_page(ann, bot, live, failed):
    site, page = failed
    assert "discard" in site.get(page).context["parts"]
    assert site.post(page, {"form": "discard"}).status_code == 302
    run_jobs()
    after = shown(ann, bot, live)
    assert (after["status"], after["held_change"], after["file_name"]) == (
        "trained", None, "delivery.txt",
    )  # fmt: skip
    assert "discard" not in site.get(page).context["parts"]
    assert "three days" in asked(bot)
    assert not Document.objects.get(pk=live).draft_file


@pytest.mark.full
@pytest.mark.parametrize("live", ["file"], indirect=True)
def test_a_new_version_that_cannot_be_read_is_discarded(ann, ben, cara, bot, live, failed):
    discard = f"/ai/{bot.pk}/train/document/{live}/discard"
    assert (ben.post(discard).status_code, cara.post(discard).status_code) == (403, 404)
    assert shown(ann, bot, live)["held_change"]["file_name"] == "dots.txt"
    assert ann.post(discard).json()["held_change"] is None
    assert AuditEvent.objects.filter(action="document.change_discarded").count() == 1
    run_jobs()
    after = shown(ann, bot, live)
    assert (after["status"], after["file_name"]) == ("trained", "delivery.txt")
    assert "three days" in asked(bot)
    again = ann.post(discard)
    assert (again.status_code, again.json()["code"]) == (409, "not_held")


@pytest.mark.full
@pytest.mark.parametrize("live", ["file"], indirect=True)
@pytest.mark.parametrize("is_on", [False, True])
def test_a_new_version_that_cannot_be_read_goes_live_with_no_other_change(
    ann, bot, live, failed, is_on
):
    Bot.objects.update(hold_back_worse=is_on)
    later = (datetime.now(UTC) + timedelta(days=9)).isoformat()
    ann.put(f"/ai/{bot.pk}/train/document/{live}/important", {"valid_to": later})
    row = shown(ann, bot, live)
    assert (row["file_name"], bool(row["valid_to"])) == ("delivery.txt", not is_on)
    assert row["held_change"]
    assert "three days" in asked(bot)


def test_the_page_shows_what_is_live_beside_the_change(ann, bot, live):
    site = Browser()
    site.force_login(ann.user)
    page = reverse("admin:bots_bot_document", args=[bot.pk, live])
    assert "data-held-change" not in site.get(page).content.decode()
    edit_text(ann, bot, live)
    try_it()
    content = site.get(page).content.decode()
    assert "data-held-change" in content
    assert RIGHT in content
    assert WRONG in content
    assert reverse("admin:bots_goldenrun_change", args=[latest_run(ann, bot)["id"]]) in content


def test_reading_the_same_text_again_is_no_change(ann, bot, live):
    ann.post(f"/ai/{bot.pk}/train/document/reupload", {"document_ids": [live]})
    run_jobs()
    assert shown(ann, bot, live)["is_held"] is False
    assert ann.get(f"/ai/{bot.pk}/golden-runs").json()["items"] == []
