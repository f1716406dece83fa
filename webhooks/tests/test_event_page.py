"""The page of an event is in words; its JSON is for the platform's staff and the API."""

from django.urls import reverse

from webhooks.models import Event


def test_an_owner_reads_words_and_the_staff_the_data(site, ann, staff):
    event = Event.objects.create(
        client=ann.client, type="conversation.handed_off",
        data={"reason": "customer_asked", "secret_word": "xyzzy"},
    )  # fmt: skip
    path = reverse("admin:webhooks_event_change", args=[event.pk])
    page = site.get(path)
    assert page.status_code == 200
    assert "xyzzy" not in page.content.decode()
    assert "Asked for a person" in page.content.decode()
    assert "xyzzy" in staff.get(path).content.decode()
