"""The site's form for how bots answer, and what they do without an answer."""

import re

import pytest
from django.test import Client as Browser
from django.urls import reverse

from chatplatform.tests.test_site_words import texts
from identity.models import AuditEvent, ClientConfig


@pytest.mark.parametrize(
    ("chosen", "stored", "words"),
    [
        ("", None, "In the widget and on messaging channels"),
        ("true", True, "In all chats"),
        ("false", False, "Never"),
    ],
)
def test_an_admin_changes_the_settings(ann, cara, chosen, stored, words):
    browser = Browser()
    browser.force_login(ann.user)
    config = ClientConfig.objects.get(client=ann.client)
    path = reverse("admin:identity_clientconfig_answering", args=[config.pk])
    assert "In the widget" in browser.get(path).content.decode()
    before = config.version
    form = {"ask_again_before_handoff": chosen, "handoff_on_no_answer": "on"}
    page = browser.post(path, form, follow=True).content.decode()
    assert "Saved." in page
    assert words in page
    config.refresh_from_db()
    assert config.ask_again_before_handoff is stored
    assert config.handoff_on_no_answer
    # What is not ticked is off.
    assert (config.answer_while_waiting, config.confirm_answers) == (False, False)
    assert config.version == before + 1
    assert AuditEvent.objects.filter(action="config.updated").count() == 1
    other = Browser()
    other.force_login(cara.user)
    assert other.post(path, {"ask_again_before_handoff": "true"}).status_code == 404


def test_the_page_of_the_settings_speaks_words_and_its_link_names_it(ann):
    ann.browser.force_login(ann.user)
    config = ClientConfig.objects.get(client=ann.client)
    path = reverse("admin:identity_clientconfig_change", args=[config.pk])
    listed = ann.browser.get(reverse("admin:identity_clientconfig_changelist")).content.decode()
    (link,) = re.findall(f'<a href="{path}[^"]*"[^>]*>([^<]+)</a>', listed)
    assert link == f"Chat settings of {ann.client}"
    page = texts(ann.browser.get(path))
    assert page[page.index("Holidays") + 1] == "–"
    assert page[page.index("Quote the documents if the model fails") + 1] == "Yes"
    assert page[page.index("Most open chats of an agent") + 1] == "5"
    assert page[page.index("How waiting chats find an agent") + 1] == "Manual"
    assert not {"{}", "[]", "null"} & set(page)
    # Each setting has words, but for the number of its version.
    own = {field.verbose_name.capitalize() for field in ClientConfig._meta.fields}
    assert own & set(page) == {"Client", "Holidays", "Version"}, "in identity.forms.CHAT_SETTINGS"
