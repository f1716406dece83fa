"""Get, Create, Update, Delete and Render Saved Reply."""

import pytest

from bots.testing import make_bot
from chatplatform.testing import at_once
from chats.models import Customer, Message, SavedReply
from chats.testing import make_chat
from identity.models import AuditEvent, Role
from identity.testing import make_person

PATH = "/ai/chat/saved-replies"


def body_of(shortcut="late", text="Sorry, it is late.", **more):
    return {"shortcut": shortcut, "texts": {"en": text}, **more}


def save(caller, *args, **more):
    reply = caller.post(PATH, body_of(*args, **more))
    assert reply.status_code == 201, reply.content
    return reply.json()


def shortcuts(caller, **query):
    return [item["shortcut"] for item in caller.get(PATH, query).json()["items"]]


def audited():
    return list(
        AuditEvent.objects.filter(action__startswith="saved_reply").values_list("action", flat=True)
    )


def test_an_agent_saves_changes_and_deletes_their_own(ben):
    saved = save(ben, "Late")
    assert (saved["shortcut"], saved["is_shared"]) == ("late", False)
    assert saved["created_at"].endswith("Z")
    assert saved["created_at"] <= saved["updated_at"]
    path = f"{PATH}/{saved['id']}"
    changed = ben.put(path, body_of("later", "Sorry."))
    assert changed.status_code == 200
    assert changed.json()["texts"] == {"en": "Sorry."}
    assert changed.json()["created_at"] == saved["created_at"] < changed.json()["updated_at"]
    assert shortcuts(ben) == ["later"]
    assert ben.delete(path).status_code == 204
    assert SavedReply.objects.count() == 0
    assert ben.delete(path).status_code == 404
    assert audited() == []


def test_everybodys_are_an_admins(ann, ben):
    shared = save(ann, is_shared=True)
    path = f"{PATH}/{shared['id']}"
    for reply in (
        ben.post(PATH, body_of("other", is_shared=True)),
        ben.put(path, body_of(text="No")),
        ben.put(path, body_of(text="No", is_shared=True)),
        ben.delete(path),
    ):
        assert reply.status_code == 403
    own = save(ben, "mine")
    assert ben.put(f"{PATH}/{own['id']}", body_of("mine", is_shared=True)).status_code == 403
    stored = SavedReply.objects.get(pk=shared["id"])
    assert (stored.owner, stored.texts) == (None, {"en": "Sorry, it is late."})
    assert audited() == ["saved_reply.created"]
    assert ann.put(path, body_of(text="Yes", is_shared=True)).status_code == 200
    assert ann.delete(path).status_code == 204
    assert audited() == ["saved_reply.created", "saved_reply.updated", "saved_reply.deleted"]


def test_an_update_that_says_nothing_of_it_leaves_a_reply_shared(ann):
    shared = save(ann, is_shared=True)
    for more, is_shared in (({}, True), ({"is_shared": False}, False), ({}, False)):
        changed = ann.put(f"{PATH}/{shared['id']}", body_of(text="Yes", **more))
        assert (changed.status_code, changed.json()["is_shared"]) == (200, is_shared)
    renamed = ann.put(f"{PATH}/{shared['id']}", {"shortcut": "later"}).json()
    assert (renamed["shortcut"], renamed["texts"]) == ("later", {"en": "Yes"})


def test_each_sees_their_own_and_everybodys(ann, ben, cara, server, nobody, client_a):
    save(ann, "shared", is_shared=True)
    save(ann, "hers")
    bens = save(ben, "his")
    save(cara, "theirs")
    assert shortcuts(ben) == ["his", "shared"]
    assert shortcuts(ann) == ["hers", "shared"]
    assert shortcuts(ben, is_shared="true") == ["shared"]
    assert shortcuts(ben, is_shared="false") == ["his"]
    assert shortcuts(ben, q="SH") == ["shared"]
    save(ben, "again", text="It was SHIPPED again, /“Zoë”, her parcel.")
    save(ben, "zz", text="Sorry for that")
    assert shortcuts(ben, q="sh") == ["shared", "again"]
    assert shortcuts(ben, q="ZOË ship") == shortcuts(ben, q="again") == ["again"]
    assert shortcuts(ben, q="en") == shortcuts(ben, q="zoë that") == shortcuts(ben, q="hers") == []
    first = ben.get(PATH, {"q": "sh", "limit": 1}).json()
    assert shortcuts(ben, q="sh", limit=1, cursor=first["next_cursor"]) == ["again"]
    assert shortcuts(ben, q="%") == []
    for stranger in (ann, cara):
        assert stranger.put(f"{PATH}/{bens['id']}", body_of()).status_code == 404
        assert stranger.delete(f"{PATH}/{bens['id']}").status_code == 404
    vic = make_person(client_a, Role.VIEWER, "Vic")
    assert shortcuts(vic) == ["shared"]
    for caller, status in ((vic, 403), (server, 401), (nobody, 401)):
        assert caller.post(PATH, body_of()).status_code == status
    assert SavedReply.objects.count() == 6


def test_a_shortcut_is_taken_once(ann, ben):
    save(ben, "late")
    reply = ben.post(PATH, body_of("LATE"))
    assert (reply.status_code, reply.json()["code"]) == (409, "shortcut_taken")
    other = save(ben, "other")
    assert ben.put(f"{PATH}/{other['id']}", body_of("late")).status_code == 409
    save(ann, "late")
    save(ann, "late", is_shared=True)
    assert ann.post(PATH, body_of("late", is_shared=True)).status_code == 409
    assert SavedReply.objects.count() == 4


@pytest.mark.django_db(transaction=True)
def test_two_at_once_save_one(ben):
    replies = at_once(*[lambda: ben.post(PATH, body_of())] * 2)
    assert sorted(reply.status_code for reply in replies) == [201, 409]


@pytest.mark.parametrize(
    "body",
    [
        {}, {"shortcut": "late"}, {"texts": {"en": "Hi"}}, body_of("two words"), body_of("/late"),
        body_of("x" * 41), body_of("İ" * 21), body_of(""), body_of(text=""), body_of(text=" "),
        body_of(text="x" * 8001),
        body_of(text="{customer.shoe_size}"), body_of(text="{user.name}"), body_of(text="\x00"),
        {"shortcut": "late", "texts": {}}, {"shortcut": "late", "texts": {"english": "Hi"}},
        {"shortcut": "late", "texts": "Hi"}, body_of(language="en"),
    ],
)  # fmt: skip
def test_a_wrong_body_is_refused(ben, body):
    assert ben.post(PATH, body).status_code == 422
    assert SavedReply.objects.count() == 0


def test_an_unknown_variable_is_named_with_the_known(ben):
    (fault,) = ben.post(PATH, body_of(text="Dear {customer.nam}")).json()["detail"]
    assert "customer.nam;" in fault["msg"]
    assert "customer.name" in fault["msg"]


def test_variables_are_filled_in(ben, bot):
    chat = make_chat(bot, customer_name="Zoe {agent.name}")
    Customer.objects.update(attributes={"plan": "gold", "visits": 3, "list": ["x"]})
    text = (
        "{customer.name|there}, {customer.email|no mail}|{customer.phone}|"
        "{customer.attributes.plan} {customer.attributes.visits} {customer.attributes.list|?} "
        '{chat.code} {bot.name} {agent.name} {client.name} {} {"a": 1} {customer.email}'
    )
    saved = save(ben, text=text)
    rendered = ben.get(f"/ai/chat/{chat.pk}/saved-replies/{saved['id']}")
    assert rendered.status_code == 200, rendered.content
    assert rendered.json() == {
        "text": f"Zoe {{agent.name}}, no mail||gold 3 ? {chat.chat_code} Helper Ben Acme {{}}"
        ' {"a": 1} ',
        "language": "en",
        "missing": ["customer.email", "customer.phone", "customer.attributes.list"],
    }
    assert Message.objects.count() == 0


def test_the_language_is_the_chats_if_there_is_a_text(ben, client_a):
    bot = make_bot(client_a, default_language="vi")
    texts = {"de": "Hallo", "vi": "Chào", "en": "Hi"}
    saved = ben.post(PATH, {"shortcut": "hi", "texts": texts}).json()
    expected = {"de-AT": "de", "en": "en", "fr": "vi"}
    for language, used in expected.items():
        chat = make_chat(bot, language=language)
        path = f"/ai/chat/{chat.pk}/saved-replies/{saved['id']}"
        assert ben.get(path).json()["language"] == used
        assert ben.get(path, {"language": "de"}).json()["text"] == "Hallo"
    ben.put(f"{PATH}/{saved['id']}", {"shortcut": "hi", "texts": {"de": "Hallo"}})
    assert ben.get(path).json()["text"] == "Hallo"


def test_only_what_one_sees_is_rendered(ann, ben, cara, bot):
    chat, own = make_chat(bot), save(ann)
    path = f"/ai/chat/{chat.pk}/saved-replies/{own['id']}"
    assert ann.get(path).status_code == 200
    assert ben.get(path).status_code == 404
    assert cara.get(path).status_code == 404
