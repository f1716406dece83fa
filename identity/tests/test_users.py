"""Create Client User and Get My Company Users."""

from dataclasses import replace

import pytest
from django.core import mail
from django.db import connection

from chatplatform.models import Job
from chatplatform.testing import run_jobs
from identity.models import AttemptKind, AuditEvent, PasswordReset, Role, User
from identity.services import attempts
from identity.testing import PASSWORD, make_person

PATH = "/identity/users"
EVE = {"email": "Eve@acme.example", "full_name": "Eve Fox"}


@pytest.mark.django_db(transaction=True)
def test_without_a_password_the_user_is_mailed_a_link(ann, nobody):
    reply = ann.post(PATH, EVE | {"language": "vi-VN", "role": "viewer"})
    assert reply.status_code == 201
    body = reply.json()
    assert (body["email"], body["role"], body["is_disabled"]) == (
        "eve@acme.example", "viewer", False,
    )  # fmt: skip
    assert "password" not in body
    assert run_jobs() == 1
    (sent,) = mail.outbox
    assert sent.to == ["eve@acme.example"]
    assert sent.subject == "Ann mời bạn tham gia Acme"
    token = sent.body.partition("#token=")[2].split()[0]
    chosen = {"token": token, "new_password": PASSWORD}
    assert nobody.post("/identity/reset-password", chosen).status_code == 204
    assert User.objects.get(email="eve@acme.example").check_password(PASSWORD)


def test_with_a_password_the_user_is_mailed_a_welcome(ann):
    assert ann.post(PATH, EVE | {"password": PASSWORD}).status_code == 201
    assert User.objects.get(email="eve@acme.example").check_password(PASSWORD)
    job = Job.objects.get()
    assert (job.name, job.args["kind"]) == ("identity.send_mail", "welcome")
    assert PASSWORD not in str(job.args)
    assert not PasswordReset.objects.exists()
    event = AuditEvent.objects.get(action="user.created")
    assert (event.user, event.changes) == (
        ann.user, {"role": "agent", "can_train": False},
    )  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        {"email": "no"},
        {"email": None},
        {"full_name": " "},
        {"role": "root"},
        {"password": "short"},
        {"password": "1234567890"},
        {"language": "English"},
        {"is_superuser": True},
    ],
)
def test_wrong_body(ann, change):
    assert ann.post(PATH, EVE | change).status_code == 422
    assert User.objects.count() == 1
    assert not Job.objects.exists()


def test_an_address_in_use_by_any_client_is_refused(ann, cara):
    for email in (ann.user.email.upper(), cara.user.email):
        reply = ann.post(PATH, EVE | {"email": email})
        assert (reply.status_code, reply.json()["code"]) == (409, "email_taken")
    assert User.objects.count() == 2


def test_only_an_owner_makes_owners(ann):
    admin = make_person(ann.client, Role.ADMIN, "Abe")
    assert admin.post(PATH, EVE | {"role": "owner"}).status_code == 403
    assert not User.objects.filter(email="eve@acme.example").exists()
    assert admin.post(PATH, EVE | {"role": "admin"}).status_code == 201
    assert ann.post(PATH, EVE | {"email": "o@acme.example", "role": "owner"}).status_code == 201


@pytest.mark.parametrize("role", [Role.AGENT, Role.VIEWER])
def test_others_may_list_but_not_add(ann, role):
    person = make_person(ann.client, role, "Pat")
    assert person.get(PATH).status_code == 200
    assert person.post(PATH, EVE).status_code == 403
    assert User.objects.count() == 2


def test_the_list_holds_only_own_users_in_pages(ann, ben, cara):
    first = ann.get(PATH, {"limit": 1}).json()
    second = ann.get(PATH, {"limit": 1, "cursor": first["next_cursor"]}).json()
    ids = [item["id"] for reply in (first, second) for item in reply["items"]]
    assert ids == [ann.user.pk, ben.user.pk]
    assert second["next_cursor"] is None
    assert cara.user.email not in ann.get(PATH).content.decode()


def test_a_longer_list_costs_no_more_queries(ann, django_assert_max_num_queries):
    for number in range(20):
        make_person(ann.client, Role.AGENT, f"p{number}")
    with django_assert_max_num_queries(2):
        assert len(ann.get(PATH).json()["items"]) == 21
    assert connection.vendor == "postgresql"


def test_at_most_a_hundred_new_users_an_hour(ann, cara, monkeypatch):
    monkeypatch.setitem(
        attempts.LIMITS,
        AttemptKind.ADD_USER,
        replace(attempts.LIMITS[AttemptKind.ADD_USER], for_account=2),
    )
    admin = make_person(ann.client, Role.ADMIN, "Abe")
    for number, person in enumerate((ann, admin)):
        assert person.post(PATH, EVE | {"email": f"e{number}@acme.example"}).status_code == 201
    assert ann.post(PATH, EVE).status_code == 429
    assert cara.post(PATH, EVE).status_code == 201
