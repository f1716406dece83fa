"""Search excerpts: the part of a message that matches a search, with the matches highlighted."""

import re
from collections.abc import Iterable
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from chats.models import Conversation, Message
from chats.services.desk import inbox

# Characters of an excerpt: before the first match, and in all.
_BEFORE, _SHOWN = 40, 160


def attach(chats: Iterable[Conversation], q: str) -> None:
    """Set `search_excerpt` on each matching conversation: an excerpt of its newest message that
    contains all terms."""
    terms, by_id = inbox.terms_of(q), {chat.pk: chat for chat in chats}
    if not terms or not by_id:
        return
    rows = Message.objects.filter(conversation_id__in=[*by_id], is_welcome=False)
    for term in terms:
        rows = rows.filter(text__icontains=term)
    newest = rows.order_by("conversation_id", "-seq").distinct("conversation_id")
    for chat_id, text in newest.values_list("conversation_id", "text"):
        chat: Any = by_id[chat_id]
        chat.search_excerpt = marked(text, terms)


def marked(text: str, terms: list[str]) -> SafeString:
    """An excerpt around the first match, all matches highlighted."""
    text = " ".join(text.split())
    pattern = re.compile("|".join(map(re.escape, terms)), re.IGNORECASE)
    first = pattern.search(text)
    start = max(first.start() - _BEFORE, 0) if first else 0
    if start and first:  # at the beginning of a word, if there is one
        start = text.find(" ", start, first.start()) + 1 or start
    piece = text[start : start + _SHOWN]
    parts, place = [], 0
    for match in pattern.finditer(piece):
        parts += [("", piece[place : match.start()]), ("mark", match.group())]
        place = match.end()
    parts.append(("", piece[place:]))
    shown = format_html_join(
        "", "{}", ((format_html("<mark>{}</mark>", word) if tag else word,) for tag, word in parts)
    )
    return format_html('<span class="chat-words">{}{}</span>', "… " if start else "", shown)
