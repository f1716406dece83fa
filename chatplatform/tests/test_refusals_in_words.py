"""A refusal that names a number or a name is in the reader's language on pages, and in English in
the API."""

import re
from html import unescape
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client as Browser
from django.urls import reverse
from django.utils import translation

from bots.models import Document
from bots.testing import make_bot
from chatplatform import admin_lists
from chatplatform.api.errors import TooManyFiles
from chatplatform.testing import run_jobs
from chats.models import Customer
from identity.models import SavedView, User
from identity.services import saved_views
from identity.testing import signed_in
from webhooks.services import deliveries, endpoints

HTML = {"Accept": "text/html"}
HOOK = "https://8.8.8.8/hook"


@pytest.fixture
def reader(ann: Any) -> Browser:
    """A Vietnamese owner's browser."""
    User.objects.filter(pk=ann.user.pk).update(language="vi")
    return signed_in(User.objects.get(pk=ann.user.pk))


def shows(reply: Any, refusal: type[Exception], *numbers: object) -> bool:
    """Whether a page shows a refusal in Vietnamese, with these numbers, and not in English."""
    page = unescape(reply.content.decode())
    with translation.override("vi"):
        words = str(refusal())
    assert str(refusal()) != words
    assert str(refusal()) not in page
    assert words in page
    assert [*map(str, numbers)] == re.findall(r"[\d.]*\d", words)
    return True


def test_on_an_error_page(ann: Any, reader: Browser) -> None:
    SavedView.objects.bulk_create(
        SavedView(user=ann.user, list_name="chats.conversation", name=f"{number}")
        for number in range(saved_views.MAX_VIEWS)
    )
    form = {"page": "chats.conversation", "name": "One more"}
    refused = reader.post(reverse("admin:save_view"), form, headers=HTML)
    assert refused.status_code == 409
    assert shows(refused, saved_views.TooManyViews, saved_views.MAX_VIEWS)


def test_in_a_form_and_not_in_the_api(
    ann: Any, reader: Browser, client_a: Any, make_endpoint: Any
) -> None:
    for _ in range(endpoints.MAX_ENDPOINTS):
        make_endpoint(client_a)
    form = {"url": HOOK, "event_types": ["message.created"]}
    refused = reader.post(reverse("admin:webhooks_webhookconfig_new_endpoint"), form)
    assert shows(refused, endpoints.TooManyEndpoints, endpoints.MAX_ENDPOINTS)
    in_api = ann.post("/webhook/config", {"url": HOOK}, **{"Accept-Language": "vi"}).json()
    assert in_api["detail"] == str(endpoints.TooManyEndpoints())


def test_after_an_action(ann: Any, reader: Browser, make_endpoint: Any) -> None:
    endpoint = make_endpoint(ann.client)
    form = {"action": "send_test", "_selected_action": [str(endpoint.pk)]}
    path = reverse("admin:webhooks_webhookconfig_changelist")
    reader.post(path, form)
    refused = reader.post(path, form, follow=True)
    assert shows(refused, deliveries.TooManyTests, deliveries.MAX_TESTS_PER_MINUTE)


def test_a_big_number_is_written_as_readers_write_it(
    ann: Any, reader: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admin_lists, "MAX_EXPORTED", 1_000)
    Customer.objects.bulk_create(
        Customer(client=ann.client, name=f"Lan {number}") for number in range(1_001)
    )
    path = f"{reverse('admin:chats_customer_changelist')}export-list/?columns=who"
    refused = reader.get(path, headers=HTML)
    assert refused.status_code == 409
    assert shows(refused, admin_lists.TooManyRows, "1.000")


def test_before_the_reader_is_known(settings: Any, db: None) -> None:
    settings.DATA_UPLOAD_MAX_NUMBER_FILES = 1
    browser = Browser(enforce_csrf_checks=True)
    browser.cookies[settings.CSRF_COOKIE_NAME] = "x" * 32
    files = {name: SimpleUploadedFile(name, b"x") for name in ("a", "b")}
    refused = browser.post(reverse("admin:login"), files, headers=HTML | {"Accept-Language": "vi"})
    assert refused.status_code == 400
    assert shows(refused, TooManyFiles, 1)


def test_in_a_procedures_line(ann: Any, reader: Browser) -> None:
    bot = make_bot(ann.client)
    form = {"form": "procedures", "name_0": "Greeting", "starts_0": "Hi", "steps_0": "call nobody"}
    page = reader.post(reverse("admin:bots_bot_behaviour", args=[bot.pk]), form).content.decode()
    assert 'id="procedures-form" data-refused' in page
    for words in ("Line 1", "has no function"):
        assert words not in page


@pytest.mark.usefixtures("own_media")
def test_of_a_stored_error(ann: Any, reader: Browser) -> None:
    bot = make_bot(ann.client)
    path = f"/ai/{bot.pk}/train/document"
    assert ann.upload(path, files=[SimpleUploadedFile("dots.txt", b"...")]).status_code == 202
    run_jobs()
    stored = Document.objects.get().error_message
    with translation.override("vi"):
        words = translation.gettext(stored)
    assert stored != words
    for page in ("admin:bots_document_changelist", "admin:bots_bot_content"):
        args = [bot.pk] if page.endswith("content") else []
        shown = unescape(reader.get(reverse(page, args=args)).content.decode())
        assert words in shown
        assert stored not in shown
