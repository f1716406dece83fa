"""Requests that wait for a model do not delay other requests; on the real web server."""

import http.client
import json
import threading
from contextlib import closing

import pytest

from bots.services.engines import MAX_CALLS
from chatplatform.testing import stub_model
from chatplatform.testing.web_process import web
from chatplatform.web.application import THREADS

pytestmark = pytest.mark.django_db(transaction=True)


def request(port, method, path, headers, body=None):
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        headers = {**headers, "Content-Type": "application/json"}
        connection.request(method, path, json.dumps(body) if body else None, headers)
        reply = connection.getresponse()
        return reply.status, reply.read()


def test_requests_that_wait_for_a_model_do_not_delay_others(server, ann):
    statuses = []

    def translate():
        body = {"text": "Where is my parcel?", "out_lang_code": "vi"}
        statuses.append(request(port, "POST", "/client/translate", server.headers, body)[0])

    def start(count):
        threads = [threading.Thread(target=translate) for _ in range(count)]
        for thread in threads:
            thread.start()
        return threads

    with (
        stub_model.running("held") as model,
        web(LLM_BASE_URL=model.base_url, LLM_MODEL="stub", LLM_DEADLINE_SECONDS="100") as port,
    ):
        model.json_answer = {"text": "Bưu kiện của tôi ở đâu?"}
        # The model has as many requests as the web process has threads, and holds its answers.
        assert MAX_CALLS >= THREADS
        waiting = start(MAX_CALLS)
        model.wait_for_requests(MAX_CALLS)
        assert request(port, "GET", "/identity/users/me", ann.headers)[0] == 200
        assert statuses == []
        # Further requests wait for a free call to the model.
        waiting += start(12)
        assert request(port, "GET", "/identity/users/me", ann.headers)[0] == 200
        assert not {200, 502} & set(statuses)
        model.release.set()
        for thread in waiting:
            thread.join()
    assert len(statuses) == len(waiting)
    assert set(statuses) <= {200, 503}
    assert statuses.count(200) >= MAX_CALLS
