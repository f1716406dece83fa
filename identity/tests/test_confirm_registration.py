"""On a real site a company registers when its mailbox has answered."""

import re
from datetime import timedelta

import pytest
from django.core import mail
from django.test import Client as Browser
from django.utils import timezone

from chatplatform.models import Job
from chatplatform.testing import at_once, run_jobs
from identity.models import AuditEvent, Client, Registration, User
from identity.services import mails
from identity.tasks import clean_up

REGISTER, RESEND = "/identity/register-trial", "/identity/resend-registration"
CONFIRM, PAGE = "/identity/confirm-registration", "/admin/register/"
PASSWORD = "correct-horse-battery"
GIVEN = {
    "company_name": "Delta & Sons", "full_name": "Dora", "email": "Dora@delta.example",
    "password": PASSWORD,
}  # fmt: skip

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def real_site(settings):
    settings.DEVELOPMENT, settings.REGISTRATION_OPEN = False, True


def newest_token():
    run_jobs()
    return mail.outbox[-1].body.partition("/admin/register/confirm/#token=")[2].split()[0]


def confirm(nobody, token, password=PASSWORD):
    return nobody.post(CONFIRM, {"token": token, "password": password})


def can_sign_in(nobody, password=PASSWORD):
    form = {"username": GIVEN["email"], "password": password}
    return nobody.browser.post("/identity/token2", form).status_code == 200


def test_the_account_is_there_once_the_mailbox_answered(nobody):
    reply = nobody.post(REGISTER, GIVEN)
    assert (reply.status_code, reply.json()) == (202, {"status": "unconfirmed"})
    assert not Client.objects.exists()
    assert not can_sign_in(nobody)
    token = newest_token()
    assert mail.outbox[0].to == ["dora@delta.example"]
    assert "“Delta & Sons”" in mail.outbox[0].body
    assert token not in str(Registration.objects.values_list()) + str(Job.objects.values_list())
    made = confirm(nobody, token)
    assert (made.status_code, made.json()["code"]) == (201, "delta-sons")
    assert User.objects.get().role == "owner"
    assert AuditEvent.objects.filter(action="client.registered").exists()
    assert can_sign_in(nobody)
    again = confirm(nobody, token)
    assert (again.status_code, again.json()["code"]) == (400, "registration_token_invalid")
    assert not Registration.objects.exists()


def test_a_known_address_gets_the_same_answer_and_another_mail(ann, nobody):
    replies = [
        nobody.post(path, body | {"email": email})
        for path, body in ((REGISTER, GIVEN), (RESEND, {}))
        for email in (ann.user.email, "new@delta.example")
    ]
    known, unknown, resent, resent_unknown = [(r.status_code, r.content) for r in replies]
    assert known == unknown
    assert resent == resent_unknown == (202, b"")
    # Whatever a request stores, it stores for both.
    jobs = Job.objects.filter(name="identity.send_registration_link")
    assert [job.args["email"] for job in jobs.order_by("pk")] == 2 * [
        ann.user.email, "new@delta.example",
    ]  # fmt: skip
    assert Registration.objects.count() == 2
    run_jobs()
    to_ann = [sent for sent in mail.outbox if sent.to == [ann.user.email]]
    assert {sent.subject for sent in to_ann} == {"You already have an account"}
    assert not any("token=" in sent.body for sent in to_ann)
    assert not Registration.objects.filter(email=ann.user.email).exclude(token_hash=None).exists()
    assert Client.objects.get() == ann.client


def test_a_strangers_password_does_not_open_the_account(nobody):
    """Somebody registers another's address; its owner opens the link."""
    nobody.post(REGISTER, GIVEN | {"password": "chosen-by-a-stranger"})
    token = newest_token()
    reply = confirm(nobody, token)
    assert (reply.status_code, reply.json()["detail"][0]["loc"]) == (422, ["body", "password"])
    assert not User.objects.exists()
    for _ in range(9):
        confirm(nobody, token)
    assert confirm(nobody, token, "chosen-by-a-stranger").status_code == 429
    assert not User.objects.exists()


def test_a_new_link_ends_the_one_before_and_each_ends_after_a_day(nobody):
    nobody.post(REGISTER, GIVEN)
    first = newest_token()
    assert nobody.post(RESEND, {"email": GIVEN["email"]}).status_code == 202
    second = newest_token()
    assert confirm(nobody, first).status_code == 400
    Registration.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert confirm(nobody, second).status_code == 400
    nobody.post(RESEND, {"email": GIVEN["email"]})
    assert confirm(nobody, newest_token()).status_code == 201


def test_an_address_is_mailed_five_times_an_hour_at_most(nobody):
    for path in (REGISTER, RESEND, RESEND, REGISTER, RESEND):
        body = GIVEN if path == REGISTER else {"email": GIVEN["email"]}
        assert nobody.post(path, body).status_code == 202
    for path, body in ((REGISTER, GIVEN), (RESEND, {"email": GIVEN["email"]})):
        assert nobody.post(path, body).status_code == 429
    run_jobs()
    assert len(mail.outbox) == 5


def test_one_link_used_twice_at_once_makes_one_company(nobody):
    nobody.post(REGISTER, GIVEN)
    token = newest_token()
    replies = at_once(*[lambda: confirm(nobody, token).status_code] * 2)
    assert sorted(replies) == [201, 400]
    assert Client.objects.count() == 1


def test_what_was_never_confirmed_is_deleted(nobody):
    nobody.post(REGISTER, GIVEN)
    old = Registration.objects.get()
    nobody.post(REGISTER, GIVEN)
    Registration.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(days=4))
    clean_up()
    assert Registration.objects.get().pk != old.pk


def test_without_a_mail_server_nobody_waits_in_vain(nobody, settings):
    settings.EMAIL_BACKEND = settings.NO_EMAIL
    assert nobody.post(REGISTER, GIVEN).status_code == 503
    assert not Registration.objects.exists()


def test_on_the_site(nobody):
    browser, form = Browser(), GIVEN | {"language": "en", "timezone": "Asia/Ho_Chi_Minh"}
    page = browser.post(PAGE, form).content.decode()
    assert "<strong>Dora@delta.example</strong>" in page
    assert "Check your inbox" in browser.post(f"{PAGE}again/", form).content.decode()
    token = newest_token()
    form = {"token": token, "password": "not-this-one"}
    refused = browser.post(f"{PAGE}confirm/", form).content.decode()
    assert "the password you registered with" in refused
    reply = browser.post(f"{PAGE}confirm/", form | {"password": PASSWORD})
    assert (reply.status_code, reply["Location"]) == (302, "/admin/")
    assert b"Delta &amp; Sons" in browser.get("/admin/").content
    assert Client.objects.get().timezone == "Asia/Ho_Chi_Minh"


@pytest.mark.parametrize(
    "name",
    ["http://evil.example click", "www.evil.example", "evil.example/x", r"http:\\evil.example",
     'Acme” says: see evil。example "now'],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["registration", "invitation", "welcome", "account_exists"])
def test_names_in_mails_are_quoted_and_no_links(settings, name, kind):
    ours = "https://platform.example/reset#token=x"
    values = {"name": name, "company": name, "link": ours}
    for language in mails.LANGUAGES:
        subject, text = mails.render(kind, language, values)
        text = text.replace(ours, "").replace(settings.PUBLIC_URL, "")
        assert not re.search(r":[/\\]|\w[.。]\w", subject + text)
        for quoted in re.findall("“.*?”", subject + text):
            assert "evil" in quoted, "the name ends its own quotation"
        assert "evil" not in re.sub("“.*?”", "", subject + text)
