"""How the site names customers, channels, and the states and endings of conversations."""

from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from chatplatform.templatetags.codes import location_text
from chatplatform.templatetags.dates import full_time, short_day
from chats.models import AssignType, Conversation, Customer, Status
from chats.services.desk.customer_editing import FOREVER

# The name and the icon of each channel.
CHANNELS = {
    "web": (gettext_noop("Website"), "language"),
    "api": (gettext_noop("API"), "code"),
    "socialnet": ("Socialnet", "thumb_up"),
    "photoapp": ("Photoapp", "photo_camera"),
    "chatapp": ("Chatapp", "call"),
    "localapp": ("Localapp", "sms"),
    "telegram": ("Telegram", "send"),
}
PRIORITIES = {
    "low": gettext_noop("Low"),
    "normal": gettext_noop("Normal"),
    "high": gettext_noop("High"),
    "urgent": gettext_noop("Urgent"),
}
ENDINGS = {
    "customer": gettext_noop("the customer"),
    "agent": gettext_noop("an agent"),
    "inactivity": gettext_noop("the system, due to inactivity"),
    "merged": gettext_noop("the system, because the customer has another conversation"),
}


def channel_name(channel: str) -> str:
    """The name of a channel."""
    return gettext(CHANNELS[channel][0])


def chat_customer_name(chat: Conversation) -> str:
    """The name of a conversation's customer."""
    return customer_name(
        chat.customer, location=chat.location, channel=chat.channel, began=chat.created_at
    )


def customer_name(
    customer: Customer,
    *,
    location: dict[str, Any] | None = None,
    channel: str | None = None,
    began: datetime | None = None,
) -> str:
    """The customer's name, email address or phone number. If none is known: "Visitor" with the
    location or else the channel, and the time `began` or else the time of the customer's
    creation."""
    known = customer.name or customer.email or customer.phone
    if known:
        return known
    origin = location_text(location) if location else channel_name(channel) if channel else ""
    at = timezone.localtime(began or customer.created_at)
    time = f"{at:%H:%M}"
    if at.date() != timezone.localdate():
        time = f"{short_day(at.date())} {time}"
    return f"{gettext('Visitor')} · {', '.join(filter(None, (origin, time)))}"


def block_text(customer: Customer) -> str:
    """A text that says that a customer is blocked and until when; empty if they are not."""
    until = customer.blocked_until
    if not until or not customer.is_blocked:
        return ""
    if until >= FOREVER:
        return gettext("Blocked")
    return gettext("Blocked until %(time)s") % {"time": full_time(timezone.localtime(until))}


def state_of(chat: Conversation) -> tuple[str, str]:
    """The state of a conversation: a code, which selects the color, and a name."""
    if chat.is_preview:
        return "preview", gettext("Test")
    if chat.status != Status.OPEN:
        text = gettext("Ended") if chat.status == Status.ENDED else gettext("Snoozed")
        return chat.status, text
    if chat.assign_type == AssignType.QUEUE:
        return chat.assign_type, gettext("Waiting")
    if chat.assign_type == AssignType.BOT:
        return chat.assign_type, gettext("With the bot")
    name = chat.assignee.full_name if chat.assignee else ""
    return chat.assign_type, gettext("With %(name)s") % {"name": name or gettext("an agent")}


def ended_by(chat: Conversation) -> str:
    """Who ended a conversation, as text; empty if it has not ended."""
    return gettext(ENDINGS.get(chat.ended_by, chat.ended_by)) if chat.ended_by else ""
