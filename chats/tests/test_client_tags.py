"""Create, Update, Merge and Delete Client Tag."""

import pytest

from chatplatform.testing import at_once, run_jobs
from chats.models import ClientTag, Conversation, Tagging
from chats.services.core import tags
from chats.testing import make_chat, make_preview
from identity.models import AuditEvent
from webhooks.models import Event

pytestmark = pytest.mark.django_db(transaction=True)
PATH = "/ai/tags"


@pytest.fixture
def tagged(ben, bot):
    """`tagged("vip", "new")`: a chat with these tags."""

    def make(*names, **fields):
        chat = make_chat(bot, **fields)
        assert ben.post(f"/ai/chat/{chat.pk}/tags", {"tags": names}).status_code == 200
        return chat

    return make


def listed(caller):
    return {tag["name"]: tag for tag in caller.get(PATH).json()["tags"]}


def names_of(chat):
    chat.refresh_from_db()
    rows = Tagging.objects.filter(conversation=chat).order_by("id")
    assert chat.tags == list(rows.values_list("name", flat=True))
    return chat.tags


def test_a_tag_is_listed_when_a_chat_gets_it(ann, ben, bot, server, tagged):
    tagged("vip")
    tagged("vip", "new")
    preview = make_preview(bot, ben)
    assert ben.post(f"/ai/chat/{preview.pk}/tags", {"tags": ["vip"]}).status_code == 200
    server.post("/ai/client/chat", {"tags": ["web"]})
    shown = listed(ann)
    assert {name: tag["count"] for name, tag in shown.items()} == {"vip": 2, "new": 1, "web": 1}
    assert {tag["colour"] for tag in shown.values()} == {None}


def test_a_tag_has_a_colour(ann, tagged):
    created = ann.post(PATH, {"name": " late  order ", "colour": "#D73A4A"})
    assert created.status_code == 201, created.content
    tag = created.json()
    assert (tag["name"], tag["colour"], tag["count"]) == ("late order", "#D73A4A", 0)
    path = f"{PATH}/{tag['id']}"
    assert ann.put(path, {"colour": "#000000"}).json()["colour"] == "#000000"
    assert ann.put(path, {"name": "late order"}).json()["colour"] == "#000000"
    assert ann.put(path, {"colour": None}).json()["colour"] is None
    chat = tagged("late order")
    assert listed(ann)["late order"]["count"] == 1
    assert names_of(chat) == ["late order"]


def test_the_first_spelling_of_a_tag_stays(ann, ben, server, tagged):
    ann.post(PATH, {"name": "Red1"})
    cafe = tagged("Cafe\u0301")  # the accent as a character of its own
    assert names_of(cafe) == ["Caf\u00e9"]
    assert names_of(tagged("rED1", "new")) == ["Red1", "new"]
    assert ben.put(f"/ai/chat/{cafe.pk}/tags", {"tags": ["CAF\u00c9", "red1"]}).status_code == 200
    assert names_of(cafe) == ["Caf\u00e9", "Red1"]
    server.post("/ai/client/chat", {"tags": ["RED1"]})
    server.post("/mesaging/conversations", {"requester": {"external_id": "c-1"}, "tags": ["RED1"]})
    assert {name: tag["count"] for name, tag in listed(ann).items()} == {
        "Caf\u00e9": 1, "Red1": 4, "new": 1,
    }  # fmt: skip
    assert len(ben.get("/ai/chats", {"tag": "red1"}).json()["items"]) == 4
    assert len(server.get("/mesaging/conversations?tags=RED1&tags=NEW").json()["items"]) == 1
    report = ben.post("/report/adhoc/search", {"tags": ["red1"]}).json()
    assert len(report["rows"]) == 4


def test_another_spelling_is_taken_too(ann, tagged):
    tagged("vip", "new")
    path = f"{PATH}/{listed(ann)['vip']['id']}"
    for reply in (ann.post(PATH, {"name": "NEW"}), ann.put(path, {"name": "NEW"})):
        assert (reply.status_code, reply.json()["code"]) == (409, "tag_exists")
    assert ann.put(path, {"name": "Vip"}).json()["name"] == "Vip"
    assert ann.post(f"{path}/merge", {"into": "NEW"}).json()["name"] == "new"


def test_spellings_of_an_older_version_are_merged(ann, ben, tagged):
    tags.register(ann.client.pk, ["Red1"])
    tags.register(ann.client.pk, ["rED1"])
    chats = [tagged("Red1"), tagged("rED1")]
    assert [names_of(chat) for chat in chats] == [["Red1"], ["rED1"]]
    assert len(ben.get("/ai/chats", {"tag": "rED1"}).json()["items"]) == 1
    other = listed(ann)["rED1"]["id"]
    assert ann.post(f"{PATH}/{other}/merge", {"into": "Red1"}).status_code == 200
    run_jobs()
    assert [names_of(chat) for chat in chats] == [["Red1"]] * 2


def test_a_tag_is_renamed_in_all_chats(ann, tagged, monkeypatch):
    monkeypatch.setattr(tags, "CHATS_PER_JOB", 2)
    chats = [tagged("vip", "new") for _ in range(5)]
    other = tagged("new")
    tag = listed(ann)["vip"]
    Event.objects.all().delete()
    reply = ann.put(f"{PATH}/{tag['id']}", {"name": "VIP"})
    assert (reply.status_code, reply.json()["name"]) == (200, "VIP")
    run_jobs()
    assert [names_of(chat) for chat in chats] == [["VIP", "new"]] * 5
    assert names_of(other) == ["new"]
    updates = Event.objects.filter(type="tags.updated")
    assert set(updates.values_list("conversation_id", flat=True)) == {chat.pk for chat in chats}
    assert {name: tag["count"] for name, tag in listed(ann).items()} == {"VIP": 5, "new": 6}
    assert AuditEvent.objects.get(action="tag.updated").changes == {"name": ["vip", "VIP"]}


def test_tags_are_merged(ann, tagged):
    both, one, kept = tagged("bill", "invoice"), tagged("bill"), tagged("invoice")
    tag = listed(ann)["bill"]
    reply = ann.post(f"{PATH}/{tag['id']}/merge", {"into": "invoice"})
    assert (reply.status_code, reply.json()["name"]) == (200, "invoice")
    run_jobs()
    assert names_of(both) == names_of(one) == names_of(kept) == ["invoice"]
    assert {name: tag["count"] for name, tag in listed(ann).items()} == {"invoice": 3}
    assert AuditEvent.objects.get(action="tag.merged").changes == {"name": ["bill", "invoice"]}


def test_a_deleted_tag_is_taken_from_all_chats(ann, tagged):
    chat = tagged("vip", "new")
    path = f"{PATH}/{listed(ann)['vip']['id']}"
    assert ann.delete(path).status_code == 204
    # Given again before the job has run: that is a new tag.
    later = tagged("vip")
    run_jobs()
    assert (names_of(chat), names_of(later)) == (["new"], ["vip"])
    assert ann.delete(path).status_code == 404
    assert listed(ann)["vip"]["count"] == 1


def test_the_job_runs_twice_and_passes_over_a_deleted_chat(ann, tagged):
    chats = [tagged("vip"), tagged("vip")]
    newest = Tagging.objects.latest("id")
    Conversation.objects.filter(pk=chats[0].pk).delete()
    for _ in range(2):
        tags.rename_in_chats(ann.client.pk, "vip", "gold", up_to=newest.pk)
    assert names_of(chats[1]) == ["gold"]
    assert Event.objects.filter(type="tags.updated", conversation_id=chats[1].pk).count() == 2


def test_a_name_is_taken_once(ann, tagged):
    tagged("vip", "new")
    tag = listed(ann)["vip"]
    for reply in (ann.post(PATH, {"name": "new"}), ann.put(f"{PATH}/{tag['id']}", {"name": "new"})):
        assert (reply.status_code, reply.json()["code"]) == (409, "tag_exists")
    assert ann.post(f"{PATH}/{tag['id']}/merge", {"into": "vip"}).status_code == 422
    assert ann.post(f"{PATH}/{tag['id']}/merge", {"into": "nothing"}).status_code == 422
    run_jobs()
    assert set(listed(ann)) == {"vip", "new"}


@pytest.mark.parametrize(
    "body",
    [
        {}, {"name": ""}, {"name": " "}, {"name": "x" * 61}, {"name": "a", "colour": "red"},
        {"name": "a", "colour": "#12345"}, {"name": "a", "size": 5}, {"name": "\x00"},
        {"name": "\u200b"}, {"name": "\u0301"},
    ],
)  # fmt: skip
def test_a_wrong_body_is_refused(ann, body):
    assert ann.post(PATH, body).status_code == 422
    assert ClientTag.objects.count() == 0


def test_two_chats_get_the_same_new_tags_at_once(ann, ben, bot):
    paths = [f"/ai/chat/{make_chat(bot).pk}/tags" for _ in range(4)]
    orders = (["a", "b", "c"], ["c", "b", "a"])
    replies = at_once(*[
        lambda path=path, n=n: ben.post(path, {"tags": orders[n % 2]})
        for n, path in enumerate(paths)
    ])  # fmt: skip
    assert {reply.status_code for reply in replies} == {200}
    assert {name: tag["count"] for name, tag in listed(ann).items()} == {"a": 4, "b": 4, "c": 4}
