"""The schemas of connections, accounts and templates, and of messages sent through them."""

import uuid
from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from channels_app import models
from chatplatform.api.pagination import ListPage, Page
from chatplatform.api.schemas import InRequest, Moment, Schema, Text, Uri, example
from chatplatform.channel_names import MessagingChannel
from chats.schemas.message import MessageContent
from chats.schemas.people import Identity
from identity.models import ChannelAccessToken

_Id = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9_-]+$")]


class ChannelNotice(Schema):
    """Something that the provider reported about an account or one of its templates."""

    id: uuid.UUID = Field(description="The notice's id, a UUIDv7.")
    kind: Literal[
        "template_status", "template_quality", "template_category", "quality", "sending_limit",
        "name", "review", "alert",
    ] = Field(
        description="What `value` is: a template's status, quality or category; or the account's"
        " quality, the number of customers to whom it may send the first message in a day, the"
        " decision on its display name or its review, or an alert."
    )  # fmt: skip
    template: str = Field(
        description="The template's name; empty if the notice is about the account.",
    )
    language: str = Field(
        description="The template's language; empty if the notice is about the account."
    )
    value: str = Field(
        description="The new value, as the provider calls it, in lower case: `paused`, `red` …"
    )
    previous: str = Field(description="The value before the change; empty if unknown.")
    reason: str = Field(
        description="The provider's reason, if it gives one; `announced` for a category that will"
        " apply within a day."
    )
    is_bad: bool = Field(
        description="Whether a person should look at it; a bad notice is also mailed.",
    )
    at: Moment = Field(description="When it happened, by the provider's clock.")


class ChannelConnection(Schema):
    """A bot's account at a messaging provider."""

    id: uuid.UUID | None = Field(
        None,
        description="The connection's id, a UUIDv7; null if the bot never had a connection on this"
        " channel, and in *Store User Token*, whose response is about the token.",
    )
    channel: MessagingChannel = Field(
        description="The messaging channel of the account, as in the path of its operations."
    )
    bot_id: int | None = Field(
        None, description="The id of the bot; null only in the response of *Store User Token*."
    )
    status: Literal["pending", "connected", "disconnected", "expired", "error"] = Field(
        examples=["connected"],
        description="`pending`: a person must still consent, or choose an account. `connected`:"
        " messages are received and sent. `disconnected`: neither. `expired`: the provider no"
        " longer accepts the token, so a person must consent again. `error`: the provider refused a"
        " request, see `last_error`; messages are still sent.",
    )
    consent_url: Uri | None = Field(
        None,
        examples=[None],
        description="The provider's consent page, to which you send the person within an hour. Null"
        " except in the response that starts a consent.",
    )
    account_id: str | None = Field(
        None,
        description="The provider's id of the account; null until an account is chosen.",
        examples=["104"],
    )
    account_name: str | None = Field(
        None,
        description="The account's name at the provider; null until an account is chosen.",
        examples=["Harbor Hotel"],
    )
    connected_by: Identity | None = Field(
        None,
        description="The person who connected the account, or gave the consent; null if nobody"
        " has yet, or if the person was deleted.",
    )
    connected_at: Moment | None = Field(
        None, description="When the account was last connected; null if it never was."
    )
    token_expires_at: Moment | None = Field(
        None,
        description="When the token expires; null if it does not expire by itself.",
        examples=[None],
    )
    last_event_at: Moment | None = Field(
        None, description="When the provider last sent an event; null if it never has."
    )
    last_error: str | None = Field(
        None,
        examples=[None],
        description="The current error with the account, as a sentence; null if there is none.",
    )
    missing_permissions: list[str] = Field(
        default_factory=list,
        description="The permissions for sending or receiving that the person did not grant, as the"
        " provider names them. If there are any, ask for their consent again.",
    )
    quality: str | None = Field(
        None,
        description="The account's quality as the provider rates it: `green`, `yellow`, `red`;"
        " null if unknown.",
    )
    sending_limit: str | None = Field(
        None,
        description="To how many customers the account may send the first message in a day"
        " (customers who write first do not count): a number, or `unlimited`; null if unknown.",
    )
    notices: list[ChannelNotice] = Field(
        default_factory=list,
        description="The provider's latest notices, newest first, at most 20; empty unless you get"
        " a single bot's connection.",
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
        """An instance for a person's stored token, which can list and connect accounts."""
        by = token.created_by
        return cls(
            channel=channel,
            status="pending",
            connected_by=Identity.from_row(by) if by else None,
            token_expires_at=token.expires_at,
        )


class MessengerConnectDto(Schema):
    """Begins a consent, or completes it with the code from the provider's consent page."""

    model_config = example(redirect_uri="https://app.shop.example/channels/done")

    redirect_uri: Text = Field(
        description="The URL to which the provider redirects the person: https or, on a server in"
        " development mode, http on your own machine. It must be exactly the same in both calls.",
        min_length=1,
        max_length=2000,
    )
    code: Text | None = Field(
        None,
        description="The `code` that the provider added to `redirect_uri`. Without it, a consent"
        " begins.",
        max_length=2000,
    )
    state: Text | None = Field(
        None,
        description="The `state` that came with `code`; required if you send `code`. It is valid"
        " once, for an hour, only for the person who began the consent and for the same bot.",
        max_length=500,
    )


class MessengerConnectPageDto(Schema):
    """The page to connect, disconnect or reconnect."""

    model_config = example(page_id="1048576000001")

    page_id: Annotated[
        _Id | None,
        InRequest(
            "Required to connect a page; to disconnect or reconnect one, the default is the bot's"
            " current or last page.",
            is_required_to_create=True,
        ),
    ] = Field(None, description="The provider's id of the page.")


class PhotoappConnectDto(MessengerConnectDto):
    """Begins a consent, or completes it with the code from the provider's consent page."""

    login: Literal["page", "direct"] = Field(
        "page",
        description="`page`: the account is linked to a page of the person; you list these accounts"
        " after the consent, and connect one. `direct`: the person signs in to the account itself,"
        " which is connected when the consent is completed. Send the same value in both calls.",
    )


class PhotoappConnectPageDto(Schema):
    """The account to connect."""

    model_config = example(page_id="17840000000000001")

    page_id: _Id = Field(
        description="The provider's id of the account, or of the page to which the account is"
        " linked."
    )


class LocalappOAConnectDto(Schema):
    """The consent of a person to connect an account."""

    model_config = example(redirect_uri="https://app.shop.example/channels/done")

    redirect_uri: Text = Field(
        description="The URL to which the person is redirected in the end: any https URL or, on a"
        " server in development mode, http on your own machine. `channel`, `bot_id` and `status`"
        " are always added to its query, and `account_id` or, if no account was connected, `error`"
        " and `error_description`.",
        min_length=1,
        max_length=2000,
    )
    oa_id: _Id | None = Field(
        None, description="The only account that the person may choose; by default, any account."
    )


class ChatappConnectPhoneDto(Schema):
    """A number, and the pin with which it is registered."""

    model_config = example(phone_number_id="1122334455667")

    phone_number_id: _Id = Field(description="The provider's id of the number.")
    pin: Text | None = Field(
        None, pattern=r"^[0-9]{6}$",
        description="Six digits: the number's existing pin, or a new one if it has none. Required"
        " only if the number is not registered yet.",
    )  # fmt: skip


class ChatappConnectDto(Schema):
    """The values that the provider's sign-up dialog returned."""

    model_config = example(
        code="AQB1", business_account_id="102290129340398",
        phone={"phone_number_id": "1122334455667"},
    )  # fmt: skip

    code: Text | None = Field(
        None, min_length=1, max_length=2000,
        description="The dialog's code, valid once and for about 30 seconds; the token that it is"
        " exchanged for is stored. Without a code, the stored token is used.",
    )  # fmt: skip
    business_account_id: _Id | None = Field(
        None,
        description="The provider's id of the business account that has the number. By default, all"
        " business accounts that the token may use are searched for the number.",
    )
    phone: ChatappConnectPhoneDto = Field(description="The number to connect.")


class TokenConnectDto(Schema):
    """An account's own token."""

    model_config = example(token="7100000001:AAExampleExampleExampleExampleExample")

    token: Text = Field(
        min_length=1,
        max_length=200,
        description="The account's token, as you got it from the provider.",
    )


class ChannelAccount(Schema):
    """An account that can be connected."""

    id: str = Field(
        description="The account's id at the provider. It connects the account: as `page_id` of"
        " *Client Messenger Connect Page*, or on chatapp as `phone.phone_number_id` of *Connect"
        " Chatapp*."
    )
    name: str = Field(description="The account's name.")
    picture_url: str | None = Field(
        None, description="The URL of the account's picture; null if it has none."
    )
    is_connected: bool = Field(description="Whether one of your bots is connected to the account.")
    bot_id: int | None = Field(
        None,
        description="The id of the bot that is connected to the account; null if none of yours is.",
    )


class ChannelAccountsResponse(ListPage[ChannelAccount]):
    """One page of accounts, in the provider's order."""


class AccountsQuery(Schema):
    """The cursor and size of one page of accounts. The provider may return fewer than `limit`."""

    cursor: Text | None = Field(
        None,
        description="The previous response's `next_cursor`; leave it out for the first page.",
        max_length=500,
        pattern="^[!-~]*$",
    )
    limit: int = Field(
        50, ge=1, le=100, description="The maximum number of accounts on a page, 1 to 100."
    )


class ChannelMessagesQuery(Page):
    """The page and filter of a bot's messages on a channel."""

    recipient_id: Text | None = Field(
        None,
        max_length=200,
        description="Only messages with the customer who has this id at the provider, or this"
        " number on chatapp. Conversations show it as `customer.provider_user_id`.",
    )


def _own_id() -> Any:
    return Field(
        None, min_length=1, max_length=200,
        description="Your own id for this message. A repeated request with the same id for the"
        " same conversation sends nothing and returns the first message, as with an"
        " `Idempotency-Key`. Without either, a repeated request sends the message again.",
    )  # fmt: skip


def _require_one_chat(body: "ChannelMessageRequest | ChatappTemplateRequest") -> None:
    if bool(body.conversation_id) == bool(body.recipient_id):
        raise ValueError("give either conversation_id or recipient_id")


class ChannelMessageRequest(Schema):
    """A message to a customer of a channel."""

    model_config = example(recipient_id="6120000000000001", text="Your parcel left us today.")

    conversation_id: uuid.UUID | None = Field(
        None,
        description="The id of the conversation to send to. Give exactly one of `conversation_id`"
        " and `recipient_id`.",
    )
    recipient_id: Text | None = Field(
        None, min_length=1, max_length=200,
        description="The provider's id of a customer who has written to this account; on chatapp"
        " their number (digits), or the user id that the provider gives them for your business. The"
        " message goes to the customer's open conversation, preferably one that an agent has or"
        " that waits for an agent. 409 `chat_ended` if none is open; *Reopen Chat* continues the"
        " latest.",
    )  # fmt: skip
    text: Text | None = Field(
        None, min_length=1, max_length=8000,
        description="Plain text; if it is too long for the channel, it is sent in parts. Give"
        " exactly one of `text` and `content`.",
    )  # fmt: skip
    content: list[MessageContent] = Field(
        default_factory=list,
        max_length=10,
        description="The parts of the message, 1 to 10, each with the content of its `type`. A text"
        " may have `options` to choose from, a file a `file_name` and a `text` as its caption."
        " Other fields are not sent. A `url` must be public, so that the provider can fetch the"
        " file, or belong to a file in the conversation. If the channel cannot show a part, or a"
        " location has no coordinates, the customer may get a text instead, such as a link to a"
        " map. Give exactly one of `text` and `content`; an empty list counts as left out.",
    )
    tag: Text | None = Field(
        None,
        max_length=60,
        description="The provider's tag that allows a message after the reply window: `HUMAN_AGENT`"
        " on socialnet and photoapp, up to seven days after the customer's last message, if the"
        " provider has approved the platform for it; otherwise the message fails. 422 on other"
        " channels. Leave it out for a normal message.",
    )
    client_message_id: Text | None = _own_id()

    @model_validator(mode="after")
    def _check(self) -> Self:
        _require_one_chat(self)
        if bool(self.text) == bool(self.content):
            raise ValueError("give either text or content")
        texts = [self.text] if self.text else [part.text for part in self.content
                                               if part.type == "text"]  # fmt: skip
        if any(not (text or "").strip() for text in texts):
            raise ValueError("text must not be blank")
        return self


class ChatappTemplate(Schema):
    """A template of a number's business account, in one language."""

    name: str = Field(description="The template's name at the provider.")
    language: str = Field(
        description="The template's language, as the provider writes it: `en_US`.",
    )
    status: str = Field(
        description="The template's status, as the provider reports it: `approved`, `paused`,"
        " `rejected` …"
    )
    category: str = Field(
        description="The template's category, as the provider reports it: `utility`, `marketing` …",
    )
    quality: str | None = Field(
        None,
        description="The template's quality as the provider rates it: `green`, `yellow`,"
        " `red`; null if unknown.",
    )
    text: str = Field(description="The template's header, body and footer, with `{{variables}}`.")
    variables: list[str] = Field(
        description="The names of the template's variables: first those of the header, then those"
        " of the body, then the labels of the buttons that need a value (the end of a URL, or a"
        " code to copy). A message has one value for each, in this order. The button of a one-time"
        " password needs none: it gets the body's first value."
    )
    header_file: Literal["image", "video", "file"] | None = Field(
        None,
        description="The kind of file (`image`, `video` or `file`) that a message needs as its"
        " `header`; null if it needs none.",
    )
    problem: str | None = Field(
        None,
        description="Why the template cannot be sent; null if it can.",
    )


class ChatappTemplatesResponse(ListPage[ChatappTemplate]):
    """One page of templates, in the provider's order."""


class ChatappTemplatesQuery(AccountsQuery):
    """The cursor and size of one page of templates. The provider may return fewer than `limit`."""

    limit: int = Field(
        50, ge=1, le=100, description="The maximum number of templates on a page, 1 to 100."
    )


TemplateValue = Annotated[Text, Field(min_length=1, max_length=1024, pattern=r"^[^\n\r\t]*$")]


class ChatappTemplateRequest(Schema):
    """A template to send to a customer from the bot's number."""

    model_config = example(
        recipient_id="84901234567", name="order_ready", language="en_US", values=["An", "A-17"]
    )

    conversation_id: uuid.UUID | None = Field(
        None,
        description="The id of the conversation to send to. Give exactly one of `conversation_id`"
        " and `recipient_id`.",
    )
    recipient_id: Text | None = Field(
        None, min_length=1, max_length=200,
        description="The customer's number (digits), or the user id that the provider gives them"
        " for your business. The template goes to the customer's open conversation, preferably one"
        " that an agent has or that waits for an agent. 409 `chat_ended` if all have ended; *Reopen"
        " Chat* continues the latest.",
    )  # fmt: skip
    consent: Text | None = Field(
        None, min_length=1, max_length=500,
        description="How the customer agreed to such messages. Required for a number that has never"
        " written to the bot (404 without it), and stored in the `metadata` of the conversation"
        " that is opened; otherwise ignored.",
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
        description="The file for the template's header; leave it out if the template has no"
        " `header_file`. `type` is the `header_file`. `url` must be public, so that the provider"
        " can fetch the file, or belong to a file in the conversation. `file_name`, `mime_type` and"
        " `size_bytes` are optional; other fields are ignored.",
    )
    client_message_id: Text | None = _own_id()

    @model_validator(mode="after")
    def _check(self) -> Self:
        _require_one_chat(self)
        if sum(len(value) for value in self.values) > 4096:
            raise ValueError("all values together have at most 4,096 characters")
        return self


class ChannelHandshake(Schema):
    """The provider's request to verify that a callback URL is the platform's."""

    model_config = {"extra": "ignore", "populate_by_name": True}

    mode: Text = Field("", alias="hub.mode", max_length=60, description="Always `subscribe`.")
    verify_token: Text = Field(
        "",
        alias="hub.verify_token",
        max_length=500,
        description="The verify token that the platform's operator set at the provider.",
    )
    challenge: Text = Field(
        "", alias="hub.challenge", max_length=500, description="The text to return."
    )
