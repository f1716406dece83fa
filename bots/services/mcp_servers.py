"""The MCP servers of a bot: connect one, choose which of its tools the bot may call, and who must
approve the calls.

An allowed tool is a `Function` with the version that a person reviewed. Whenever a server's tools
are listed, functions whose tools have changed are marked for review. The bot cannot call them until
a person chooses the tools again.
"""

import hashlib
import json
import re
from datetime import UTC, datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils.text import format_lazy
from django.utils.translation import gettext, gettext_lazy, gettext_noop

from bots.engine import argument_schemas, request_templates
from bots.engine.mcp_client import McpError, McpSession, McpTool
from bots.models import Bot, Function, FunctionCalling, McpServer
from bots.schemas.function_calling import MAX_FUNCTIONS
from bots.schemas.mcp_server import McpServerDto, McpServerRequest, McpToolChoice
from bots.services import bots
from chatplatform import egress
from chatplatform.api.errors import ApiError, Invalid, first_or_404, require_address, require_fields
from identity.models import User

MAX_SERVERS = 5
_LIST_SECONDS = 20
_MAX_DESCRIPTION = 1_000


class McpLimit(ApiError):
    code, status = "mcp_limit", 409
    detail = format_lazy(
        gettext_lazy("A bot can have up to {count} MCP servers. Remove one first."),
        count=MAX_SERVERS,
    )


class McpUnusable(ApiError):
    code, status = "mcp_unusable", 409
    detail = gettext_noop("The MCP server didn't return a usable answer.")
    place = ("url",)


def list_for_bot(bot: Bot) -> QuerySet[McpServer]:
    """The bot's MCP servers, unordered."""
    rows = McpServer.objects.for_client(bot.client).filter(bot=bot)
    return rows.select_related("bot").prefetch_related("functions")


def get(bot: Bot, server_id: Any) -> McpServer:
    """One of the bot's MCP servers; 404 if there is none."""
    return first_or_404(list_for_bot(bot).filter(pk=server_id))


def connect(bot: Bot, *, body: McpServerRequest, by: User) -> McpServer:
    """Add a server and list its tools; the bot may call only tools that the request allows."""
    require_fields(body, "name", "url")
    row = McpServer(client_id=bot.client_id, bot=bot)
    _fill(row, body)
    listed = _listed(row)
    with transaction.atomic():
        bots.lock(bot)
        others = list_for_bot(bot)
        if others.count() >= MAX_SERVERS:
            raise McpLimit
        _check_name(row, others)
        _apply_listing(row, listed)
        row.save()
        bots.record(bot, "mcp_server.connected", by=by, name=row.name, url=row.url)
        _choose(bot, row, body, by=by)
    return get(bot, row.pk)


def update(bot: Bot, server_id: Any, *, body: McpServerRequest, by: User) -> McpServer:
    """Change a server, or choose its tools; fields left out are kept.

    If the URL or token is new, the server's tools are listed again.
    """
    row = get(bot, server_id)
    before = (row.url, row.token)
    _fill(row, body)
    listed = _listed(row) if (row.url, row.token) != before else None
    with transaction.atomic():
        bots.lock(bot)
        # The server may have been removed or listed again while we waited for its response.
        row.tools = get(bot, server_id).tools
        _check_name(row, list_for_bot(bot).exclude(pk=row.pk))
        row.save(update_fields=["name", "url", "token", "is_enabled"])
        if listed is not None:
            store_listing(row, listed)
        changes = body.model_dump(include={"name", "url", "is_enabled"}, exclude_unset=True)
        replaced = body.token is not None
        bots.record(bot, "mcp_server.updated", by=by, token_replaced=replaced, **changes)
        _choose(bot, row, body, by=by)
    return get(bot, row.pk)


def refresh(bot: Bot, server_id: Any) -> McpServer:
    """List a server's tools again; changed tools cannot be called until they are chosen again."""
    row = get(bot, server_id)
    listed = _listed(row)
    with transaction.atomic():
        bots.lock(bot)
        store_listing(get(bot, server_id), listed)
    return get(bot, server_id)


def delete(bot: Bot, server_id: Any, *, by: User) -> None:
    """Remove a server with its token and functions; the functions' calls stay in the log."""
    with transaction.atomic():
        bots.lock(bot)
        row = get(bot, server_id)
        bots.record(bot, "mcp_server.removed", by=by, name=row.name, url=row.url)
        row.delete()


def store_listing(row: McpServer, listed: list[McpTool]) -> None:
    """Store the tools that a server offers now, and mark the functions whose tools have changed."""
    _apply_listing(row, listed)
    McpServer.objects.filter(pk=row.pk).update(tools=row.tools, listed_at=row.listed_at)


def version_of(tool: McpTool) -> str:
    """A hash of everything that a model or a person reads about a tool."""
    described = json.dumps([tool.name, tool.description, tool.parameters], sort_keys=True)
    return hashlib.sha256(described.encode()).hexdigest()


def _apply_listing(row: McpServer, listed: list[McpTool]) -> None:
    row.listed_at = datetime.now(UTC)
    row.tools = [_stored(tool) for tool in listed]
    versions = {tool["name"]: tool["version"] for tool in row.tools}
    for function in Function.objects.filter(mcp_server_id=row.pk):
        needs_review = versions.get(function.tool) != function.tool_version
        if needs_review != function.needs_review:
            same = Function.objects.filter(pk=function.pk, tool_version=function.tool_version)
            same.update(needs_review=needs_review)


def _stored(tool: McpTool) -> dict[str, Any]:
    problem = ""
    try:
        argument_schemas.check_schema(tool.parameters)
    except argument_schemas.WrongSchema as error:
        problem = f"Its parameters {error}."
    return {
        "name": tool.name,
        "description": tool.description[:_MAX_DESCRIPTION],
        "parameters": {} if problem else tool.parameters,
        "version": version_of(tool),
        "problem": problem,
    }


def _fill(row: McpServer, body: McpServerRequest) -> None:
    """Set the fields of the request.

    422 if the URL is not allowed, if the token would be sent unencrypted, or if the stored token
    would be sent to another origin.
    """
    fields_set = body.model_fields_set
    url = body.url if "url" in fields_set and body.url else row.url
    is_moved = request_templates.origin(row.url) != request_templates.origin(url)
    token = row.token if body.token is None else body.token
    if token and body.token is None and is_moved:
        message = "The address has a new host. Enter the token again, or remove it."
        raise Invalid.field("body", "token", msg=message)
    require_address(url, "url", purpose="function")
    if token and not egress.keeps_secrets(url, purpose="function"):
        raise Invalid.field("body", "token", msg=gettext_noop("A token requires an https address."))
    row.url, row.token = url, token
    if body.name:
        row.name = " ".join(body.name.split())
    if body.is_enabled is not None:
        row.is_enabled = body.is_enabled


def _check_name(row: McpServer, others: QuerySet[McpServer]) -> None:
    if others.filter(name=row.name).exists():
        raise Invalid.field(
            "body", "name", msg=gettext_noop("Another server already has this name.")
        )


def _listed(row: McpServer) -> list[McpTool]:
    """The tools that the server currently offers; 409 `mcp_unusable` if it does not list them.

    Call it outside any transaction, since it may take seconds.
    """
    try:
        with McpSession(row.url, row.token, seconds=_LIST_SECONDS) as session:
            return session.tools()
    except (McpError, egress.EgressError) as error:
        raise McpUnusable(str(error)) from error


def _choose(bot: Bot, row: McpServer, body: McpServerRequest, *, by: User) -> None:
    """If the request chooses tools, allow the bot these tools and no others of this server.

    The caller holds the bot's lock.
    """
    if body.allowed is None:
        return
    _allow(bot, row, body.allowed)
    FunctionCalling.objects.get_or_create(
        bot=bot, defaults={"client_id": bot.client_id, "is_enabled": True}
    )
    tools = {choice.name: choice.requires_approval for choice in body.allowed}
    bots.record(bot, "mcp_server.tools_chosen", by=by, name=row.name, tools=tools)


def _allow(bot: Bot, row: McpServer, choices: list[McpToolChoice]) -> None:
    offered = {tool["name"]: tool for tool in row.tools}
    existing = {function.tool: function for function in Function.objects.filter(mcp_server=row)}
    chosen = {choice.name for choice in choices}
    Function.objects.filter(mcp_server=row).exclude(tool__in=chosen).delete()
    others = Function.objects.filter(bot=bot).exclude(mcp_server=row)
    used_names = set(others.values_list("name", flat=True))
    if len(chosen) < len(choices):
        raise Invalid.field("body", "allowed", msg="Choose each tool once.")
    if len(used_names) + len(chosen) > MAX_FUNCTIONS:
        message = gettext("A bot can have up to %(count)s functions. Delete one first.")
        raise Invalid.field("body", "allowed", msg=message % {"count": MAX_FUNCTIONS})
    for place, choice in enumerate(choices):
        tool = offered.get(choice.name)
        _check_choice(place, choice, tool)
        assert tool
        function = existing.get(choice.name)
        if function is None:
            name = _free_name(choice.name, row.name, used_names)
            function = Function(client_id=bot.client_id, bot=bot, mcp_server=row, name=name)
        used_names.add(function.name)
        function.tool, function.tool_version = choice.name, tool["version"]
        function.description, function.parameters = tool["description"], tool["parameters"]
        function.requires_approval = choice.requires_approval
        function.needs_review, function.position = False, MAX_FUNCTIONS + place
        function.save()


def _check_choice(place: int, choice: McpToolChoice, tool: dict[str, Any] | None) -> None:
    where = ("body", "allowed", place)
    if tool is None:
        raise Invalid.field(
            *where, "name", msg=gettext_noop("The server has no tool with this name.")
        )
    if tool["problem"]:
        message = f"The bot can't use this tool. {tool['problem']}"
        raise Invalid.field(*where, "name", msg=message)
    if choice.version and choice.version != tool["version"]:
        message = gettext_noop("The tool has changed since you last reviewed it. Review it again.")
        raise Invalid.field(*where, "version", msg=message)


def _free_name(tool: str, server: str, used_names: set[str]) -> str:
    """A name for a tool's function that is not in `used_names`.

    Models accept up to 64 letters, digits, `_` and `-`.
    """
    plain = re.sub(r"[^a-zA-Z0-9_-]+", "_", tool).strip("_") or "tool"
    prefix = re.sub(r"[^a-zA-Z0-9_-]+", "_", server).strip("_").lower() or "mcp"
    numbered = (f"{prefix[:20]}_{plain[:40]}_{number}" for number in range(2, MAX_FUNCTIONS + 2))
    names = (plain[:64], f"{prefix[:20]}_{plain[:43]}", *numbered)
    return next(name for name in names if name not in used_names)


def describe(row: McpServer) -> McpServerDto:
    """A server with its tools, without its token."""
    return McpServerDto.from_server(row, list(row.functions.all()))
