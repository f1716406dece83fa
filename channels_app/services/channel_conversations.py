"""Lists the messages of a bot's chats on a channel, and sends agents' messages."""

from typing import Any

from django.db.models import Q

from bots.models import Bot
from channels_app.models import ChannelChat
from channels_app.providers import Provider
from channels_app.schemas.connection import (
    ChannelMessageRequest,
    ChannelMessagesQuery,
    ChatappTemplateRequest,
)
from channels_app.services import identities
from chatplatform.api.errors import Invalid, NotFound
from chats.models import Conversation, Message
from chats.schemas.desk import ManualChatMessageDto
from chats.services.core import agent_messages, channel_updates, row_json
from identity.models import User


def history_page(bot: Bot, provider: Provider, query: ChannelMessagesQuery) -> dict[str, Any]:
    """One page of the messages in a bot's chats on a channel, newest first. With `recipient_id`,
    only the chats with that customer."""
    rows = channel_updates.history(bot.client, bot=bot, channel=provider.channel)
    if query.recipient_id is not None:
        rows = rows.filter(_has_id(query.recipient_id, "conversation__channel_chat__identity__"))
    return row_json.list_page(rows, query, by="-id")


def send(
    bot: Bot,
    provider: Provider,
    body: ChannelMessageRequest,
    *,
    by: User,
    request_id: str | None = None,
) -> Message:
    """Send an agent's message to a customer of the channel. 404 if the customer never wrote to the
    bot's account, 409 `channel_not_connected` if the account cannot send.

    `request_id` identifies a repeated request; the body's `client_message_id` takes precedence.

    The same rules as at the desk apply. A chat that no agent has is assigned to the sender. 409 if
    another agent has it and the sender is not an admin, if it has ended, or if the reply window has
    closed and no `tag` is given.
    """
    if body.tag is not None and body.tag not in provider.tags:
        known = ", ".join(sorted(provider.tags)) or "none"
        raise Invalid.field("body", "tag", msg=f"This channel knows these tags: {known}.")
    chat = find_chat(bot, provider.channel, body)
    if chat.channel != provider.channel:
        raise NotFound("The bot has no such chat on this channel.", field="conversation_id")
    message = ManualChatMessageDto.model_construct(
        text=body.text or "",
        attachments=body.content,
        client_message_id=body.client_message_id or request_id,
    )
    return agent_messages.send(chat, message, by=by, tag=body.tag)


def find_chat(
    bot: Bot, channel: str, body: ChannelMessageRequest | ChatappTemplateRequest
) -> Conversation:
    """The bot's chat with the body's `conversation_id`, or the current chat of the customer with
    the body's `recipient_id`; 404 if there is none."""
    if body.recipient_id:
        return _current_chat(bot, channel, body.recipient_id)
    assert body.conversation_id
    rows = Conversation.objects.for_client(bot.client).filter(bot=bot)
    chat: Conversation | None = rows.filter(pk=body.conversation_id).first()
    if chat is None:
        raise NotFound("The bot has no such chat.", field="conversation_id")
    return chat


def _current_chat(bot: Bot, channel: str, recipient_id: str) -> Conversation:
    links = ChannelChat.objects.for_client(bot.client).filter(
        _has_id(recipient_id, "identity__"), conversation__bot=bot, identity__channel=channel
    )
    chat = identities.current_chat(links)
    if chat is None:
        raise NotFound("This customer has not written to the bot's account.", field="recipient_id")
    return chat


def _has_id(recipient_id: str, identity: str) -> Q:
    """A filter for the customer whose `provider_user_id` or `alternate_user_id` this is."""
    own_id = recipient_id.removeprefix("+")
    return Q(**{f"{identity}provider_user_id": own_id}) | Q(
        **{f"{identity}alternate_user_id": own_id}
    )
