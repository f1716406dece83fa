"""Search excerpts: the part of a message that matches a search, with the matches highlighted."""

import re
from collections.abc import Iterable
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from chats.models import Conversation, Message
from chats.services.desk import inbox

# The maximum number of characters of an excerpt before the first match, and in total.
_CHARS_BEFORE, _MAX_CHARS = 40, 160


def attach(chats: Iterable[Conversation], q: str) -> None:
    """Set `search_excerpt`, from the newest message that contains all words of `q`, on each
    conversation that has such a message."""
    terms, by_id = inbox.terms_of(q), {chat.pk: chat for chat in chats}
    if not terms or not by_id:
        return
    rows = Message.objects.filter(conversation_id__in=[*by_id], is_welcome=False)
    for term in terms:
        rows = rows.filter(text__icontains=term)
    newest = rows.order_by("conversation_id", "-seq").distinct("conversation_id")
    for chat_id, text in newest.values_list("conversation_id", "text"):
        chat: Any = by_id[chat_id]
        chat.search_excerpt = highlighted(text, terms)


def highlighted(text: str, terms: list[str]) -> SafeString:
    """An excerpt of the text around the first match, with all matches highlighted."""
    text = " ".join(text.split())
    pattern = re.compile("|".join(map(re.escape, terms)), re.IGNORECASE)
    first = pattern.search(text)
    start = max(first.start() - _CHARS_BEFORE, 0) if first else 0
    if start and first:  # start at a whole word, if one begins before the match
        start = text.find(" ", start, first.start()) + 1 or start
    excerpt = text[start : start + _MAX_CHARS]
    parts, end = [], 0
    for match in pattern.finditer(excerpt):
        parts += [("", excerpt[end : match.start()]), ("mark", match.group())]
        end = match.end()
    parts.append(("", excerpt[end:]))
    shown = format_html_join(
        "", "{}", ((format_html("<mark>{}</mark>", word) if tag else word,) for tag, word in parts)
    )
    return format_html('<span class="chat-text">{}{}</span>', "… " if start else "", shown)
