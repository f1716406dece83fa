"""Reupload Files."""

from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from bots.models import Chunk, Document, WebUrl
from bots.testing import make_bot
from chatplatform.models import Job
from chatplatform.testing import run_jobs
from identity.models import Role
from identity.testing import make_person

pytestmark = pytest.mark.usefixtures("own_media")


def path(bot):
    return f"/ai/{bot.pk}/train/document/reupload"


def add(person, bot, text, name="a.txt"):
    file = SimpleUploadedFile(name, text.encode())
    document = person.upload(f"/ai/{bot.pk}/train/document", files=[file]).json()["items"][0]
    return Document.objects.get(pk=document["id"])


def ask(person, bot, *ids):
    reply = person.post(path(bot), {"document_ids": list(ids)})
    assert reply.status_code == 202
    return reply.json()


@pytest.mark.full
@pytest.mark.django_db(transaction=True)
def test_each_is_queued_or_skipped_with_a_reason(ann, bot):
    good = add(ann, bot, "Our shop opens at nine.")
    gone = add(ann, bot, "We sell green tea.")
    run_jobs()
    waiting = add(ann, bot, "Bicycles are rented by the hour.")
    Path(gone.file.path).unlink()
    elsewhere = add(ann, make_bot(ann.client), "Another bot's file.")
    url = WebUrl.objects.create(client=ann.client, bot=bot, url="https://shop.example/")
    crawled = Document.objects.create(
        client=ann.client, bot=bot, web_url=url, url=url.url, file_name="page",
        mime_type="text/html", size_bytes=1, sha256="0" * 64, status="trained",
    )  # fmt: skip
    ids = [good.pk, good.pk, gone.pk, waiting.pk, elsewhere.pk, crawled.pk, 999_999]
    assert ask(ann, bot, *ids) == {
        "queued": [good.pk],
        "skipped": [
            {"id": gone.pk, "reason": "file_missing"},
            {"id": waiting.pk, "reason": "in_training"},
            {"id": elsewhere.pk, "reason": "not_found"},
            {"id": crawled.pk, "reason": "web_page"},
            {"id": 999_999, "reason": "not_found"},
        ],
    }
    assert Document.objects.get(pk=good.pk).status == "queued"
    assert Chunk.objects.filter(document=good).exists(), "what it taught stays until then"
    run_jobs()
    assert Document.objects.get(pk=good.pk).status == "trained"
    assert Chunk.objects.filter(document=good).count() == 1


@pytest.mark.parametrize(
    "wrong", [{}, {"document_ids": []}, {"document_ids": [0]}, {"document_ids": ["x"]},
              {"document_ids": [2**63]}, {"document_ids": list(range(1, 502))},
              {"document_ids": [1], "more": 1}]
)  # fmt: skip
def test_a_wrong_body(ann, bot, wrong):
    assert ann.post(path(bot), wrong).status_code == 422
    assert not Job.objects.exists()


def test_who_may(ann, cara, bot):
    mine = add(ann, bot, "Our shop opens at nine.")
    Document.objects.update(status="failed")
    Job.objects.all().delete()
    assert cara.post(path(bot), {"document_ids": [mine.pk]}).status_code == 404
    hers = make_bot(cara.client)
    assert ask(cara, hers, mine.pk)["skipped"] == [{"id": mine.pk, "reason": "not_found"}]
    viewer = make_person(ann.client, Role.VIEWER)
    assert viewer.post(path(bot), {"document_ids": [mine.pk]}).status_code == 403
    assert not Job.objects.exists()
    assert Document.objects.get().status == "failed"
