"""Get Chats, and Get Chat History in its three forms."""

from datetime import timedelta

import pytest
from django.utils import timezone

from bots.testing import make_bot
from chatplatform.testing import run_jobs
from chats.models import Conversation, Customer, Message, text_content
from chats.testing import make_chat
from identity.models import Client, Role
from identity.testing import make_person

PATH = "/ai/chats"


def ids(reply):
    assert reply.status_code == 200, reply.content
    return [item["id"] for item in reply.json()["items"]]


def add_message(chat, text, *, is_note=False, ago=timedelta()):
    chat.last_seq += 1
    message = Message.objects.create(
        client_id=chat.client_id, conversation=chat, seq=chat.last_seq, sender_type="customer",
        content=text_content(text), text=text, is_note=is_note,
    )  # fmt: skip
    chat.last_message, chat.last_message_at = message, timezone.now() - ago
    chat.save()
    return message


def test_chats_are_listed_by_newest_activity(ben, bot):
    old, quiet, new = make_chat(bot), make_chat(bot), make_chat(bot)
    add_message(old, "Long ago", ago=timedelta(hours=2))
    Conversation.objects.filter(pk=quiet.pk).update(created_at=timezone.now() - timedelta(hours=1))
    message = add_message(new, "Just now")
    reply = ben.get(PATH)
    assert ids(reply) == [str(new.pk), str(quiet.pk), str(old.pk)]
    newest, empty, _ = reply.json()["items"]
    assert newest["last_message"]["id"] == str(message.pk)
    assert newest["last_message"]["content"][0]["text"] == "Just now"
    assert empty["last_message"] is None


def test_chats_are_filtered(ann, ben, bot, client_a):
    other = make_bot(client_a)
    odd = make_chat(
        other, status="ended", channel="chatapp", assign_type="agent", assignee=ben.user,
        tags=["vip", "new"], sentiment="negative",
        created_at=timezone.now() - timedelta(days=2),
    )  # fmt: skip
    usual = make_chat(bot)
    yesterday = (timezone.now() - timedelta(days=1)).isoformat()
    values = {
        "status": ("ended", "open"), "bot_id": (other.pk, bot.pk), "channel": ("chatapp", "api"),
        "assignee_id": (ben.user.pk, None), "tag": ("vip", None), "sentiment": ("negative", None),
    }  # fmt: skip
    for name, (odd_value, usual_value) in values.items():
        assert ids(ann.get(PATH, {name: odd_value})) == [str(odd.pk)], name
        if usual_value:
            assert ids(ann.get(PATH, {name: usual_value})) == [str(usual.pk)], name
    assert ids(ann.get(PATH, {"created_from": yesterday})) == [str(usual.pk)]
    assert ids(ann.get(PATH, {"created_to": yesterday})) == [str(odd.pk)]
    assert ids(ann.get(PATH, {"tag": "vip", "status": "open"})) == []


def test_chats_are_searched(ben, bot):
    chat = make_chat(bot, customer_name="Đặng Văn Hùng")
    Customer.objects.filter(pk=chat.customer_id).update(
        email="hung@Example.com", external_id="SHOP_1%7"
    )
    add_message(chat, "My parcel from Huế is late, where is it?")
    add_message(make_chat(bot), "Something else")
    for q in (
        "parcel late", "PARCEL", "huế", chat.chat_code[:6].lower(), "đặng v", "arce", "rcel i at",
        "văn h", "NG@exam", "hop_1%7", "đ", "sh", "ar l", "ế",
    ):  # fmt: skip
        assert ids(ben.get(PATH, {"q": q})) == [str(chat.pk)], q
    for q in (
        "parcel else", "%" * 200, "_____", "' OR 1=1 --", "\\", "!&|()<->", "q " * 100, "ăn", "zz",
        "SHOP%7", "nothing", "par_el",
    ):  # fmt: skip
        assert ids(ben.get(PATH, {"q": q})) == [], q
    assert ids(ben.get(PATH, {"q": "parcel", "status": "ended"})) == []


@pytest.mark.django_db
def test_a_search_finds_the_words_of_its_own_client_however_large_its_id():
    """An id of more than 31 bits, and the client whose id its last 32 bits are."""
    small, large = (
        Client.objects.create(id=number, name=f"Client {number}", code=f"c-{number}")
        for number in (5, 2**32 + 5)
    )
    for client in (small, large):
        chat = make_chat(make_bot(client))
        add_message(chat, "The dachshund bit the parcel")
        found = ids(make_person(client, Role.AGENT, "Bo").get(PATH, {"q": "dachshund"}))
        assert found == [str(chat.pk)]


def test_a_search_considers_the_newest_messages_only(ben, bot, monkeypatch):
    for limit in ("MAX_MATCHES", "MAX_UNINDEXED"):
        monkeypatch.setattr(f"chats.services.desk.inbox.{limit}", 2)
    chats = [make_chat(bot) for _ in range(3)]
    for chat in chats:
        add_message(chat, "Where is my parcel?")
    for q in ("parcel", "my"):
        assert set(ids(ben.get(PATH, {"q": q}))) == {str(chat.pk) for chat in chats[1:]}
    add_message(chats[1], "Thanks"), add_message(chats[2], "Thanks")
    assert len(ids(ben.get(PATH, {"q": "parcel"}))) == 2
    assert ids(ben.get(PATH, {"q": "my"})) == []


def test_chats_are_filtered_by_their_state(ann, ben, bot, server):
    now = timezone.now()
    chats = {
        "bot": make_chat(bot),
        "queue": make_chat(bot, assign_type="queue", waiting_since=now, unread_count=2),
        "ben": make_chat(bot, assign_type="agent", assignee=ben.user, unread_count=1),
        "ann": make_chat(bot, assign_type="agent", assignee=ann.user, waiting_since=now),
        "ended": make_chat(bot, assign_type="agent", assignee=ben.user, status="ended"),
        "snoozed": make_chat(bot, status="snoozed"),
        "preview": make_chat(bot, is_preview=True, unread_count=1),
    }
    expected = {
        "assign_type=queue": {"queue"},
        "mine=true": {"ben", "ended"},
        "mine=false": {"bot", "queue", "ann", "snoozed"},
        "mine=true&status=open": {"ben"},
        "is_assigned=false": {"bot", "queue", "snoozed"},
        "is_assigned=true": {"ben", "ann", "ended"},
        "is_unread=true": {"queue", "ben"},
        "is_unread=false": {"bot", "ann", "ended", "snoozed"},
        "is_waiting=true": {"queue", "ann"},
        "is_waiting=false": {"bot", "ben", "ended", "snoozed"},
        f"customer_id={chats['bot'].customer_id}": {"bot"},
        "previews=true": set(),
        "previews=true&is_unread=false": set(),
        "": set(chats) - {"preview"},
    }
    names = {str(chat.pk): name for name, chat in chats.items()}
    for query, wanted in expected.items():
        assert {names[pk] for pk in ids(ben.get(f"{PATH}?{query}"))} == wanted, query
    shown = ben.get(PATH, {"assign_type": "queue"}).json()["items"][0]
    assert shown["customer_id"] == chats["queue"].customer_id
    assert {names[pk] for pk in ids(ann.get(f"{PATH}?previews=true"))} == {"preview"}
    assert server.get("/ai/client/chats?mine=true").status_code == 422
    assert ids(server.get("/ai/client/chats?is_assigned=true&status=ended")) == [
        str(chats["ended"].pk)
    ]
    assert ids(server.get("/ai/client/chats?previews=true")) == []


def test_the_counts_are_those_of_the_views(ann, ben, cara, server, nobody, bot):
    for fields in (
        {"assign_type": "agent", "assignee": ben.user, "unread_count": 3},
        {"assign_type": "agent", "assignee": ben.user},
        {"assign_type": "agent", "assignee": ann.user, "unread_count": 1},
        {"assign_type": "queue", "unread_count": 1}, {}, {"status": "snoozed"},
        {"status": "ended", "unread_count": 1}, {"status": "ended"},
        {"is_preview": True, "assign_type": "queue", "unread_count": 1},
    ):  # fmt: skip
        make_chat(bot, **fields)
    counts = ben.get(f"{PATH}/counts").json()
    assert counts == {
        "mine": 2, "unassigned": 1, "all": 5, "snoozed": 1, "ended": 2, "unread": 3,
        "mine_unread": 1,
    }  # fmt: skip
    views = {
        "mine": "mine=true&status=open", "unassigned": "assign_type=queue&status=open",
        "all": "status=open", "snoozed": "status=snoozed", "ended": "status=ended",
        "unread": "is_unread=true&status=open",
        "mine_unread": "mine=true&is_unread=true&status=open",
    }  # fmt: skip
    assert counts == {name: len(ids(ben.get(f"{PATH}?{view}"))) for name, view in views.items()}
    assert set(cara.get(f"{PATH}/counts").json().values()) == {0}
    assert server.get(f"{PATH}/counts").status_code == 401
    assert nobody.get(f"{PATH}/counts").status_code == 401


def test_counting_ends_at_a_limit(ben, bot, monkeypatch):
    monkeypatch.setattr("chats.services.desk.inbox.MAX_COUNTED", 2)
    for _ in range(3):
        make_chat(bot)
    assert ben.get(f"{PATH}/counts").json()["all"] == 2


def test_the_longest_wait_comes_first(ben, bot):
    now = timezone.now()
    active = make_chat(bot, last_message_at=now)
    waits = [make_chat(bot, waiting_since=now - timedelta(minutes=n)) for n in (1, 30, 30, 600)]
    quiet = make_chat(bot, last_message_at=now - timedelta(days=30))
    one, thirty, thirty_later, longest = waits
    expected = [longest, thirty_later, thirty, one, active, quiet]
    seen, query = [], {"sort": "longest_wait", "limit": "2"}
    for _ in range(3):
        reply = ben.get(PATH, query).json()
        seen += [item["id"] for item in reply["items"]]
        query["cursor"] = reply["next_cursor"]
    assert (seen, reply["next_cursor"]) == ([str(chat.pk) for chat in expected], None)
    first = ben.get(PATH, {"sort": "longest_wait", "limit": 1}).json()["next_cursor"]
    assert ben.get(PATH, {"cursor": first}).status_code == 422


def test_one_chat(ben, cara, nobody, server, bot):
    chat = make_chat(bot)
    add_message(chat, "Hello")
    path = f"/ai/chat/{chat.pk}"
    reply = ben.get(path)
    assert reply.status_code == 200
    [listed] = ben.get(PATH).json()["items"]
    assert listed == reply.json() | {"queue_details": None, "found_message": None}
    assert reply.json()["last_message"]["content"][0]["text"] == "Hello"
    assert cara.get(path).status_code == 404
    assert (nobody.get(path).status_code, server.get(path).status_code) == (401, 401)


@pytest.mark.parametrize(
    "query",
    [
        {"q": "x" * 201}, {"q": ""}, {"created_from": "0001-01-01T00:00:00+14:00"},
        {"created_to": "9999-12-31T23:59:59-14:00"}, {"q": "\x00"}, {"limit": 10**9}, {"limit": 0},
        {"offset": 2**63}, {"status": "closed"}, {"bot_id": "x"}, {"bot_id": 2**70},
        {"assignee_id": 0}, {"channel": "mail"}, {"created_from": "2026-01-01T00:00:00"},
        {"sort": "oldest"}, {"mine": "perhaps"}, {"assign_type": "nobody"}, {"customer_id": 0},
        {"created_from": "2026"}, {"created_to": "1795730000.5"}, {"created_to": "1e9"},
        {"created_to": "soon"}, {"tag": "x" * 61}, {"cursor": "x"}, {"client_id": 1},
    ],
)  # fmt: skip
def test_a_wrong_query_is_refused(ben, query):
    assert ben.get(PATH, query).status_code == 422


def test_pages_neither_repeat_nor_skip_a_chat(ben, bot):
    at = timezone.now()
    expected = [str(make_chat(bot, last_message_at=at).pk) for _ in range(3)][::-1]
    expected += [
        str(make_chat(bot, last_message_at=at - timedelta(microseconds=n)).pk) for n in (1, 2, 3, 4)
    ]
    seen, cursor = [], None
    for _ in range(4):
        reply = ben.get(PATH, {"limit": 2} | ({"cursor": cursor} if cursor else {})).json()
        seen += [item["id"] for item in reply["items"]]
        cursor = reply["next_cursor"]
        if cursor:
            make_chat(bot)  # a chat is opened meanwhile
    assert (seen, cursor) == (expected, None)


def test_a_cursor_of_another_list_is_refused(ben, bot):
    for _ in range(2):
        make_chat(bot)
    other = ben.get(f"/ai/{bot.pk}/chat-history", {"limit": 1}).json()["next_cursor"]
    assert ben.get(PATH, {"cursor": other}).status_code == 422


def test_another_clients_chats_are_not_listed(ben, cara, nobody, client_a, bot):
    chat = make_chat(bot)
    add_message(chat, "Hello")
    assert ids(make_person(client_a, Role.VIEWER, "Vic").get(PATH)) == [str(chat.pk)]
    assert ids(cara.get(PATH)) == []
    assert ids(cara.get(PATH, {"q": "hello"})) == []
    for path in (
        f"/ai/chat/{chat.pk}/history",
        f"/ai/chat/history/customer/{chat.customer_id}",
        f"/ai/{bot.pk}/chat-history",
    ):
        assert cara.get(path).status_code == 404
        assert nobody.get(path).status_code == 401
    assert nobody.get(PATH).status_code == 401


def test_all_chats_of_a_customer_and_of_a_bot(ben, bot, client_a):
    first = make_chat(bot)
    second = Conversation.objects.create(
        client=client_a, bot=make_bot(client_a), customer=first.customer, language="en"
    )
    third = make_chat(bot)
    customer = f"/ai/chat/history/customer/{first.customer_id}"
    assert ids(ben.get(customer)) == [str(second.pk), str(first.pk)]
    assert ids(ben.get(f"/ai/{bot.pk}/chat-history")) == [str(third.pk), str(first.pk)]
    assert ben.get(customer, {"limit": 101}).status_code == 422


def test_a_chats_messages_include_notes(ben, bot):
    chat = make_chat(bot)
    add_message(chat, "Hello")
    add_message(chat, "Be careful", is_note=True)
    messages = ben.get(f"/ai/chat/{chat.pk}/history").json()["items"]
    assert [(message["seq"], message["is_note"]) for message in messages] == [(1, False), (2, True)]


def test_filters_by_language_and_by_the_time_that_somebody_waits(ann, bot):
    def waits(seconds, **fields):
        since = timezone.now() - timedelta(seconds=seconds)
        return str(make_chat(bot, assign_type="queue", waiting_since=since, **fields).pk)

    long, short, german = waits(1000), waits(800), waits(950, language="de")
    make_chat(bot)

    def found(**query):
        return {row["id"] for row in ann.get(PATH, query).json()["items"]}

    assert found(min_wait_seconds=900) == {long, german}
    assert found(min_wait_seconds=0) == {long, short, german}
    assert found(language="de") == {german}
    assert found(language="de", min_wait_seconds=960) == set()
    assert ann.get(PATH, {"min_wait_seconds": -1}).status_code == 422
    assert ann.get(PATH, {"language": "no language"}).status_code == 422


def test_a_search_shows_the_message_that_it_found(ann, bot):
    chat, other = make_chat(bot, customer_name="Parcel Pete"), make_chat(bot)
    for text in ("My 100% late PARCEL", "Where is my parcel?", "Thank you"):
        add_message(chat, text)
    add_message(other, "Nothing of it")
    rows = ann.get(PATH, {"q": "parcel"}).json()["items"]
    assert [(row["id"], row["found_message"]["seq"]) for row in rows] == [(str(chat.pk), 2)]
    [row] = ann.get(PATH, {"q": "late 100% parcel"}).json()["items"]
    assert row["found_message"]["content"][0]["text"] == "My 100% late PARCEL"
    [row] = ann.get(PATH, {"q": "pete"}).json()["items"]
    assert row["found_message"] is None, "the name was found"
    assert {row["found_message"] for row in ann.get(PATH).json()["items"]} == {None}


def test_from_a_handover_on_the_last_words_are_peoples(server, ann, ben, bot):
    """Neither the handover's sentence nor the bot's answers meanwhile take their place."""
    chat_id = server.post("/ai/client/chat", {"message": "I want to talk to a person"}).json()["id"]
    run_jobs()

    def last():
        return ann.get(f"/ai/chat/{chat_id}").json()["last_message"]["content"][0]["text"]

    assert ann.get(f"/ai/chat/{chat_id}").json()["assign_type"] == "queue"
    assert last() == "I want to talk to a person"
    server.post(f"/ai/client/chat/assistant/{chat_id}", {"text": "A colleague comes soon."})
    assert last() == "I want to talk to a person"
    ben.post(f"/ai/chat/{chat_id}/manual", {"text": "Ben here"})
    assert last() == "Ben here"
    [row] = ann.get(PATH).json()["items"]
    assert row["message_count"] == 4, "they are messages all the same"
