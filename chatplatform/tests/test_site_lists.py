"""The site's lists stay light and quick, however many rows there are."""

import gzip
import uuid
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from bots.models import Document
from bots.testing import make_bot
from chats.models import Conversation, Customer, Feedback, Message, text_content
from chats.testing import make_chat
from identity.models import CreditEntry
from webhooks.models import Delivery, WebhookConfig
from webhooks.services import announce

CHATS, LEDGER = "/admin/chats/conversation/", "/admin/identity/creditentry/"
MOST_BYTES = 150_000


@pytest.fixture
def chats(ann):
    bot = make_bot(ann.client, bot_name="A bot with a name of usual length")
    own = {"client": ann.client}
    customers = Customer.objects.bulk_create(
        Customer(**own, name=f"Nguyễn Thị Lan {number}") for number in range(120)
    )
    return Conversation.objects.bulk_create(
        Conversation(
            **own,
            bot=bot,
            customer=customer,
            language="en",
            chat_code=f"C-{number:06}",
            assign_type="queue",
            handoff_reason="customer_asked",
            last_message_at=timezone.now(),
        )
        for number, customer in enumerate(customers)
    )


@pytest.mark.full
def test_a_search_in_related_rows_reads_them_alone(site, ann, cara):
    """A million deliveries are not read to find that no endpoint has such an address."""
    path = reverse("admin:webhooks_delivery_changelist")
    for person, host in ((ann, "ours"), (cara, "theirs")):
        config = WebhookConfig.objects.create(
            client=person.client, url=f"https://{host}.example/hook", secret="x"
        )
        event = announce(person.client.pk, "message.created", {})
        Delivery.objects.get_or_create(client=person.client, event=event, config=config)

    def found(q):
        with CaptureQueriesContext(connection) as seen:
            reply = site.get(path, {"q": q})
        rows = list(reply.context["cl"].result_list)
        return len(rows), any('FROM "webhooks_delivery"' in query["sql"] for query in seen)

    own = Delivery.objects.get(client=ann.client)
    assert found("ours.example") == found(f"OURS {own.event_id}") == (1, True)
    for q in ("theirs.example", "nothing-like-it", str(own.event_id)[:-1], f"ours {uuid.uuid4()}"):
        assert found(q) == (0, False), q


def ledger(client, count):
    CreditEntry.objects.bulk_create(
        CreditEntry(client=client, kind="grant", amount=1, balance_after=1, reference=f"r{number}")
        for number in range(count)
    )


@pytest.mark.full
def test_a_page_of_chats_has_fifty_rows_and_is_light(site, chats):
    page = site.get(CHATS)
    assert len(page.context["cl"].result_list) == 50
    assert page.content.count(b'class="row"') == 50
    assert len(page.content) <= MOST_BYTES


@pytest.mark.full
def test_pages_are_compressed_by_a_length_that_tells_nothing(site, chats):
    lengths = set()
    for _ in range(5):
        page = site.get(CHATS, headers={"Accept-Encoding": "gzip"})
        assert page["Content-Encoding"] == "gzip"
        assert b"Lan 119" in gzip.decompress(page.content)
        assert len(page.content) < MOST_BYTES / 5
        lengths.add(len(page.content))
    assert len(lengths) > 1
    assert "Content-Encoding" not in site.get(CHATS)


def test_a_short_list_is_counted_and_its_pages_are_numbered(site, chats):
    page = site.get(CHATS)
    assert page.context["cl"].result_count == 120
    assert b"?p=3" in page.content
    assert b"120 results" in page.content
    assert b"1 result<" in site.get(f"{CHATS}?q=C-000119").content
    assert len(site.get(f"{CHATS}?p=3").context["cl"].result_list) == 20


def test_a_long_list_is_not_counted_and_can_be_walked_to_its_end(site, ann):
    ledger(ann.client, 1060)
    with CaptureQueriesContext(connection) as seen:
        page = site.get(LEDGER)
    counts = [query["sql"] for query in seen if "COUNT(" in query["sql"]]
    assert counts
    assert all("LIMIT 1001" in statement for statement in counts)
    assert b"Next" in page.content
    assert b"9999999999" not in page.content
    last = site.get(f"{LEDGER}?p=22")
    assert len(last.context["cl"].result_list) == 11
    assert b"Next" in last.content
    assert site.get(f"{LEDGER}?p=23").status_code in {200, 302}


def own_pages(bot, endpoint):
    return (
        reverse("admin:chats_unanswered"),
        reverse("admin:bots_bot_content", args=[bot.pk]),
        reverse("admin:webhooks_webhookconfig_manage", args=[endpoint.pk]),
        reverse("failures"),
    )


def more_rows(bot, count):
    chat = make_chat(bot)
    for number in range(count):
        own = {"client": bot.client, "conversation": chat, "content": text_content("?")}
        asked = Message.objects.create(
            **own, seq=2 * number + 1, sender_type="customer", text=f"Question {number}?"
        )
        Message.objects.create(
            **own, seq=2 * number + 2, sender_type="system", in_reply_to=asked,
            receipt={"decision": "no_answer"},
        )  # fmt: skip
        name = uuid.uuid4().hex
        Document.objects.create(
            client=bot.client, bot=bot, file_name=name, mime_type="text/plain", size_bytes=1,
            sha256=name * 2, status="failed", error_message=name,
        )  # fmt: skip
        announce(bot.client_id, "message.created", {"a": number})


@pytest.mark.full
def test_pages_beside_the_lists_cost_the_same_for_many_rows(
    site, bot, endpoint, django_assert_num_queries
):
    more_rows(bot, 2)
    for path in own_pages(bot, endpoint):
        site.get(path)
    costs = {}
    for path in own_pages(bot, endpoint):
        with CaptureQueriesContext(connection) as seen:
            assert site.get(path).status_code == 200
        costs[path] = len(seen)
    more_rows(bot, 20)
    for path, cost in costs.items():
        with django_assert_num_queries(cost):
            page = site.get(path)
        assert len(page.content) <= MOST_BYTES, path
    assert max(costs.values()) < 25


def test_chats_are_sorted_by_an_index_and_no_filter_reads_a_whole_table(site, chats, bot):
    Conversation.objects.filter(chat_code="C-000007").update(
        last_message_at=timezone.now() + timedelta(minutes=1)
    )
    with CaptureQueriesContext(connection) as seen:
        page = site.get(CHATS)
        site.get(reverse("admin:bots_functioncall_changelist"))
        site.get(reverse("admin:chats_feedback_changelist"))
    assert page.context["cl"].result_list[0].chat_code == "C-000007"
    statements = [query["sql"] for query in seen]
    assert not [sql for sql in statements if "DISTINCT" in sql]
    (listed,) = (sql for sql in statements if "LIMIT 50" in sql and "chat_code" in sql)
    with connection.cursor() as cursor:
        # The table is small: its planner would rather sort.
        cursor.execute("SET LOCAL enable_sort = off")
        cursor.execute(f"EXPLAIN {listed}")
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert "conversation_activity" in plan
    assert "Sort" not in plan


def test_a_filter_offers_no_more_than_a_hundred_rows(site, chats, ann):
    assert b"A bot with a name" in site.get(CHATS).content
    for number in range(101):
        make_bot(ann.client, bot_name=f"another {number}")
    assert b"another 7<" not in site.get(CHATS).content


def test_ratings_are_filtered_by_stars(site, chats):
    for stars, chat in zip((5, 2), chats, strict=False):
        Feedback.objects.create(client_id=chat.client_id, conversation=chat, rating=stars)
    ratings = reverse("admin:chats_feedback_changelist")
    assert "★★" in site.get(ratings).content.decode()
    for query, found in (("5", [5]), ("1", []), ("nonsense", [2, 5])):
        page = site.get(f"{ratings}?rating__exact={query}")
        rows = page.context["cl"].result_list
        assert sorted(row.rating for row in rows) == found, query
