"""The callbacks of chatapp, as far as we read them; tolerant like those of socialnet."""

from typing import Any

from pydantic import ConfigDict, Field

from channels_app.shapes.graph_callback import ProviderId, Tolerant
from chatplatform.api.shapes import MAX_NUMBER, example


class ChatappMetadata(Tolerant):
    """The number that a change is of."""

    display_phone_number: str | None = Field(None, description="The number, as people write it.")
    phone_number_id: ProviderId | None = Field(None, description="The provider's id of the number.")


class ChatappProfile(Tolerant):
    """What a customer tells of themselves."""

    name: str | None = Field(None, description="The customer's name.")
    username: str | None = Field(None, description="The name that stands for a hidden number.")


class ChatappContact(Tolerant):
    """A customer of whom something in the change is."""

    profile: ChatappProfile | None = Field(None, description="Name and user name.")
    wa_id: ProviderId | None = Field(
        None, description="The telephone number, digits; may be hidden."
    )
    user_id: ProviderId | None = Field(None, description="The customer's id at the business.")


class ChatappText(Tolerant):
    """Plain words."""

    body: str | None = Field(None, description="The words.")


class ChatappMedia(Tolerant):
    """A file, which the provider hands over for its id."""

    id: ProviderId | None = Field(None, description="The file's id, good for seven days.")
    mime_type: str | None = Field(None, description="What the sender's device says it is.")
    caption: str | None = Field(None, description="Words below it.")
    filename: str | None = Field(None, description="Name of a document.")


class ChatappLocation(Tolerant):
    """A place."""

    latitude: float = Field(ge=-90, le=90, description="Degrees north, -90..90.")
    longitude: float = Field(ge=-180, le=180, description="Degrees east, -180..180.")
    name: str | None = Field(None, description="What is there.")
    address: str | None = Field(None, description="Its address.")


class ChatappReaction(Tolerant):
    """A reaction to a message."""

    message_id: ProviderId = Field(description="The message.")
    emoji: str | None = Field(None, description="The picture; empty or missing: taken back.")


class ChatappContext(Tolerant):
    """What a message goes back to."""

    id: ProviderId | None = Field(None, description="The message that it answers.")
    forwarded: bool | None = Field(None, description="Passed on from another chat.")


class ChatappTarget(Tolerant):
    """A message that the customer changed or took back."""

    original_message_id: ProviderId = Field(description="The message.")
    message: dict[str, Any] | None = Field(None, description="Its new type and content.")


class ChatappMessage(Tolerant):
    """A message; it holds the part that is named as its type."""

    model_config = ConfigDict(populate_by_name=True)

    sender: ProviderId | None = Field(
        None, alias="from", description="The customer's number, digits; may be hidden."
    )
    from_user_id: ProviderId | None = Field(None, description="The customer's id at the business.")
    to: ProviderId | None = Field(None, description="The customer, in echoes.")
    id: ProviderId = Field(min_length=1, description="The provider's id of the message.")
    timestamp: int | None = Field(
        None, ge=0, le=MAX_NUMBER, description="When, in seconds since 1970."
    )
    type: str = Field(description="text, image, interactive, reaction, edit, revoke, …")
    text: ChatappText | None = Field(None, description="Of `text`.")
    image: ChatappMedia | None = Field(None, description="Of `image`.")
    video: ChatappMedia | None = Field(None, description="Of `video`.")
    audio: ChatappMedia | None = Field(None, description="Of `audio`.")
    document: ChatappMedia | None = Field(None, description="Of `document`.")
    sticker: ChatappMedia | None = Field(None, description="Of `sticker`.")
    location: ChatappLocation | None = Field(None, description="Of `location`.")
    contacts: list[dict[str, Any]] | None = Field(None, description="Of `contacts`: cards.")
    interactive: dict[str, Any] | None = Field(
        None, description="Of `interactive`: a tapped button, a row of a list, a form."
    )
    button: dict[str, Any] | None = Field(None, description="Of `button`: one of a template.")
    reaction: ChatappReaction | None = Field(None, description="Of `reaction`.")
    edit: ChatappTarget | None = Field(None, description="Of `edit`.")
    revoke: ChatappTarget | None = Field(None, description="Of `revoke`: a message taken back.")
    order: dict[str, Any] | None = Field(None, description="Of `order`: what is to be bought.")
    system: dict[str, Any] | None = Field(None, description="Of `system`: a changed number.")
    context: ChatappContext | None = Field(None, description="What it answers.")
    referral: dict[str, Any] | None = Field(None, description="The advertisement that led here.")
    group_id: str | None = Field(None, description="The group, which is not handled.")


class ChatappStatus(Tolerant):
    """How far one of our messages came."""

    id: ProviderId = Field(min_length=1, description="The provider's id of the message.")
    status: str = Field(description="sent, delivered, read, played, failed or deleted.")
    timestamp: int | None = Field(
        None, ge=0, le=MAX_NUMBER, description="When, in seconds since 1970."
    )
    recipient_id: ProviderId | None = Field(
        None, description="The customer's number; may be hidden."
    )
    recipient_user_id: ProviderId | None = Field(
        None, description="The customer's id at the business."
    )
    biz_opaque_callback_data: str | None = Field(None, description="What we gave along.")
    errors: list[dict[str, Any]] | None = Field(None, description="Why it failed.")


class ChatappChangeValue(Tolerant):
    """What happened: messages, statuses, messages written in the telephone's app."""

    messaging_product: str | None = Field(None, description="`whatsapp`.")
    metadata: ChatappMetadata | None = Field(None, description="The number.")
    contacts: list[ChatappContact] = Field(default_factory=list, description="The customers.")
    messages: list[ChatappMessage] = Field(default_factory=list, description="From customers.")
    statuses: list[ChatappStatus] = Field(
        default_factory=list, description="How far our messages came."
    )
    message_echoes: list[ChatappMessage] = Field(
        default_factory=list, description="What was written in the telephone's app."
    )


class ChatappChange(Tolerant):
    """One kind of event."""

    field: str | None = Field(None, description="`messages`, `smb_message_echoes`, …")
    value: ChatappChangeValue | None = Field(None, description="The events.")


class ChatappEntry(Tolerant):
    """What happened at one business account."""

    id: ProviderId | None = Field(None, description="The business account.")
    time: int | None = Field(
        None, ge=0, le=MAX_NUMBER, description="When it was sent, in seconds since 1970."
    )
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
