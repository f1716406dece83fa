"""Every page says what it may load, and who may frame it; browser tests see what that breaks."""

import pytest
from django.test import Client as Browser
from django.urls import reverse

from bots.testing import make_bot
from identity.models import User

HEADER = "Content-Security-Policy"


def policy(reply):
    parts = [part.split() for part in reply[HEADER].split(";")]
    return {name: values for name, *values in parts}


@pytest.mark.parametrize(
    "path",
    ["/", "/docs", "/redoc", "/admin/choose-password/", "/admin/login/", "/admin/register/",
     "/admin/forgot-password/", "/admin/sign-in/", "/admin/register/confirm/", "/nowhere"],
)  # fmt: skip
def test_pages_for_strangers(db, path):
    reply = Browser().get(path, headers={"Accept": "text/html"})
    directives = policy(reply)
    assert "'unsafe-inline'" not in directives.get("script-src", [])
    assert set(directives.get("script-src", [])) <= {"'self'", "'unsafe-eval'"}
    assert "'unsafe-eval'" not in directives.get("script-src", []) or path.startswith("/admin/")
    assert all(
        directives[name] == ["'none'"] for name in ("default-src", "frame-ancestors", "base-uri")
    )
    assert directives["form-action"] in (["'self'"], ["'none'"])
    assert b"<script>" not in reply.content


def test_pages_of_the_site(ann):
    browser = Browser()
    assert isinstance(ann.user, User)
    browser.force_login(ann.user)
    bot = make_bot(ann.client)
    for name in ("index", "identity_user_changelist", "identity_apikey_new_key", "desk"):
        directives = policy(browser.get(reverse(f"admin:{name}")))
        assert "'unsafe-inline'" not in directives["script-src"], name
        assert directives["frame-ancestors"] == ["'none'"], name
    look = browser.get(reverse("admin:bots_bot_look", args=[bot.pk]))
    assert b"<script>" not in look.content
    preview = policy(browser.get(reverse("admin:bots_bot_preview", args=[bot.pk])))
    assert preview["frame-ancestors"] == ["'self'"], "the Appearance page shows it"


def test_an_answer_of_the_api_is_no_page(db):
    assert HEADER not in Browser().get("/health/live").headers
