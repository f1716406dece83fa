"""Forgot Password, Verify Reset Token and Reset Password."""

import logging
from datetime import timedelta
from urllib.parse import urlencode

import pytest
from django.core import mail
from django.utils import timezone

from chatplatform import jobs
from chatplatform.models import Job
from chatplatform.testing import at_once, run_before, run_jobs
from identity.models import Attempt, AuditEvent, Client, PasswordReset, RefreshToken, User
from identity.services import passwords
from identity.testing import PASSWORD, signed_in

FORGOT = "/identity/forgot-password"
VERIFY = "/identity/verify-reset-token"
RESET = "/identity/reset-password"
NEW = "another-horse-battery"

pytestmark = pytest.mark.django_db(transaction=True)


def ask(caller, email, **headers):
    return caller.post(FORGOT, {"email": email}, **headers)


def mailed_token(caller, email, **headers):
    """The token in the link of the newest mail, after the request and its job."""
    assert ask(caller, email, **headers).status_code == 202
    run_jobs()
    return mail.outbox[-1].body.partition("#token=")[2].split()[0]


def reset(caller, token, password=NEW):
    return caller.post(RESET, {"token": token, "new_password": password})


def sign_in(caller, user, password):
    form = urlencode({"username": user.email, "password": password})
    kind = "application/x-www-form-urlencoded"
    return caller.browser.post("/identity/token2", form, content_type=kind).status_code


def test_the_link_sets_a_password_and_ends_every_sign_in(ann, nobody, caplog):
    caplog.set_level(logging.DEBUG)
    token = mailed_token(nobody, ann.user.email.upper())
    assert mail.outbox[0].to == [ann.user.email]
    assert nobody.post(VERIFY, {"token": token}).status_code == 204
    assert reset(nobody, token).status_code == 204
    assert ann.get("/identity/users/me").status_code == 401
    assert not RefreshToken.objects.filter(user=ann.user, revoked_at=None).exists()
    assert sign_in(nobody, ann.user, PASSWORD) == 401
    assert sign_in(nobody, ann.user, NEW) == 200
    run_jobs()
    assert mail.outbox[-1].subject == "Your password was changed"
    actions = list(AuditEvent.objects.order_by("pk").values_list("action", flat=True))
    assert actions[:3] == ["password_reset.asked", "password_reset.used", "user.password_set"]
    assert token not in caplog.text
    assert token not in str(list(Job.objects.values())) + str(list(PasswordReset.objects.values()))


def test_the_answer_does_not_reveal_accounts(ann, nobody, django_assert_num_queries):
    def answer(email):
        with django_assert_num_queries(8):
            reply = ask(nobody, email)
        return reply.status_code, reply.content, reply.headers.keys()

    assert answer(ann.user.email) == answer("nobody@example.com")
    # Only the job differs.
    assert [job.name for job in Job.objects.all()] == ["identity.send_reset_link"] * 2
    run_jobs()
    assert [message.to for message in mail.outbox] == [[ann.user.email]]
    assert not Job.objects.exclude(state="done").exists()


@pytest.mark.parametrize("reason", ["disabled", "client disabled", "staff"])
def test_users_who_may_not_sign_in_get_no_link(ann, nobody, reason):
    email = ann.user.email
    if reason == "disabled":
        User.objects.update(is_disabled=True)
    elif reason == "client disabled":
        Client.objects.update(is_disabled=True)
    else:
        email = User.objects.create_superuser("staff@example.com", full_name="Sue").email
    assert ask(nobody, email).status_code == 202
    run_jobs()
    assert not mail.outbox
    assert not PasswordReset.objects.exists()


def test_a_link_works_once(ann, nobody):
    token = mailed_token(nobody, ann.user.email)
    assert reset(nobody, token).status_code == 204
    again = reset(nobody, token, "third-horse-battery")
    assert (again.status_code, again.json()["code"]) == (400, "reset_token_invalid")
    assert nobody.post(VERIFY, {"token": token}).status_code == 400
    assert User.objects.get(pk=ann.user.pk).check_password(NEW)


def test_of_two_concurrent_uses_one_counts(ann, nobody):
    token = mailed_token(nobody, ann.user.email)
    replies = at_once(
        lambda: reset(nobody, token, "horse-battery-1"),
        lambda: reset(nobody, token, "horse-battery-2"),
    )
    assert sorted(reply.status_code for reply in replies) == [204, 400]


@pytest.mark.parametrize("end", ["an hour", "a newer one", "a password change", "a lock-out"])
def test_a_link_ends_with(ann, ben, nobody, end):
    token = mailed_token(nobody, ben.user.email)
    if end == "an hour":
        (row,) = PasswordReset.objects.all()
        assert row.expires_at - timezone.now() <= timedelta(hours=1)
        PasswordReset.objects.update(expires_at=timezone.now())
    elif end == "a newer one":
        PasswordReset.objects.update(created_at=timezone.now() - timedelta(minutes=11))
        mailed_token(nobody, ben.user.email)
    elif end == "a password change":
        path = f"/identity/users/{ben.user.pk}/reset-password"
        assert ann.put(path, {"password": PASSWORD}).status_code == 204
    else:
        ann.put(f"/identity/users/{ben.user.pk}/disable", {"is_disabled": True})
    before = User.objects.get(pk=ben.user.pk).password
    assert nobody.post(VERIFY, {"token": token}).status_code == 400
    assert reset(nobody, token).status_code == 400
    assert User.objects.get(pk=ben.user.pk).password == before


@pytest.mark.parametrize("first", ["another use", "a lock-out", "a newer link"])
def test_a_change_between_check_and_use_wins(ann, nobody, first):
    token = mailed_token(nobody, ann.user.email)

    def meanwhile():
        if first == "another use":
            assert reset(nobody, token, "third-horse-battery").status_code == 204
        elif first == "a lock-out":
            User.objects.update(is_disabled=True)
        else:
            PasswordReset.objects.update(created_at=timezone.now() - timedelta(minutes=11))
            passwords.send_reset_link(email=ann.user.email, asked_from="")

    with run_before("identity.services.passwords.encode", meanwhile):
        assert reset(nobody, token).status_code == 400
    assert not User.objects.get(pk=ann.user.pk).check_password(NEW)


def test_the_link_ignores_the_host_of_the_request(ann, nobody, settings):
    settings.PASSWORD_RESET_URL, settings.ALLOWED_HOSTS = "https://chat.example/choose", ["*"]
    mailed_token(
        nobody, ann.user.email, Host="evil.example", **{"X-Forwarded-Host": "evil.example"}
    )
    body = mail.outbox[0].body
    assert "https://chat.example/choose#token=" in body
    assert "evil" not in body


def test_a_refused_password_does_not_use_the_link(ann, nobody):
    token = mailed_token(nobody, ann.user.email)
    reply = reset(nobody, token, "1234567890")
    assert reply.status_code == 422
    assert reply.json()["detail"][0]["loc"] == ["body", "new_password"]
    assert reset(nobody, token).status_code == 204


def test_six_wrong_links_lock_and_the_right_one_is_void(ann, nobody):
    token = mailed_token(nobody, ann.user.email)
    for number in range(6):
        tried = (
            nobody.post(VERIFY, {"token": f"{number}" * 43}) if number % 2 else reset(nobody, "x")
        )
        assert tried.status_code == 400
    reply = reset(nobody, token)
    assert reply.status_code == 429
    assert 0 < int(reply["Retry-After"]) <= 900
    Attempt.objects.all().delete()
    assert reset(nobody, token).status_code == 400
    assert User.objects.get(pk=ann.user.pk).check_password(PASSWORD)


def test_right_links_do_not_count(ann, nobody):
    token = mailed_token(nobody, ann.user.email)
    for _ in range(8):
        assert nobody.post(VERIFY, {"token": token}).status_code == 204


@pytest.mark.parametrize("exists", [True, False])
def test_five_mails_an_hour_for_one_address(ann, nobody, exists):
    email = ann.user.email if exists else "nobody@example.com"
    for _ in range(5):
        assert ask(nobody, email).status_code == 202
    reply = ask(nobody, email)
    assert (reply.status_code, reply.json()["code"]) == (429, "too_many_requests")
    assert int(reply["Retry-After"]) <= 3600
    assert Job.objects.count() == 5
    assert ask(nobody, "other@example.com").status_code == 202


@pytest.mark.parametrize("is_invited", [False, True])
def test_a_link_to_a_former_address_is_worth_nothing(ann, ben, nobody, is_invited):
    if is_invited:
        User.objects.filter(pk=ben.user.pk).update(password="!")
        passwords.send_invitation(user_id=ben.user.pk, by_id=ann.user.pk)
        invited = AuditEvent.objects.get(subject=f"user:{ben.user.pk}")
        assert (invited.action, invited.user, invited.changes) == ("user.invited", ann.user, {})
    else:
        passwords.send_reset_link(email=ben.user.email, asked_from="127.0.0.1")
    token = mail.outbox[-1].body.partition("#token=")[2].split()[0]
    assert nobody.post(VERIFY, {"token": token}).status_code == 204
    rename(ben.user, full_name="Ben B.")
    assert nobody.post(VERIFY, {"token": token}).status_code == 204
    rename(ben.user, email="new@example.com")
    refused = reset(nobody, token)
    assert (refused.status_code, refused.json()["code"]) == (400, "reset_token_invalid")
    assert not PasswordReset.objects.exists()


@pytest.mark.parametrize("is_invited", [False, True])
def test_a_link_that_is_made_while_the_address_changes_goes_to_the_new_one(ben, is_invited):
    if is_invited:
        User.objects.filter(pk=ben.user.pk).update(password="!")
    former = ben.user.email
    with run_before("secrets.token_urlsafe", lambda: rename(ben.user, email="new@example.com")):
        if is_invited:
            passwords.send_invitation(user_id=ben.user.pk, by_id=None)
        else:
            passwords.send_reset_link(email=former, asked_from="127.0.0.1")
    assert [message.to for message in mail.outbox] == [["new@example.com"]]


def rename(user, **changes):
    """The platform's staff change a person on their page."""
    staff, _ = User.objects.get_or_create(
        email="staff@example.com", is_superuser=True, defaults={"full_name": "Staff"}
    )
    site = signed_in(staff)
    names = ("email", "full_name", "role", "language")
    form = {name: getattr(User.objects.get(pk=user.pk), name) for name in names}
    path = f"/admin/identity/user/{user.pk}/change/"
    assert site.post(path, form | {"form": "person"} | changes).status_code == 302
    assert not changes.items() - User.objects.filter(pk=user.pk).values(*changes)[0].items()


def test_a_link_stays_good_for_ten_minutes_and_ends_with_the_use_of_another(ann, nobody):
    for _ in range(2):
        passwords.send_reset_link(email=ann.user.email, asked_from="127.0.0.1")
    first, second = (message.body.partition("#token=")[2].split()[0] for message in mail.outbox)
    for token in (first, second):
        assert nobody.post(VERIFY, {"token": token}).status_code == 204
    assert reset(nobody, first).status_code == 204
    assert reset(nobody, second, "third-horse-battery").status_code == 400


def test_a_stranger_stops_nobodys_reset(ann, nobody):
    def ask_from(number):
        body = {"email": ann.user.email}
        return nobody.browser.post(
            FORGOT, body, content_type="application/json", REMOTE_ADDR=f"192.0.2.{number}"
        ).status_code

    assert [ask_from(1) for _ in range(6)] == [202] * 5 + [429]
    token = mailed_token(nobody, ann.user.email)
    # From many addresses: her mailbox gets ten mails an hour, and the latest holds a good link.
    assert {ask_from(number) for number in range(2, 22)} == {202}
    run_jobs()
    assert len(mail.outbox) == 10
    assert nobody.post(VERIFY, {"token": token}).status_code == 204
    latest = mail.outbox[-1].body.partition("#token=")[2].split()[0]
    assert reset(nobody, latest).status_code == 204


def test_a_mail_that_the_server_refuses_is_not_counted(ann, monkeypatch):
    def refuse(*_, **__):
        raise OSError

    with monkeypatch.context() as away:
        away.setattr("django.core.mail.EmailMessage.send", refuse)
        for _ in range(12):
            with pytest.raises(jobs.TryLater):
                passwords.send_reset_link(email=ann.user.email, asked_from="127.0.0.1")
    passwords.send_reset_link(email=ann.user.email, asked_from="127.0.0.1")
    assert len(mail.outbox) == 1


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (FORGOT, {}),
        (FORGOT, {"email": "no"}),
        (FORGOT, {"email": ["a@b.example"]}),
        (FORGOT, {"email": "a@b.example", "next": "//evil.example"}),
        (VERIFY, {"token": ""}),
        (VERIFY, {"token": "x" * 201}),
        (VERIFY, {"token": "a\0b"}),
        (RESET, {"token": "x"}),
        (RESET, {"token": "x", "new_password": "short"}),
        (RESET, {"token": "x", "new_password": "x" * 129}),
    ],
)
def test_wrong_body(nobody, path, body):
    assert nobody.post(path, body).status_code == 422
    assert not Attempt.objects.exists()
    assert not Job.objects.exists()
