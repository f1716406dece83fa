"""Get Function Calling Events."""

import uuid

import pytest

from bots.models import FunctionCall
from bots.testing import make_bot
from identity.testing import make_person

pytestmark = pytest.mark.django_db


@pytest.fixture
def calls(bot):
    chat = uuid.uuid4()
    return [
        FunctionCall.objects.create(
            client_id=bot.client_id, bot=bot, conversation_id=chat if n else None,
            function_name=f"f{n % 2}", arguments={"n": n}, status=status,
            http_status=200 if status == "succeeded" else None, result_excerpt="x", duration_ms=3,
            error="" if status == "succeeded" else "no",
        )
        for n, status in enumerate(["succeeded", "failed", "succeeded"])
    ]  # fmt: skip


def path(bot):
    return f"/function-calling/{bot.pk}/events"


def test_calls_come_newest_first(ann, bot, calls):
    items = ann.get(path(bot)).json()["items"]
    assert [item["arguments"]["n"] for item in items] == [2, 1, 0]
    newest = items[0]
    assert newest | {"created_at": None} == {
        "id": str(calls[2].pk),
        "bot_id": bot.pk,
        "chat_id": str(calls[2].conversation_id),
        "function": "f0",
        "arguments": {"n": 2},
        "status": "succeeded",
        "http_status": 200,
        "result_excerpt": "x",
        "duration_ms": 3,
        "error": None,
        "requires_approval": "none",
        "decided_by": None,
        "decided_at": None,
        "created_at": None,
    }


def test_pages(ann, bot, calls):
    first = ann.get(path(bot), {"limit": 2}).json()
    second = ann.get(path(bot), {"limit": 2, "cursor": first["next_cursor"]}).json()
    shown = [item["arguments"]["n"] for item in first["items"] + second["items"]]
    assert shown == [2, 1, 0]
    assert second["next_cursor"] is None


def test_filters(ann, bot, calls):
    def numbers(**query):
        return [item["arguments"]["n"] for item in ann.get(path(bot), query).json()["items"]]

    assert numbers(function="f1") == [1]
    assert numbers(status="succeeded") == [2, 0]
    assert numbers(chat_id=calls[1].conversation_id) == [2, 1]
    assert numbers(status="waiting") == []
    for wrong in ({"status": "x"}, {"chat_id": "x"}, {"function": "x" * 201}):
        assert ann.get(path(bot), wrong).status_code == 422


def test_every_role_reads_and_no_other_client(ben, cara, nobody, client_a, bot, calls):
    assert ben.get(path(bot)).status_code == 200
    assert make_person(client_a, "viewer", "Vic").get(path(bot)).status_code == 200
    assert cara.get(path(bot)).status_code == 404
    assert nobody.get(path(bot)).status_code == 401


def test_calls_of_another_bot_are_not_listed(ann, client_a, bot, calls):
    assert ann.get(path(make_bot(client_a))).json()["items"] == []
