"""The page that the link of an invitation or a password reset opens."""

from datetime import timedelta

import pytest
from django.test import Client as Browser
from django.urls import reverse
from django.utils import timezone

from chatplatform.crypto import hash_secret
from identity.models import PasswordReset, SecondFactor, User
from identity.testing import PASSWORD

PATH = reverse("admin:choose_password")
NEW = "another-horse-battery"


@pytest.fixture
def linked(ann):
    """Ann was mailed a link with the token `the-token`."""
    ends = timezone.now() + timedelta(hours=1)
    token = hash_secret("the-token")
    PasswordReset.objects.create(
        client=ann.client, user=ann.user, token_hash=token, expires_at=ends
    )
    return ann.user


def choose(browser, **change):
    return browser.post(PATH, {"token": "the-token", "new_password": NEW} | change)


def test_whoever_chooses_a_password_is_signed_in(linked):
    browser = Browser()
    assert browser.get(PATH)["Referrer-Policy"] == "same-origin"
    assert choose(browser)["Location"] == reverse("admin:index")
    assert browser.get("/admin/").context["user"] == linked
    assert User.objects.get().check_password(NEW)
    again = Browser()
    assert choose(again).context["form"].non_field_errors(), "a link works once"
    assert again.get("/admin/").status_code == 302


def test_the_code_of_a_second_factor_is_asked_for(linked):
    SecondFactor.objects.create(user=linked, secret="A", latest_step=1, recovery_hashes=[])
    browser = Browser()
    assert choose(browser)["Location"] == reverse("admin:login_code")
    assert browser.get("/admin/").status_code == 302


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"token": "no-token"}, "__all__"),
        ({"token": ""}, "token"),
        ({"new_password": "short"}, "new_password"),
        ({"new_password": "password12"}, "new_password"),
        ({"new_password": ""}, "new_password"),
    ],
)
def test_what_is_refused_signs_nobody_in(linked, change, field):
    browser = Browser()
    assert field in choose(browser, **change).context["form"].errors
    assert browser.get("/admin/").status_code == 302
    assert User.objects.get().check_password(PASSWORD)


def test_earlier_links_still_lead_there(db):
    assert Browser().get("/reset-password")["Location"] == PATH
