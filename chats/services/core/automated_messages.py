"""The platform's own messages to customers, with the client's texts or those in `phrasebook`."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.utils import timezone, translation

from bots.language import phrasebook
from bots.language.phrasebook import base_of
from bots.services import bots, business_hours, customer_info_fields
from chats.models import Conversation, text_content

# The language if there is no text in the client's default language either.
_FALLBACK_LANGUAGE = "en"
# A text of Django's own, so it is not marked for our catalogs.
_YES_NO = "yes,no,maybe"


class ReplyText(NamedTuple):
    """The text of a reply, its language and its buttons."""

    text: str
    language: str
    # The texts of the buttons below the text. The customer sends the text of the chosen button.
    choices: tuple[str, ...] = ()

    @property
    def content(self) -> list[dict[str, Any]]:
        """The reply as the content of a message."""
        content = text_content(self.text)
        if self.choices:
            content[0]["options"] = [{"label": choice, "value": choice} for choice in self.choices]
        return content


def sentence(name: str, *, language: str, chat: Conversation) -> ReplyText:
    """The platform's message with this name, which is a key of the phrasebook's section `says`."""
    return _choose(language, chat, _client_texts(name, chat), _platform_texts(name))


def greeting(*, language: str, chat: Conversation) -> ReplyText:
    """The bot's welcome message, else the client's greeting, else the platform's, in the first
    language of `_choose` that has one of them."""
    client_texts = _client_texts("greeting", chat)
    return _choose(
        language, chat, chat.bot.welcome_message, client_texts, _platform_texts("greeting")
    )


def welcome(*, language: str, chat: Conversation) -> ReplyText | None:
    """The bot's welcome message in the language, or in the bot's default language; None if it has
    neither."""
    texts = chat.bot.welcome_message
    return _find(texts, language) or _find(texts, chat.bot.default_language)


def confirm(action: str, *, language: str, chat: Conversation) -> ReplyText:
    """The question that asks the customer to confirm a function call; `action` describes the
    call."""
    question = sentence("confirm", language=language, chat=chat)
    # Not str.format(), because the action contains text that customers wrote.
    text = question.text.replace("{action}", action)
    return question._replace(text=text, choices=yes_and_no(question.language))


def yes_and_no(language: str) -> tuple[str, str]:
    """The buttons for "Yes" and "No", in the words that Django has for every language."""
    code = base_of(language)
    with translation.override("zh-hans" if code == "zh" else code):
        yes, no, *_ = translation.gettext(_YES_NO).split(",")
    return yes.capitalize(), no.capitalize()


def ask_info(field: Mapping[str, Any], *, language: str, chat: Conversation) -> ReplyText:
    """The question for a customer-info field: the client's own, or else the platform's with the
    field's label.

    The platform's is also used if the customer's language has a label, but no own question.
    """
    questions: Mapping[str, str] = field.get("question") or {}
    labels = customer_info_fields.labels(field["name"], field["label"])
    language, default = _supported_language(language, chat), chat.bot.default_language
    for code in (language, default):
        if reply := _find(questions, code):
            return reply
        if _find(labels, code):
            break
    label = bots.in_language(labels, language, default=default) or field["name"]
    choices = [option["label"] for option in field.get("options") or []]
    label_text = label.rstrip("?？؟: ") + (f" ({', '.join(choices)})" if choices else "")
    reply = sentence("ask_info", language=language, chat=chat)
    return reply._replace(text=reply.text.replace("{label}", label_text))


def about_bot(*, language: str, chat: Conversation) -> ReplyText:
    """The reply to "Who are you?": whose assistant the bot is and, if the client hands over on
    request, that the customer can ask for a person."""
    reply = sentence("about_bot", language=language, chat=chat)
    text = reply.text.replace("{company}", chat.client.name)
    if chat.client.config.handoff_on_request:
        person = sentence("person_possible", language=reply.language, chat=chat)
        text = f"{text} {person.text}"
    return reply._replace(text=text)


def ask_again(
    headings: Sequence[str], *, person: bool, language: str, chat: Conversation
) -> ReplyText:
    """The request to rephrase the question, with a button for each heading and, if `person` is set,
    one for a person."""

    def text_of(name: str) -> str:
        return sentence(name, language=reply.language, chat=chat).text

    reply = sentence("unknown", language=language, chat=chat)
    parts = [reply.text, *([text_of("nearest")] if headings else [])]
    choices = tuple(headings)
    if person:
        parts.insert(1, text_of("person_possible"))
        choices += (text_of("person_button"),)
    return ReplyText(" ".join(parts), reply.language, choices)


def handover(*, reason: str, language: str, chat: Conversation) -> ReplyText:
    """The announcement of a handover: a person will answer or, outside business hours, the company
    is closed. For `approval_needed`, it says instead that a call needs an approval."""
    if reason == "approval_needed":
        # The client's `handoff_message` is about questions that the bot could not answer.
        return sentence(reason, language=language, chat=chat)
    if not _is_open(chat):
        return _closed_message(language, chat)
    texts = chat.client.config.handoff_message
    if reason != "no_answer":
        return _choose(language, chat, texts, _platform_texts("handover"))
    name = "handover_no_answer"
    return _choose(language, chat, _client_texts(name, chat), texts, _platform_texts(name))


def out_of_hours(*, language: str, chat: Conversation) -> ReplyText | None:
    """The client's text that says that the company is closed; None within business hours, or if the
    client has no such text."""
    texts = chat.client.config.out_of_hours_message
    return _closed_message(language, chat) if texts and not _is_open(chat) else None


def _closed_message(language: str, chat: Conversation) -> ReplyText:
    config = chat.client.config
    reply = _choose(language, chat, config.out_of_hours_message, _platform_texts("closed"))
    text = business_hours.with_opening(
        reply.text, config, chat.bot, timezone.now(), language=reply.language,
        zone=(chat.location or {}).get("timezone"),
    )  # fmt: skip
    return reply._replace(text=text)


def _is_open(chat: Conversation) -> bool:
    return business_hours.is_open(chat.client.config, chat.bot, timezone.now())


def _client_texts(name: str, chat: Conversation) -> Mapping[str, str]:
    texts: Mapping[str, str] = chat.client.config.automatic_messages.get(name, {})
    return texts


def _platform_texts(name: str) -> Mapping[str, str]:
    return {code: book.says[name] for code, book in phrasebook.all_books().items()}


def _choose(language: str, chat: Conversation, *sources: Mapping[str, str]) -> ReplyText:
    """The text from the first source that has it in the language, else in the bot's default
    language, else in the client's; else the English text of the last source."""
    language = _supported_language(language, chat)
    for code in (language, chat.bot.default_language, chat.client.default_language):
        if reply := next(filter(None, (_find(source, code) for source in sources)), None):
            return reply
    return ReplyText(sources[-1][_FALLBACK_LANGUAGE], _FALLBACK_LANGUAGE)


def _supported_language(language: str, chat: Conversation) -> str:
    """The language, or the bot's default language if the bot does not support it."""
    offered = {base_of(code) for code in chat.bot.languages}
    return language if not offered or base_of(language) in offered else chat.bot.default_language


def _find(source: Mapping[str, str], language: str) -> ReplyText | None:
    """The source's text in the language, else in the language without its region, else in another
    region's variant; None if the source has none of these."""
    base = base_of(language)
    regions = (code for code in source if code.startswith(f"{base}-"))
    codes = (language, base, *regions)
    return next((ReplyText(source[code], code) for code in codes if source.get(code)), None)
