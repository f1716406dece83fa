"""What is valid until a day stays valid until that day when the company's time zone changes."""

from datetime import UTC, datetime

import pytest
from django.urls import reverse

from bots.models import Document
from bots.testing import trained

DAY = datetime(2026, 12, 25, tzinfo=UTC)  # the midnight after 24 December


@pytest.fixture
def zone(ann):
    def change(name):
        reply = ann.post(f"/config/{ann.client.pk}/chat", {"timezone": name})
        assert reply.status_code == 200, reply.content

    return change


def last_day_shown(site, bot, document):
    page = site.get(reverse("admin:bots_bot_document", args=[bot.pk, document.pk]))
    return f"{page.context['parts']['use'].form.initial['valid_until']}"


@pytest.mark.django_db(transaction=True)
def test_a_last_day_stays_that_day(zone, site, bot):
    document = trained(bot, "Delivery is free.")
    Document.objects.filter(pk=document.pk).update(valid_to=DAY)
    version = bot.knowledge_version
    assert last_day_shown(site, bot, document) == "2026-12-24"
    for name in ("Asia/Ho_Chi_Minh", "America/Los_Angeles", "Europe/Berlin"):
        zone(name)
        assert last_day_shown(site, bot, document) == "2026-12-24"
    document.refresh_from_db()
    assert document.valid_to.isoformat() == "2026-12-24T23:00:00+00:00"
    bot.refresh_from_db()
    assert bot.knowledge_version > version


@pytest.mark.django_db(transaction=True)
def test_a_held_back_day_and_a_banner_stay_too(zone, bot):
    document = trained(bot, "Delivery is free.")
    Document.objects.filter(pk=document.pk).update(draft={"valid_to": DAY.isoformat()})
    bot.banner_valid_to = DAY
    bot.save()
    zone("Asia/Ho_Chi_Minh")
    document.refresh_from_db()
    bot.refresh_from_db()
    assert document.drafted().valid_to.isoformat() == "2026-12-24T17:00:00+00:00"
    assert bot.banner_valid_to.isoformat() == "2026-12-24T17:00:00+00:00"


@pytest.mark.django_db(transaction=True)
def test_an_instant_and_another_companys_day_stay(zone, bot, client_b):
    document = trained(bot, "Delivery is free.")
    moment = datetime(2026, 12, 24, 18, 30, tzinfo=UTC)
    Document.objects.filter(pk=document.pk).update(valid_to=moment)
    zone("Asia/Ho_Chi_Minh")
    document.refresh_from_db()
    assert document.valid_to == moment
