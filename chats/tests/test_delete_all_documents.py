"""Delete All Documents."""

from pathlib import Path

import pytest
from django.core.files.base import ContentFile

from bots.models import Bot, Chunk, Document, WebPage, WebUrl
from bots.testing import make_bot, trained
from chatplatform.models import Job
from chatplatform.testing import run_jobs
from identity.models import AuditEvent
from identity.testing import make_key

pytestmark = pytest.mark.usefixtures("own_media")

PATH = "/ai/client/documents"


@pytest.mark.django_db(transaction=True)
def test_all_documents_of_the_keys_bot_are_deleted(ann, server, bot):
    first, second = trained(bot, "Our shop opens at nine."), trained(bot, "We sell green tea.")
    first.file.save("x", ContentFile(b"Our shop opens at nine."))
    file = Path(first.file.path)
    Document.objects.filter(pk=second.pk).update(status="queued")
    url = WebUrl.objects.create(
        client=ann.client, bot=bot, url="https://shop.example/", page_count=1
    )
    Document.objects.filter(pk=second.pk).update(web_url=url)
    WebPage.objects.create(
        client=ann.client, web_url=url, document=second, url=url.url, status="trained",
        etag="x", fetched_at="2026-01-01T00:00:00Z",
    )  # fmt: skip
    kept = trained(make_bot(ann.client), "Another bot's text.")
    before = Bot.objects.get(pk=bot.pk).knowledge_version
    reply = server.delete(PATH)
    assert (reply.status_code, reply.json()) == (200, {"deleted": 2})
    assert list(Document.objects.all()) == [kept]
    assert Chunk.objects.filter(bot=bot).count() == 0
    assert Bot.objects.get(pk=bot.pk).knowledge_version == before + 1
    assert not WebPage.objects.exists(), "a later crawl must not believe it knows the page"
    assert WebUrl.objects.get().page_count == 0
    run_jobs()
    assert not file.exists()
    written = AuditEvent.objects.get(action="documents.deleted")
    assert (written.action, written.subject) == ("documents.deleted", f"bot:{bot.pk}")
    assert (written.api_key, written.changes) == (server.key, {"count": 2})


def test_a_repeated_request_deletes_nothing(server, bot):
    trained(bot, "Our shop opens at nine.")
    assert server.delete(PATH).json() == {"deleted": 1}
    before = Bot.objects.get().knowledge_version
    assert server.delete(PATH).json() == {"deleted": 0}
    assert Bot.objects.get().knowledge_version == before
    assert AuditEvent.objects.filter(action="documents.deleted").count() == 1


def test_access_is_refused(ann, cara, page, nobody, bot):
    trained(bot, "Our shop opens at nine.")
    assert page.delete(PATH).status_code == 403
    assert ann.delete(PATH).status_code == 401
    assert nobody.delete(PATH).status_code == 401
    assert make_key(cara.client).delete(PATH).status_code == 404
    assert make_key(cara.client).delete(f"{PATH}?bot_id={bot.pk}").status_code == 404
    assert Document.objects.exists()
    assert not AuditEvent.objects.filter(action="documents.deleted").exists()


def test_a_key_of_several_bots_must_name_one(ann, bot):
    other = make_bot(ann.client)
    trained(bot, "Our shop opens at nine.")
    trained(other, "We sell green tea.")
    key = make_key(ann.client)
    assert key.delete(PATH).status_code == 422
    assert Document.objects.count() == 2
    assert key.delete(f"{PATH}?bot_id={other.pk}").json() == {"deleted": 1}
    assert Document.objects.get().bot == bot
    bound = make_key(ann.client, bot_id=bot.pk)
    assert bound.delete(f"{PATH}?bot_id={other.pk}").status_code == 404
    assert not Job.objects.filter(name="bots.train_document").exists()
