"""A model that takes its time holds up nobody but those who wait for it; on the real web server."""

import http.client
import json
import threading
from contextlib import closing

import pytest

from chatplatform.testing import stub_model
from chatplatform.testing.web_process import web

pytestmark = pytest.mark.django_db(transaction=True)
# More than the web process has threads.
WAITING = 20


def ask(port, method, path, headers, body=None):
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as line:
        given = {**headers, "Content-Type": "application/json"}
        line.request(method, path, json.dumps(body) if body else None, given)
        reply = line.getresponse()
        return reply.status, reply.read()


def test_others_are_served_meanwhile(server, ann):
    ended = []

    def translate():
        body = {"text": "Where is my parcel?", "out_lang_code": "vi"}
        ended.append(ask(port, "POST", "/client/translate", server.headers, body)[0])

    with (
        stub_model.running("slow:5") as model,
        web(LLM_BASE_URL=model.base_url, LLM_MODEL="stub", LLM_DEADLINE_SECONDS="20") as port,
    ):
        waiting = [threading.Thread(target=translate) for _ in range(WAITING)]
        for one in waiting:
            one.start()
        while not model.requests:  # the first has reached the model: it will take five seconds
            pass
        status, _ = ask(port, "GET", "/identity/users/me", ann.headers)
        assert (status, ended) == (200, [])
        for one in waiting:
            one.join()
    assert len(ended) == WAITING
    assert set(ended) <= {200, 502, 503}
