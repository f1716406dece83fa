"""The callbacks of socialnet and photoapp, with the fields that we read.

Unlike the schemas of our own API, these are tolerant: unknown fields are ignored, and a number may
be a string. An event that still does not fit is counted as malformed; the others are processed.
"""

from contextlib import suppress
from typing import Annotated, Any

from pydantic import (
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    field_validator,
)

from chatplatform.api.schemas import MAX_ID, MAX_NUMBER, Schema, example

# Longer ids are malformed: they do not fit the columns, and a truncated id could match another.
ProviderId = Annotated[str, Field(max_length=300)]
Number = Annotated[int, Field(ge=0, le=MAX_NUMBER)]


class Tolerant(Schema):
    """The base of the schemas of providers' callbacks."""

    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)

    @field_validator("*", mode="wrap")
    @classmethod
    def _leave_out_unreadable(
        cls, value: Any, read: ValidatorFunctionWrapHandler, info: ValidationInfo
    ) -> Any:
        """Treat an unreadable optional field as missing, and drop unreadable elements of a list; an
        object counts as a list of one."""
        try:
            return read(value)
        except ValidationError:
            field = cls.model_fields[info.field_name or ""]
            if field.is_required():
                raise
            values = [value] if isinstance(value, dict) else value
            found = _readable(values, read) if isinstance(values, list) else []
            return found or field.get_default(call_default_factory=True)


def _readable(values: list[Any], read: ValidatorFunctionWrapHandler) -> list[Any]:
    found: list[Any] = []
    for value in values:
        with suppress(ValidationError):
            found += read([value])
    return found


class Party(Tolerant):
    """A page, an account or a customer."""

    id: ProviderId | None = Field(
        None, description="The provider's id; missing for an unknown visitor."
    )


class FollowUp(Tolerant):
    """The customer's comment on a score."""

    type: str | None = Field(None, description="`free_form`.")
    payload: str | None = Field(None, description="What the customer wrote.")


class Questions(Tolerant):
    """The answer to one question of a survey."""

    type: str | None = Field(None, description="`csat`, `nps`, `ces` or `free_form`.")
    payload: str | None = Field(None, description="The score as text, or the free text.")
    follow_up: FollowUp | None = Field(None, description="The comment, if there is one.")


class FeedbackScreens(Tolerant):
    """One screen of a survey."""

    screen_id: int | None = Field(
        None, ge=0, le=MAX_ID, description="The number of the screen, from 0."
    )
    questions: dict[str, Questions] = Field(
        default_factory=dict, description="The answers, by question id."
    )


class MessagingFeedback(Tolerant):
    """A survey that a customer submitted."""

    feedback_screens: list[FeedbackScreens] = Field(
        default_factory=list, description="The screens, in the order of the request."
    )


class HookAttachment(Tolerant):
    """A file, place or link of a customer's message."""

    type: str | None = Field(None, description="image, audio, video, file, location, fallback, …")
    title: str | None = Field(None, description="The title of a link.")
    url: str | None = Field(None, description="The URL of a link; only in echoes.")
    payload: dict[str, Any] | None = Field(
        None, description="The file's URL, the coordinates, or the sticker."
    )


class HookReply(Tolerant):
    """The message or story that a message replies to."""

    mid: ProviderId | None = Field(None, description="The provider's id of the message.")
    story: dict[str, Any] | None = Field(None, description="The story.")


class HookMessage(Tolerant):
    """A message to or from a customer."""

    mid: ProviderId | None = Field(None, description="The provider's id of the message.")
    text: str | None = Field(None, description="The text.")
    is_echo: bool | None = Field(None, description="Whether the account sent it.")
    is_deleted: bool | None = Field(None, description="Whether the customer unsent it.")
    is_unsupported: bool | None = Field(
        None, description="Whether the provider withholds the content."
    )
    app_id: str | None = Field(None, description="The app that sent an echo.")
    metadata: str | None = Field(None, description="The text that an echo's sender attached.")
    quick_reply: dict[str, Any] | None = Field(None, description="The payload of a tapped option.")
    reply_to: HookReply | None = Field(None, description="The message or story that it replies to.")
    attachments: list[HookAttachment] | None = Field(None, description="Files, places, links.")
    referral: dict[str, Any] | None = Field(
        None, description="The advertisement that led the customer here."
    )


class HookPostback(Tolerant):
    """A tapped button."""

    mid: ProviderId | None = Field(None, description="The provider's id, if it gives one.")
    title: str | None = Field(None, description="The button's title.")
    payload: str | None = Field(None, description="The button's payload.")
    referral: dict[str, Any] | None = Field(
        None, description="The link that led the customer here."
    )


class HookReaction(Tolerant):
    """A reaction to a message."""

    mid: ProviderId = Field(description="The provider's id of the message.")
    action: str | None = Field(None, description="`react` or `unreact`.")
    reaction: str | None = Field(None, description="The reaction's name.")
    emoji: str | None = Field(None, description="The reaction as an emoji.")


class HookDelivery(Tolerant):
    """Messages that arrived."""

    mids: list[ProviderId] | None = Field(None, description="The provider's ids of the messages.")
    watermark: Number | None = Field(
        None, description="All messages sent before this time arrived; in milliseconds since 1970."
    )


class HookRead(Tolerant):
    """Messages that were read."""

    mid: ProviderId | None = Field(None, description="This message and all earlier ones were read.")
    watermark: Number | None = Field(
        None, description="All messages sent up to this time were read; in milliseconds since 1970."
    )


class HookEdit(Tolerant):
    """A message that the customer edited."""

    mid: ProviderId = Field(description="The provider's id of the message.")
    text: str | None = Field(None, description="Its new text.")
    num_edit: int | None = Field(None, ge=0, le=MAX_ID, description="How many times it was edited.")


class HookThumb(Tolerant):
    """A thumb up or down on a message of the platform."""

    mid: ProviderId = Field(description="The provider's id of the message.")
    feedback: str | None = Field(None, description="`Good response` or `Bad response`.")


class Messaging(Tolerant):
    """One event of a conversation; it has exactly one of the fields after `timestamp`."""

    sender: Party | None = Field(None, description="The party that caused the event.")
    recipient: Party | None = Field(None, description="The other party.")
    timestamp: Number | None = Field(None, description="The time, in milliseconds since 1970.")
    message: HookMessage | None = Field(None, description="A message.")
    postback: HookPostback | None = Field(None, description="A tapped button.")
    reaction: HookReaction | None = Field(None, description="A reaction.")
    delivery: HookDelivery | None = Field(None, description="Messages arrived.")
    read: HookRead | None = Field(None, description="Messages were read.")
    referral: dict[str, Any] | None = Field(
        None, description="The link or advertisement that led the customer here."
    )
    message_edit: HookEdit | None = Field(None, description="A message was edited.")
    messaging_feedback: MessagingFeedback | None = Field(None, description="A survey's answers.")
    response_feedback: HookThumb | None = Field(
        None, description="A thumb on a message of the platform."
    )
    take_thread_control: dict[str, Any] | None = Field(
        None, description="Another app took the thread from the platform's app."
    )
    pass_thread_control: dict[str, Any] | None = Field(
        None, description="An app passed the thread to another, perhaps to the platform's."
    )
    policy_enforcement: dict[str, Any] | None = Field(
        None, description="What the provider does about a violation of its rules."
    )


class Entry(Tolerant):
    """The events of one account."""

    id: ProviderId | None = Field(
        None, description="The provider's id of the account; missing in some events."
    )
    time: Number | None = Field(None, description="When it was sent, in milliseconds since 1970.")
    messaging: list[Messaging] = Field(default_factory=list, description="The events.")


class MessageHook(Tolerant):
    """A callback with events of one or several accounts."""

    model_config = example(
        object="page",
        entry=[
            {
                "id": "1048576000001",
                "time": 1795226400123,
                "messaging": [
                    {
                        "sender": {"id": "6120000000000001"},
                        "recipient": {"id": "1048576000001"},
                        "timestamp": 1795226399980,
                        "message": {"mid": "m_1", "text": "hello"},
                    }
                ],
            }
        ],
    )

    object: str | None = Field(None, description="`page` for socialnet, `instagram` for photoapp.")
    entry: list[Entry] = Field(default_factory=list, description="The accounts' events.")
