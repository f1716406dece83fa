"""The page that a mailed link opens."""

import re
from datetime import timedelta

import pytest
from django.contrib.staticfiles import finders
from django.utils import timezone

from chatplatform.crypto import hash_secret
from identity.models import PasswordReset, User

PATH = "/reset-password"


@pytest.mark.parametrize(
    ("accepted", "language", "words"),
    [("vi-VN, en;q=0.5", "vi", "Đặt mật khẩu mới"), ("xx", "en", "Choose a new password")],
)
def test_in_the_readers_language(nobody, accepted, language, words):
    reply = nobody.get(PATH, **{"Accept-Language": accepted})
    page = reply.content.decode()
    assert reply.status_code == 200
    assert f'<html lang="{language}">' in page
    assert words in page


def test_it_loads_its_own_files_and_no_others(nobody):
    reply = nobody.get(PATH)
    loaded = re.findall(r'<(?:script|link).*?(?:src|href)="([^"]+)"', reply.content.decode())
    assert len(loaded) == 4
    for address in loaded:
        assert finders.find(address.removeprefix("/static/")), address
    assert "default-src 'none'" in reply["Content-Security-Policy"]
    assert (reply["Referrer-Policy"], reply["Cache-Control"]) == ("no-referrer", "no-store")


def test_it_takes_no_post(nobody):
    assert nobody.post(PATH, {}).status_code == 405


@pytest.mark.journey
def test_a_link_sets_a_password(screen, ann):
    PasswordReset.objects.create(
        client=ann.client,
        user=ann.user,
        token_hash=hash_secret("the-token"),
        expires_at=timezone.now() + timedelta(hours=1),
    )
    screen.goto(f"{PATH}#token=the-token")
    screen.get_by_label("New password").fill("another-horse-battery")
    screen.get_by_role("button", name="Save").click()
    screen.get_by_text("Saved.").wait_for()
    screen.get_by_role("link", name="Log in").click()
    screen.get_by_label("Email").wait_for()
    assert User.objects.get(pk=ann.user.pk).token_version == ann.user.token_version + 1


def test_a_link_that_is_no_link_says_so(screen):
    screen.goto(PATH)
    screen.get_by_text("This link is not valid any more.").wait_for()
    assert not screen.get_by_label("New password").is_visible()
    screen.get_by_role("link", name="Ask for a new link").click()
    screen.get_by_label("E-mail address").wait_for()
