"""The callbacks of chatapp, with the fields that we read; as tolerant as `graph_callback`."""

from typing import Any, Self

from pydantic import ConfigDict, Field, model_validator

from channels_app.schemas.graph_callback import Number, ProviderId, Tolerant
from chatplatform.api.schemas import example


class ChatappMetadata(Tolerant):
    """The number that a change is about."""

    display_phone_number: str | None = Field(None, description="The number as people write it.")
    phone_number_id: ProviderId | None = Field(None, description="The provider's id of the number.")


class ChatappProfile(Tolerant):
    """A customer's own profile."""

    name: str | None = Field(None, description="The customer's name.")
    username: str | None = Field(
        None, description="The user name, shown instead of a hidden number."
    )


class ChatappContact(Tolerant):
    """A customer whose messages or statuses the change contains."""

    profile: ChatappProfile | None = Field(None, description="Name and user name.")
    wa_id: ProviderId | None = Field(
        None, description="The phone number in digits; missing if it is hidden."
    )
    user_id: ProviderId | None = Field(
        None, description="The user id that the provider gives the customer for this business."
    )


class ChatappText(Tolerant):
    """Plain text."""

    body: str | None = Field(None, description="The text.")

    @model_validator(mode="before")
    @classmethod
    def _accept_bare_text(cls, value: Any) -> Any:
        return {"body": value} if isinstance(value, str) else value


class ChatappMedia(Tolerant):
    """A file, which is downloaded from the provider by its id."""

    id: ProviderId | None = Field(None, description="The file's id, valid for seven days.")
    mime_type: str | None = Field(None, description="The MIME type that the sender's device gave.")
    caption: str | None = Field(None, description="The caption.")
    filename: str | None = Field(None, description="The file name of a document.")
    voice: bool | None = Field(None, description="Whether a recording is a voice message.")


class ChatappLocation(Tolerant):
    """A place."""

    latitude: float | None = Field(None, ge=-90, le=90, description="Degrees north, -90..90.")
    longitude: float | None = Field(None, ge=-180, le=180, description="Degrees east, -180..180.")
    name: str | None = Field(None, description="The name of the place.")
    address: str | None = Field(None, description="Its address.")


class ChatappReaction(Tolerant):
    """A reaction to a message."""

    message_id: ProviderId = Field(description="The provider's id of the message.")
    emoji: str | None = Field(None, description="The emoji; empty or missing if it was removed.")


class ChatappContext(Tolerant):
    """What a message refers to."""

    id: ProviderId | None = Field(
        None, description="The provider's id of the message that it replies to."
    )
    forwarded: bool | None = Field(None, description="Whether it was forwarded.")
    frequently_forwarded: bool | None = Field(
        None, description="Whether it was forwarded many times."
    )
    referred_product: dict[str, Any] | None = Field(
        None, description="The product of the catalog that the customer asks about."
    )


class ChatappTarget(Tolerant):
    """A message that its sender edited or unsent."""

    original_message_id: ProviderId = Field(description="The provider's id of the message.")
    message: dict[str, Any] | None = Field(None, description="Its new type and content.")


# The fields of a message that contain what a customer sent, and those that contain changes.
_CONTENTS = (
    "text", "image", "video", "audio", "document", "sticker", "location", "contacts", "interactive",
    "button", "order",
)  # fmt: skip
_CHANGES = ("reaction", "edit", "revoke", "system")


class ChatappMessage(Tolerant):
    """A message; its content is in the field with the name of its `type`."""

    model_config = ConfigDict(populate_by_name=True)

    sender: ProviderId | None = Field(
        None, alias="from", description="The customer's number in digits; missing if hidden."
    )
    from_user_id: ProviderId | None = Field(
        None, description="The user id that the provider gives the customer for this business."
    )
    to: ProviderId | None = Field(None, description="The customer's number; only in echoes.")
    to_user_id: ProviderId | None = Field(
        None,
        description="The user id that the provider gives the customer for this business; only in"
        " echoes.",
    )
    id: ProviderId | None = Field(
        None, min_length=1, description="The provider's id of the message."
    )
    timestamp: str | None = Field(
        None,
        max_length=16,
        pattern=r"^\d+$",
        description="When it was sent, in seconds since 1970, as the provider writes it.",
        examples=["1795226399"],
    )
    type: str = Field("unknown", description="text, image, interactive, reaction, edit, revoke, …")
    text: ChatappText | None = Field(None, description="The content of type `text`.")
    image: ChatappMedia | None = Field(None, description="The content of type `image`.")
    video: ChatappMedia | None = Field(None, description="The content of type `video`.")
    audio: ChatappMedia | None = Field(None, description="The content of type `audio`.")
    document: ChatappMedia | None = Field(None, description="The content of type `document`.")
    sticker: ChatappMedia | None = Field(None, description="The content of type `sticker`.")
    location: ChatappLocation | None = Field(None, description="The content of type `location`.")
    contacts: list[dict[str, Any]] | None = Field(None, description="The contact cards.")
    interactive: dict[str, Any] | None = Field(
        None, description="The tapped button, the chosen row of a list, or the submitted form."
    )
    button: dict[str, Any] | None = Field(None, description="The tapped button of a template.")
    reaction: ChatappReaction | None = Field(None, description="The reaction.")
    edit: ChatappTarget | None = Field(None, description="The edited message.")
    revoke: ChatappTarget | None = Field(None, description="The unsent message.")
    order: dict[str, Any] | None = Field(None, description="The order and its items.")
    system: dict[str, Any] | None = Field(None, description="A change of number or id.")
    context: ChatappContext | None = Field(None, description="What the message refers to.")
    referral: dict[str, Any] | None = Field(
        None, description="The advertisement that led the customer here."
    )
    group_id: str | None = Field(None, description="The group's id; group messages are ignored.")
    unsupported: dict[str, Any] | None = Field(
        None, description="The `type` of content that the provider does not pass on."
    )

    @model_validator(mode="after")
    def _take_type_from_content(self) -> Self:
        """If the message lacks the field that `type` names, name the content that it has."""
        present = [name for name in (*_CONTENTS, *_CHANGES) if getattr(self, name) is not None]
        if self.type not in present:
            self.type = next((name for name in present if name in _CONTENTS), self.type)
        return self


class ChatappStatus(Tolerant):
    """The delivery status of a message of the platform."""

    id: ProviderId = Field(min_length=1, description="The provider's id of the message.")
    status: str = Field(description="sent, delivered, read, played, failed or deleted.")
    timestamp: Number | None = Field(None, description="When, in seconds since 1970.")
    recipient_id: ProviderId | None = Field(
        None, description="The customer's number; missing if it is hidden."
    )
    recipient_user_id: ProviderId | None = Field(
        None, description="The user id that the provider gives the customer for this business."
    )
    biz_opaque_callback_data: str | None = Field(
        None, description="The id that the platform gave the message."
    )
    errors: list[dict[str, Any]] | None = Field(None, description="Why it failed.")
    pricing: dict[str, Any] | None = Field(
        None, description="Whether the provider charges for the message, and in which category."
    )


class ChatappCall(Tolerant):
    """A call."""

    model_config = ConfigDict(populate_by_name=True)

    id: ProviderId = Field(min_length=1, description="The provider's id of the call.")
    sender: ProviderId | None = Field(None, alias="from", description="The caller's number.")
    from_user_id: ProviderId | None = Field(
        None, description="The user id that the provider gives the customer for this business."
    )
    event: str | None = Field(None, description="`connect` or `terminate`.")
    direction: str | None = Field(None, description="`USER_INITIATED` or `BUSINESS_INITIATED`.")
    status: str | None = Field(None, description="`COMPLETED` or `FAILED`, when the call ends.")
    duration: Number | None = Field(
        None, description="How many seconds an answered call took, when it ends."
    )
    timestamp: Number | None = Field(None, description="When, in seconds since 1970.")


class ChatappPreference(Tolerant):
    """Whether a customer wants offers."""

    wa_id: ProviderId | None = Field(None, description="The customer's number in digits.")
    user_id: ProviderId | None = Field(
        None, description="The user id that the provider gives the customer for this business."
    )
    value: str | None = Field(None, description="`stop` or `resume`.")
    timestamp: Number | None = Field(None, description="When, in seconds since 1970.")


class ChatappChangeValue(Tolerant):
    """Messages, statuses, calls, and messages written in the business's phone app."""

    messaging_product: str | None = Field(None, description="`whatsapp`.")
    metadata: ChatappMetadata | None = Field(None, description="The number.")
    contacts: list[ChatappContact] = Field(default_factory=list, description="The customers.")
    messages: list[ChatappMessage] = Field(default_factory=list, description="Customers' messages.")
    statuses: list[ChatappStatus] = Field(
        default_factory=list, description="Delivery statuses of the platform's messages."
    )
    message_echoes: list[ChatappMessage] = Field(
        default_factory=list, description="Messages written in the business's phone app."
    )
    calls: list[ChatappCall] = Field(default_factory=list, description="Calls with customers.")
    user_preferences: list[ChatappPreference] = Field(
        default_factory=list, description="Which customers want offers."
    )


class ChatappChange(Tolerant):
    """Events of one kind."""

    field: str | None = Field(None, description="`messages`, `smb_message_echoes`, …")
    value: ChatappChangeValue | None = Field(None, description="The events.")


class ChatappEntry(Tolerant):
    """The events of one business account."""

    id: ProviderId | None = Field(None, description="The business account's id.")
    time: Number | None = Field(None, description="When it was sent, in seconds since 1970.")
    changes: list[ChatappChange] = Field(default_factory=list, description="The events.")


class ChatappWebhook(Tolerant):
    """A callback with events of one or several business accounts."""

    model_config = example(
        object="whatsapp_business_account",
        entry=[
            {
                "id": "102290129340398",
                "changes": [
                    {
                        "field": "messages",
                        "value": {
                            "messaging_product": "whatsapp",
                            "metadata": {"phone_number_id": "1122334455667"},
                            "contacts": [{"profile": {"name": "An Tran"}, "wa_id": "84901234567"}],
                            "messages": [
                                {
                                    "from": "84901234567",
                                    "id": "wamid.1",
                                    "timestamp": "1795226399",
                                    "type": "text",
                                    "text": {"body": "hello"},
                                }
                            ],
                        },
                    }
                ],
            }
        ],
    )

    object: str | None = Field(None, description="`whatsapp_business_account`.")
    entry: list[ChatappEntry] = Field(default_factory=list, description="The accounts' events.")
