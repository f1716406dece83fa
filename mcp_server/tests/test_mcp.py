"""The MCP server, used by the client of the package `mcp`."""

import asyncio

import httpx2  # noqa: TID251 - to the process under test alone
import pytest
from mcp.client import Client as McpClient
from mcp.client.streamable_http import streamable_http_client

from bots.testing import *  # noqa: F403
from bots.testing import make_bot, trained
from chatplatform.testing import working
from chats.models import Message
from chats.testing import make_chat
from identity.models import ApiKey, AuditEvent
from identity.services import tokens

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def use(web_port):
    """Runs a function with a connected client of the person or the key."""

    def run(headers, deed, mode="auto"):
        async def session():
            async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
                address = f"http://127.0.0.1:{web_port}/mcp"
                async with McpClient(
                    streamable_http_client(address, http_client=http), mode=mode
                ) as client:
                    return await deed(client)

        return asyncio.run(session())

    return run


def names(client):
    async def listed():
        return {tool.name for tool in (await client.list_tools()).tools}

    return listed()


def calling(name, **arguments):
    async def call(client):
        return await client.call_tool(name, arguments)

    return call


def may_write(person):
    issued = tokens.issue(person.user, scope="mcp:write other")
    assert issued.scope == f"{person.user.role} mcp:write"
    return {"Authorization": f"Bearer {issued.access_token}"}


@pytest.mark.full
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_people_find_and_read_conversations_of_their_company_alone(use, ann, bot, cara, mode):
    chat, foreign = make_chat(bot), make_chat(make_bot(cara.client))
    found = use(ann.headers, calling("search_conversations"), mode)
    assert not found.is_error
    assert [row["id"] for row in found.structured_content["items"]] == [str(chat.pk)]
    read = use(ann.headers, calling("read_conversation", chat_id=str(chat.pk)), mode)
    assert not read.is_error
    assert "items" in read.structured_content
    refused = use(ann.headers, calling("read_conversation", chat_id=str(foreign.pk)), mode)
    assert refused.is_error
    assert refused.structured_content["code"] == "not_found"
    called = AuditEvent.objects.filter(client_id=ann.client.pk, action="mcp.called")
    assert list(called.order_by("id").values_list("subject", "user_id")) == [
        ("tool:search_conversations", ann.user.pk),
        ("tool:read_conversation", ann.user.pk),
        ("tool:read_conversation", ann.user.pk),
    ]
    assert not AuditEvent.objects.filter(client_id=cara.client.pk, action="mcp.called").exists()


def test_a_reply_to_a_customer_needs_the_scope(use, ann, bot):
    chat = make_chat(bot)
    reply = calling("reply_as_agent", chat_id=str(chat.pk), text="I'm on it.")
    assert "reply_as_agent" not in use(ann.headers, names)
    assert use(ann.headers, reply).is_error
    assert not Message.objects.filter(text="I'm on it.").exists()
    assert "reply_as_agent" in use(may_write(ann), names)
    sent = use(may_write(ann), reply)
    assert not sent.is_error
    assert Message.objects.get(text="I'm on it.").sender_id == str(ann.user.pk)
    kept = AuditEvent.objects.filter(action="mcp.called").order_by("id")
    assert [event.changes for event in kept] == [{"refused": "mcp:write"}, {}]


def test_tools_that_change_or_cost_something_say_so(use, ann):
    async def hints(client):
        found = {tool.name: tool.annotations for tool in (await client.list_tools()).tools}
        return {name: (told.read_only_hint, told.destructive_hint) for name, told in found.items()}

    told = use(may_write(ann), hints)
    assert {name for name, (only_reads, _) in told.items() if not only_reads} == {
        "ask_bot", "reply_as_agent",
    }  # fmt: skip
    assert {name for name, (_, destroys) in told.items() if destroys} == {"reply_as_agent"}


def test_an_argument_that_is_null_is_left_out(use, ann, bot):
    chat = make_chat(bot)
    found = use(ann.headers, calling("search_conversations", cursor=None))
    assert [row["id"] for row in found.structured_content["items"]] == [str(chat.pk)]


def test_a_key_has_its_own_tools(use, server, bot):
    chat = make_chat(bot)
    reading = {"search_conversations", "read_conversation", "search_content"}
    assert use(server.headers, names) == reading
    found = use(server.headers, calling("search_conversations"))
    assert [row["id"] for row in found.structured_content["items"]] == [str(chat.pk)]
    assert AuditEvent.objects.filter(action="mcp.called", api_key=server.key).count() == 1


def test_a_key_writes_only_if_it_may(use, ann, bot, server, cara):
    chat, foreign = make_chat(bot), make_chat(make_bot(cara.client))
    reply = calling("reply_as_assistant", chat_id=str(chat.pk), text="It's open.")
    assert use(server.headers, reply).is_error
    made = ann.post("/identity/api-keys", {"name": "MCP", "mcp_write": True}).json()
    assert made["mcp_write"] is True
    key = {"API-KEY": made["key"]}
    assert "reply_as_assistant" in use(key, names)
    assert not use(key, reply).is_error
    assert Message.objects.get(text="It's open.").conversation_id == chat.pk
    there = calling("reply_as_assistant", chat_id=str(foreign.pk), text="It's closed.")
    assert use(key, there).structured_content["code"] == "not_found"
    assert not Message.objects.filter(text="It's closed.").exists()
    kept = AuditEvent.objects.filter(action="mcp.called").order_by("id")
    assert [(event.api_key_id, event.changes) for event in kept] == [
        (server.key.pk, {"refused": "mcp:write"}), (made["id"], {}), (made["id"], {}),
    ]  # fmt: skip
    ann.put(f"/identity/api-keys/{made['id']}", {"mcp_write": False})
    assert ApiKey.objects.get(pk=made["id"]).mcp_write is False


def test_an_agent_reads_and_replies(use, ann, ben, bot, cara):
    chat, foreign = make_chat(bot), make_chat(make_bot(cara.client))
    assert {"search_conversations", "reply_as_agent"} <= use(may_write(ben), names)
    found = use(ben.headers, calling("search_conversations"))
    assert [row["id"] for row in found.structured_content["items"]] == [str(chat.pk)]
    reply = calling("reply_as_agent", chat_id=str(chat.pk), text="Ben here.")
    assert use(ben.headers, reply).is_error
    assert not use(may_write(ben), reply).is_error
    assert Message.objects.get(text="Ben here.").sender_id == str(ben.user.pk)
    elsewhere = calling("reply_as_agent", chat_id=str(foreign.pk), text="Ben there.")
    assert use(may_write(ben), elsewhere).structured_content["code"] == "not_found"
    assert not Message.objects.filter(text="Ben there.").exists()
    kept = AuditEvent.objects.filter(action="mcp.called", user=ben.user).order_by("id")
    assert [event.subject for event in kept] == [
        "tool:search_conversations", *["tool:reply_as_agent"] * 3,
    ]  # fmt: skip


def test_a_refreshed_token_keeps_the_scope_of_its_sign_in_and_gets_no_other(use, ann):
    def refreshed(token, scope=""):
        return tokens.rotate(token.refresh_token, scope=scope)

    def may_reply(token):
        return "reply_as_agent" in use({"Authorization": f"Bearer {token.access_token}"}, names)

    plain = refreshed(tokens.issue(ann.user), "mcp:write")
    assert plain.scope == "owner"
    assert not may_reply(plain)
    kept = refreshed(refreshed(tokens.issue(ann.user, scope="mcp:write")))
    assert kept.scope == "owner mcp:write"
    assert may_reply(kept)
    narrower = refreshed(kept, "owner")
    assert not may_reply(narrower)
    assert may_reply(refreshed(narrower, "owner mcp:write"))


def test_wrong_arguments_are_told_to_the_model(use, ann):
    refused = use(ann.headers, calling("search_report", date_from="yesterday"))
    assert refused.is_error
    assert "date_from" in refused.content[0].text


@pytest.mark.full
def test_content_is_searched(use, ann, bot):
    trained(bot, "# Opening hours\n\nThe shop opens at nine o'clock every day.")
    found = use(ann.headers, calling("search_content", bot_id=bot.pk, q="When do you open?"))
    assert "nine o'clock" in found.structured_content["passages"][0]["text"]
    elsewhere = use(ann.headers, calling("search_content", bot_id=bot.pk + 1000, q="hours"))
    assert elsewhere.structured_content["code"] == "not_found"


def test_the_bot_is_asked_in_a_preview(use, ann, bot):
    messages = [{"role": "user", "content": "When do you open?"}]
    bot.allow_preview = True
    bot.save(update_fields=["allow_preview"])
    trained(bot, "# Opening hours\n\nThe shop opens at nine o'clock every day.")
    with working():
        answer = use(ann.headers, calling("ask_bot", bot_id=bot.pk, messages=messages))
    assert not answer.is_error
    assert "nine o'clock" in answer.structured_content["message"]["content"][0]["text"]


def test_nobody_without_a_credential(nobody):
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert nobody.post("/mcp", message).status_code == 401
    assert nobody.get("/mcp").status_code == 405
