"""The first of the platform's staff is made, and restored, from the command line."""

import io

import pytest
from django.core import mail
from django.core.management import CommandError, call_command
from django.test import Client as Browser

from chatplatform.testing import run_jobs
from identity.models import User
from identity.testing import PASSWORD

EMAIL = "root@platform.example"


def made(email=EMAIL):
    out = io.StringIO()
    call_command("make_admin", email, stdout=out)
    return out.getvalue().split()[-1]


def enters(password, email=EMAIL):
    browser = Browser()
    browser.post("/admin/login/", {"username": email, "password": password})
    return browser.get("/admin/chatplatform/job/").status_code == 200


@pytest.mark.django_db
def test_the_first_superuser_is_made():
    assert enters(made())
    assert User.objects.get().client is None


@pytest.mark.django_db(transaction=True)
def test_a_new_one_is_welcomed_and_a_restored_one_is_warned():
    made()
    run_jobs()
    assert [message.to for message in mail.outbox] == [[EMAIL]]
    assert "/admin/" in mail.outbox[0].body
    assert "changed" not in mail.outbox[0].subject
    made()
    run_jobs()
    assert mail.outbox[1].subject == "Your password was changed"


@pytest.mark.django_db
def test_a_locked_out_superuser_is_restored():
    old = made()
    User.objects.update(is_disabled=True)
    assert not enters(old)
    new = made(EMAIL.upper())
    assert enters(new)
    assert not enters(old)
    assert User.objects.count() == 1


@pytest.mark.parametrize("email", ["", "nonsense"])
def test_it_needs_an_address(db, email):
    with pytest.raises(CommandError, match="EMAIL"):
        made(email)
    assert not User.objects.exists()


def test_a_clients_person_is_not_made_staff(ann):
    with pytest.raises(CommandError, match="belongs to a person"):
        made(ann.user.email)
    assert not User.objects.get().is_superuser
    assert enters(PASSWORD, ann.user.email) is False
