"""Where an address stands in the site's navigation."""

import pytest
from django.test import RequestFactory

from chatplatform import navigation


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("/admin/", ("Home", "Home")),
        ("/admin/bots/bot/5/look/", ("Bots", "All bots")),
        ("/admin/chats/conversation/try/5/", ("Bots", "All bots")),
        ("/admin/chats/conversation/5/change/", ("Conversations", "All conversations")),
        ("/admin/settings/hours/", ("Settings", "Business hours")),
        ("/admin/password_change/", ("Profile", "Password")),
    ],
)
def test_the_longest_beginning_decides_and_no_path_is_resolved_twice(monkeypatch, path, place):
    navigation._path_prefixes()
    monkeypatch.delattr(navigation, "reverse")
    assert navigation.current_titles(RequestFactory().get(path)) == place
