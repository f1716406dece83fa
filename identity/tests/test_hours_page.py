"""The page of business hours keeps hours through "Always open", and says what was added."""

from django.contrib.messages import get_messages
from django.urls import reverse

from identity.models import ClientConfig

PAGE = reverse("admin:settings_hours")
WEEK = [
    {"weekday": 0, "opens": "09:00", "closes": "20:00"},
    {"weekday": 5, "opens": "09:00", "closes": "18:00"},
]


def send(site, **fields):
    reply = site.post(PAGE, {"form": "hours", **fields})
    assert reply.status_code == 302
    return reply


def test_custom_hours_are_suggested_again_after_always_open(site, ann):
    ClientConfig.objects.filter(client=ann.client).update(business_hours=WEEK)
    send(site, business_hours="always")
    config = ClientConfig.objects.get(client=ann.client)
    assert (config.business_hours, config.custom_hours) == ([], WEEK)
    page = site.get(PAGE).content.decode()
    assert 'value="20:00"' in page
    assert 'value="18:00"' in page
    assert 'value="17:00"' not in page.split("business_hours-5")[1].split("business_hours-6")[0]


def test_a_holiday_is_added_rather_than_saved(site, ann):
    reply = site.post(PAGE, {"form": "day", "date": "2099-12-24", "name": "Christmas Eve"})
    (message,) = get_messages(reply.wsgi_request)
    assert str(message) == "Holiday added."
    assert len(ClientConfig.objects.get(client=ann.client).holidays) == 1
