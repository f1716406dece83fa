"""The few sentences that the platform says itself, in the customer's language where it can.

A client's own words come first: the bot's welcome message, the configured handover message.
"""

from datetime import datetime
from zoneinfo import ZoneInfo

from django.utils import timezone

from bots.models import Bot
from chats.models import Conversation
from identity.models import ClientConfig

_GREETING = {"en": "Hello! How can I help you?", "vi": "Xin chào! Tôi có thể giúp gì cho bạn?"}
_THANKS = {
    "en": "You are welcome. Is there anything else?",
    "vi": "Không có gì ạ. Bạn cần giúp gì thêm không?",
}
_GOODBYE = {"en": "Goodbye, and thank you for writing.", "vi": "Tạm biệt, cảm ơn bạn đã nhắn tin."}
_HANDOVER = {
    "en": "I could not find that in what I know, so I have passed your message to a colleague,"
    " who will answer you here.",
    "vi": "Tôi chưa tìm thấy thông tin này nên đã chuyển tin nhắn của bạn cho nhân viên, họ sẽ"
    " trả lời bạn tại đây.",
}
_ASKED = {
    "en": "I have passed your message to a colleague, who will answer you here.",
    "vi": "Tôi đã chuyển tin nhắn của bạn cho nhân viên, họ sẽ trả lời bạn tại đây.",
}
_CLOSED = {
    "en": "We are closed now. I have passed your message on, and a colleague will answer you here.",
    "vi": "Hiện chúng tôi ngoài giờ làm việc. Tôi đã chuyển tin nhắn của bạn, nhân viên sẽ trả lời"
    " bạn tại đây.",
}
_UNKNOWN = {
    "en": "I am sorry, I could not find that in what I know. Could you put it in other words?",
    "vi": "Xin lỗi, tôi chưa tìm thấy thông tin này. Bạn có thể diễn đạt khác được không?",
}
_NO_PERSON = {
    "en": "I cannot pass you to a colleague here. Ask me, and I will answer what I know.",
    "vi": "Tôi không thể chuyển bạn cho nhân viên tại đây. Bạn cứ hỏi, tôi sẽ trả lời những gì"
    " tôi biết.",
}


def reply(kind: str, *, language: str, bot: Bot) -> str:
    """What the bot says to small talk: `greeting`, `thanks` or `goodbye`."""
    if kind == "greeting":
        return _in(language, bot.welcome_message, _GREETING)
    return _in(language, {}, _THANKS if kind == "thanks" else _GOODBYE)


def handover(*, reason: str, language: str, chat: Conversation) -> str:
    """What the customer is told when a person will answer; another thing while nobody works."""
    config = chat.client.config
    if config.out_of_hours_message and not is_open(config, timezone.now()):
        return _in(language, config.out_of_hours_message, _CLOSED)
    return _in(language, config.handoff_message, _HANDOVER if reason == "no_answer" else _ASKED)


def unknown(*, language: str) -> str:
    """What the bot says where it does not know and may not hand over."""
    return _in(language, {}, _UNKNOWN)


def no_person(*, language: str) -> str:
    """What the bot says to who asks for a person where it may not hand over."""
    return _in(language, {}, _NO_PERSON)


def is_open(config: ClientConfig, at: datetime) -> bool:
    """Whether the client works at a time, by its own clock; without business hours: always."""
    if not config.business_hours:
        return True
    local = at.astimezone(ZoneInfo(config.client.timezone))
    clock = f"{local:%H:%M}"
    return any(
        hours["weekday"] == local.weekday() and hours["opens"] <= clock < hours["closes"]
        for hours in config.business_hours
    )


def _in(language: str, own: dict[str, str], ours: dict[str, str]) -> str:
    base = language.split("-")[0]
    return own.get(language) or own.get(base) or ours.get(base) or own.get("en") or ours["en"]
