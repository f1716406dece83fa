"""List and send the templates of chatapp, which may also be sent after the reply window."""

import re
from typing import Any

from bots.models import Bot
from channels_app.models import SENDING, ChannelConnection
from channels_app.providers.chatapp import templates
from channels_app.schemas import connection as connection_schemas
from channels_app.services import (
    channel_conversations,
    connections,
    identities,
    inbound,
    provider_error_policy,
)
from chatplatform.api.errors import ApiError, Invalid, NotFound
from chats.models import Attachment, Conversation, Message, OptOut
from chats.schemas.message import MessageContent
from chats.services.core import agent_messages, attachments, customers, lifecycle
from identity.models import User

# An international phone number, in digits only.
_NUMBER = re.compile(r"[1-9][0-9]{6,14}")


class NoTemplates(ApiError):
    code, status = "no_templates", 409
    detail = "Only chats on chatapp have templates."


class CustomerOptedOut(ApiError):
    code, status = "customer_opted_out", 409
    detail = "This customer has opted out of these messages."


class TemplateNotSendable(ApiError):
    code, status = "template_not_sendable", 409
    detail = "This template can't be sent."


def list_(
    bot: Bot, query: connection_schemas.ChatappTemplatesQuery
) -> connection_schemas.ChatappTemplatesResponse:
    """One page of the templates of the business account that has the bot's number."""
    found, next_cursor = provider_error_policy.call(
        _connection(bot),
        lambda account: templates.list_(account, cursor=query.cursor, limit=query.limit),
    )
    items = [
        connection_schemas.ChatappTemplate.copy_from(
            row,
            problem=row.problem or None,
            quality=row.quality or None,
            header_file=row.header_file or None,
        )  # fmt: skip
        for row in found
    ]
    return connection_schemas.ChatappTemplatesResponse(items=items, next_cursor=next_cursor)


def send(
    bot: Bot,
    body: connection_schemas.ChatappTemplateRequest,
    *,
    by: User,
    request_id: str | None = None,
) -> Message:
    """Send an agent's template to a customer, by the rules for messages except the reply window.

    The template is fetched from the provider first, since the transcript shows its text with the
    values. 409 `customer_opted_out` if the customer wants no messages, or if the template is an
    offer and the customer wants no offers.
    """
    chat = _chat(bot, body)
    if chat and chat.channel != "chatapp":
        raise NoTemplates
    recipients = identities.customers_at(
        bot.client, chat.provider_user_id if chat else _number(body)
    )
    if chat:
        recipients.append(chat.customer)
    for customer in recipients:
        customers.ensure_not_blocked(customer)
    opt_outs = {customer.opt_out for customer in recipients}
    if OptOut.ALL in opt_outs:
        raise CustomerOptedOut
    connection = _connection(bot)
    part = _part(connection, chat, body, takes_offers=OptOut.OFFERS not in opt_outs)
    if chat is None:
        number, metadata = _number(body), {"consent": body.consent}
        chat = inbound.open_chat_with(connection, number, metadata=metadata)
    own_id = body.client_message_id or request_id
    return agent_messages.send_template(chat, part, by=by, client_message_id=own_id)


def _chat(bot: Bot, body: connection_schemas.ChatappTemplateRequest) -> Conversation | None:
    """The chat that the body selects; None if there is none, and `consent` allows opening a chat
    with the body's number."""
    try:
        return channel_conversations.find_chat(bot, "chatapp", body)
    except NotFound:
        if body.consent and _NUMBER.fullmatch(_number(body)):
            return None
        raise


def _number(body: connection_schemas.ChatappTemplateRequest) -> str:
    return (body.recipient_id or "").removeprefix("+")


def _connection(bot: Bot) -> ChannelConnection:
    """The connection of the bot's number; 409 if the bot has none, or if it cannot send."""
    connection = connections.current(bot, "chatapp")
    if connection is None or connection.status not in SENDING:
        raise lifecycle.ChannelNotConnected
    return connection


def _part(
    connection: ChannelConnection,
    chat: Conversation | None,
    body: connection_schemas.ChatappTemplateRequest,
    *,
    takes_offers: bool,
) -> dict[str, Any]:
    """The template as a part of a message: its text with the values, the components in the
    provider's format, and the file for its header."""
    template = provider_error_policy.call(
        connection, lambda account: templates.find(account, body.name, body.language)
    )
    if template is None:
        raise Invalid.field("body", "name", msg="No such template in this language.")
    if template.category == "marketing" and not takes_offers:
        raise CustomerOptedOut
    if template.problem:
        raise TemplateNotSendable(f"This template can't be sent. {template.problem}")
    if len(body.values) != len(template.variables):
        needed = len(template.variables)
        raise Invalid.field("body", "values", msg=f"This template needs {needed} values.")
    return {
        **_header(chat, body.header, template.header_file),
        "type": "template",
        "text": template.filled(body.values),
        "template": body.model_dump(include={"name", "language", "values"}),
        "components": template.components(body.values),
    }


def _header(chat: Conversation | None, header: MessageContent | None, kind: str) -> dict[str, Any]:
    """The keys of a template's part for the file in its header; 422 if the template needs another
    kind of file, or no file."""
    if header is None and not kind:
        return {}
    found: dict[str, Any] = {}
    if header and header.url and chat:
        (found,) = attachments.resolve_links(chat, [header], field="header")
    elif header and header.url and not header.url.startswith(("/", Attachment.url_prefix())):
        found = header.model_dump(mode="json", exclude_none=True)
    if not found or found["type"] != kind:
        needed = f"a file of the type {kind}, with its URL," if kind else "no file"
        raise Invalid.field("body", "header", msg=f"This template needs {needed} in its header.")
    names = ("url", "attachment_id", "file_name", "mime_type", "size_bytes")
    return {name: found[name] for name in names if found.get(name)} | {"header_file": kind}
