"""The sentences that the platform itself says, in the customer's language if it has it.

The client's own texts come first: the bot's welcome message, the configured handover message.
"""

from django.utils import timezone

from bots.models import Bot
from bots.services import business_hours
from chats.models import Conversation

_GREETING = {"en": "Hello! How can I help you?", "vi": "Xin chào! Tôi có thể giúp gì cho bạn?"}
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
_SENTENCES = {
    "thanks": {
        "en": "You are welcome. Is there anything else?",
        "vi": "Không có gì ạ. Bạn cần giúp gì thêm không?",
    },
    "goodbye": {
        "en": "Goodbye, and thank you for writing.",
        "vi": "Tạm biệt, cảm ơn bạn đã nhắn tin.",
    },
    "unknown": {
        "en": "I am sorry, I could not find that in what I know. Could you put it in other words?",
        "vi": "Xin lỗi, tôi chưa tìm thấy thông tin này. Bạn có thể diễn đạt khác được không?",
    },
    "no_person": {
        "en": "I cannot pass you to a colleague here. Ask me, and I will answer what I know.",
        "vi": "Tôi không thể chuyển bạn cho nhân viên tại đây. Bạn cứ hỏi, tôi sẽ trả lời những gì"
        " tôi biết.",
    },
    "approval_needed": {
        "en": "A colleague must confirm that first. I have passed it on, and you will be answered"
        " here.",
        "vi": "Việc này cần nhân viên xác nhận trước. Tôi đã chuyển yêu cầu, bạn sẽ được trả lời"
        " tại đây.",
    },
    "confirm": {
        "en": "I can do this for you: {action}. Shall I go ahead? Please answer yes or no.",
        "vi": "Tôi có thể làm việc này cho bạn: {action}. Bạn có đồng ý không? Vui lòng trả lời"
        " có hoặc không.",
    },
    "done": {
        "en": "A colleague has confirmed it, and it has been done.",
        "vi": "Nhân viên đã xác nhận và việc đó đã được thực hiện.",
    },
    # The customer, or an agent, declined a call.
    "declined": {
        "en": "All right, I have not done it.",
        "vi": "Vâng, tôi đã không thực hiện việc đó.",
    },
    "agent_declined": {
        "en": "A colleague has not confirmed that, so it was not done. You will be answered here.",
        "vi": "Nhân viên chưa xác nhận nên việc đó không được thực hiện. Bạn sẽ được trả lời tại"
        " đây.",
    },
}


def sentence(name: str, *, language: str) -> str:
    """The sentence of `_SENTENCES` with this name."""
    return _in(language, {}, _SENTENCES[name])


def greeting(*, language: str, bot: Bot) -> str:
    """The bot's welcome message, or the platform's."""
    return _in(language, bot.welcome_message, _GREETING)


def confirm(action: str, *, language: str) -> str:
    """The question before a call of a function that the customer must confirm."""
    # Not by format(): the action holds what customers wrote.
    return sentence("confirm", language=language).replace("{action}", action)


def handover(*, reason: str, language: str, chat: Conversation) -> str:
    """What the customer is told when a person will answer; outside business hours another text."""
    if reason == "approval_needed":
        # The client's own text is about a question that the bot could not answer.
        return sentence(reason, language=language)
    own, ours = chat.client.config.handoff_message, _HANDOVER if reason == "no_answer" else _ASKED
    return out_of_hours(language=language, chat=chat) or _in(language, own, ours)


def out_of_hours(*, language: str, chat: Conversation) -> str | None:
    """What the customer is told while it is closed; None if it is open, or no text is set."""
    config = chat.client.config
    if not config.out_of_hours_message or business_hours.is_open(config, chat.bot, timezone.now()):
        return None
    return _in(language, config.out_of_hours_message, _CLOSED)


def _in(language: str, own: dict[str, str], ours: dict[str, str]) -> str:
    base = language.split("-")[0]
    return own.get(language) or own.get(base) or ours.get(base) or own.get("en") or ours["en"]
