"""People read and write the next opening in words; the API and customers' texts have a mark."""

from django.test import Client as Browser
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext

from identity.models import ClientConfig

PAGE = reverse("admin:settings_hours")


def test_the_mark_of_the_next_opening_is_a_word_on_the_page(ann):
    config = ClientConfig.objects.get(client=ann.client)
    config.out_of_hours_message = {"en": "Back {opens}."}
    config.save()
    browser = Browser()
    browser.force_login(ann.user)
    assert "{opens}" not in browser.get(PAGE).content.decode()
    for language in ("en", "vi"):
        with translation.override(language):
            word = gettext("[opening time]")
        form = {"form": "hours", "business_hours": "always",
                "out_of_hours_message_en": f"See you {word} ({language})."}  # fmt: skip
        assert browser.post(PAGE, form).status_code == 302
        config.refresh_from_db()
        assert config.out_of_hours_message == {"en": f"See you {{opens}} ({language})."}
