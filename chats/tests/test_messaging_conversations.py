"""messaging: Create, List and End Conversation, List Messages, Summary and Ai Tags."""

from datetime import timedelta

import pytest

from bots.testing import make_bot
from chatplatform.api.schemas import iso
from chatplatform.models import Job
from chats.models import Conversation, Customer, Feedback, Notification, Summary, Tagging
from chats.testing import make_chat
from identity.models import Role, User
from identity.testing import make_key, make_person
from webhooks.models import Event

PATH = "/mesaging/conversations"
REQUESTER = {"external_id": "shop-7", "name": "Zoe"}


def open_(who, **more):
    return who.post(PATH, {"requester": REQUESTER, **more})


def ids(reply):
    assert reply.status_code == 200
    return [item["id"] for item in reply.json()["items"]]


# --- Create Conversation ------------------------------------------------------------------------


def test_a_conversation_is_opened(server, bot):
    reply = open_(
        server, provider="shop", group_id="team-2", tags=["vip", "VIP ", "new"],
        location={"country": "VN", "city": "Hanoi"},
    )  # fmt: skip
    assert reply.status_code == 201
    opened = reply.json()
    assert set(opened) == {
        "id", "requester", "responsible", "provider", "location", "tags", "group_id", "status",
        "created_at",
    }  # fmt: skip
    assert (opened["requester"], opened["responsible"]) == (REQUESTER, None)
    assert (opened["provider"], opened["group_id"], opened["status"]) == ("shop", "team-2", "open")
    assert (opened["tags"], opened["location"]["city"]) == (["vip", "new"], "Hanoi")
    chat = Conversation.objects.get()
    assert (str(chat.pk), chat.bot, chat.channel, chat.assign_type) == (
        opened["id"], bot, "api", "bot"
    )  # fmt: skip
    assert (chat.customer.external_id, chat.customer.name) == ("shop-7", "Zoe")
    assert set(Tagging.objects.values_list("name", "source")) == {
        ("vip", "agent"),
        ("new", "agent"),
    }
    assert list(Event.objects.values_list("type", flat=True)) == ["conversation.created"]


def test_a_returning_requester_is_the_same_customer(server, client_b):
    Customer.objects.create(client=client_b, external_id="shop-7", name="Cleo")
    for _ in range(2):
        assert open_(server).json()["requester"]["name"] == "Zoe"
    assert Customer.objects.filter(name="Zoe").count() == 1
    assert Conversation.objects.count() == 2


def test_other_lists_show_the_conversation(server, ben):
    opened = open_(server, provider="shop").json()["id"]
    assert ids(ben.get("/ai/chats")) == [opened]
    assert ids(server.get("/ai/client/chats")) == [opened]


@pytest.mark.parametrize("by", ["pk", "email"])
def test_a_responsible_agent_is_assigned(server, ben, by):
    named = {"external_id": str(getattr(ben.user, by)), "name": "somebody"}
    opened = open_(server, responsible=named).json()
    assert opened["responsible"] == {
        "external_id": named["external_id"], "name": "Ben", "user_id": ben.user.pk,
    }  # fmt: skip
    chat = Conversation.objects.get()
    assert (chat.assign_type, chat.assignee) == ("agent", ben.user)
    assert Notification.objects.get().user == ben.user


def test_the_responsible_is_whoever_has_it_now(server, ann, ben, bea):
    named = {"external_id": ben.user.email, "name": "Ben at the shop"}
    path = f"{PATH}/{open_(server, responsible=named).json()['id']}"
    chat = Conversation.objects.get()
    body = {"assign_type": "agent", "user_id": bea.user.pk}
    assert ann.post(f"/ai/chat/{chat.pk}/assign", body).status_code == 200
    assert server.get(path).json()["responsible"] == {
        "external_id": str(bea.user.pk), "name": "Bea", "user_id": bea.user.pk,
    }  # fmt: skip
    assert ann.post(f"/ai/chat/{chat.pk}/unassign").status_code == 200
    assert server.get(path).json()["responsible"] == {
        "external_id": ben.user.email, "name": "Ben at the shop", "user_id": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("vn", "VN"),
        ("DE", "DE"),
        ("Germany", "Germany"),
        ("  Viet  Nam ", "Viet Nam"),
        ("日本", "日本"),
    ],
)
def test_a_country_is_a_code_or_a_name(server, given, stored):
    opened = open_(server, location={"country": given}).json()
    assert opened["location"]["country"] == stored
    assert server.get(f"{PATH}/{opened['id']}").json() == opened


def test_any_other_responsible_is_stored_as_a_name(server, cara, client_a):
    make_person(client_a, Role.VIEWER, "Vic")
    vic = User.objects.get(full_name="Vic")
    for name in ("desk-5", cara.user.email, str(cara.user.pk), str(vic.pk), "9" * 30):
        named = {"external_id": name, "name": "Sam"}
        shown = open_(server, responsible=named).json()["responsible"]
        assert shown == named | {"user_id": None}
    assert not Conversation.objects.exclude(assign_type="bot").exists()
    assert Notification.objects.count() == 0


def test_a_conversation_waits_in_the_queue_if_the_bot_is_off(server, bot):
    bot.is_disabled = True
    bot.save()
    open_(server)
    assert Conversation.objects.get().assign_type == "queue"


def test_a_key_of_several_bots_must_name_one(client_a, bot):
    make_bot(client_a)
    reply = open_(make_key(client_a))
    assert reply.status_code == 422
    assert Conversation.objects.count() == 0


@pytest.mark.parametrize(
    "body",
    [
        {}, {"requester": "shop-7"}, {"requester": {"name": "Zoe"}},
        {"requester": {"external_id": ""}}, {"requester": {"external_id": "x" * 201}},
        {"requester": {"external_id": "a\x00"}},
        {"requester": REQUESTER, "responsible": {"external_id": ""}},
        {"requester": REQUESTER, "provider": "x" * 61},
        {"requester": REQUESTER, "group_id": "x" * 201},
        {"requester": REQUESTER, "location": {"country": "x" * 101}},
        {"requester": REQUESTER, "tags": ["x"] * 21}, {"requester": REQUESTER, "tags": [" "]},
        {"requester": REQUESTER, "tags": ["x" * 61]},
        {"requester": REQUESTER, "client_id": 1}, {"requester": REQUESTER, "status": "ended"},
    ],
)  # fmt: skip
def test_a_wrong_body_is_refused(server, body):
    assert server.post(PATH, body).status_code == 422
    assert (Conversation.objects.count(), Customer.objects.count()) == (0, 0)


# --- List Conversations -------------------------------------------------------------------------


def test_conversations_of_all_channels_are_listed_newest_first(server, client_a, bot, ben):
    web = make_chat(bot, channel="web", assign_type="agent", assignee=ben.user)
    make_chat(make_bot(client_a))
    brought = open_(server).json()["id"]
    reply = server.get(PATH)
    assert ids(reply) == [brought, str(web.pk)]
    shown = reply.json()["items"][1]
    assert shown["requester"] == {"external_id": str(web.customer_id), "name": "Zoe"}
    agent = ben.user.pk
    assert shown["responsible"] == {"external_id": str(agent), "name": "Ben", "user_id": agent}
    assert (shown["provider"], shown["group_id"], shown["location"]) == ("web", None, None)
    first = server.get(PATH, {"limit": 1}).json()
    assert ids(server.get(PATH, {"cursor": first["next_cursor"]})) == [str(web.pk)]


# --- List Messages ------------------------------------------------------------------------------


def test_messages_are_listed_with_notes_and_ratings(server, ben, chat, add_message):
    first = add_message(chat, "customer", "Hello", metadata={"a": 1})
    rated = add_message(chat, "bot", "Hello!", receipt={"confidence": 0.9})
    Feedback.objects.create(client=chat.client, conversation=chat, message=rated, rating=2)
    ben.post(f"/ai/chat/{chat.pk}/manual", {"text": "Rude", "is_note": True})
    items = server.get(f"{PATH}/{chat.pk}/messages").json()["items"]
    assert [(item["seq"], item["is_note"]) for item in items] == [
        (1, False), (2, False), (3, True),
    ]  # fmt: skip
    assert (items[0]["id"], items[0]["metadata"]) == (str(first.pk), {"a": 1})
    assert (items[1]["feedback"]["rating"], items[1]["receipt"]) == (2, {"confidence": 0.9})


# --- End Conversation ---------------------------------------------------------------------------


def test_a_conversation_ends_once(server, chat):
    reply = server.put(f"{PATH}/{chat.pk}/end")
    assert (reply.status_code, reply.json()["status"]) == (200, "ended")
    chat.refresh_from_db()
    assert (chat.status, chat.ended_by, chat.version) == ("ended", "api", 2)
    event = Event.objects.latest("id")
    assert event.type == "conversation.ended"
    assert event.data["conversation"]["ended_by"] == "api"
    again = server.put(f"{PATH}/{chat.pk}/end")
    assert (again.status_code, again.json()["code"]) == (409, "chat_ended")
    assert Event.objects.filter(type="conversation.ended").count() == 1


# --- Summary and tags ---------------------------------------------------------------------------


def test_the_newest_summary_is_returned(server, chat):
    path = f"{PATH}/{chat.pk}/summary"
    before = server.get(path)
    assert (before.status_code, before.json()["code"]) == (404, "not_found")
    for text in ("Old", "New"):
        Summary.objects.create(
            client=chat.client, conversation=chat, summary=text, language="en",
            message_count=1, engine="extractive", key_points=["Refund"],
        )  # fmt: skip
    shown = server.get(path).json()
    assert (shown["summary"], shown["key_points"]) == ("New", ["Refund"])
    assert shown["chat_id"] == str(chat.pk)
    # Reading the summary creates none.
    assert (Summary.objects.count(), Job.objects.count()) == (2, 0)


def test_only_tags_of_an_engine_are_returned(server, chat):
    assert server.get(f"{PATH}/{chat.pk}/ai-tags").json() == {"tags": []}
    for source, confidence in (("agent", None), ("ai", 0.8), ("customer", None)):
        Tagging.objects.create(
            client=chat.client, conversation=chat, name=f"by {source}", source=source,
            confidence=confidence,
        )  # fmt: skip
    (tag,) = server.get(f"{PATH}/{chat.pk}/ai-tags").json()["tags"]
    assert (tag["name"], tag["source"], tag["confidence"]) == ("by ai", "ai", 0.8)


# --- access -------------------------------------------------------------------------------------


def test_another_clients_and_another_bots_chats_are_not_listed(client_a, client_b, chat):
    for stranger in (make_key(client_b), make_key(client_a, "secret", make_bot(client_a).pk)):
        assert ids(stranger.get(PATH)) == []


# --- filters, one conversation, insights made by key --------------------------------------------


def test_conversations_are_filtered(server):
    day = timedelta(days=1)
    made = {
        "a": open_(server, group_id="g-1", tags=["vip", "new"]).json()["id"],
        "b": open_(server, group_id="g-2", tags=["vip"]).json()["id"],
        "c": server.post(PATH, {"requester": {"external_id": "other"}}).json()["id"],
    }
    server.put(f"{PATH}/{made['b']}/end")
    created = Conversation.objects.get(pk=made["c"]).created_at
    Conversation.objects.filter(pk=made["c"]).update(created_at=created - 3 * day)
    before = iso(created - day)
    expected = {
        "group_id=g-1": "a", "status=ended": "b", "status=open": "ca", "tags=vip": "ba",
        "tags=vip&tags=new": "a", "tags=VIP": "ba", "tags=none": "", f"created_from={before}": "ba",
        f"created_to={before}": "c", "requester_id=other": "c", "group_id=none": "", "": "cba",
    }  # fmt: skip
    names = {pk: name for name, pk in made.items()}
    for query, wanted in expected.items():
        assert "".join(names[pk] for pk in ids(server.get(f"{PATH}?{query}"))) == wanted, query
    for query in ("status=closed", "group_id=", "tags=", "created_to=soon", "group=g-1"):
        assert server.get(f"{PATH}?{query}").status_code == 422, query


def test_one_conversation(server, ann, nobody, client_b):
    opened = open_(server, group_id="g-1").json()
    path = f"{PATH}/{opened['id']}"
    assert server.get(path).json() == opened
    assert make_key(client_b).get(path).status_code == 404
    assert (nobody.get(path).status_code, ann.get(path).status_code) == (401, 401)


def test_a_key_has_summary_and_tags_made(server, bot, client_a, credits_spent, add_message):
    path = f"{PATH}/{open_(server).json()['id']}"
    chat = Conversation.objects.get()
    add_message(chat, "customer", "Where is my parcel? It is late and I am furious.")
    assert server.get(f"{path}/summary").status_code == 404
    made = server.post(f"{path}/summary")
    assert made.status_code == 200, made.content
    assert made.json() == server.get(f"{path}/summary").json()
    assert (made.json()["message_count"], credits_spent(client_a)) == (1, 1)
    # A current one is not made, and not charged, again.
    assert server.post(f"{path}/summary").json() == made.json()
    assert credits_spent(client_a) == 1
    Tagging.objects.create(client=client_a, conversation=chat, name="own", source="agent")
    tagged = server.post(f"{path}/ai-tags")
    assert tagged.status_code == 200
    assert tagged.json() == server.get(f"{path}/ai-tags").json()
    assert "own" not in [tag["name"] for tag in tagged.json()["tags"]]
    page = make_key(client_a, "public", bot.pk)
    stranger = make_bot(client_a)
    for caller, status in ((page, 403), (make_key(client_a, "secret", stranger.pk), 404)):
        assert caller.post(f"{path}/summary").status_code == status
        assert caller.post(f"{path}/ai-tags").status_code == status
