"""People sign in at their company's own OpenID provider."""

import time
from contextlib import ExitStack
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
import time_machine
from django.core import mail
from django.core.cache import cache
from django.test import Client as Browser
from django.urls import reverse

from chatplatform.api.outgoing_call_limits import OUTGOING_CALLS
from chatplatform.models import Job
from chatplatform.testing import run_jobs
from identity.models import (
    AuditEvent,
    Client,
    ProviderAccount,
    SignInProvider,
    SiteSession,
    User,
)
from identity.testing import PASSWORD, make_person
from identity.testing import sign_in as sign_in_at_site
from identity.tests import openid_provider
from identity.tests.openid_provider import APPLICATION_ID, APPLICATION_SECRET

PROVIDER, BACK = "/identity/sign-in-provider", "/admin/signed-in/"


@pytest.fixture(scope="module")
def server():
    with openid_provider.running() as provider:
        yield provider


@pytest.fixture
def provider(server, settings):
    settings.EGRESS_ALLOW = [server.host_port]
    cache.clear()
    server.claims, server.algorithm, server.asked[:] = {}, "RS256", []
    server.authentication, server.changes = "client_secret_basic", {}
    return server


def chosen(provider, **change):
    return {
        "issuer": provider.issuer, "application_id": APPLICATION_ID,
        "application_secret": APPLICATION_SECRET, "email_domains": ["example.com"], **change,
    }  # fmt: skip


@pytest.fixture
def acme(ann, provider):
    """Client A, which signs in at the provider; Ann, its owner, has set it."""
    assert ann.put(PROVIDER, chosen(provider)).status_code == 200
    return ann.client


def link(client: Client) -> str:
    return f"/admin/sign-in/{client.code}/"


def leave(browser, client):
    """Where the button of the company's page leads."""
    assert browser.get(link(client)).status_code == 200
    reply = browser.post(link(client))
    assert reply.status_code == 302
    return reply["Location"]


def come_back(browser, provider, address):
    back = urlsplit(provider.approve(address))
    return browser.get(f"{back.path}?{back.query}")


def sign_in(provider, client, browser=None, **claims):
    provider.claims = claims
    browser = browser or Browser()
    return come_back(browser, provider, leave(browser, client))


def is_in(reply):
    return (reply.status_code, reply.headers.get("Location")) == (302, "/admin/")


def test_by_the_verified_address_and_then_by_the_account(acme, ben, provider):
    browser = Browser()
    assert is_in(sign_in(provider, acme, browser, sub="b", email=ben.user.email.upper()))
    assert browser.get("/admin/desk/").status_code == 200
    actions = AuditEvent.objects.filter(user=ben.user).order_by("pk")
    assert list(actions.values_list("action", flat=True))[-2:] == [
        "user.provider_linked", "user.signed_in",
    ]  # fmt: skip
    # The account is known now, whatever the address is.
    assert is_in(sign_in(provider, acme, sub="b", email="other@elsewhere.example"))
    assert SiteSession.objects.filter(user=ben.user).count() == 2
    assert ProviderAccount.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_person_is_told_when_a_provider_first_opens_their_account(acme, ann, ben, provider):
    User.objects.filter(pk=ben.user.pk).update(language="vi")
    ann.put(PROVIDER, chosen(provider, creates_agents=True))
    for _ in range(2):
        assert is_in(sign_in(provider, acme, sub="b", email=ben.user.email))
    assert is_in(sign_in(provider, acme, sub="n", email="new@example.com")), "nobody's before"
    run_jobs()
    (told,) = mail.outbox
    assert told.to == [ben.user.email]
    assert told.subject.startswith("Tài khoản của bạn nay có thể")
    assert provider.issuer not in told.body, "what an admin wrote becomes no link"
    assert "“http: //127. 0. 0. 1:" in told.body
    linked = AuditEvent.objects.filter(action="user.provider_linked").order_by("pk")
    assert list(linked.values_list("user__email", "changes")) == [
        (ben.user.email, {"issuer": provider.issuer}),
        ("new@example.com", {"issuer": provider.issuer}),
    ]


@pytest.mark.django_db(transaction=True)
def test_where_no_mail_is_sent_the_first_sign_in_leaves_no_dead_job(acme, ben, provider, settings):
    settings.EMAIL_BACKEND = settings.NO_EMAIL
    assert is_in(sign_in(provider, acme, sub="b", email=ben.user.email))
    run_jobs()
    assert not Job.objects.filter(name="identity.send_mail").exists()
    assert AuditEvent.objects.filter(action="user.provider_linked").count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_person_is_told_again_when_the_provider_was_set_anew(acme, ann, ben, provider):
    assert is_in(sign_in(provider, acme, email=ben.user.email))
    assert ann.delete(PROVIDER).status_code == 204
    assert ann.put(PROVIDER, chosen(provider)).status_code == 200
    assert is_in(sign_in(provider, acme, sub="another", email=ben.user.email))
    run_jobs()
    assert [told.to for told in mail.outbox] == [[ben.user.email]] * 2
    assert "If it wasn't you, tell an owner" in mail.outbox[0].body


def test_what_the_provider_is_asked_for(acme, provider):
    address = leave(Browser(), acme)
    asked = {name: value for name, (value,) in parse_qs(urlsplit(address).query).items()}
    assert address.startswith(f"{provider.issuer}/authorize?")
    assert asked["redirect_uri"].endswith(BACK)
    assert (asked["response_type"], asked["code_challenge_method"]) == ("code", "S256")
    assert asked["client_id"] == APPLICATION_ID
    assert APPLICATION_SECRET not in address
    assert len({asked["state"], asked["nonce"], asked["code_challenge"]}) == 3


NOW = int(time.time())


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": "another-application"},
        {"aud": [APPLICATION_ID, "another"]},  # made for whom? `azp` does not say
        {"aud": None},
        {"iss": "https://evil.example"},
        {"nonce": "of-another-sign-in"},
        {"nonce": None},
        {"exp": NOW - 120},
        {"exp": None},
        {"sub": None},
        {"sub": 7},
        {"sub": ""},
    ],
)
def test_a_token_that_was_not_made_for_this_sign_in(acme, ben, provider, claims):
    reply = sign_in(provider, acme, **({"email": ben.user.email} | claims))
    assert reply.status_code == 400
    assert b"The sign-in failed" in reply.content
    assert not SiteSession.objects.filter(user__isnull=False).exists()
    assert not ProviderAccount.objects.exists()


@pytest.mark.parametrize("algorithm", ["none", "HS256"])
def test_a_signature_that_anybody_can_make(acme, ben, provider, algorithm):
    provider.algorithm = algorithm
    assert sign_in(provider, acme, email=ben.user.email).status_code == 400
    assert not ProviderAccount.objects.exists()


DISCOVERY = "/.well-known/openid-configuration"


@pytest.mark.parametrize(
    ("path", "change"),
    [
        (DISCOVERY, {"jwks_uri": None}),
        (DISCOVERY, {"issuer": "https://evil.example"}),
        (DISCOVERY, {"token_endpoint": "https://[::1/token"}),
        ("/token", {"id_token": None}),
        ("/jwks", {"keys": "none"}),
    ],
)
def test_a_provider_that_breaks_the_protocol_signs_nobody_in(acme, ben, provider, path, change):
    provider.claims, provider.changes = {"email": ben.user.email}, {path: change}
    cache.clear()
    browser = Browser()
    reply = browser.post(link(acme))
    if path != DISCOVERY:
        reply = come_back(browser, provider, reply["Location"])
    assert reply.status_code == 400
    assert not SiteSession.objects.filter(user__isnull=False).exists()
    provider.changes = {}
    if path == DISCOVERY:
        cache.clear()  # only this fault is kept for a while
    assert is_in(sign_in(provider, acme, email=ben.user.email))


def test_a_provider_without_a_discovery_document_signs_nobody_in(acme, provider):
    SignInProvider.objects.update(issuer=f"{provider.issuer}/other")
    cache.clear()
    assert Browser().post(link(acme)).status_code == 400
    assert provider.asked[-1] == f"/other{DISCOVERY}"


def test_a_provider_may_want_the_secret_in_the_form(acme, ben, provider):
    provider.authentication = "client_secret_post"
    cache.clear()
    assert is_in(sign_in(provider, acme, email=ben.user.email))


def test_an_answer_of_a_provider_that_was_removed_meanwhile_is_refused(acme, ann, provider):
    browser = Browser()
    address = leave(browser, acme)
    assert ann.delete(PROVIDER).status_code == 204
    assert come_back(browser, provider, address).status_code == 400
    assert "/token" not in provider.asked


def test_while_too_many_people_come_back_the_page_may_be_loaded_again(acme, ben, provider):
    browser = Browser()
    provider.claims = {"email": ben.user.email}
    back = urlsplit(provider.approve(leave(browser, acme)))
    with ExitStack() as running:
        for _ in range(3):
            running.enter_context(OUTGOING_CALLS.admit({f"sign-in:{acme.pk}": 3}))
        assert browser.get(f"{back.path}?{back.query}").status_code == 429
    assert is_in(browser.get(f"{back.path}?{back.query}"))


def test_a_new_key_is_asked_for_but_not_at_every_token(acme, ben, provider):
    assert is_in(sign_in(provider, acme, email=ben.user.email))
    provider.new_key()
    assert sign_in(provider, acme, email=ben.user.email).status_code == 400, "asked a moment ago"
    with time_machine.travel(time.time() + 61):
        assert is_in(sign_in(provider, acme, email=ben.user.email))
    assert provider.asked.count("/jwks") == 2
    assert provider.asked.count(DISCOVERY) == 1


def test_an_answer_counts_in_the_browser_that_asked_and_once(acme, ben, provider):
    browser = Browser()
    provider.claims = {"email": ben.user.email}
    first = leave(browser, acme)
    assert come_back(Browser(), provider, first).status_code == 400, "another browser"
    assert is_in(come_back(browser, provider, first))
    assert come_back(browser, provider, first).status_code == 400, "the same again"
    browser.post("/admin/logout/")
    second = leave(browser, acme)
    forged = second.replace(parse_qs(urlsplit(second).query)["state"][0], "x" * 43)
    assert come_back(browser, provider, forged).status_code == 400
    assert come_back(browser, provider, second).status_code == 400, "a try uses it up"
    third = leave(browser, acme)
    denied = {"error": "access_denied", "state": parse_qs(urlsplit(third).query)["state"][0]}
    assert browser.get(f"{BACK}?{urlencode(denied)}").status_code == 400
    for answer in ({}, {"state": ""}, {"error": "access_denied"}, {"state": "é", "code": "x"}):
        assert browser.get(f"{BACK}?{urlencode(answer)}").status_code == 400


def test_the_link_alone_leads_nowhere(acme, provider):
    page = Browser().get(link(acme)).content.decode()
    assert acme.name in page
    assert provider.issuer in page
    assert provider.asked == []
    without_token = Browser(enforce_csrf_checks=True).post(link(acme))
    assert (without_token.status_code, provider.asked) == (403, [])


@pytest.mark.parametrize(
    "path",
    ["/admin/sign-in/", "/admin/login/code/", "/admin/register/", "/admin/register/again/",
     "/admin/register/confirm/", "/admin/choose-password/", "/admin/forgot-password/",
     "/admin/login/", "/admin/logout/"],
)  # fmt: skip
def test_no_open_page_takes_the_form_of_another_site(db, path):
    assert Browser(enforce_csrf_checks=True).post(path, {"email": "a@b.example"}).status_code == 403


def test_nobodys_sign_in_is_replaced(acme, ann, ben, provider):
    provider.claims = {"email": ben.user.email}
    browser = Browser()
    address = leave(browser, acme)
    browser.post("/admin/login/", {"username": ann.user.email, "password": PASSWORD})
    assert come_back(browser, provider, address).status_code == 200
    assert browser.get(link(acme)).context["title"] == "You're already signed in"
    assert browser.post(link(acme)).status_code == 409
    assert SiteSession.objects.get(user__isnull=False).user == ann.user
    browser.post("/admin/logout/")
    assert is_in(sign_in(provider, acme, browser, email=ben.user.email))


def test_anothers_answer_is_not_taken_for_the_providers(acme, ben, provider):
    browser = Browser()
    provider.claims = {"email": ben.user.email}
    back = urlsplit(provider.approve(leave(browser, acme)))
    query = back.query.replace(
        urlencode({"iss": provider.issuer}), "iss=https%3A%2F%2Fevil.example"
    )
    assert browser.get(f"{BACK}?{query}").status_code == 400


@pytest.mark.parametrize(
    "claims",
    [
        {"email": "nobody@example.com"},
        {"email_verified": False},
        {"email_verified": None},
        {"email_verified": "false"},
        {"email": None},
        {"email": ["ben"]},
    ],
)
def test_who_is_not_known_here_is_refused(acme, ben, provider, claims):
    reply = sign_in(provider, acme, **({"email": ben.user.email} | claims))
    assert (reply.status_code, b"have an account here" in reply.content) == (403, True)
    assert not SiteSession.objects.filter(user__isnull=False).exists()
    assert not ProviderAccount.objects.exists()


def test_an_address_of_another_domain_is_refused(acme, ann, ben, provider):
    assert ann.put(PROVIDER, chosen(provider, email_domains=["acme.example"])).status_code == 200
    assert sign_in(provider, acme, email=ben.user.email).status_code == 403


def test_another_clients_person_is_refused(acme, cara, provider):
    assert sign_in(provider, acme, email=cara.user.email).status_code == 403
    assert not ProviderAccount.objects.exists()


def test_an_address_that_changed_hands_opens_nothing(acme, ben, provider):
    assert is_in(sign_in(provider, acme, sub="first", email=ben.user.email))
    assert sign_in(provider, acme, sub="second", email=ben.user.email).status_code == 403


def test_a_disabled_person_is_refused(acme, ben, provider):
    assert is_in(sign_in(provider, acme, email=ben.user.email))
    User.objects.filter(pk=ben.user.pk).update(is_disabled=True)
    assert sign_in(provider, acme, email=ben.user.email).status_code == 403
    Client.objects.update(is_disabled=True)
    assert Browser().get(link(acme)).status_code == 404


def test_strangers_become_agents_if_the_client_wants_it(acme, ann, cara, provider):
    ann.put(PROVIDER, chosen(provider, creates_agents=True))
    assert is_in(sign_in(provider, acme, sub="n", email="New@example.com", name="New\0 Person"))
    made = User.objects.get(email="new@example.com")
    assert (made.role, made.client, made.has_usable_password()) == ("agent", acme, False)
    assert sign_in(provider, acme, sub="c", email=cara.user.email).status_code == 403


def test_an_admin_who_sets_the_provider_does_not_become_an_owner(acme, ann, provider):
    assert is_in(sign_in(provider, acme, sub="a", email=ann.user.email))
    eve = make_person(acme, "admin", "Eve")
    assert eve.user
    reply = eve.put(PROVIDER, chosen(provider))
    assert (reply.status_code, reply.json()["admits_owners"]) == (200, False)
    for subject in ("a", "new"):
        assert sign_in(provider, acme, sub=subject, email=ann.user.email).status_code == 403
    assert is_in(sign_in(provider, acme, sub="e", email=eve.user.email))


def test_passwords_no_longer_sign_in_where_the_provider_is_required(acme, ann, ben, provider):
    def by_password(user):
        form = {"username": user.email, "password": PASSWORD}
        at_site = Browser().post("/admin/login/", form)
        reply = Browser().post("/identity/token2", form)
        return at_site.status_code, reply.json().get("code"), at_site.content.decode()

    assert by_password(ben.user)[:2] == (302, None)
    ann.put(PROVIDER, chosen(provider, is_required=True))
    status, code, page = by_password(ben.user)
    assert (status, code) == (200, "provider_required")
    assert "uses single sign-on" in page
    wrong = Browser().post("/identity/token2", {"username": ben.user.email, "password": "wrong"})
    assert wrong.json()["code"] == "invalid_grant", "only who knows the password is told"
    assert by_password(ann.user)[:2] == (302, None), "an owner is not locked out"
    assert ann.delete(PROVIDER).status_code == 204
    assert AuditEvent.objects.filter(action="sign_in_provider.removed").count() == 1
    assert by_password(ben.user)[:2] == (302, None)
    assert ann.get(PROVIDER).status_code == 404


def test_a_setting_that_is_left_out_stays(acme, ann, provider):
    ann.put(PROVIDER, chosen(provider, is_required=True, creates_agents=True))
    again = ann.put(PROVIDER, chosen(provider, is_required=False)).json()
    assert (again["is_required"], again["creates_agents"]) == (False, True)


def test_the_second_factor_is_left_to_the_provider(acme, ben, provider):
    from identity.models import SecondFactor  # noqa: PLC0415 - this test alone

    SecondFactor.objects.create(user=ben.user, secret="A" * 32, latest_step=0, recovery_hashes=[])
    assert is_in(sign_in(provider, acme, email=ben.user.email))


def test_what_is_stored_and_shown(acme, ann, provider):
    shown = ann.get(PROVIDER).json()
    assert shown["sign_in_url"].endswith(link(acme))
    assert shown["redirect_url"].endswith(BACK)
    assert APPLICATION_SECRET not in str(shown)
    kept = chosen(provider, is_required=True)
    del kept["application_secret"]
    assert ann.put(PROVIDER, kept).status_code == 200
    assert is_in(sign_in(provider, acme, email=ann.user.email)), "the secret stays"
    event = AuditEvent.objects.filter(action="sign_in_provider.set").latest("pk")
    assert event.changes["secret_replaced"] is False
    assert APPLICATION_SECRET not in str(list(AuditEvent.objects.values_list("changes")))
    moved = kept | {"issuer": f"{provider.issuer}/other"}
    assert ann.put(PROVIDER, moved).status_code == 422, "a secret is not sent elsewhere"


@pytest.mark.parametrize(
    "issuer",
    ["http://127.0.0.1:1/", "https://169.254.169.254", "http://93.184.215.14", "ftp://x.example",
     "https://localhost"],
)  # fmt: skip
def test_an_issuer_inside_or_without_tls_is_refused(ann, provider, issuer):
    reply = ann.put(PROVIDER, chosen(provider, issuer=issuer))
    assert (reply.status_code, reply.json()["detail"][0]["loc"][-1]) == (422, "issuer")
    assert ann.get(PROVIDER).status_code == 404


def test_endpoints_inside_are_not_called(acme, ann, provider, settings):
    settings.EGRESS_ALLOW = []
    assert Browser().post(link(acme)).status_code == 400
    assert provider.asked == []


def test_a_fault_of_the_provider_is_kept_for_a_while(acme, provider, settings):
    settings.EGRESS_ALLOW = []
    assert Browser().post(link(acme)).status_code == 400
    settings.EGRESS_ALLOW = [provider.host_port]
    assert Browser().post(link(acme)).status_code == 400
    assert provider.asked == []
    cache.clear()
    assert leave(Browser(), acme).startswith(provider.issuer)


def test_a_mail_tells_the_link_and_the_page_tells_nobody_who_is_here(acme, ben, cara):
    pages = [
        Browser().post("/admin/sign-in/", {"email": email}).content
        for email in (ben.user.email, cara.user.email, "nobody@example.com")
    ]
    assert b"emailed you the sign-in link" in pages[0]
    assert pages[0] == pages[1] == pages[2]


def test_the_whole_way_in_a_browser(screen, problems, outside_port, ann, ben):
    """The platform's web process may call this port."""
    with openid_provider.running(outside_port) as provider:
        provider.claims = {"email": ben.user.email}
        sign_in_at_site(screen, ann.user)
        screen.goto(reverse("admin:settings_security"))
        screen.get_by_label("Issuer").fill(provider.issuer)
        screen.get_by_label("Client ID").fill(APPLICATION_ID)
        screen.get_by_label("Secret").fill(APPLICATION_SECRET)
        screen.get_by_label("Domains").fill("example.com")
        screen.get_by_role("button", name="Save").click()
        screen.get_by_role("status").wait_for()
        screen.context.clear_cookies()
        screen.goto(link(ann.client))
        screen.get_by_role("button", name="Continue").click()
        screen.get_by_role("link", name="Go").click()
        screen.wait_for_url("**/admin/desk/")
        screen.get_by_text("Mine").first.wait_for()
    assert SiteSession.objects.filter(user=ben.user).count() == 1
    assert {problem.partition("?")[0] for problem in problems} == {
        f"elsewhere: {provider.issuer}/authorize"
    }
    problems.clear()


@pytest.mark.django_db(transaction=True)
def test_the_mailed_link(acme, ben, cara):
    for email in (ben.user.email, cara.user.email, "nobody@example.com"):
        Browser().post("/admin/sign-in/", {"email": email})
    run_jobs()
    (sent,) = mail.outbox
    assert sent.to == [ben.user.email]
    assert link(acme) in sent.body
