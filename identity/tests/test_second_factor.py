"""A second factor: set up, asked for at each sign-in, removed and reset."""

import base64
import re
from typing import Any

import pytest
import time_machine
from django.contrib.auth.hashers import make_password
from django.core import mail
from django.db import connection
from django.test import Client as Browser
from django.utils import timezone
from django_otp.oath import totp

from identity.models import (
    AuditEvent,
    RefreshToken,
    Role,
    SecondFactor,
    SignInProvider,
    User,
)
from identity.services import passwords, users
from identity.testing import PASSWORD, make_person, sign_in, sign_out, signed_in

HOME, LOGIN, CODE = "/admin/", "/admin/login/", "/admin/login/code/"
PATH, PEOPLE = "/admin/second-factor/", "/admin/identity/user/"
TOKEN = "/identity/token2"


@pytest.fixture(autouse=True)
def clock(request):
    """Stands still, so that a code is the next one only when a test says so; a browser's web
    process has its own."""
    if "screen" in request.fixturenames:
        yield None
        return
    with time_machine.travel(timezone.now(), tick=False) as stopped:
        yield stopped


@pytest.fixture
def staff(db):
    return User.objects.create_superuser("staff@example.com", PASSWORD, full_name="Staff")


def code_of(secret: str) -> str:
    return f"{totp(base64.b32decode(secret)):06}"


def enter(user, path=LOGIN):
    browser = Browser()
    return browser, browser.post(path, {"username": user.email, "password": PASSWORD})


def filled(offer, **change):
    form = {"signed": offer.signed, "code": code_of(offer.secret), "password": PASSWORD}
    return form | change


def set_up(browser) -> tuple[str, list[str]]:
    """The secret and the recovery codes."""
    offer = browser.get(PATH).context["offer"]
    page = browser.post(PATH, filled(offer))
    return offer.secret, page.context["codes"]


@pytest.fixture
def secured(ann, clock) -> tuple[str, list[str]]:
    """Ann has a second factor; her first code was some time ago."""
    made = set_up(enter(ann.user)[0])
    clock.shift(60)
    return made


def give(browser, code):
    return browser.post(CODE, {"code": code})


def is_in(browser):
    """Whether the site admits this browser; agents land at the desk."""
    return browser.get("/admin/sign-ins/").status_code == 200


def actions():
    return list(AuditEvent.objects.order_by("pk").values_list("action", flat=True))


def test_the_page_shows_the_secret_as_text_and_as_a_picture(ann):
    browser, _ = enter(ann.user)
    page = browser.get(PATH)
    offer = page.context["offer"]
    assert re.fullmatch("[A-Z2-7]{32}", offer.secret)
    assert offer.uri == (
        f"otpauth://totp/Chatbot%20Platform:{ann.user.email}"
        f"?secret={offer.secret}&issuer=Chatbot%20Platform"
    )
    assert offer.secret in page.content.decode()
    assert b"<svg" in page.content
    assert not SecondFactor.objects.exists()


def test_it_is_set_up_by_a_code_of_the_app(ann):
    browser, _ = enter(ann.user)
    secret, codes = set_up(browser)
    assert len(set(codes)) == 10
    assert actions() == ["user.signed_in", "second_factor.set_up"]
    again = browser.get(PATH).content.decode()
    assert "10 recovery codes left" in again
    assert not [shown for shown in (secret, *codes) if shown in again]


def test_it_ends_every_other_sign_in(ann):
    (here, _), (elsewhere, _) = enter(ann.user), enter(ann.user)
    set_up(here)
    assert is_in(here)
    assert not is_in(elsewhere)
    assert ann.get("/identity/users/me").status_code == 401


def test_the_database_holds_neither_secret_nor_recovery_code(ann, secured):
    secret, codes = secured
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_jsonb(f)::text FROM identity_secondfactor f")
        (stored,) = cursor.fetchone()
        cursor.execute("SELECT string_agg(session_data, ' ') FROM identity_sitesession")
        (sessions,) = cursor.fetchone()
    for text in (secret, *codes, *(code.replace("-", "") for code in codes)):
        assert text not in stored
        assert text not in sessions


@pytest.mark.parametrize("code", ["", "000000", "abcdef", "12345", "٣٣٣٣٣٣", "x" * 41])
def test_a_wrong_code_sets_nothing_up(ann, code):
    browser, _ = enter(ann.user)
    offer = browser.get(PATH).context["offer"]
    page = browser.post(PATH, filled(offer, code=code))
    assert page.status_code == 200
    assert page.context["offer"] == offer, "the secret that was scanned stays"
    assert not SecondFactor.objects.exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"code": "000000"}, "Mã này sai, đã dùng rồi hoặc đã quá cũ."),
        ({"signed": "x"}, "Trang này đã quá cũ: hãy quét mã mới."),
    ],
)
def test_what_keeps_it_from_being_set_up_is_said_in_vietnamese(ann, change, said):
    User.objects.filter(pk=ann.user.pk).update(language="vi")
    browser, _ = enter(ann.user)
    page = browser.post(PATH, filled(browser.get(PATH).context["offer"], **change))
    assert said in page.content.decode()


@pytest.mark.parametrize("password", ["", "wrong"])
def test_an_open_session_alone_sets_nothing_up(ann, password):
    browser, _ = enter(ann.user)
    offer = browser.get(PATH).context["offer"]
    page = browser.post(PATH, filled(offer, password=password))
    assert list(page.context["form"].errors) == ["password"]
    assert page.context["offer"] == offer, "the secret that was scanned stays"
    assert not SecondFactor.objects.exists()


@pytest.mark.full
def test_an_open_session_does_not_serve_to_guess_the_password(ann):
    browser, _ = enter(ann.user)
    offer = browser.get(PATH).context["offer"]
    for _ in range(10):
        page = browser.post(PATH, filled(offer, password="wrong"))
        assert b"Incorrect password." in page.content
    assert b"Too many attempts" in browser.post(PATH, filled(offer)).content
    assert not SecondFactor.objects.exists()
    assert actions()[-1] == "user.locked"
    assert enter(ann.user)[1].status_code == 429, "they count as failed sign-ins"


@pytest.mark.full
@pytest.mark.parametrize("why", ["no password", "provider required"])
def test_who_signs_in_at_the_provider_sets_none_up(ann, ben, why):
    browser, _ = enter(ben.user)
    offer = browser.get(PATH).context["offer"]
    if why == "no password":
        User.objects.filter(pk=ben.user.pk).update(password=make_password(None))
        browser.force_login(User.objects.get(pk=ben.user.pk))
    else:
        SignInProvider.objects.create(
            client=ben.client, issuer="https://id.example", application_secret="x",
            email_domains=["example.com"], is_required=True,
        )  # fmt: skip
    for page in (browser.get(PATH), browser.post(PATH, filled(offer))):
        assert "sign in with your company" in page.content.decode()
        assert "offer" not in page.context
    assert not SecondFactor.objects.exists()
    assert enter(ann.user)[0].get(PATH).context["offer"], "an owner's password signs in"


@pytest.mark.parametrize("whose", ["nobody's", "another's", "too old"])
def test_only_the_offered_secret_is_set_up(ann, ben, clock, whose):
    browser, _ = enter(ann.user)
    from_whom = enter(ben.user)[0] if whose == "another's" else browser
    offer = from_whom.get(PATH).context["offer"]
    if whose == "too old":
        clock.shift(1801)
    signed = "x" if whose == "nobody's" else offer.signed
    page = browser.post(PATH, filled(offer, signed=signed))
    assert b"This page has expired" in page.content
    assert page.context["offer"].secret != offer.secret
    assert not SecondFactor.objects.exists()


def test_the_code_is_asked_for_after_the_password(ann, secured):
    secret, _ = secured
    signed_in = actions().count("user.signed_in")
    browser, reply = enter(ann.user, f"{LOGIN}?next=/admin/bots/bot/")
    assert reply["Location"] == CODE
    assert not is_in(browser)
    assert actions().count("user.signed_in") == signed_in
    reply = give(browser, f" {code_of(secret)[:3]} {code_of(secret)[3:]} ")
    assert reply["Location"] == "/admin/bots/bot/"
    assert is_in(browser)
    assert actions().count("user.signed_in") == signed_in + 1


@pytest.mark.full
def test_a_code_works_once(ann, secured, clock):
    code = code_of(secured[0])
    assert is_in_after(ann.user, code)
    assert not is_in_after(ann.user, code)
    clock.shift(30)
    assert not is_in_after(ann.user, code)
    assert is_in_after(ann.user, code_of(secured[0]))


def is_in_after(user, code):
    browser, _ = enter(user)
    give(browser, code)
    return is_in(browser)


@pytest.mark.parametrize(("seconds", "is_right"), [(0, True), (30, True), (60, False)])
def test_a_clock_may_be_wrong_by_half_a_minute(ann, secured, clock, seconds, is_right):
    code = code_of(secured[0])
    clock.shift(seconds)
    assert is_in_after(ann.user, code) == is_right


def test_a_recovery_code_works_once(ann, secured):
    _, codes = secured
    assert is_in_after(ann.user, codes[3].upper().replace("-", " "))
    assert not is_in_after(ann.user, codes[3])
    assert is_in_after(ann.user, codes[4])
    used = AuditEvent.objects.filter(action="recovery_code.used").order_by("pk")
    assert [event.changes for event in used] == [{"left": 9}, {"left": 8}]


@pytest.mark.full
def test_nobody_signs_in_with_anothers_code(ann, ben, secured):
    secret, codes = secured
    set_up(enter(ben.user)[0])
    assert not is_in_after(ben.user, code_of(secret))
    assert not is_in_after(ben.user, codes[0])


def test_without_the_password_there_is_no_page_for_the_code(ann, secured):
    browser = Browser()
    assert browser.get(CODE)["Location"] == LOGIN
    assert give(browser, code_of(secured[0]))["Location"] == LOGIN
    assert not is_in(browser)


@pytest.mark.full
@pytest.mark.parametrize("what", ["waits long", "password changes", "is disabled"])
def test_the_password_counts_for_ten_minutes_while_it_holds(ann, ben, clock, what):
    secret, _ = set_up(enter(ben.user)[0])
    clock.shift(60)
    browser, _ = enter(ben.user)
    if what == "waits long":
        clock.shift(601)
    elif what == "password changes":
        password = "another-horse-battery"
        users.reset_password(ann.client, user_id=ben.user.pk, password=password, by=ann.user)
    else:
        users.set_disabled(ann.client, user_id=ben.user.pk, is_disabled=True, by=ann.user)
    assert give(browser, code_of(secret))["Location"] == LOGIN
    assert not is_in(browser)


def test_codes_cannot_be_guessed(ann, secured, clock, nobody):
    secret, codes = secured
    browser, _ = enter(ann.user)
    for _ in range(5):
        assert b"This code is wrong" in give(browser, "000000").content
        form = {"username": ann.user.email, "password": PASSWORD, "otp": "000000"}
        assert nobody.upload(TOKEN, **form).status_code == 401
    for code in (code_of(secret), codes[0]):
        reply = give(browser, code)
        assert reply.status_code == 429
        assert 0 < int(reply["Retry-After"]) <= 900
    assert not is_in(browser)
    assert actions().count("user.locked") == 1
    clock.shift(901)
    assert is_in_after(ann.user, code_of(secret))


def test_guesses_from_everywhere_count_together(ann, secured, nobody):
    tokens = RefreshToken.objects.count()
    form = {"username": ann.user.email, "password": PASSWORD, "otp": "000000"}
    for number in range(10):
        nobody.browser.post(TOKEN, form, REMOTE_ADDR=f"192.0.2.{number}")
    reply = nobody.browser.post(TOKEN, form | {"otp": code_of(secured[0])})
    assert reply.status_code == 429
    assert RefreshToken.objects.count() == tokens


def test_the_api_asks_for_the_code_too(ann, secured, nobody):
    secret, codes = secured
    tokens = RefreshToken.objects.count()
    form = {"username": ann.user.email, "password": PASSWORD}
    reply = nobody.upload(TOKEN, **form)
    assert (reply.status_code, reply.json()["code"]) == (401, "otp_required")
    reply = nobody.upload(TOKEN, **form, otp="000000")
    assert (reply.status_code, reply.json()["code"]) == (401, "invalid_grant")
    reply = nobody.upload(TOKEN, **(form | {"password": "wrong"}), otp=code_of(secret))
    assert reply.json()["detail"] == "Incorrect email or password."
    assert RefreshToken.objects.count() == tokens
    assert nobody.upload(TOKEN, **form, otp=code_of(secret)).status_code == 200
    assert nobody.upload(TOKEN, **form, otp=code_of(secret)).status_code == 401
    assert nobody.upload(TOKEN, **form, otp=codes[0]).status_code == 200


def test_a_new_password_by_mail_leaves_the_second_factor(ann, secured, nobody):
    secret, _ = secured
    # What the job of Forgot Password does; it is not due while the clock stands still.
    passwords.send_reset_link(email=ann.user.email, asked_from="")
    token = mail.outbox[-1].body.partition("#token=")[2].split()[0]
    new = {"token": token, "new_password": "another-horse-battery"}
    assert nobody.post("/identity/reset-password", new).status_code == 204
    form = {"username": ann.user.email, "password": new["new_password"]}
    browser = Browser()
    assert browser.post(LOGIN, form)["Location"] == CODE
    assert not is_in(browser)
    refused = nobody.browser.post(TOKEN, form)
    assert (refused.status_code, refused.json()["code"]) == (401, "otp_required")
    give(browser, "000000")
    assert not is_in(browser)
    give(browser, code_of(secret))
    assert is_in(browser)


def test_who_has_none_needs_no_code(ann, nobody):
    form = {"username": ann.user.email, "password": PASSWORD, "otp": "000000"}
    assert nobody.upload(TOKEN, **form).status_code == 200
    browser, reply = enter(ann.user)
    assert reply["Location"] == HOME
    assert is_in(browser)


def removed(browser, password=PASSWORD, code=""):
    return browser.post(PATH, {"password": password, "code": code})


@pytest.mark.full
def test_it_is_removed_with_password_and_code(ann, secured):
    secret, codes = secured
    browser, _ = enter(ann.user)
    give(browser, codes[0])
    for form in ({"password": "wrong", "code": codes[1]}, {"code": "000000"}, {"code": ""}):
        assert removed(browser, **form).status_code == 200
    assert SecondFactor.objects.exists()
    assert removed(browser, code=codes[1]).status_code == 302
    assert actions()[-1] == "second_factor.removed"
    assert enter(ann.user)[1]["Location"] == HOME


@pytest.mark.full
def test_an_open_session_does_not_serve_to_guess_codes(ann, secured):
    secret, codes = secured
    browser, _ = enter(ann.user)
    give(browser, codes[0])
    for _ in range(10):
        removed(browser, code="000000")
    assert b"Too many attempts" in removed(browser, code=code_of(secret)).content
    assert SecondFactor.objects.exists()


def reset(by, person):
    browser = signed_in(by)
    return browser.post(f"{PEOPLE}{person.pk}/change/", {"form": "second_factor"})


@pytest.mark.parametrize("by", [Role.OWNER, Role.ADMIN, "staff"])
def test_it_is_reset_by_those_who_may(ann, ben, staff, by, clock):
    actor: Any = staff if by == "staff" else make_person(ann.client, by).user
    browser, _ = enter(ben.user)
    set_up(browser)
    assert reset(actor, ben.user).status_code == 302
    assert not SecondFactor.objects.exists()
    assert not is_in(browser)
    assert ben.get("/identity/users/me").status_code == 401
    event = AuditEvent.objects.order_by("-pk")[0]
    assert (event.action, event.user, event.subject) == (
        "second_factor.reset", actor, f"user:{ben.user.pk}",
    )  # fmt: skip


@pytest.mark.parametrize("by", ["agent", "admin of an owner", "stranger", "oneself"])
def test_it_is_reset_by_nobody_else(ann, ben, cara, secured, by):
    people = {"agent": ben.user, "stranger": cara.user, "oneself": ann.user}
    actor: Any = people.get(by) or make_person(ann.client, Role.ADMIN).user
    reset(actor, ann.user)
    assert SecondFactor.objects.filter(user=ann.user).exists()
    assert "second_factor.reset" not in actions()


def test_the_list_of_people_says_who_has_one(ann, ben, secured):
    browser = signed_in(ann.user)
    for person, shown in ((ann, "Yes"), (ben, "No")):
        page = browser.get(
            f"{PEOPLE}?q={person.user.email}&columns=full_name&columns=has_second_factor"
        ).content.decode()
        assert f'data-label="Two-factor authentication">{shown}<' in page


@pytest.mark.full
def test_the_platforms_staff_set_one_up_before_anything_else(staff, ann, settings):
    settings.STAFF_SECOND_FACTOR = True
    browser, _ = enter(staff)
    for path in (HOME, PEOPLE, f"{PEOPLE}{ann.user.pk}/change/", "/admin/password_change/"):
        assert browser.get(path)["Location"] == PATH
        assert browser.post(path, {})["Location"] == PATH
    assert b"need two-factor authentication" in browser.get(PATH).content
    set_up(browser)
    assert is_in(browser)
    assert is_in(enter(ann.user)[0]), "the people of clients need none"


def test_the_platforms_staff_can_log_out_without_one(staff, settings):
    settings.STAFF_SECOND_FACTOR = True
    browser, _ = enter(staff)
    assert browser.post("/admin/logout/")["Location"] == LOGIN


def test_the_platforms_staff_need_none_unless_the_setting_says_so(staff, settings):
    settings.STAFF_SECOND_FACTOR = False
    assert is_in(enter(staff)[0])


def test_staff_who_lost_theirs_are_restored_from_the_command_line(staff):
    set_up(enter(staff)[0])
    users.make_staff(email=staff.email, password=PASSWORD)
    browser, reply = enter(staff)
    assert reply["Location"] == HOME


def test_a_person_sets_one_up_and_signs_in_with_it_in_a_browser(screen, ann):
    sign_in(screen, ann.user)
    screen.goto(PATH)
    secret = screen.locator("#secret").inner_text()
    screen.get_by_label("Password").fill(PASSWORD)
    screen.get_by_role("textbox", name="Code").fill(code_of(secret))
    screen.get_by_role("button", name="Set up").click()
    recovery_code = screen.locator("#recovery-codes li").first.inner_text()
    screen.get_by_role("link", name="I've saved these codes").click()
    screen.get_by_role("heading", name=ann.client.name).wait_for()
    sign_out(screen)
    sign_in(screen, ann.user)
    screen.get_by_role("textbox", name="Code").fill("000000")
    screen.get_by_role("button", name="Sign in").click()
    screen.get_by_text("This code is wrong").wait_for()
    screen.get_by_role("textbox", name="Code").fill(recovery_code)
    screen.get_by_role("button", name="Sign in").click()
    screen.get_by_role("heading", name=ann.client.name).wait_for()
