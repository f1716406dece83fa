"""The callbacks of localapp, with the fields that we read; as tolerant as those of socialnet."""

from typing import Any

from pydantic import Field, field_validator

from channels_app.schemas.graph_callback import Party, ProviderId, Tolerant
from chatplatform.api.schemas import Text, example


class LocalappAttachment(Tolerant):
    """A file, place, link or card of a message."""

    type: str | None = Field(None, description="image, gif, sticker, audio, video, file, link, …")
    payload: dict[str, Any] | None = Field(None, description="The URL, name or coordinates.")


class LocalappMessage(Tolerant):
    """The message that an event is about."""

    msg_id: ProviderId | None = Field(None, description="The provider's id of the message.")
    msg_ids: list[ProviderId] | None = Field(
        None, description="The ids of the messages that were read."
    )
    text: str | None = Field(None, description="The text.")
    quote_msg_id: ProviderId | None = Field(
        None, description="The provider's id of the message that it replies to."
    )
    react_icon: str | None = Field(None, description="The reaction; empty if it was removed.")
    attachments: list[LocalappAttachment] | None = Field(None, description="Files, places, links.")
    product_id: str | None = Field(None, description="The product that the customer asks about.")
    rate: str | None = Field(None, description="The stars of a rating, from 1 to 5.")
    note: str | None = Field(None, description="The text of a rating.")
    feedbacks: list[str] | None = Field(None, description="The chosen phrases of a rating.")


class LocalappEvent(Tolerant):
    """One event of one account."""

    model_config = example(
        app_id="2553900000000000001",
        event_name="user_send_text",
        timestamp="1795226399980",
        sender={"id": "6142000000000000001"},
        recipient={"id": "3662000000000000001"},
        message={"msg_id": "cb31dff1c39642cc1b83", "text": "hello"},
    )

    event_name: str | None = Field(
        None, description="The kind of event; missing if the provider only checks the URL."
    )
    app_id: str | None = Field(None, description="The id of the platform's app.")
    oa_id: ProviderId | None = Field(
        None, description="The provider's id of the account, in events without a recipient."
    )
    timestamp: str | None = Field(None, description="The time, in milliseconds since 1970.")
    sender: Party | None = Field(None, description="The sender; in receipts the account.")
    recipient: Party | None = Field(None, description="The recipient.")
    message: LocalappMessage | None = Field(None, description="The message.")
    info: dict[str, Any] | None = Field(
        None, description="What the customer entered into the provider's form."
    )


class LocalappConsentAnswer(Tolerant):
    """The query that the provider adds when it redirects the person's browser to us."""

    state: Text = Field(
        "", max_length=500, description="The state with which the consent was begun."
    )
    code: Text = Field(
        "", max_length=2000, description="The authorization code; missing after a refusal."
    )
    oa_id: Text = Field("", max_length=100, description="The account that the person chose.")

    @field_validator("state", mode="before")
    @classmethod
    def _first(cls, value: Any) -> Any:
        """The first `state` if there are two: our URL contains it, and the provider may add it."""
        return value[0] if isinstance(value, list) and value else value
