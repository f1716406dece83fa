"""What messaging providers charge for, in reports: by channel, category and month."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.urls import reverse

from bots.testing import make_bot
from chats.testing import make_chat, put_message

pytestmark = pytest.mark.django_db(transaction=True)
YEAR = {"date_from": "2026-01-01", "date_to": "2026-12-31", "timezone": "UTC"}
COSTS = {"metrics": ["chats", "charged_messages", "message_cost"]}


def charge(bot: Any, month: int, *prices: dict[str, Any], channel: str = "chatapp") -> None:
    at = datetime(2026, month, 5, 12, tzinfo=UTC)
    chat = make_chat(bot, channel=channel, created_at=at)
    for pricing in prices:
        put_message(chat, "bot", created_at=at, metadata={"pricing": pricing})
    put_message(chat, "customer", created_at=at)


def search(person, **body):
    reply = person.post("/report/adhoc/search", {**YEAR, **COSTS, **body})
    assert reply.status_code == 200, reply.content
    return reply.json()


def test_charges_are_counted_by_channel_category_and_month(ann, bot, client_b):
    service = {"category": "service", "charged": 2, "cost": 0.007}
    offer = {"category": "marketing", "charged": 1, "cost": 0.07}
    unpriced = {"category": "utility", "charged": 1}
    free = {"category": "service", "charged": 0, "cost": 0.0}
    charge(bot, 10, service, offer)
    charge(bot, 11, service, unpriced)
    charge(bot, 11, free)
    charge(bot, 11, channel="web")
    charge(make_bot(client_b), 11, offer)
    found = search(ann, group_by=["channel", "month", "price_category"])
    rows = [list(row.values()) for row in found["rows"]]
    assert rows == [
        ["chatapp", "2026-10-01", "marketing", 1, 1, 0.07],
        ["chatapp", "2026-10-01", "service", 1, 2, 0.007],
        ["chatapp", "2026-11-01", "service", 2, 2, 0.007],
        ["chatapp", "2026-11-01", "utility", 1, 1, None],
        ["web", "2026-11-01", None, 1, 0, None],
    ]
    assert found["totals"] == {"chats": 4, "charged_messages": 6, "message_cost": 0.084}
    (web, app) = search(ann, group_by=["channel"], sort="message_cost")["rows"][::-1]
    assert (app["chats"], app["charged_messages"], app["message_cost"]) == (3, 6, 0.084)
    assert (web["channel"], web["charged_messages"]) == ("web", 0)


def test_costs_are_on_the_page_and_in_the_file(ann, bot, client):
    charge(bot, 11, {"category": "service", "charged": 1, "cost": 0.0035})
    body = {**YEAR, **COSTS, "group_by": ["price_category"]}
    reply = ann.post("/report/adhoc/export", body)
    content = b"".join(reply.streaming_content) if reply.streaming else reply.content
    assert content.decode("utf-8-sig").split("\r\n")[1] == "service,1,1,0.0035"
    client.force_login(ann.user)
    query = "group_by=price_category&metrics=message_cost&date_from=2026-01-01&date_to=2026-12-31"
    page = client.get(f"{reverse('reports_adhoc')}?{query}")
    assert page.status_code == 200


def test_prices_are_numbers_of_known_names(ann):
    config = f"/config/{ann.client.pk}/chat"
    for wrong in ({"service": -1}, {"Service!": 1}, {"service": "dear"}, {"": 1}):
        assert ann.post(config, {"message_prices": wrong}).status_code == 422, wrong
    assert ann.post(config, {"silent_channels": ["web"]}).status_code == 422
    assert ann.get(config).json()["message_prices"] == {}
