"""People are invited and keys made in the site, by the rules of the API."""

import re
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client as Browser
from django.urls import reverse

from chatplatform.models import Job
from identity import forms
from identity.models import ApiKey, AuditEvent, User
from identity.testing import PASSWORD, make_person, signed_in

INVITE = reverse("admin:identity_user_invite")
NEW_KEY = reverse("admin:identity_apikey_new_key")
PERSON = {"email": "Zoe@example.com", "full_name": "Zoe", "role": "agent", "language": "vi"}
KEY = {"name": "Shop", "scope": "secret", "bot_id": "", "days": "0"}


def test_a_colleague_is_invited_by_mail(site, ann):
    assert INVITE in site.get(reverse("admin:identity_user_changelist")).content.decode()
    assert b"Invitation sent to" in site.post(INVITE, PERSON, follow=True).content
    zoe = User.objects.get(email="zoe@example.com")
    assert (zoe.client, zoe.role, zoe.language, zoe.can_train) == (
        ann.client, "agent", "vi", False,
    )  # fmt: skip
    assert Job.objects.filter(name="identity.send_invitation").count() == 1


def act(browser, name, person):
    path = reverse("admin:identity_user_change", args=[person.user.pk])
    return browser.post(path, {"form": name}).status_code


def test_an_invitation_is_mailed_again_to_whoever_has_no_password(site, ann, ben):
    assert act(site, "invite", ben) == 403
    assert not Job.objects.exists()
    User.objects.filter(pk=ben.user.pk).update(password="!")
    people = reverse("admin:identity_user_changelist")
    assert b'value="invite"' in site.get(people).content
    assert act(site, "invite", ben) == 302
    args = {"user_id": ben.user.pk, "by_id": ann.user.pk}
    assert Job.objects.get(name="identity.send_invitation").args == args
    viewer = Browser()
    viewer.force_login(make_person(ann.client, "viewer", "Vic").user)  # type: ignore[arg-type]
    assert b'value="invite"' not in viewer.get(people).content


def test_a_link_for_a_new_password_is_mailed(site, ben, cara):
    assert act(site, "reset", cara) == 404
    assert act(site, "reset", ben) == 302
    assert Job.objects.get(name="identity.send_reset_link").args["email"] == ben.user.email
    assert AuditEvent.objects.get().action == "user.reset_sent"


def test_whoever_is_locked_out_is_let_in_again(site, ben, cara, nobody):
    def signed_in(person, password):
        form = urlencode({"username": person.user.email, "password": password})
        kind = "application/x-www-form-urlencoded"
        return nobody.browser.post("/identity/token2", form, content_type=kind).status_code

    for person in (ben, cara):
        assert [signed_in(person, "wrong-horse") for _ in range(10)] == [401] * 10
        assert signed_in(person, PASSWORD) == 429
    assert [act(site, "unlock", person) for person in (ben, cara)] == [302, 404]
    assert signed_in(ben, PASSWORD) == 200
    assert signed_in(cara, PASSWORD) == 429


def test_somebody_is_signed_out_everywhere(site, ben, cara):
    browser = signed_in(ben.user)
    assert [act(site, "sign_out", person) for person in (ben, cara)] == [302, 404]
    assert browser.get("/admin/desk/").status_code == 302
    assert ben.get("/identity/users/me").status_code == 401
    assert cara.get("/identity/users/me").status_code == 200
    assert site.get("/admin/").status_code == 200


def test_an_admin_does_it_to_no_owner_and_an_agent_to_nobody(ann, ben):
    admin = make_person(ann.client, "admin", "Ada")
    tries: list[tuple[Any, Any]] = [(admin, ann), (ben, ann), (ben, admin)]
    for by, person in tries:
        browser = signed_in(by.user)
        for name in ("reset", "unlock", "sign_out", "disable"):
            assert act(browser, name, person) == 403
    assert ann.get("/identity/users/me").status_code == 200
    assert not Job.objects.exists()
    assert not AuditEvent.objects.exists()


def test_an_address_in_use_is_refused(site, ben):
    reply = site.post(INVITE, {**PERSON, "email": ben.user.email})
    page = reply.content.decode()
    assert "This email address already has an account" in page
    assert "sign in" not in page
    # Beside the field, not above the form.
    assert (
        page.index('name="email"')
        < page.index("already has an account")
        < page.index('name="full_name"')
    )
    assert not Job.objects.exists()


def test_an_admin_makes_no_owner(ann):
    browser = Browser()
    browser.force_login(make_person(ann.client, "admin", "Ada").user)  # type: ignore[arg-type]
    reply = browser.post(INVITE, {**PERSON, "role": "owner"})
    assert reply.context["form"].errors["role"]
    assert not User.objects.filter(full_name="Zoe").exists()


def shown_key(page):
    return re.search(r"data-secret>([^<]+)<", page.content.decode())[1]  # type: ignore[index]


def test_a_secret_key_is_shown_once_and_works(site, nobody):
    key = shown_key(site.post(NEW_KEY, KEY))
    assert nobody.get("/ai/customers", **{"API-KEY": key}).status_code == 200
    listed = site.get(reverse("admin:identity_apikey_changelist")).content.decode()
    assert ApiKey.objects.get().prefix in listed
    assert key not in listed


def test_a_public_key_needs_a_bot_and_hosts(site, bot, nobody):
    form = {**KEY, "scope": "public"}
    assert b"A public key works for one bot" in site.post(NEW_KEY, form).content
    form["bot_id"] = str(bot.pk)
    assert b"Add at least one allowed website" in site.post(NEW_KEY, form).content
    reply = site.post(NEW_KEY, {**form, "allowed_domain": "http://x"})
    assert b"valid host name" in reply.content
    assert not ApiKey.objects.exists()
    key = shown_key(site.post(NEW_KEY, {**form, "allowed_domain": "shop.example", "days": "30"}))
    shop = {"API-KEY": key, "Origin": "https://shop.example"}
    assert nobody.get("/ai/bot/config", **shop).status_code == 200
    assert ApiKey.objects.get().expires_at
    site.post(NEW_KEY, form)
    assert type(bot).objects.get().allowed_domain == "shop.example"


def test_a_public_key_has_a_cap_that_the_form_shows_and_another_page_changes(site, bot, ann, cara):
    field = forms.KeyForm(client=ann.client)["daily_credits"]
    assert field.value() == 500
    assert str(field) in site.get(NEW_KEY).content.decode()
    form = {**KEY, "scope": "public", "bot_id": str(bot.pk), "allowed_domain": "shop.example"}
    shown_key(site.post(NEW_KEY, {**form, "daily_credits": "500"}))
    key = ApiKey.objects.get()
    assert key.daily_credits == 500
    path = reverse("admin:identity_apikey_change_key", args=[key.pk])
    assert 'value="500"' in site.get(path).content.decode()
    for sent, cap in (("40", 40), ("", None)):
        assert site.post(path, {"name": "Shop", "daily_credits": sent}).status_code == 302
        key.refresh_from_db()
        assert key.daily_credits == cap
    assert AuditEvent.objects.filter(action="api_key.updated").count() == 2
    stranger = signed_in(cara.user)
    assert stranger.post(path, {"name": "Shop", "daily_credits": "7"}).status_code == 404
    assert site.post(path, {"name": "Shop", "daily_credits": "-7"}).status_code == 200
    key.refresh_from_db()
    assert key.daily_credits is None


def test_a_secret_key_has_no_cap(site):
    shown_key(site.post(NEW_KEY, {**KEY, "daily_credits": "500"}))
    key = ApiKey.objects.get()
    assert key.daily_credits is None
    path = reverse("admin:identity_apikey_change_key", args=[key.pk])
    assert b'name="daily_credits"' not in site.get(path).content
    assert site.post(path, {"name": "Shop", "daily_credits": "5"}).status_code == 302
    key.refresh_from_db()
    assert key.daily_credits is None


def test_whether_mcp_clients_reply_with_a_secret_key_is_chosen_and_changed(site, ann, bot):
    shown_key(site.post(NEW_KEY, {**KEY, "mcp_write": "on"}))
    key = ApiKey.objects.get()
    assert key.mcp_write
    path = reverse("admin:identity_apikey_change_key", args=[key.pk])
    for sent in ({}, {"mcp_write": "on"}):
        assert site.post(path, {"name": "Assistant", **sent}).status_code == 302
        key.refresh_from_db()
        assert (key.name, key.mcp_write) == ("Assistant", bool(sent))
    form = {**KEY, "scope": "public", "bot_id": str(bot.pk), "allowed_domain": "shop.example"}
    shown_key(site.post(NEW_KEY, {**form, "mcp_write": "on"}))
    public = ApiKey.objects.get(scope="public")
    page = reverse("admin:identity_apikey_change_key", args=[public.pk])
    assert b'name="mcp_write"' not in site.get(page).content
    refused = ann.put(f"/identity/api-keys/{public.pk}", {"mcp_write": True})
    assert (refused.status_code, refused.json()["detail"][0]["loc"]) == (422, ["body", "mcp_write"])
    public.refresh_from_db()
    assert not public.mcp_write


def test_another_clients_bot_is_not_offered_and_not_taken(site, cara, bot):
    theirs = type(bot).objects.create(client=cara.client, bot_name="Foreign")
    assert b"Foreign" not in site.get(NEW_KEY).content
    form = {**KEY, "scope": "public", "bot_id": str(theirs.pk), "allowed_domain": "evil.example"}
    assert site.post(NEW_KEY, form).status_code == 200
    theirs.refresh_from_db()
    assert theirs.allowed_domain == ""
    assert not ApiKey.objects.exists()


@pytest.mark.parametrize("path", [INVITE, NEW_KEY])
def test_others_do_not(ben, ann, path):
    staff = User.objects.create_superuser("staff@example.com", full_name="Staff")
    people = User.objects.count()
    for person in (ben.user, make_person(ann.client, "viewer", "Vic").user, staff):
        browser = Browser()
        browser.force_login(person)  # type: ignore[arg-type]
        assert browser.get(path).status_code == 403
        assert browser.post(path, {**PERSON, **KEY}).status_code == 403
    assert User.objects.count() == people + 1
    assert not ApiKey.objects.exists()
