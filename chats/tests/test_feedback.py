"""Create Chat Feed Back, Get Chat Feedbacks."""

import uuid
from datetime import timedelta

import pytest

from bots.testing import make_bot
from chatplatform.api.shapes import iso
from chatplatform.testing import at_once
from chats.models import Feedback
from identity.testing import make_key, make_person
from webhooks.models import Event

LIST = "/ai/chat/feedbacks"


def path_of(chat):
    return f"/ai/chat/{getattr(chat, 'pk', chat)}/feedback"


def announced():
    return Event.objects.filter(type="feedback.created")


def test_a_chat_is_rated(server, chat):
    body = {"rating": 4, "resolved": True, "comment": "Quick"}
    reply = server.post(path_of(chat), body)
    assert reply.status_code == 200
    feedback = reply.json()
    assert {name: feedback[name] for name in body} == body
    assert (feedback["chat_id"], feedback["message_id"]) == (str(chat.pk), None)
    assert feedback["id"] == Feedback.objects.get().pk
    assert feedback["created_at"].endswith("Z")
    event = announced().get()
    assert event.data["feedback"] == feedback
    chat.refresh_from_db()
    assert event.sequence == chat.last_event_seq


def test_the_chat_and_each_answer_are_rated_once(ann, server, chat, add_message):
    answers = [add_message(chat, "bot", "Yes."), add_message(chat, "agent", "No.")]
    for message_id in (None, *(str(answer.pk) for answer in answers)):
        body = {"rating": 5, "message_id": message_id}
        assert server.post(path_of(chat), body).status_code == 200
        for caller in (server, ann):
            reply = caller.post(path_of(chat), body | {"rating": 1})
            assert (reply.status_code, reply.json()["code"]) == (409, "feedback_given")
    assert list(Feedback.objects.values_list("rating", flat=True)) == [5, 5, 5]
    assert announced().count() == 3


@pytest.mark.parametrize(
    "body",
    [
        {}, {"rating": 0}, {"rating": 6}, {"rating": 4.5}, {"rating": None}, {"rating": "good"},
        {"rating": 5, "comment": "x" * 2001}, {"rating": 5, "comment": "\x00"},
        {"rating": 5, "chat_id": "x"}, {"rating": 5, "stars": 5}, {"rating": 5, "message_id": "x"},
    ],
)  # fmt: skip
def test_a_wrong_body_is_refused(server, chat, body):
    assert server.post(path_of(chat), body).status_code == 422
    assert Feedback.objects.count() == announced().count() == 0


def test_only_answers_of_this_chat_are_rated(server, chat, add_message, client_a):
    other = server.post("/ai/client/chat", {}).json()["id"]
    elsewhere = add_message(type(chat).objects.get(pk=other), "bot", "Yes.")
    wrong = [
        elsewhere, add_message(chat, "customer", "Hello"),
        add_message(chat, "system", "An agent comes."),
        add_message(chat, "agent", "Rude", is_note=True),
    ]  # fmt: skip
    for message_id in (*(message.pk for message in wrong), uuid.uuid4()):
        reply = server.post(path_of(chat), {"rating": 5, "message_id": str(message_id)})
        assert reply.status_code == 422
        assert reply.json()["detail"][0]["loc"] == ["body", "message_id"]
    assert Feedback.objects.count() == 0


def test_a_page_rates_only_its_own_chats(server, page, chat):
    assert page.post(path_of(chat), {"rating": 5}).status_code == 404
    own = page.post("/ai/client/chat", {}).json()["id"]
    assert page.post(path_of(own), {"rating": 5}).status_code == 200


def test_access_is_refused(ann, ben, cara, nobody, client_b, chat):
    viewer = make_person(ann.client, "viewer", "Vic")
    strangers = [cara, make_key(client_b), make_key(client_b, "public", make_bot(client_b).pk)]
    for stranger in strangers:
        assert stranger.post(path_of(chat), {"rating": 1}).status_code == 404
    assert viewer.post(path_of(chat), {"rating": 1}).status_code == 403
    assert nobody.post(path_of(chat), {"rating": 1}).status_code == 401
    assert ann.post(path_of(uuid.uuid4()), {"rating": 1}).status_code == 404
    assert Feedback.objects.count() == 0
    assert ben.post(path_of(chat), {"rating": 1}).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_one_of_ten_concurrent_ratings_is_stored(server, chat):
    replies = at_once(*[lambda: server.post(path_of(chat), {"rating": 5})] * 10)
    assert sorted(reply.status_code for reply in replies) == [200] + [409] * 9
    assert Feedback.objects.count() == announced().count() == 1


@pytest.fixture
def ratings(server):
    feedback_ids = []
    for rating in (1, 3, 5):
        chat = server.post("/ai/client/chat", {}).json()["id"]
        feedback_ids.append(server.post(path_of(chat), {"rating": rating}).json()["id"])
    return feedback_ids


def list_ids(caller, **query):
    reply = caller.get(LIST, query)
    assert reply.status_code == 200
    return [item["id"] for item in reply.json()["items"]]


def test_ratings_are_listed_newest_first(ann, cara, ratings):
    assert list_ids(ann) == ratings[::-1]
    assert list_ids(cara) == []
    first = ann.get(LIST, {"limit": 2}).json()
    assert [item["id"] for item in first["items"]] == [ratings[2], ratings[1]]
    assert list_ids(ann, limit=2, cursor=first["next_cursor"]) == [ratings[0]]


def test_ratings_are_filtered(ann, ratings, bot, cara):
    assert list_ids(ann, rating=3) == [ratings[1]]
    assert list_ids(ann, bot_id=bot.pk) == ratings[::-1]
    assert list_ids(ann, bot_id=make_bot(ann.client).pk) == []
    assert list_ids(ann, bot_id=make_bot(cara.client).pk) == []
    middle = Feedback.objects.get(pk=ratings[1]).created_at
    Feedback.objects.filter(pk=ratings[0]).update(created_at=middle - timedelta(days=2))
    Feedback.objects.filter(pk=ratings[2]).update(created_at=middle + timedelta(days=2))
    day = timedelta(days=1)
    assert list_ids(ann, created_from=iso(middle - day), created_to=iso(middle + day)) == [
        ratings[1]
    ]


@pytest.mark.parametrize(
    "query", [{"rating": 6}, {"bot_id": 0}, {"created_from": "x"}, {"created_to": "2026-01-01"}]
)
def test_a_wrong_query_is_refused(ann, query):
    assert ann.get(LIST, query).status_code == 422
