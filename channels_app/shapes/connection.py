"""The shapes of connections, and of messages sent through them."""

import uuid
from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from channels_app import models
from chatplatform.api.pagination import ListPage, Page
from chatplatform.api.shapes import Moment, Shape, Text, Uri, example
from chatplatform.channel_names import MessagingChannel
from chats.shapes.message import MessageContent
from chats.shapes.people import Identity
from identity.models import ChannelAccessToken

_Id = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9_-]+$")]


class ChannelNotice(Shape):
    """Something that the provider reported about an account or one of its templates."""

    id: uuid.UUID = Field(description="The notice's id, a UUIDv7.")
    kind: Literal[
        "template_status", "template_quality", "template_category", "quality", "sending_limit",
        "name", "review", "alert",
    ] = Field(
        description="What `value` is: of a template its status, quality or category; of the account"
        " its quality, the limit of customers to whom it may write first in a day, the decision on"
        " its name or its review, or an alert."
    )  # fmt: skip
    template: str = Field(
        description="The template's name; empty if the notice is about the account.",
    )
    language: str = Field(description="The template's language.")
    value: str = Field(description="The new value, as the provider calls it: `paused`, `red` …")
    previous: str = Field(description="The value before the change; empty if unknown.")
    reason: str = Field(
        description="The provider's reason; `announced` for a category that comes within a day."
    )
    is_bad: bool = Field(
        description="Whether somebody should look at it; a bad notice is also mailed.",
    )
    at: Moment = Field(description="When it happened, by the provider's clock.")


class ChannelConnection(Shape):
    """A bot's account at a messaging provider."""

    id: uuid.UUID | None = Field(
        None, description="UUIDv7; null if the bot never had an account here."
    )
    channel: MessagingChannel = Field(description="The messaging channel of the account.")
    bot_id: int | None = Field(None, description="The bot; null for a token that no bot uses yet.")
    status: Literal["pending", "connected", "disconnected", "expired", "error"] = Field(
        description="`pending`: a person has yet to consent, or to choose an account. `expired`:"
        " the provider no longer accepts the token: a person must consent again. `error`: the"
        " provider refuses a request, see `last_error`; messages are still tried."
    )
    consent_url: Uri | None = Field(
        None,
        description="While pending: the provider's consent page, to which you send the person. It"
        " redirects to `redirect_uri` with `code` and `state`; the state is valid once, for an"
        " hour, for the same person and bot.",
    )
    account_id: str | None = Field(None, description="The provider's id of the account.")
    account_name: str | None = Field(None, description="The account's name at the provider.")
    connected_by: Identity | None = Field(None, description="The person who connected the account.")
    connected_at: Moment | None = Field(None, description="When the account was last connected.")
    token_expires_at: Moment | None = Field(
        None, description="When the token expires; null if it does not expire by itself."
    )
    last_event_at: Moment | None = Field(None, description="When the provider last sent something.")
    last_error: str | None = Field(
        None,
        description="The last error with the account, as a sentence.",
    )
    missing_permissions: list[str] = Field(
        default_factory=list,
        description="The provider's permissions that the person did not give and that sending or"
        " receiving needs: begin another consent.",
    )
    quality: str | None = Field(
        None,
        description="The account's quality as the provider rates it: `green`, `yellow`, `red`;"
        " null if unknown.",
    )
    sending_limit: str | None = Field(
        None,
        description="To how many customers the account may write first in a day: a number, or"
        " `unlimited`; null if unknown.",
    )
    notices: list[ChannelNotice] = Field(
        default_factory=list,
        description="What the provider last reported, newest first, at most 20; only in the reply"
        " of the bot's own connection.",
    )

    @classmethod
    def from_row(
        cls,
        row: models.ChannelConnection,
        *,
        consent_url: str | None = None,
        notices: Sequence[models.AccountNotice] = (),
    ) -> "ChannelConnection":
        return cls.copy_from(
            row,
            consent_url=consent_url,
            quality=row.quality or None,
            sending_limit=row.sending_limit or None,
            notices=[ChannelNotice.copy_from(notice) for notice in notices],
            account_id=row.account_id or None,
            account_name=row.account_name or None,
            connected_by=Identity.from_row(row.connected_by) if row.connected_by else None,
            last_error=row.last_error or None,
        )

    @classmethod
    def from_token(
        cls, token: ChannelAccessToken, channel: MessagingChannel
    ) -> "ChannelConnection":
        """The shape for a person's stored token, which can list and connect accounts."""
        by = token.created_by
        return cls(
            channel=channel,
            status="pending",
            connected_by=Identity.from_row(by) if by else None,
            token_expires_at=token.expires_at,
        )


class MessengerConnectDto(Shape):
    """Begins a consent, or ends it with the code from the provider's consent page."""

    model_config = example(redirect_uri="https://app.shop.example/channels/done")

    redirect_uri: Text = Field(
        description="The address to which the provider redirects the person: https, or your own"
        " machine in development. It must be exactly the same in both calls.",
        min_length=1,
        max_length=2000,
    )
    code: Text | None = Field(
        None,
        description="The `code` from the provider's consent page. Without it a consent begins.",
        max_length=2000,
    )
    state: Text | None = Field(
        None,
        description="The `state` that came with `code`; required if you send `code`.",
        max_length=500,
    )


class MessengerConnectPageDto(Shape):
    """The page to connect, disconnect or reconnect."""

    model_config = example(page_id="1048576000001")

    page_id: _Id | None = Field(
        None,
        description="The provider's id of the page. Required to connect one; otherwise the bot's"
        " page if left out.",
    )


class PhotoappConnectDto(MessengerConnectDto):
    """Begins a consent, or ends it with the code from the provider's consent page."""

    login: Literal["page", "direct"] = Field(
        "page",
        description="`page`: the account is linked to a page of the person, who chooses one of such"
        " accounts afterwards. `direct`: the person signs in to the account itself, which is"
        " connected when the consent ends. Send the same value in both calls of a consent.",
    )


class PhotoappConnectPageDto(Shape):
    """The account to connect."""

    model_config = example(page_id="17840000000000001")

    page_id: _Id = Field(
        description="The provider's id of the account, or of the page that it is linked to."
    )


class LocalappOAConnectDto(Shape):
    """Begins a consent for an Official Account."""

    model_config = example(redirect_uri="https://app.shop.example/channels/done")

    redirect_uri: Text = Field(
        description="The address to which the person is redirected in the end: https, or your own"
        " machine in development. Its query then has `status`, and `account_id` or `error` and"
        " `error_description`.",
        min_length=1,
        max_length=2000,
    )
    oa_id: _Id | None = Field(
        None, description="The only account that the person may choose; any by default."
    )


class ChatappConnectPhoneDto(Shape):
    """A number, and the pin to register it."""

    model_config = example(phone_number_id="1122334455667")

    phone_number_id: _Id = Field(description="The provider's id of the account.")
    pin: Text | None = Field(
        None, pattern=r"^[0-9]{6}$",
        description="Six digits: the number's existing pin, or a new one if it has none. Required"
        " only for a number that is not registered yet.",
    )  # fmt: skip


class ChatappConnectDto(Shape):
    """The values that the provider's signup dialog returned."""

    model_config = example(
        code="AQB1", business_account_id="102290129340398",
        phone={"phone_number_id": "1122334455667"},
    )  # fmt: skip

    code: Text | None = Field(
        None, min_length=1, max_length=2000,
        description="The dialog's code, valid once and for about 30 seconds. Without it the stored"
        " token is used.",
    )  # fmt: skip
    business_account_id: _Id | None = Field(
        None,
        description="The business account that has the number; found by the number if left out.",
    )
    phone: ChatappConnectPhoneDto = Field(description="The number to connect.")


class TokenConnectDto(Shape):
    """An account's own token."""

    model_config = example(token="7100000001:AAExampleExampleExampleExampleExample")

    token: Text = Field(
        min_length=1,
        max_length=200,
        description="The account's token, as the provider gave it to you.",
    )


class ChannelAccount(Shape):
    """An account that can be connected."""

    id: str = Field(description="The account's id at the provider.")
    name: str = Field(description="The account's name.")
    picture_url: str | None = Field(None, description="The account's picture, if it has one.")
    is_connected: bool = Field(description="Whether one of your bots is connected to the account.")
    bot_id: int | None = Field(
        None,
        description="Your bot that is connected to the account, if any.",
    )


class ChannelAccountsResponse(ListPage[ChannelAccount]):
    """A list page of accounts, in the provider's order."""


class AccountsQuery(Shape):
    """The cursor and size of a list page of accounts; the provider may return fewer."""

    cursor: Text | None = Field(
        None,
        description="The previous response's `next_cursor`; leave it out for the first.",
        max_length=500,
    )
    limit: int = Field(50, ge=1, le=100, description="Accounts on a page, 1..100.")


class ChannelMessagesQuery(Page):
    """The list page and filter of a bot's messages on a channel."""

    recipient_id: Text | None = Field(
        None,
        max_length=200,
        description="Only messages with the customer who has this id at the provider (chatapp: or"
        " this number); conversations show it as `customer.provider_user_id`.",
    )


def _own_id() -> Any:
    return Field(
        None, min_length=1, max_length=200,
        description="Your own id for this message. Sent twice to a chat, it is stored and delivered"
        " once. An `Idempotency-Key` does the same; without either it is sent twice.",
    )  # fmt: skip


def _require_one_chat(body: "ChannelMessageRequest | ChatappTemplateRequest") -> None:
    if bool(body.conversation_id) == bool(body.recipient_id):
        raise ValueError("give either conversation_id or recipient_id")


class ChannelMessageRequest(Shape):
    """A message to a customer of a channel."""

    model_config = example(recipient_id="6120000000000001", text="Your parcel left us today.")

    conversation_id: uuid.UUID | None = Field(
        None, description="The id of the conversation to write to; give this or `recipient_id`."
    )
    recipient_id: Text | None = Field(
        None, min_length=1, max_length=200,
        description="The provider's id of a customer who has written to this account before; the"
        " message goes to their newest conversation.",
    )  # fmt: skip
    text: Text | None = Field(
        None, min_length=1, max_length=8000, description="A plain text instead of `content`."
    )
    content: list[MessageContent] = Field(
        default_factory=list,
        max_length=10,
        description="The pieces, at most 10; give this or `text`.",
    )
    tag: Text | None = Field(
        None,
        max_length=60,
        description="The provider's tag for a message that may be sent after the reply window, such"
        " as `HUMAN_AGENT` (socialnet, photoapp); leave it out for a normal message.",
    )
    client_message_id: Text | None = _own_id()

    @model_validator(mode="after")
    def _says_something_once(self) -> Self:
        _require_one_chat(self)
        if bool(self.text) == bool(self.content):
            raise ValueError("give either text or content")
        pieces = [self.text] if self.text else [piece.text for piece in self.content
                                                if piece.type == "text"]  # fmt: skip
        if any(not (piece or "").strip() for piece in pieces):
            raise ValueError("text must not be blank")
        return self


class ChatappTemplate(Shape):
    """A template of a number's business account, in one language."""

    name: str = Field(description="The template's name at the provider.")
    language: str = Field(
        description="The template's language, as the provider writes it: `en_US`.",
    )
    status: str = Field(
        description="The template's review, as the provider reports it: `approved`, `paused`,"
        " `rejected` …"
    )
    category: str = Field(
        description="What the template is for, as the provider reports it: `utility`, `marketing`"
        " …",
    )
    quality: str | None = Field(
        None,
        description="The template's quality as the provider rates it: `green`, `yellow`,"
        " `red`; null if unknown.",
    )
    text: str = Field(description="The template's header, body and footer, with `{{variables}}`.")
    variables: list[str] = Field(
        description="The names of the template's variables: those of the header, those of the"
        " body, then the labels of the buttons that need a value (the end of an address, a code to"
        " copy). A message gives one value for each, in this order. The button of a one-time"
        " password takes the password of the body."
    )
    header_file: Literal["image", "video", "file"] | None = Field(
        None, description="The kind of file that a message must send as `header`; null if none."
    )
    problem: str | None = Field(
        None,
        description="Why the template cannot be sent; null if it can.",
    )


class ChatappTemplatesResponse(ListPage[ChatappTemplate]):
    """A list page of templates, in the provider's order."""


class ChatappTemplatesQuery(AccountsQuery):
    """The cursor and size of a list page of templates; the provider may return fewer."""

    limit: int = Field(50, ge=1, le=100, description="Templates on a page, 1..100.")


TemplateValue = Annotated[Text, Field(min_length=1, max_length=1024, pattern=r"^[^\n\r\t]*$")]


class ChatappTemplateRequest(Shape):
    """A template to a customer of the bot's number."""

    model_config = example(
        recipient_id="84901234567", name="order_ready", language="en_US", values=["An", "A-17"]
    )

    conversation_id: uuid.UUID | None = Field(
        None, description="The id of the conversation to write to; give this or `recipient_id`."
    )
    recipient_id: Text | None = Field(
        None, min_length=1, max_length=200,
        description="The customer's number (digits) or id at the business; the template goes to"
        " their newest conversation.",
    )  # fmt: skip
    consent: Text | None = Field(
        None, min_length=1, max_length=500,
        description="How the customer agreed to such messages. Required for a number that has never"
        " written; kept in the `metadata` of the conversation that begins.",
    )  # fmt: skip
    name: Text = Field(
        min_length=1,
        max_length=512,
        description="The template's name, from the list of templates.",
    )
    language: Text = Field(
        min_length=1,
        max_length=20,
        description="The template's language, as the provider writes it: `en_US`.",
    )
    values: list[TemplateValue] = Field(
        default_factory=list,
        max_length=100,
        description="The values of the template's variables, in their order: 1 to 1,024 characters"
        " each, without line breaks or tabs, and at most 4,096 together.",
    )
    header: MessageContent | None = Field(
        None,
        description="The file in the template's header: a piece of the template's `header_file`,"
        " with the address from which the provider fetches it, or that of a file of the"
        " conversation.",
    )
    client_message_id: Text | None = _own_id()

    @model_validator(mode="after")
    def _names_one_chat(self) -> Self:
        _require_one_chat(self)
        if sum(len(value) for value in self.values) > 4096:
            raise ValueError("all values together have at most 4,096 characters")
        return self


class ChannelHandshake(Shape):
    """The provider's request to verify that a callback address is ours."""

    model_config = {"extra": "ignore", "populate_by_name": True}

    mode: Text = Field("", alias="hub.mode", max_length=60, description="Always `subscribe`.")
    verify_token: Text = Field(
        "", alias="hub.verify_token", max_length=500, description="The agreed verify token."
    )
    challenge: Text = Field(
        "", alias="hub.challenge", max_length=500, description="The text to return."
    )
