"""Register Trial."""

import json
from urllib.parse import urlencode

import pytest

from identity.models import Client, ClientConfig, Subscription, User

PATH = "/identity/register-trial"
GIVEN = {
    "company_name": "Delta & Sons",
    "full_name": "Dora",
    "email": "Dora@delta.example",
    "password": "correct-horse-battery",
}


def test_a_company_registers_and_its_owner_signs_in(db, nobody):
    reply = nobody.post(PATH, GIVEN)
    assert reply.status_code == 201
    assert reply.json()["code"] == "delta-sons"
    assert reply.json()["subscription"]["plan"] == "trial"
    owner = User.objects.get()
    assert (owner.email, owner.role) == ("dora@delta.example", "owner")
    assert ClientConfig.objects.count() == Subscription.objects.count() == 1
    form = urlencode({"username": GIVEN["email"], "password": GIVEN["password"]})
    kind = "application/x-www-form-urlencoded"
    assert nobody.browser.post("/identity/token2", form, content_type=kind).status_code == 200


def test_a_page_of_another_site_registers_nobody(db, nobody):
    """It may send a body without a type, or as plain text, without that its browser asks first."""
    origin = {"Origin": "https://other.example"}
    for kind in ("", "text/plain", "application/x-www-form-urlencoded"):
        reply = nobody.browser.post(PATH, json.dumps(GIVEN), content_type=kind, headers=origin)
        assert reply.status_code == 415, kind
    assert not Client.objects.exists()
    assert nobody.browser.post(PATH, json.dumps(GIVEN), content_type="").status_code == 201


def test_a_namesake_gets_another_code(db, nobody):
    nobody.post(PATH, GIVEN)
    reply = nobody.post(PATH, GIVEN | {"email": "other@delta.example"})
    assert reply.status_code == 201
    assert reply.json()["code"].startswith("delta-sons-")


def test_a_known_address_leaves_nothing_behind(ann, nobody):
    reply = nobody.post(PATH, GIVEN | {"email": ann.user.email.upper()})
    assert (reply.status_code, reply.json()["code"]) == (409, "email_taken")
    assert Client.objects.count() == 1


@pytest.mark.parametrize(
    "change",
    [
        {"email": "no"},
        {"password": "short"},
        {"password": "1234567890"},
        {"password": "x" * 129},
        {"timezone": "Mars/Base"},
        {"company_name": "  "},
        {"role": "owner"},
        {"full_name": "a\0b"},
    ],
)
def test_wrong_body(db, nobody, change):
    assert nobody.post(PATH, GIVEN | change).status_code == 422
    assert not Client.objects.exists()


def test_twenty_an_hour_from_one_address(db, nobody):
    for number in range(20):
        change = {"email": f"d{number}@delta.example"}
        assert nobody.post(PATH, GIVEN | change).status_code == 201
    reply = nobody.post(PATH, GIVEN)
    assert reply.status_code == 429
    assert int(reply["Retry-After"]) <= 3600
    assert Client.objects.count() == 20
    other = nobody.browser.post(
        PATH, GIVEN, content_type="application/json", REMOTE_ADDR="2001:db8::1"
    )
    assert other.status_code == 201
