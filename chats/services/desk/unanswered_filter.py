"""Questions that bots had no answer to: what a client's people teach them next."""

from django.db.models import Exists, OuterRef, QuerySet

from bots.models import Document, DocumentSource
from chats.models import UNANSWERED, Message


def among(rows: QuerySet[Message]) -> QuerySet[Message]:
    """The messages of bots that hold no answer, unordered.

    `is_known`: whether the bot has an answer to that very question by now.
    """
    known = Document.objects.filter(
        bot=OuterRef("conversation__bot"),
        source=DocumentSource.QUESTION_ANSWER,
        title__iexact=OuterRef("in_reply_to__text"),
    )
    found = rows.filter(UNANSWERED, in_reply_to__isnull=False)
    return found.filter(conversation__is_preview=False).annotate(is_known=Exists(known))
