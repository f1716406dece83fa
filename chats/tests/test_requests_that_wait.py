"""Requests that wait, for a model or for a lock, do not delay others; on the real web server."""

import http.client
import json
import threading
import time
from contextlib import closing

import pytest
from django.db import connection, transaction

from chatplatform.api.outgoing_call_limits import CLIENT_THREADS
from chatplatform.testing import stub_model
from chatplatform.testing.web_process import web
from chatplatform.web.thread_limits import THREADS, THREADS_OF_CALLER, THREADS_OF_CLIENT
from chats.models import Conversation
from identity.services import tokens

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.full]


@pytest.fixture
def model():
    """A model that holds its answers."""
    with stub_model.running("held") as server:
        yield server


@pytest.fixture
def port(transactional_db, model):
    """A web process that asks this model."""
    own = {"LLM_BASE_URL": model.base_url, "LLM_MODEL": "stub", "LLM_DEADLINE_SECONDS": "100"}
    with web(**own) as made:
        yield made


def request(port, method, path, headers, body=None):
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        headers = {**headers, "Content-Type": "application/json"}
        connection.request(method, path, json.dumps(body) if body else None, headers)
        reply = connection.getresponse()
        return reply.status, reply.read()


def test_requests_that_wait_for_a_model_do_not_delay_others(server, ann, model, port):
    statuses = []

    def translate():
        body = {"text": "Where is my parcel?", "out_lang_code": "vi"}
        statuses.append(request(port, "POST", "/client/translate", server.headers, body)[0])

    def start(count):
        threads = [threading.Thread(target=translate) for _ in range(count)]
        for thread in threads:
            thread.start()
        return threads

    model.requests.clear()
    model.release.clear()
    model.json_answer = {"text": "Bưu kiện của tôi ở đâu?"}
    # The model has as many requests as the web process has threads, and holds its answers.
    assert CLIENT_THREADS >= THREADS
    waiting = start(CLIENT_THREADS)
    model.wait_for_requests(CLIENT_THREADS)
    assert request(port, "GET", "/identity/users/me", ann.headers)[0] == 200
    assert statuses == []
    # So many are the client's share; further ones are told to try again.
    waiting += start(12)
    assert request(port, "GET", "/identity/users/me", ann.headers)[0] == 200
    assert set(statuses) <= {429}
    model.release.set()
    for thread in waiting:
        thread.join()
    assert len(statuses) == len(waiting)
    assert set(statuses) == {200, 429}
    assert statuses.count(200) >= CLIENT_THREADS


@pytest.mark.parametrize("is_person", [False, True])
def test_requests_of_one_caller_leave_threads_to_others(
    server, ann, ben, chat, is_person, web_port
):
    """A locked chat keeps every message to it waiting, and with them no other caller."""
    statuses = []
    path = f"/ai/chat/{chat.pk}/assign" if is_person else f"/ai/client/chat/{chat.pk}"
    body = {"assign_type": "agent"} if is_person else {"text": "Where is it?", "reply": "none"}

    def write():
        headers = (ben if is_person else server).headers
        statuses.append(request(web_port, "POST", path, headers, body)[0])

    with transaction.atomic():
        Conversation.objects.select_for_update().get(pk=chat.pk)
        threads = [threading.Thread(target=write) for _ in range(THREADS + 1)]
        for thread in threads:
            thread.start()
        wait_for_blocked(THREADS_OF_CALLER)
        assert request(web_port, "GET", "/identity/users/me", ann.headers)[0] == 200
        assert statuses == []
    for thread in threads:
        thread.join()
    assert len(statuses) == THREADS + 1
    assert set(statuses) <= ({200, 409} if is_person else {200})


@pytest.mark.parametrize("are_known", [True, False])
def test_a_person_with_many_sign_ins_has_one_share(are_known, ann, ben, chat, web_port):
    """Each sign-in is known as theirs by its first answer, and has a stranger's share before."""
    statuses = []
    assert request(web_port, "GET", "/identity/users/me", ann.headers)[0] == 200
    sign_ins = [
        {"Authorization": f"Bearer {tokens.issue(ben.user).access_token}"} for _ in range(4)
    ]
    for headers in sign_ins if are_known else ():
        assert request(web_port, "GET", "/identity/users/me", headers)[0] == 200

    def assign(headers):
        path, body = f"/ai/chat/{chat.pk}/assign", {"assign_type": "agent"}
        statuses.append(request(web_port, "POST", path, headers, body)[0])

    with transaction.atomic():
        Conversation.objects.select_for_update().get(pk=chat.pk)
        threads = [
            threading.Thread(target=assign, args=(headers,)) for headers in sign_ins for _ in "123"
        ]
        for thread in threads:
            thread.start()
        wait_for_blocked(THREADS_OF_CALLER if are_known else THREADS_OF_CLIENT)
        assert request(web_port, "GET", "/identity/users/me", ann.headers)[0] == 200
        assert statuses == []
    for thread in threads:
        thread.join()
    assert set(statuses) <= {200, 409}


def wait_for_blocked(count):
    """Wait until so many statements wait for a lock."""
    ends_at = time.monotonic() + 60
    while time.monotonic() < ends_at:
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
            if cursor.fetchone()[0] >= count:
                return
        time.sleep(0.01)
    raise AssertionError("nobody waits for the row")
