"""Get All Bot, Get Bot By Id."""

from bots.models import Document, Prompt, WebUrl
from bots.services import bots
from bots.testing import make_bot
from identity.testing import make_key


def test_setup_flags(ann, bot):
    Prompt.objects.create(client=ann.client, bot=bot, version=1, content="Be kind")
    document = Document.objects.create(
        client=ann.client, bot=bot, file_name="a.txt", mime_type="text/plain", size_bytes=1,
        sha256="0" * 64, status="training",
    )  # fmt: skip
    body = ann.get(f"/ai/bot/{bot.pk}").json()
    assert (body["prompt_setup"], body["file_setup"]) == (True, False)
    assert body["chatbot_setup"] is False
    Document.objects.filter(pk=document.pk).update(chunk_count=1)
    assert ann.get(f"/ai/bot/{bot.pk}").json()["file_setup"] is True


def test_file_setup_and_url_setup(ann, bot):
    url = WebUrl.objects.create(client=ann.client, bot=bot, url="https://shop.example/")
    document = Document.objects.create(
        client=ann.client, bot=bot, file_name="page", mime_type="text/html", size_bytes=1,
        sha256="0" * 64, status="training", web_url=url, url=url.url,
    )  # fmt: skip
    assert ann.get(f"/ai/bot/{bot.pk}").json()["url_setup"] is False
    Document.objects.filter(pk=document.pk).update(chunk_count=1)
    body = ann.get(f"/ai/bot/{bot.pk}").json()
    assert (body["url_setup"], body["file_setup"]) == (True, False)
    assert ann.get(f"/ai/{bot.pk}/train/document").json()["items"] == []
    shown = ann.get(f"/ai/{bot.pk}/train/document/{document.pk}").json()
    assert (shown["source"], shown["url"]) == ("web_page", "https://shop.example/")


def test_the_key_is_masked(ann, bot):
    make_key(ann.client, bot_id=bot.pk)
    newest = make_key(ann.client, bot_id=bot.pk)
    body = ann.get(f"/ai/bot/{bot.pk}").json()
    assert newest.key
    assert body["api_key"] == f"{newest.key.prefix}.****"
    assert newest.headers["API-KEY"] not in str(body)


def test_another_clients_bot_is_not_found(cara, bot):
    reply = cara.get(f"/ai/bot/{bot.pk}")
    assert reply.status_code == 404
    assert reply.json()["code"] == "not_found"
    assert cara.get("/ai/bot").json() == {"items": [], "next_cursor": None}


def test_a_missing_bot(ann):
    assert ann.get("/ai/bot/999999").status_code == 404
    assert ann.get(f"/ai/bot/{2**70}").status_code == 404


def test_nobody(db, nobody):
    assert nobody.get("/ai/bot").status_code == 401
    assert nobody.get("/ai/bot/1").status_code == 401


def test_an_agent_reads(ben, bot):
    assert ben.get(f"/ai/bot/{bot.pk}").status_code == 200


def test_paging_shows_every_bot_once(ann):
    bots = [make_bot(ann.client).pk for _ in range(5)]
    seen, cursor = [], None
    while True:
        query = {"limit": 2, **({"cursor": cursor} if cursor else {})}
        page = ann.get("/ai/bot", query).json()
        seen += [item["id"] for item in page["items"]]
        cursor = page["next_cursor"]
        if not cursor:
            break
    assert seen == bots


def test_a_wrong_page(ann):
    assert ann.get("/ai/bot", {"limit": 101}).status_code == 422
    assert ann.get("/ai/bot", {"cursor": "forged"}).status_code == 422


def test_more_bots_cost_no_more_queries(ann, django_assert_max_num_queries):
    counts = []
    for number in (1, 10):
        for _ in range(number):
            make_bot(ann.client)
        with django_assert_max_num_queries(6) as captured:
            ann.get("/ai/bot")
        counts.append(len(captured))
    assert counts[0] == counts[1]


def test_lookups_for_other_apps(ann, cara, bot):
    assert bots.exists(ann.client, bot.pk)
    assert not bots.exists(cara.client, bot.pk)
    assert bots.allowed_hosts(bot.pk) == []
    hosted = make_bot(ann.client, allowed_domain="example.com,*.example.org")
    assert bots.allowed_hosts(hosted.pk) == ["example.com", "*.example.org"]
    assert bots.allowed_hosts(999999) == []
