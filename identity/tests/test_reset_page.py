"""The page that a mailed link opens."""

import re

import pytest
from django.contrib.staticfiles import finders

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
    loaded = re.findall(r'(?:src|href)="([^"]+)"', reply.content.decode())
    assert len(loaded) == 2
    for address in loaded:
        assert finders.find(address.removeprefix("/static/")), address
    assert "default-src 'none'" in reply["Content-Security-Policy"]
    assert (reply["Referrer-Policy"], reply["Cache-Control"]) == ("no-referrer", "no-store")


def test_it_takes_no_post(nobody):
    assert nobody.post(PATH, {}).status_code == 405
