"""Intelligent content summarization with AI."""

import threading
from collections import Counter

import pytest
from django.db import connection

from identity.models import CreditEntry, EntryKind, Subscription
from identity.testing import Person

PATH = "/client/summarize"
TEXT = (
    "We opened the shop in 1998. It sells shoes and bags. Prices are fair.\n\n"
    "Goods can be returned within 30 days. Keep the receipt.\n\n"
    "On Sundays we are closed."
)


def test_without_a_model_the_summary_is_the_beginning(server, credits_spent):
    reply = server.post(PATH, {"text": TEXT, "max_words": 12})
    assert reply.status_code == 200
    assert reply.json() == {
        "summary": "We opened the shop in 1998. It sells shoes and bags.",
        "key_points": ["Goods can be returned within 30 days.", "On Sundays we are closed."],
        "engine": "extractive",
    }
    assert credits_spent(server.client) == 1


def test_an_endless_sentence_is_cut(server):
    result = server.post(PATH, {"text": "word " * 5_000, "max_words": 10}).json()
    assert result["summary"] == " ".join(["word"] * 10)


def test_messages_without_a_model(server):
    messages = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Hi"},
        {"role": "user", "content": "My parcel is late."},
        {"role": "assistant", "content": "I am sorry."},
        {"role": "user", "content": "When will it come?"},
    ]
    result = server.post(PATH, {"messages": messages}).json()
    assert "First request: My parcel is late." in result["summary"]
    assert result["key_points"] == ["Open question: When will it come?"]
    assert "Be kind" not in result["summary"]


def test_a_model_writes_the_summary(server, page, model, credits_spent):
    model.json_answer = {"summary": "A shop for shoes.", "key_points": ["30 days"]}
    result = server.post(PATH, {"text": TEXT, "language": "vi", "max_words": 20}).json()
    assert result == model.json_answer | {"engine": "openai_compatible"}
    prompt = model.requests[0]["messages"][0]["content"]
    assert "in Vietnamese" in prompt
    assert "at most 20 words" in prompt
    assert credits_spent(server.client) == 1
    assert page.post(PATH, {"text": TEXT}).status_code == 403
    assert (len(model.requests), credits_spent(server.client)) == (1, 1)


def test_a_model_that_is_down(server, broken_model, credits_spent):
    reply = server.post(PATH, {"text": TEXT})
    assert (reply.status_code, reply.json()["code"]) == (503, "engine_unavailable")
    assert "Retry-After" in reply
    assert credits_spent(server.client) == 0


def test_a_long_text_costs_what_the_model_counted(server, model, credits_spent):
    model.json_answer = {"summary": "Words.", "key_points": []}
    assert server.post(PATH, {"text": "word " * 9_000}).status_code == 200
    reserved = CreditEntry.objects.get(kind=EntryKind.RESERVE)
    assert reserved.amount == -46
    assert credits_spent(server.client) == 1


@pytest.mark.parametrize(
    "body",
    [
        {}, {"text": ""}, {"text": "  "}, {"text": "x" * 50_001}, {"text": "x" * 900_000},
        {"text": "a", "messages": [{"role": "user", "content": "a"}]}, {"messages": []},
        {"messages": [{"role": "boss", "content": "a"}]},
        {"messages": [{"role": "user", "content": "x" * 26_000}] * 2},
        {"text": "a", "max_words": 9}, {"text": "a", "max_words": 501},
        {"text": "a", "language": "../../x"}, {"text": "\x00"}, {"text": "a", "more": 1},
    ],
)  # fmt: skip
def test_a_wrong_body_is_refused(server, credits_spent, body):
    assert server.post(PATH, body).status_code == 422
    assert credits_spent(server.client) == 0


@pytest.mark.full
@pytest.mark.django_db(transaction=True)
def test_ten_credits_pay_ten_of_a_hundred_concurrent_requests(server):
    Subscription.objects.filter(client=server.client).update(credits_left=10)
    statuses: Counter[int] = Counter()
    lock, slots = threading.Lock(), threading.Semaphore(20)

    def post():
        with slots:
            reply = Person(server.headers).post(PATH, {"text": TEXT})
            connection.close()
        with lock:
            statuses[reply.status_code] += 1

    threads = [threading.Thread(target=post) for _ in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses == {200: 10, 402: 90}
    left = Subscription.objects.get(client=server.client).credits_left
    calls = CreditEntry.objects.for_client(server.client).exclude(kind__in=[EntryKind.GRANT])
    assert (left, 10 + sum(calls.values_list("amount", flat=True))) == (0, 0)
