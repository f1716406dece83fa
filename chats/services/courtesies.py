"""The few sentences that the platform says itself, in the customer's language where it can.

A client's own words come first: the bot's welcome message, the configured handover message.
"""

from bots.models import Bot
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


def reply(kind: str, *, language: str, bot: Bot) -> str:
    """What the bot says to small talk: `greeting`, `thanks` or `goodbye`."""
    if kind == "greeting":
        return _in(language, bot.welcome_message, _GREETING)
    return _in(language, {}, _THANKS if kind == "thanks" else _GOODBYE)


def handover(*, reason: str, language: str, config: ClientConfig) -> str:
    """What the customer is told when a person will answer."""
    return _in(language, config.handoff_message, _HANDOVER if reason == "no_answer" else _ASKED)


def _in(language: str, own: dict[str, str], ours: dict[str, str]) -> str:
    base = language.split("-")[0]
    return own.get(language) or own.get(base) or ours.get(base) or own.get("en") or ours["en"]
