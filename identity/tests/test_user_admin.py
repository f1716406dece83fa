"""People in the admin site, and its sign-in."""

from typing import Any

import pytest
from django.test import Client as Browser

from identity.models import AuditEvent, Role, User
from identity.services import tokens
from identity.testing import PASSWORD, make_person, signed_in

ME = "/identity/users/me"


@pytest.fixture
def staff(db):
    return User.objects.create_superuser("staff@example.com", PASSWORD, full_name="Staff")


@pytest.fixture
def site(staff):
    return signed_in(staff)


def send(site, user, form, **values):
    return site.post(f"/admin/identity/user/{user.pk}/change/", {"form": form, **values})


def save(site, user, **change):
    form = {"email": user.email, "full_name": user.full_name, "role": user.role,
            "language": user.language} | change  # fmt: skip
    return send(site, user, "person", **form)


def test_an_enabled_user_has_no_old_token(site, staff, ben):
    issued = tokens.issue(ben.user)
    assert send(site, ben.user, "disable").status_code == 302
    assert User.objects.get(pk=ben.user.pk).is_disabled
    assert send(site, ben.user, "enable").status_code == 302
    assert not User.objects.get(pk=ben.user.pk).is_disabled
    assert ben.get(ME).status_code == 401
    with pytest.raises(tokens.InvalidGrant):
        tokens.rotate(issued.refresh_token)
    recorded = AuditEvent.objects.order_by("pk").values_list("action", "user")
    assert list(recorded) == [("user.disabled", staff.pk), ("user.enabled", staff.pk)]


def test_a_role_is_changed_by_the_service(site, ben):
    assert save(site, ben.user, role=Role.OWNER).status_code == 302
    assert AuditEvent.objects.get().changes == {"role": ["agent", "owner"]}
    assert ben.get(ME).status_code == 401


@pytest.mark.parametrize("way", [send, save])
def test_the_last_owner_stays(site, ann, way):
    reply = way(site, ann.user, **({"form": "disable"} if way is send else {"role": "agent"}))
    assert reply.status_code == 200
    assert b"needs an owner who can sign in" in reply.content
    user = User.objects.get(pk=ann.user.pk)
    assert (user.role, user.is_disabled, user.token_version) == ("owner", False, 1)


def test_other_fields_are_saved_without_touching_rights(site, ben):
    assert save(site, ben.user, full_name="Benny", email="BENNY@acme.example").status_code == 302
    user = User.objects.get(pk=ben.user.pk)
    assert (user.full_name, user.email) == ("Benny", "benny@acme.example")
    assert ben.get(ME).status_code == 200
    assert AuditEvent.objects.get().changes == {"fields": ["email", "full_name"]}


def test_staff_are_not_people_of_a_client(site, staff):
    assert save(site, staff, full_name="Sue").status_code == 302
    assert User.objects.get(pk=staff.pk).full_name == "Sue"


def test_users_cannot_be_deleted(site, ben):
    path = f"/admin/identity/user/{ben.user.pk}/delete/"
    assert site.post(path, {"post": "yes"}).status_code == 403
    assert User.objects.filter(pk=ben.user.pk).exists()


def enter(email, password):
    form = {"username": email, "password": password}
    return Browser().post("/admin/login/?next=/admin/", form).status_code


def test_the_sign_in_of_staff_counts_failures_too(staff):
    assert enter(staff.email.upper(), PASSWORD) == 302
    for _ in range(10):
        assert enter(staff.email, "wrong") == 200
    assert enter(staff.email, PASSWORD) == 429, "locked, and the form comes back"


def test_a_long_password_is_refused_like_a_wrong_one(staff):
    """It is too long to be hashed; the answer must not reveal accounts."""
    assert enter(staff.email, "x" * 200) == 200
    assert enter("nobody@example.com", "x" * 200) == 200


def test_staff_have_no_access_tokens(staff, nobody):
    reply = nobody.upload("/identity/token2", username=staff.email, password=PASSWORD)
    assert reply.status_code == 401


def test_the_last_of_the_staff_cannot_lock_themselves_out(site, staff):
    reply = send(site, staff, "disable")
    assert reply.status_code == 200
    assert b"needs at least one person" in reply.content
    other = User.objects.create_superuser("other@example.com", PASSWORD, full_name="Other")
    assert send(site, other, "disable").status_code == 302
    assert send(site, staff, "disable").status_code == 200
    assert not User.objects.get(pk=staff.pk).is_disabled


def test_an_owner_gives_names_and_rights_but_no_addresses(ann, ben):
    change = {"role": "admin", "can_train": "on", "email": "ann2@example.com", "language": "vi"}
    reply = save(signed_in(ann.user), ben.user, full_name="Benny", **change)
    assert reply.status_code == 302
    user = User.objects.get(pk=ben.user.pk)
    assert (user.full_name, user.role, user.can_train) == ("Benny", "admin", True)
    assert (user.email, user.language) == (ben.user.email, "en")
    actions = AuditEvent.objects.order_by("pk").values_list("action", flat=True)
    assert list(actions) == ["user.updated", "user.role_changed", "user.updated"]


def test_an_admin_makes_no_owner_and_changes_none(client_a, ann, ben):
    admin = make_person(client_a, Role.ADMIN, "Adam")
    tries: list[Any] = [(ben, "owner"), (ann, "agent"), (admin, "owner")]
    for person, role in tries:
        reply = save(signed_in(admin.user), person.user, role=role)
        assert reply.status_code == (403 if person is ann else 200)
        assert person is ann or reply.context["parts"]["person"].form.errors["role"]
        assert User.objects.get(pk=person.user.pk).role == person.user.role
    assert not AuditEvent.objects.exists()


def test_a_taken_address_is_refused(site, ann, ben):
    assert save(site, ben.user, email=ann.user.email.upper()).status_code == 200
    assert save(site, ben.user, language="zz-nonsense-x").status_code == 200
    assert User.objects.get(pk=ben.user.pk).email == ben.user.email
    assert not AuditEvent.objects.exists()
