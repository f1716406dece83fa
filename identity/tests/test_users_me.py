"""Update Users Me and Change My Password: what people do to their own account."""

from urllib.parse import urlencode

import pytest

from chatplatform.models import Job
from chatplatform.testing import run_before
from identity.models import Attempt, AuditEvent, RefreshToken, Role, User
from identity.services import tokens
from identity.testing import PASSWORD, Person, make_person

ME = "/identity/users/me"
OTHER = "another-horse-battery"
CHANGE = {"current_password": PASSWORD, "new_password": OTHER}


def sign_in(caller, **form):
    kind = "application/x-www-form-urlencoded"
    return caller.browser.post("/identity/token2", urlencode(form), content_type=kind)


def state(user):
    return User.objects.filter(pk=user.pk).values().get()


@pytest.mark.parametrize("role", Role.values)
def test_everybody_changes_their_own_name_and_language(ann, role):
    pat = make_person(ann.client, role, "Pat")
    before = pat.get(ME).json()
    reply = pat.put(ME, {"full_name": "Pat Moss"})
    assert (reply.status_code, reply.json()) == (200, before | {"full_name": "Pat Moss"})
    reply = pat.put(ME, {"language": "vi"})
    assert reply.json() == before | {"full_name": "Pat Moss", "language": "vi"}
    assert pat.get(ME).json() == reply.json(), "and stays signed in"
    assert pat.put(ME, {"language": "vi", "full_name": None}).json() == reply.json()
    events = AuditEvent.objects.filter(action="user.updated").order_by("pk")
    assert [event.changes for event in events] == [
        {"fields": ["full_name"]}, {"fields": ["language"]},
    ]  # fmt: skip
    assert {event.user for event in events} == {pat.user}
    assert ann.get(ME).json()["full_name"] == "Ann"


def test_people_set_themselves_as_away_and_as_available(ann, ben):
    assert ben.get(ME).json()["is_away"] is False
    for is_away in (True, True, False):
        reply = ben.put(ME, {"is_away": is_away})
        assert (reply.status_code, reply.json()["is_away"]) == (200, is_away)
        assert ben.put(ME, {"is_away": None, "language": "en"}).json()["is_away"] is is_away
        people = ann.get("/identity/users").json()["items"]
        assert [one["id"] for one in people if one["is_away"]] == [ben.user.pk] * is_away
    events = AuditEvent.objects.filter(action="user.updated")
    assert [event.changes for event in events] == [{"fields": ["is_away"]}] * 2


@pytest.mark.parametrize(
    "body",
    [{"full_name": " "}, {"full_name": "x" * 201}, {"language": "English"}, {"is_superuser": True},
     {"password": OTHER}, {"is_away": "on holiday"}],
)  # fmt: skip
def test_wrong_body(ben, body):
    before = state(ben.user)
    assert ben.put(ME, body).status_code == 422
    assert state(ben.user) == before


def test_nobody_gives_themselves_rights(ben):
    before = state(ben.user)
    for change in ({"role": "owner"}, {"can_train": True}, {"email": "x@acme.example"}):
        ben.put(ME, change)
        assert state(ben.user) == before


def test_a_new_password_ends_the_other_sign_ins(ann, ben, nobody):
    elsewhere = tokens.issue(ben.user)
    reply = ben.put(f"{ME}/password", CHANGE)
    assert reply.status_code == 200
    assert reply["Cache-Control"] == "no-store"
    assert ben.get(ME).status_code == 401, "the old token of this sign-in too"
    other = Person({"Authorization": f"Bearer {elsewhere.access_token}"})
    assert other.get(ME).status_code == 401
    refresh = {"grant_type": "refresh_token", "refresh_token": elsewhere.refresh_token}
    assert sign_in(nobody, **refresh).status_code == 401
    goes_on = Person({"Authorization": f"Bearer {reply.json()['access_token']}"})
    assert goes_on.get(ME).json()["id"] == ben.user.pk
    refresh["refresh_token"] = reply.json()["refresh_token"]
    assert sign_in(nobody, **refresh).status_code == 200
    email = ben.user.email
    assert sign_in(nobody, username=email, password=PASSWORD).status_code == 401
    assert sign_in(nobody, username=email, password=OTHER).status_code == 200
    job = Job.objects.get()
    assert (job.args["kind"], job.args["to"]) == ("password_changed", [email])
    event = AuditEvent.objects.get(action="user.password_set")
    assert (event.user, event.changes) == (ben.user, {})
    assert ann.get(ME).status_code == 200


def test_a_wrong_password_changes_nothing_and_counts(ben, nobody):
    before = state(ben.user)
    for _ in range(10):
        reply = ben.put(f"{ME}/password", CHANGE | {"current_password": "wrong-horse"})
        assert reply.status_code == 422
        assert reply.json()["detail"][0]["loc"] == ["body", "current_password"]
    assert Attempt.objects.count() == 10
    assert ben.put(f"{ME}/password", CHANGE).status_code == 429
    assert sign_in(nobody, username=ben.user.email, password=PASSWORD).status_code == 429
    assert state(ben.user) == before
    assert ben.get(ME).status_code == 200
    assert not Job.objects.exists()


@pytest.mark.parametrize("password", ["short", "1234567890", "password12", "x" * 129])
def test_a_weak_password_is_refused(ben, password):
    before = state(ben.user)
    reply = ben.put(f"{ME}/password", CHANGE | {"new_password": password})
    assert reply.status_code == 422
    assert reply.json()["detail"][0]["loc"] == ["body", "new_password"]
    assert state(ben.user) == before


def test_an_admin_who_sets_the_password_meanwhile_wins(ann, ben):
    def set_it():
        path = f"/identity/users/{ben.user.pk}/reset-password"
        assert ann.put(path, {"password": "third-horse-battery"}).status_code == 204

    with run_before("identity.services.attempts.clear_failures", set_it):
        assert ben.put(f"{ME}/password", CHANGE).status_code == 401
    assert User.objects.get(pk=ben.user.pk).check_password("third-horse-battery")
    assert not RefreshToken.objects.filter(user=ben.user, revoked_at=None).exists()


def test_can_train_is_given_by_an_admin(ann, ben):
    path = f"/identity/users/{ben.user.pk}/role"
    reply = ann.put(path, {"role": "agent", "can_train": True})
    assert (reply.status_code, reply.json()["can_train"]) == (200, True)
    assert ben.get(ME).json()["can_train"] is True, "at once, with the same token"
    event = AuditEvent.objects.get()
    assert (event.action, event.changes) == ("user.updated", {"fields": ["can_train"]})
    assert ann.put(path, {"role": "agent"}).json()["can_train"] is True
    assert ann.put(path, {"role": "agent", "can_train": True}).status_code == 200
    assert AuditEvent.objects.count() == 1
    assert ben.put(path, {"role": "agent", "can_train": False}).status_code == 403
    assert ann.put(path, {"role": "agent", "can_train": False}).json()["can_train"] is False
    new = {"email": "tom@acme.example", "full_name": "Tom", "can_train": True}
    assert ann.post("/identity/users", new).json()["can_train"] is True
