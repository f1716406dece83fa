"""Create Chat Feed Back, Get Chat Feedbacks."""

import uuid
from datetime import timedelta
from typing import Any

import pytest

from bots.testing import make_bot
from chatplatform.api.schemas import iso
from chatplatform.testing import at_once
from chats.models import Feedback
from chats.testing import visit
from identity.models import ClientConfig
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
    ClientConfig.objects.update(feedback_edit_minutes=0)
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
        {"thumb": "up"},
        {"thumb": "sideways", "message_id": str(uuid.uuid4())}, {"rating": 5, "reason": "blue"},
        {"thumb": "up", "rating": 5, "message_id": str(uuid.uuid4())},
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
        assert (reply.status_code, reply.json()["field"]) == (404, "message_id")
    assert Feedback.objects.count() == 0


def test_a_page_rates_only_its_own_chats(server, page, chat):
    assert page.post(path_of(chat), {"rating": 5}).status_code == 404
    visitor, own = visit(page)
    assert visitor.post(path_of(chat), {"rating": 5}).status_code == 404
    assert visitor.post(path_of(own.pk), {"rating": 5}).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_one_of_ten_concurrent_ratings_is_stored(server, chat):
    replies = at_once(*[lambda: server.post(path_of(chat), {"rating": 5})] * 10)
    assert {reply.status_code for reply in replies} == {200}
    assert len({reply.json()["id"] for reply in replies}) == 1
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
    assert list_ids(ann, chat_id=Feedback.objects.get(pk=ratings[0]).conversation_id) == [
        ratings[0]
    ]
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


def test_a_rating_is_corrected_for_a_while(server, chat):
    first = server.post(path_of(chat), {"rating": 2, "comment": "Slow"}).json()
    assert first["updated_at"] is None
    body = {"rating": 1, "reason": "no_solution"}
    second = server.post(path_of(chat), body)
    assert second.status_code == 200
    corrected = second.json()
    assert (corrected["id"], corrected["created_at"]) == (first["id"], first["created_at"])
    assert (corrected["rating"], corrected["reason"], corrected["comment"]) == (
        1, "no_solution", None,
    )  # fmt: skip
    assert corrected["updated_at"] >= corrected["created_at"]
    assert Event.objects.get(type="feedback.updated").data["feedback"] == corrected
    # The same again changes nothing.
    assert server.post(path_of(chat), body).json() == corrected
    assert (announced().count(), Event.objects.filter(type="feedback.updated").count()) == (1, 1)
    an_hour_ago = Feedback.objects.get().created_at - timedelta(minutes=60)
    Feedback.objects.update(created_at=an_hour_ago)
    reply = server.post(path_of(chat), {"rating": 5})
    assert (reply.status_code, reply.json()["code"]) == (409, "feedback_given")
    assert Feedback.objects.get().rating == 1


def test_thumbs_and_stars_stand_in_one_list(ann, server, chat, add_message):
    answers = [add_message(chat, "bot", "Yes."), add_message(chat, "agent", "No.")]
    server.post(path_of(chat), {"rating": 4})
    for thumb, answer in zip(("up", "down"), answers, strict=True):
        body = {"thumb": thumb, "message_id": str(answer.pk), "reason": "too_slow"}
        assert server.post(path_of(chat), body).status_code == 200
    items = ann.get(LIST).json()["items"]
    assert [(item["thumb"], item["rating"]) for item in items] == [
        ("down", None), ("up", None), (None, 4),
    ]  # fmt: skip
    assert [item["message_id"] for item in items] == [
        str(answers[1].pk), str(answers[0].pk), None,
    ]  # fmt: skip
    assert list_ids(ann, thumb="up") == [items[1]["id"]]
    assert list_ids(ann, reason="too_slow") == [items[0]["id"], items[1]["id"]]
    assert list_ids(ann, reason="other") == []
    # A thumb becomes stars.
    stars: dict[str, Any] = {"rating": 5, "message_id": str(answers[0].pk)}
    assert server.post(path_of(chat), stars).json()["thumb"] is None
