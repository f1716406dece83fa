"""The audit log: what is recorded, and that it is append-only."""

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.db.utils import IntegrityError
from django.test import Client as Browser

from identity.models import AuditEvent, User
from identity.services import audit
from identity.testing import PASSWORD, make_key, signed_in

KEYS = "/identity/api-keys"


def actions():
    return list(AuditEvent.objects.order_by("pk").values_list("action", flat=True))


def sign_in(nobody, user, password):
    return nobody.upload("/identity/token2", username=user.email, password=password).status_code


def test_sign_in_and_out(ann, nobody):
    assert sign_in(nobody, ann.user, PASSWORD) == 200
    ann.post("/identity/revoke", **{"X-Request-ID": "the-one"})
    assert actions() == ["user.signed_in", "user.signed_out"]
    event = AuditEvent.objects.get(action="user.signed_out")
    assert (event.user, event.address, event.request_id) == (ann.user, "127.0.0.1", "the-one")


def test_a_lock_is_recorded_once_and_only_for_an_account(ann, nobody):
    for _ in range(13):
        sign_in(nobody, ann.user, "wrong")
        nobody.upload("/identity/token2", username="nobody@example.com", password="wrong")
    (event,) = AuditEvent.objects.all()
    assert (event.action, event.subject) == ("user.locked", f"user:{ann.user.pk}")


def test_registration(db, nobody):
    body = {"company_name": "D", "full_name": "Dan", "email": "d@d.example", "password": PASSWORD}
    assert nobody.post("/identity/register-trial", body).status_code == 201
    assert actions() == ["user.created", "client.registered"]


def test_creation_use_and_revocation_of_a_key(ann, bot):
    key = ann.post(KEYS, {"name": "x", "bot_id": bot.pk}).json()
    other = make_key(ann.client)
    for _ in range(3):
        assert ann.browser.get(
            "/identity/languages/by-api-key", headers={"API-KEY": key["key"]}
        ).status_code == 200  # fmt: skip
    for _ in range(2):
        ann.delete(f"{KEYS}/{key['id']}")
    recorded = AuditEvent.objects.filter(subject=f"api_key:{key['id']}").order_by("pk")
    assert [(event.action, event.user, event.api_key_id) for event in recorded] == [
        ("api_key.created", ann.user, None),
        ("api_key.first_used", None, key["id"]),
        ("api_key.revoked", ann.user, None),
    ]
    assert key["key"].partition(".")[2] not in str(list(AuditEvent.objects.values()))
    assert other.key
    assert AuditEvent.objects.filter(subject=f"api_key:{other.key.pk}").count() == 1


@pytest.mark.parametrize("table", ["identity_auditevent", "identity_auditlink"])
@pytest.mark.parametrize("change", ["UPDATE {} SET client_id = 1", "DELETE FROM {}"])
def test_the_database_refuses_changes(ann, change, table):
    audit.record(ann.client.pk, "user.tested", by=ann.user)
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
            cursor.execute(change.format(table))
    assert actions() == ["user.tested"]


def test_an_event_outlives_its_user_and_key(ann, ben):
    key = make_key(ann.client).key
    assert key
    audit.record(ann.client.pk, "user.tested", by=ben.user)
    audit.record(ann.client.pk, "key.tested", by=key)
    ids = [(ben.user.pk, None), (None, key.pk)]
    ben.user.delete()
    key.delete()
    recorded = AuditEvent.objects.filter(action__endswith=".tested")
    assert [(event.user_id, event.api_key_id) for event in recorded] == ids


@pytest.fixture
def site(db):
    browser = Browser()
    staff = User.objects.create_superuser("staff@example.com", PASSWORD, full_name="Staff")
    browser.force_login(staff)
    return browser


def test_staff_can_only_read_it(site, ann):
    audit.record(ann.client.pk, "user.tested", by=ann.user, subject="user:1<script>")
    pk = AuditEvent.objects.get().pk
    for path in ("", "?action=user.tested", "?q=user:1", f"{pk}/change/"):
        reply = site.get(f"/admin/identity/auditevent/{path}")
        assert reply.status_code == 200
        assert b"User 1&lt;script&gt;" in reply.content
    assert site.get("/admin/identity/auditevent/add/").status_code == 403
    assert site.post(f"/admin/identity/auditevent/{pk}/change/", {}).status_code == 403
    assert site.post(f"/admin/identity/auditevent/{pk}/delete/", {"post": "yes"}).status_code == 403


def test_what_the_platforms_staff_do_stands_in_the_platforms_own_log(ann, db):
    eve = User.objects.create_superuser("eve@staff.example", PASSWORD, full_name="Eve")
    max_ = User.objects.create_superuser("max@staff.example", PASSWORD, full_name="Max")
    browser = Browser()
    browser.post("/admin/login/", {"username": eve.email, "password": PASSWORD})
    page = f"/admin/identity/user/{max_.pk}/change/"
    assert browser.post(page, {"form": "disable"}).status_code == 302
    assert browser.post(page, {"form": "enable"}).status_code == 302
    browser.post("/admin/logout/")
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # rows are chained at the end
    call_command("check_audit")
    recorded = AuditEvent.objects.filter(client_id=audit.PLATFORM).order_by("pk")
    assert [(event.action, event.user, event.subject) for event in recorded] == [
        ("user.signed_in", eve, f"user:{eve.pk}"),
        ("user.disabled", eve, f"user:{max_.pk}"),
        ("user.enabled", eve, f"user:{max_.pk}"),
        ("user.signed_out", eve, f"user:{eve.pk}"),
    ]
    assert not ann.get("/identity/audit").json()["items"], "no client reads it"


@pytest.mark.full
def test_the_log_speaks_the_words_of_the_site_and_finds_them(ann, bot):
    client = ann.client
    for body in (
        {"assign_strategy": "least_busy", "first_response_target_seconds": 720},
        {"handoff_message": {"en": "Hello there"}},
    ):
        assert ann.post(f"/config/{client.pk}/chat", body).status_code == 200
    audit.record(client.pk, "bot.tested", by=ann.user, subject=f"bot:{bot.pk}",
                 changes={"until": "2026-12-06T00:57:57.187Z"})  # fmt: skip
    browser = signed_in(ann.user)
    page = "/admin/identity/auditevent/"

    def rows(word=""):
        reply = browser.get(page, {"q": word})
        assert reply.status_code == 200
        model_admin = reply.context["cl"].model_admin
        return [
            (row.action, model_admin.shown_subject(row), model_admin.shown_changes(row))
            for row in reply.context["cl"].result_list
        ]

    newest, message, settings = rows()[:3]
    assert newest[1].endswith(bot.bot_name)
    assert "2026-12-06T" not in newest[2]
    assert "12 min" in settings[2]
    assert "least_busy" not in settings[2]
    assert "720" not in settings[2]
    assert rows("there") == [message]
    assert newest in rows(bot.bot_name.split()[0])
    assert rows("nothing-has-this") == []
    assert settings in rows("Settings")
