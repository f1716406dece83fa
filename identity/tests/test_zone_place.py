"""Pages name the place of their times: the country, or the city if it has several zones."""

import pytest
from django.urls import reverse


@pytest.mark.parametrize(
    ("zone", "place"),
    [
        ("Asia/Ho_Chi_Minh", "Vietnam"), ("Europe/Berlin", "Berlin"), ("Europe/Paris", "France"),
        ("America/New_York", "New York"), ("UTC", "UTC"),
    ],
)  # fmt: skip
def test_the_top_bar_names_the_place(ann, site, zone, place):
    ann.client.timezone = zone
    ann.client.save()
    page = site.get(reverse("admin:settings_hours"))
    assert page.context["zone_place"] == place
    assert f"· {place}</p>" in page.content.decode()


def test_a_shop_in_hanoi_finds_its_zone(site):
    page = site.get(reverse("admin:settings_company")).content.decode()
    assert "Vietnam · Hanoi, Ho Chi Minh" in page
