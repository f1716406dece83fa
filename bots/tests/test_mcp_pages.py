"""An owner connects an MCP server in the site and chooses its tools."""

import pytest
from django.urls import reverse

from bots.models import Function, McpServer
from chatplatform.testing import mcp_server
from identity.testing import signed_in

CONNECT = reverse("admin:bots_mcpserver_connect")


@pytest.fixture
def shop(settings):
    with mcp_server.running() as server:
        settings.EGRESS_ALLOW = [server.host_port]
        yield server


def connected(ann, bot, shop):
    form = {"bot": bot.pk, "name": "Shop", "url": shop.url, "token": mcp_server.TOKEN}
    reply = signed_in(ann.user).post(CONNECT, form)
    assert reply.status_code == 302, reply.content
    return reverse("admin:bots_mcpserver_edit", args=[McpServer.objects.get().pk])


def text(reply):
    assert reply.status_code == 200
    return reply.content.decode()


@pytest.mark.full
def test_tools_are_chosen_and_looked_at_again(ann, ben, bot, shop):
    page = connected(ann, bot, shop)
    browser = signed_in(ann.user)
    shown = browser.get(page)
    assert mcp_server.TOKEN not in text(shown)
    assert 'data-tool="find_order" data-state="not_allowed"' in text(shown)
    tools = shown.context["tools"]
    seen = {f"version_{at}": tool.version for tool, _, _, at in tools.rows}
    assert browser.post(page, {"form": "tools", "tool_0": "agent", **seen}).status_code == 302
    function = Function.objects.get()
    assert (function.tool, function.requires_approval) == ("find_order", "agent")
    assert "data-approval>Approved by a teammate<" in text(signed_in(ben.user).get(page))
    shop.change()
    assert browser.post(page, {"form": "refresh"}).status_code == 302
    assert 'data-state="changed"' in text(browser.get(page))
    # What was seen before the change is allowed no more.
    refused = browser.post(page, {"form": "tools", "tool_0": "none", **seen})
    assert "data-refused" in text(refused)
    assert Function.objects.get().needs_review is True
    bens = text(signed_in(ben.user).get(page))
    assert "data-tool" in bens
    assert "data-approval" not in bens
    assert signed_in(ben.user).post(page, {"form": "refresh"}).status_code == 403
    link = reverse("admin:bots_function_edit", args=[function.pk])
    assert browser.get(link)["Location"] == page


def test_it_is_switched_off_and_removed(ann, bot, shop):
    page = connected(ann, bot, shop)
    browser = signed_in(ann.user)
    off = {"form": "settings", "name": "Our shop", "url": shop.url}
    assert browser.post(page, off).status_code == 302
    row = McpServer.objects.get()
    assert (row.name, row.is_enabled, row.token) == ("Our shop", False, mcp_server.TOKEN)
    assert browser.post(page, {"form": "delete"}).status_code == 302
    assert not McpServer.objects.exists()


def test_a_wrong_token_is_said_on_the_form(ann, bot, shop):
    form = {"bot": bot.pk, "name": "Shop", "url": shop.url, "token": "wrong"}
    reply = signed_in(ann.user).post(CONNECT, form)
    assert "data-refused" in text(reply)
    assert not McpServer.objects.exists()
