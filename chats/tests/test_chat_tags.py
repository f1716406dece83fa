"""Create Tags For Chat, Update Tags For Chat, Get Client Tags."""

import pytest

from bots.testing import make_bot
from chats.models import Conversation, Tagging
from identity.testing import make_key
from webhooks.models import Event


def path_of(chat):
    return f"/ai/chat/{getattr(chat, 'pk', chat)}/tags"


def names(reply):
    assert reply.status_code == 200
    return [tag["name"] for tag in reply.json()["tags"]]


def updates():
    return Event.objects.filter(type="tags.updated").order_by("sequence")


def test_tags_are_added(ann, chat):
    reply = ann.post(path_of(chat), {"tags": ["VIP", {"name": " refund  claim "}, "vip"]})
    assert reply.json() == {
        "tags": [
            {"name": name, "source": "agent"}
            | dict.fromkeys(("id", "colour", "confidence", "count"))
            for name in ("VIP", "refund claim")
        ]
    }  # fmt: skip
    chat.refresh_from_db()
    assert chat.tags == ["VIP", "refund claim"]
    event = updates().get()
    assert [tag["name"] for tag in event.data["tags"]] == chat.tags
    assert event.data["conversation"]["tags"] == chat.tags
    assert names(ann.post(path_of(chat), {"tags": ["new"]})) == ["VIP", "refund claim", "new"]


def test_existing_tags_change_nothing(ann, chat):
    ann.post(path_of(chat), {"tags": ["VIP"]})
    assert names(ann.post(path_of(chat), {"tags": ["vip", "Vip "]})) == ["VIP"]
    assert names(ann.put(path_of(chat), {"tags": ["vip"]})) == ["VIP"]
    assert updates().count() == 1


def test_tags_are_replaced(ann, chat):
    ann.post(path_of(chat), {"tags": ["a", "b"]})
    Tagging.objects.filter(name="b").update(source="ai", confidence=0.8)
    reply = ann.put(path_of(chat), {"tags": ["B", "c"]})
    assert [(tag["name"], tag["source"]) for tag in reply.json()["tags"]] == [
        ("b", "ai"), ("c", "agent"),
    ]  # fmt: skip
    assert names(ann.put(path_of(chat), {"tags": []})) == []
    assert Tagging.objects.count() == 0
    assert updates().count() == 3


def test_a_response_is_a_valid_request(ann, chat):
    tags = ann.post(path_of(chat), {"tags": ["a"]}).json()
    assert ann.put(path_of(chat), tags).json() == tags


@pytest.mark.parametrize(
    "body",
    [
        {"tags": [""]}, {"tags": ["  "]}, {"tags": ["x" * 61]}, {"tags": [1]}, {"tags": "a"}, {},
        {"tags": [{"name": ""}]}, {"tags": [{"title": "a"}]}, {"tags": ["a\x00"]},
        {"tags": [f"t{n}" for n in range(21)]}, {"tags": ["a"], "more": 1},
        {"tags": ["a", "\u200b"]},
    ],
)  # fmt: skip
@pytest.mark.parametrize("method", ["post", "put"])
def test_a_wrong_body_is_refused(ann, chat, method, body):
    assert getattr(ann, method)(path_of(chat), body).status_code == 422
    assert Tagging.objects.count() == updates().count() == 0


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [("", "at least 1 character"), ("x" * 61, "at most 60 characters"), ("a\x00", "NUL"),
     (1, "give a name"), ({"title": "a"}, "Field required")],
)  # fmt: skip
def test_the_error_of_a_wrong_tag_names_the_cause(ann, chat, wrong, reason):
    first, *_ = ann.post(path_of(chat), {"tags": ["a", wrong]}).json()["detail"]
    assert reason in first["msg"]
    assert first["loc"][:3] == ["body", "tags", 1]


def test_a_chat_has_at_most_twenty(ann, chat):
    ann.post(path_of(chat), {"tags": [f"t{n}" for n in range(19)]})
    assert ann.post(path_of(chat), {"tags": ["x", "y"]}).status_code == 422
    assert len(names(ann.post(path_of(chat), {"tags": ["x", "T1"]}))) == 20


def test_tags_of_a_new_chat_are_stored(ann, server):
    server.post("/ai/client/chat", {"tags": ["Gold", "gold"]})
    assert set(Tagging.objects.values_list("name", "source")) == {("Gold", "agent")}
    assert Conversation.objects.filter(tags=["Gold"]).count() == 1


def test_the_client_lists_its_tags(ann, cara, server, nobody):
    for tags in (["a", "b"], ["b"], ["b", "c"]):
        server.post("/ai/client/chat", {"tags": tags})
    make_key(cara.client, "secret", make_bot(cara.client).pk).post(
        "/ai/client/chat", {"tags": ["theirs"]}
    )
    listed = ann.get("/ai/tags").json()["tags"]
    assert [(tag["name"], tag["count"]) for tag in listed] == [("b", 3), ("a", 1), ("c", 1)]
    assert {tag["source"] for tag in listed} == {None}
    assert [tag["name"] for tag in cara.get("/ai/tags").json()["tags"]] == ["theirs"]
    assert nobody.get("/ai/tags").status_code == 401
    assert server.get("/ai/tags").status_code == 401
