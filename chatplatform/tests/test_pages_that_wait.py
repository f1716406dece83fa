"""Pages that call a server which accepts and stalls delay nobody else; on the real web server."""

import http.client
import socket
import threading
import time
import uuid
from contextlib import closing, contextmanager
from urllib.parse import urlencode

import pytest
from django.test import Client as Browser
from django.test import RequestFactory
from django.urls import reverse

from bots.models import LanguageModel
from chatplatform.api.outgoing_call_limits import CLIENT_THREADS, SHARED, WAITING_THREADS, will_wait
from chatplatform.testing.web_process import wait_until_idle
from chatplatform.web.thread_limits import THREADS
from identity.models import SignInProvider
from identity.services.sso import _MAX_CONCURRENT_CALLS
from identity.testing import PASSWORD, make_client, make_person

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.full]


class Stalling:
    """A server that accepts connections and says nothing; from `hang_up` on it closes each."""

    def __init__(self, port):
        self.socket = socket.create_server(("127.0.0.1", port), backlog=128)
        self.host_port = f"127.0.0.1:{self.socket.getsockname()[1]}"
        self.held, self.hangs_up = [], False
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                self.held.append(self.socket.accept()[0])
            except OSError:
                return
            if self.hangs_up:
                self.held[-1].close()

    def wait_for(self, count, callers):
        ends_at = time.monotonic() + 60
        while len(self.held) < count:
            assert time.monotonic() < ends_at, f"{len(self.held)} came, {callers.answers[:2]}"
            time.sleep(0.01)

    def hang_up(self):
        self.hangs_up = True
        for item in self.held:
            item.close()


@contextmanager
def stalling(outside_ports, port):
    server = Stalling(outside_ports.pop())
    try:
        yield server
    finally:
        # Wakes the thread that accepts.
        server.socket.shutdown(socket.SHUT_RDWR)
        server.socket.close()
        server.hang_up()
        wait_until_idle(port)


class Callers:
    """Sends requests side by side; `answers` holds what came back so far."""

    def __init__(self, port):
        self.port, self.answers, self.threads = port, [], []

    def send(self, *request, **more):
        def work():
            self.answers.append(self.ask(*request, **more))

        self.threads.append(threading.Thread(target=work))
        self.threads[-1].start()

    def ask(self, method, path, headers, body=None):
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=90)) as caller:
            caller.request(method, path, body, headers)
            reply = caller.getresponse()
            return reply.status, reply.headers, reply.read().decode()

    def statuses(self):
        return [status for status, _, _ in self.answers]

    def wait_for_answers(self, count):
        ends_at = time.monotonic() + 60
        while len(self.answers) < count:
            assert time.monotonic() < ends_at, f"{self.statuses()} and no more"
            time.sleep(0.01)

    def join(self):
        for thread in self.threads:
            thread.join()


def test_an_issuer_that_stalls_delays_nobody_else(ann, web_port, outside_ports):
    token = "a" * 32
    page = {"Accept": "text/html", "Cookie": f"csrftoken={token}", "X-CSRFToken": token}
    with stalling(outside_ports, web_port) as issuer:
        links = []
        # So many that without threads of their own they would hold all that there are.
        for number in range(THREADS // _MAX_CONCURRENT_CALLS + 1):
            client = make_client(f"Stalled{number}")
            SignInProvider.objects.create(
                client=client, issuer=f"http://{issuer.host_port}", application_id="x",
                application_secret="y", email_domains=["example.com"],
            )  # fmt: skip
            links.append(f"/admin/sign-in/{client.code}/")
        flood = Callers(web_port)
        # One client's link, by more than serve all others: it gets its share.
        for _ in range(2 * THREADS):
            flood.send("POST", links[0], page)
        flood.wait_for_answers(2 * THREADS - _MAX_CONCURRENT_CALLS)
        assert set(flood.statuses()) == {429}
        assert "Retry-After" in flood.answers[0][1]
        assert "<html" in flood.answers[0][2]
        assert len(issuer.held) == _MAX_CONCURRENT_CALLS
        others = Callers(web_port)
        for link in links[1:]:
            for _ in range(_MAX_CONCURRENT_CALLS):
                others.send("POST", link, page)
        issuer.wait_for(len(links) * _MAX_CONCURRENT_CALLS, others)
        assert flood.ask("GET", "/identity/users/me", ann.headers)[0] == 200
        assert others.answers == [], "the issuer still holds them"
        issuer.hang_up()
        flood.join()
        others.join()
        assert set(others.statuses()) == {400}
        # That it failed is known for a minute: the issuer is not asked again.
        called = len(issuer.held)
        assert flood.ask("POST", links[1], page)[0] == 400
        assert len(issuer.held) == called


def test_a_model_that_stalls_delays_nobody_else(ann, web_port, outside_ports):
    with stalling(outside_ports, web_port) as model:
        row = LanguageModel.objects.create(
            client=ann.client, base_url=f"http://{model.host_port}/v1", model="m", api_key="",
            credits_per_1000_tokens=1,
        )  # fmt: skip
        path = reverse("admin:bots_languagemodel_edit", args=[row.pk])
        headers = signed_in(ann.user) | {"Content-Type": "application/x-www-form-urlencoded"}
        form = {"base_url": row.base_url, "model": "n", "credits_per_1000_tokens": "1"}
        callers = Callers(web_port)
        for _ in range(CLIENT_THREADS):
            callers.send("POST", path, headers, urlencode(form))
        model.wait_for(CLIENT_THREADS, callers)
        assert callers.ask("GET", "/identity/users/me", ann.headers)[0] == 200
        assert callers.ask("POST", path, headers, urlencode(form))[0] == 429
        assert callers.ask("GET", path, headers)[0] == 200, "the form itself calls nobody"
        assert callers.answers == [], "the model still holds them"
        model.hang_up()
        callers.join()
        # What the page says of it is stored after the view, in the session or a cookie.
        assert set(callers.statuses()) == {302}
        assert all("messages=" in (answer[1]["Set-Cookie"] or "") for answer in callers.answers)
    row.refresh_from_db()
    assert row.model == "n"


def test_models_of_many_clients_that_stall_leave_a_thread_to_one_more(web_port, outside_ports):
    with stalling(outside_ports, web_port) as model:
        people = [make_person(make_client(f"Stalled{number}")) for number in range(18)]
        LanguageModel.objects.bulk_create(
            LanguageModel(
                client=person.client, base_url=f"http://{model.host_port}/v1", model="m",
                api_key="", credits_per_1000_tokens=1,
            )
            for person in people
        )  # fmt: skip
        callers = Callers(web_port)

        def flood(person, *, answered):
            """As many as a client may have at once, of which so many are told to try again."""
            already, called = len(callers.answers), len(model.held)
            for _ in range(CLIENT_THREADS):
                callers.send("POST", "/ai/model/test", person.headers)
            model.wait_for(called + CLIENT_THREADS - answered, callers)
            callers.wait_for_answers(already + answered)

        # Two have their share, and half of the threads with it; four used to have them all.
        flood(people[0], answered=0)
        flood(people[1], answered=0)
        assert len(model.held) == SHARED
        flood(people[2], answered=CLIENT_THREADS - 1)
        flood(people[3], answered=CLIENT_THREADS - 1)
        for number, person in enumerate(people[4:-1], start=SHARED + 3):
            callers.send("POST", "/ai/model/test", person.headers)
            model.wait_for(number, callers)
        assert len(model.held) == WAITING_THREADS - 1
        # Beyond that nobody waits for a thread without an end.
        status, headers, _ = callers.ask("POST", "/ai/model/test", people[-1].headers)
        assert (status, headers["Retry-After"]) == (429, "5")
        assert set(callers.statuses()) == {429}
        model.hang_up()
        callers.join()
    assert callers.statuses().count(200) == WAITING_THREADS - 1


def signed_in(user):
    """The headers of somebody who has signed in to the site."""
    browser = Browser()
    browser.post("/admin/login/", {"username": user.email, "password": PASSWORD})
    token = "a" * 32
    cookies = {name: cookie.value for name, cookie in browser.cookies.items()}
    cookies["csrftoken"] = token
    sent = "; ".join(f"{name}={value}" for name, value in cookies.items())
    return {"Cookie": sent, "X-CSRFToken": token, "Accept": "text/html"}


@pytest.mark.parametrize(
    ("method", "name", "args"),
    [
        ("POST", "sso_start", ["acme"]),
        ("GET", "sso_callback", []),
        ("POST", "chats_again", [uuid.UUID(int=1), uuid.UUID(int=2)]),
        ("POST", "bots_bot_add_content", [1, "website"]),
        ("POST", "bots_languagemodel_set_model", []),
        ("POST", "bots_languagemodel_edit", [1]),
        ("POST", "bots_languagemodel_changelist", []),
        ("POST", "settings_security", []),
        ("POST", "settings_notifications", []),
        ("POST", "webhooks_webhookconfig_new_endpoint", []),
        ("POST", "webhooks_webhookconfig_manage", [1]),
        ("POST", "webhooks_webhookconfig_changelist", []),
    ],
)
def test_what_calls_out_has_threads_of_its_own(method, name, args):
    path = reverse(f"admin:{name}", args=args)
    assert will_wait(RequestFactory().generic(method, path))


@pytest.mark.parametrize(
    ("method", "name", "args"),
    [
        ("GET", "channel_back", ["chatapp"]),
        ("GET", "channel_accounts", ["chatapp", 1]),
        ("POST", "channel_connect", ["chatapp"]),
        ("POST", "channel_account", ["chatapp", 1]),
    ],
)
def test_pages_of_channels_that_call_out_have_them_too(method, name, args):
    assert will_wait(RequestFactory().generic(method, reverse(name, args=args)))


def test_other_pages_have_the_threads_of_all():
    for method, path in (
        ("GET", "/admin/bots/bot/1/content/add/website/"),
        ("POST", "/admin/login/"),
    ):
        assert not will_wait(RequestFactory().generic(method, path))
