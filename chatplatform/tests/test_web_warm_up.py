"""A web process loads what its first messages need, without waiting for one."""

import time

import pytest
from django.conf import settings
from django.utils.module_loading import import_string

from bots.language import detection
from chatplatform.testing.web_process import web

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.full]


def test_a_web_process_warms_up_by_itself(tmp_path):
    note = tmp_path / "warm"
    with web(DJANGO_SETTINGS_MODULE="chatplatform.tests.warm_site", WARM_NOTE=str(note)):
        deadline = time.monotonic() + 10
        while not note.exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_the_warm_up_loads_the_languages():
    detection._identifier.cache_clear()
    import_string(settings.WEB_WARM_UP)()
    assert detection._identifier._cached.cache_info().currsize == 1
