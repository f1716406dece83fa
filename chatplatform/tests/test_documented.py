"""The checker of answers: whatever the document does not describe fails the test that caused it."""

import uuid
from contextlib import closing
from http.client import HTTPConnection

import pytest

from chatplatform.testing import documented
from chatplatform.testing.web_process import web

PATHS = "chatplatform.tests.undocumented"
WRONG = {
    "/health/live": "GET /health/live answered 418, which is not documented",
    "/health": "GET /health answered 200 as 'text/html'; documented is application/json",
    "/ai/bot": "GET /ai/bot answered 200 with another body: at '",
    "/ai/chats": "GET /ai/chats answered 200 with another body: no JSON",
}


@pytest.mark.urls(PATHS)
@pytest.mark.parametrize("path", WRONG)
def test_a_wrong_answer_is_noted_in_a_sentence(nobody, path):
    nobody.get(path)
    (found,) = documented.breaches
    documented.breaches.clear()
    assert found.startswith(WRONG[path])


# Passes if it fails: nothing in it can but the checker.
@pytest.mark.urls(PATHS)
@pytest.mark.xfail(strict=True, raises=AssertionError)
def test_a_wrong_answer_fails_the_test(nobody):
    nobody.get("/health/live")


@pytest.mark.urls(PATHS)
@pytest.mark.undocumented
def test_a_test_that_breaks_the_platform_on_purpose_is_excused(nobody):
    assert nobody.get("/health/live").status_code == 418


def test_right_answers_are_not_noted(nobody):
    assert nobody.get("/health/live").status_code == 200
    assert nobody.get("/ai/bot").status_code == 401
    assert not documented.breaches


@pytest.mark.full
@pytest.mark.django_db(transaction=True)
def test_wrong_answers_of_a_web_process_fail_the_test():
    with pytest.raises(AssertionError) as failed:
        call_all_in_a_web_process()
    *others, stream = str(failed.value).splitlines()
    assert sorted(line[:30] for line in others) == sorted(line[:30] for line in WRONG.values())
    assert stream.startswith("POST /ai/client/chat/{chat_id} answered 200 with another body:")
    assert "dance" in stream


def call_all_in_a_web_process():
    with web(DJANGO_SETTINGS_MODULE=PATHS) as port:
        for path in WRONG:
            answer_of(port, "GET", path)
        assert b"dance" in answer_of(port, "POST", f"/ai/client/chat/{uuid.uuid4()}")


def answer_of(port, method, path):
    with closing(HTTPConnection("127.0.0.1", port, timeout=60)) as site:
        site.request(method, path)
        return site.getresponse().read()
