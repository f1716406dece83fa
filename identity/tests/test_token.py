"""Login For Access Token2, Revoke Token, Read Users Me, Get Client Info."""

import base64
import json
from datetime import timedelta
from urllib.parse import urlencode

import jwt
import pytest
import time_machine
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from chatplatform.testing import at_once, run_before
from identity.models import Attempt, AuditEvent, Client, RefreshToken, Role, User
from identity.testing import PASSWORD, Person, make_person

FORM = "application/x-www-form-urlencoded"
ME = "/identity/users/me"


def login(caller, **form):
    return caller.browser.post("/identity/token2", urlencode(form), content_type=FORM)


def bearer(token):
    return Person({"Authorization": f"Bearer {token}"})


def test_sign_in_by_password(ann, nobody):
    reply = login(nobody, username=ann.user.email.upper(), password=PASSWORD)
    assert reply.status_code == 200
    assert reply["Cache-Control"] == "no-store"
    assert reply["Pragma"] == "no-cache"
    body = reply.json()
    assert (body["token_type"], body["expires_in"], body["scope"]) == ("bearer", 1800, "owner")
    me = bearer(body["access_token"]).get(ME).json()
    assert (me["id"], me["client_id"]) == (ann.user.pk, ann.client.pk)
    assert me["last_login_at"].endswith("Z")
    assert "password" not in me
    assert not Attempt.objects.exists()
    assert not RefreshToken.objects.filter(token_hash=body["refresh_token"]).exists()


@pytest.mark.parametrize("exists", [True, False])
def test_wrong_password_or_user(ann, nobody, exists):
    rows = RefreshToken.objects.count()
    username = ann.user.email if exists else "nobody@example.com"
    reply = login(nobody, username=username, password="wrong-horse-battery")
    assert reply.status_code == 401
    assert reply.json()["error"] == reply.json()["code"] == "invalid_grant"
    assert reply.json()["error_description"] == reply.json()["detail"]
    assert RefreshToken.objects.count() == rows


@pytest.mark.parametrize(
    ("form", "status"),
    [
        ({"username": "a@example.com"}, 422),
        ({"username": "a\0@example.com", "password": "x"}, 422),
        ({"username": "a@example.com", "password": "x" * 129}, 422),
        ({"username[]": "a@example.com", "password": "x"}, 422),
        ({"grant_type": "refresh_token"}, 422),
        ({"grant_type": "magic"}, 400),
    ],
)
def test_wrong_form(db, nobody, form, status):
    assert login(nobody, **form).status_code == status
    assert not Attempt.objects.exists()


def test_json_is_refused(db, nobody):
    assert nobody.post("/identity/token2", {"username": "a", "password": "b"}).status_code == 415


def test_multipart_is_taken_too(ann, nobody):
    form = {"username": ann.user.email, "password": PASSWORD}
    assert nobody.upload("/identity/token2", **form).status_code == 200
    file = SimpleUploadedFile("password", PASSWORD.encode())
    assert nobody.upload("/identity/token2", **(form | {"password": file})).status_code == 422


def test_unknown_parameters_are_ignored(ann, nobody):
    """RFC 6749, 3.2."""
    reply = login(nobody, username=ann.user.email, password=PASSWORD, audience="x", nonce="1")
    assert reply.status_code == 200


def test_the_document_says_how_to_sign_in(nobody):
    schemes = nobody.get("/openapi.json").json()["components"]["securitySchemes"]
    assert schemes["bearer"]["type"] == "oauth2"
    assert schemes["bearer"]["flows"] == {
        "password": {
            "tokenUrl": "identity/token2", "refreshUrl": "identity/token2", "scopes": {},
        }
    }  # fmt: skip


def test_after_ten_failures_even_the_right_password_is_refused(ann, ben, nobody):
    for _ in range(10):
        assert login(nobody, username=ann.user.email, password="wrong").status_code == 401
    reply = login(nobody, username=ann.user.email, password=PASSWORD)
    assert reply.status_code == 429
    assert 0 < int(reply["Retry-After"]) <= 900
    assert Attempt.objects.count() == 10
    assert login(nobody, username=ben.user.email, password=PASSWORD).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_concurrent_attempts_count_each_other(ann, nobody):
    """Of 20 concurrent wrong passwords, at most 10 are checked."""

    def guess():
        return login(nobody, username=ann.user.email, password="x").status_code

    statuses = at_once(*[guess] * 20)
    assert statuses.count(401) == 10
    assert set(statuses) <= {401, 429}
    assert login(nobody, username=ann.user.email, password=PASSWORD).status_code == 429


@pytest.mark.full
def test_hundred_failures_lock_the_address(ann, nobody):
    for number in range(100):
        assert login(nobody, username=f"x{number}@example.com", password="no").status_code == 401
    assert login(nobody, username=ann.user.email, password=PASSWORD).status_code == 429


def test_refresh_rotates_and_reuse_ends_the_family(ann, nobody):
    first = login(nobody, username=ann.user.email, password=PASSWORD).json()
    refresh = {"grant_type": "refresh_token", "refresh_token": first["refresh_token"]}
    second = login(nobody, **refresh)
    assert second.status_code == 200
    reused = login(nobody, **refresh)
    assert (reused.status_code, reused.json()["error"]) == (401, "invalid_grant")
    assert bearer(second.json()["access_token"]).get(ME).status_code == 401
    refresh["refresh_token"] = second.json()["refresh_token"]
    assert login(nobody, **refresh).status_code == 401
    assert ann.get(ME).status_code == 200, "another sign-in goes on"


@pytest.mark.django_db(transaction=True)
def test_concurrent_refreshes_are_a_reuse(ann, nobody):
    first = login(nobody, username=ann.user.email, password=PASSWORD).json()

    def refresh():
        token = first["refresh_token"]
        return login(nobody, grant_type="refresh_token", refresh_token=token)

    replies = at_once(*[refresh] * 4)
    assert sorted(reply.status_code for reply in replies) == [200, 401, 401, 401]
    (won,) = (reply.json() for reply in replies if reply.status_code == 200)
    assert bearer(won["access_token"]).get(ME).status_code == 401, "the family has ended"
    event = AuditEvent.objects.get(action="refresh_token.reused")
    assert (event.user, event.subject) == (None, f"user:{ann.user.pk}")


@pytest.mark.parametrize("grant_type", ["password", "refresh_token"])
def test_disabling_meanwhile_leaves_no_token(ann, ben, nobody, grant_type):
    """Ben is disabled and enabled again between the check of the credentials and the new tokens."""
    signed_in = login(nobody, username=ben.user.email, password=PASSWORD).json()
    form = {"grant_type": grant_type, "refresh_token": signed_in["refresh_token"]}
    if grant_type == "password":
        form = {"username": ben.user.email, "password": PASSWORD}

    def lock_out():
        for flag in (True, False):
            ann.put(f"/identity/users/{ben.user.pk}/disable", {"is_disabled": flag})

    before = {
        "password": "identity.services.attempts.clear_failures",
        "refresh_token": "identity.services.tokens.lock_user",
    }
    with run_before(before[grant_type], lock_out):
        assert login(nobody, **form).status_code == 401
    assert not RefreshToken.objects.filter(user=ben.user, revoked_at=None).exists()


def test_revoke_ends_this_sign_in(ann, nobody):
    other = login(nobody, username=ann.user.email, password=PASSWORD).json()
    assert ann.post("/identity/revoke").status_code == 204
    assert ann.get(ME).status_code == 401
    assert bearer(other["access_token"]).get(ME).status_code == 200


def test_a_viewer_may_sign_out(client_a):
    viewer = make_person(client_a, Role.VIEWER, "Vic")
    assert viewer.get("/identity/client").status_code == 200
    assert viewer.post("/identity/revoke").status_code == 204


@pytest.mark.parametrize("what", ["user", "client", "version"])
def test_access_ends_at_once(ann, nobody, what):
    if what == "client":
        Client.objects.filter(pk=ann.client.pk).update(is_disabled=True)
    elif what == "user":
        User.objects.filter(pk=ann.user.pk).update(is_disabled=True)
    else:
        User.objects.filter(pk=ann.user.pk).update(token_version=2)
    reply = ann.get(ME)
    assert reply.status_code == 401
    assert reply["WWW-Authenticate"] == "Bearer"
    assert reply.json()["detail"] == "Could not validate credentials"
    if what != "version":
        assert login(nobody, username=ann.user.email, password=PASSWORD).status_code == 401


@pytest.mark.parametrize(
    ("change", "key", "algorithm"),
    [
        ({}, "k" * 40, "HS256"),
        ({}, None, "none"),
        ({"aud": "other"}, settings.SECRET_KEY, "HS256"),
        ({"iss": "other"}, settings.SECRET_KEY, "HS256"),
        ({"exp": 1}, settings.SECRET_KEY, "HS256"),
        ({"tv": "x"}, settings.SECRET_KEY, "HS256"),
        ({"tv": 2}, settings.SECRET_KEY, "HS256"),
        ({"sid": "018f6b5e-0000-7000-8000-000000000000"}, settings.SECRET_KEY, "HS256"),
        ({"user_id": "0"}, settings.SECRET_KEY, "HS256"),
        ({"aud": None}, settings.SECRET_KEY, "HS256"),
    ],
)
def test_a_forged_token_is_refused(ann, change, key, algorithm):
    token = ann.headers["Authorization"].removeprefix("Bearer ")
    claims = jwt.decode(token, options={"verify_signature": False})
    forged = jwt.encode(claims | change, key, algorithm=algorithm)
    assert bearer(forged).get(ME).status_code == 401


def test_an_edited_claim_breaks_the_signature(ann, cara):
    """Cara's id in Ann's token: the signature does not match."""
    head, body, signature = ann.headers["Authorization"].removeprefix("Bearer ").split(".")
    claims = json.loads(base64.urlsafe_b64decode(body + "=="))
    claims["user_id"] = str(cara.user.pk)
    edited = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    assert bearer(f"{head}.{edited}.{signature}").get(ME).status_code == 401


def test_a_key_inside_the_token_is_not_used(ann):
    token = ann.headers["Authorization"].removeprefix("Bearer ")
    claims = jwt.decode(token, options={"verify_signature": False})
    for kid in ("/dev/null", "../../keys/secret_key", "https://evil.example/jwks"):
        forged = jwt.encode(claims, "k" * 40, algorithm="HS256", headers={"kid": kid})
        assert bearer(forged).get(ME).status_code == 401


def test_a_host_whose_clock_is_behind_accepts_a_token(client_a):
    with time_machine.travel(timezone.now() + timedelta(minutes=5)):
        ann = make_person(client_a)
    assert ann.get(ME).status_code == 200


@pytest.mark.parametrize(("seconds", "status"), [(45, 200), (75, 401)])
def test_a_host_whose_clock_is_a_little_ahead_accepts_a_token(ann, seconds, status):
    ahead = settings.ACCESS_TOKEN_LIFETIME + timedelta(seconds=seconds)
    with time_machine.travel(timezone.now() + ahead):
        assert ann.get(ME).status_code == status


def test_no_credential(db, nobody):
    reply = nobody.get(ME)
    assert (reply.status_code, reply.json()["detail"]) == (401, "Not authenticated")


def test_one_query_finds_the_caller(ann, django_assert_num_queries):
    with django_assert_num_queries(1):
        ann.get(ME)


def test_client_info(cara):
    reply = cara.get("/identity/client").json()
    assert (reply["id"], reply["name"]) == (cara.client.pk, "Bravo")
    assert reply["subscription"]["credits_used"] == 0


def revoke(caller, **form):
    return caller.browser.post(
        "/identity/revoke", urlencode(form), content_type=FORM, headers=caller.headers
    )


@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
def test_the_form_of_rfc_7009_ends_the_sign_in_of_its_token(ann, nobody, kind):
    issued = login(nobody, username=ann.user.email, password=PASSWORD).json()
    assert revoke(nobody, token=issued[kind], token_type_hint=kind).status_code == 204
    assert bearer(issued["access_token"]).get(ME).status_code == 401
    assert ann.get(ME).status_code == 200
    assert revoke(nobody, token=issued[kind]).status_code == 401


@pytest.mark.parametrize("content_type", ["application/json", "multipart/form-data; boundary=x"])
def test_a_token_in_another_body_than_the_form_ends_nothing(ann, nobody, content_type):
    issued = login(nobody, username=ann.user.email, password=PASSWORD).json()
    token = issued["refresh_token"]
    body = json.dumps({"token": token})
    if content_type != "application/json":
        body = f'--x\r\nContent-Disposition: form-data; name="token"\r\n\r\n{token}\r\n--x--\r\n'
    for headers, statuses in ((ann.headers, {415}), ({}, {401, 415})):
        refused = nobody.browser.post(
            "/identity/revoke", body, content_type=content_type, headers=headers
        )
        assert refused.status_code in statuses
    assert bearer(issued["access_token"]).get(ME).status_code == 200
    assert ann.get(ME).status_code == 200


def test_nobody_revokes_the_token_of_another(ann, cara, nobody):
    issued = login(nobody, username=ann.user.email, password=PASSWORD).json()
    assert revoke(cara, token=issued["refresh_token"]).status_code == 204
    assert revoke(nobody, token="no-such-token").status_code == 401
    assert bearer(issued["access_token"]).get(ME).status_code == 200
    assert cara.get(ME).status_code == 200
