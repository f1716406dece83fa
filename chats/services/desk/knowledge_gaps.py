"""Unanswered questions, from which a client's people see what their bots should learn next."""

from django.db.models import Exists, OuterRef, QuerySet, Subquery

from bots.models import Document, DocumentSource
from chats.models import UNANSWERED, GroupedQuestion, GroupStatus, Message


def among(rows: QuerySet[Message]) -> QuerySet[Message]:
    """The replies among these messages that left a question unanswered, unordered; no previews.

    Annotations: `is_known`, whether the bot by now has an answer to exactly this question or is
    learning one for its group; `answered_group`, the question's group if the bot can answer it by
    now; `answered_from`, the document that was written for that group.
    """
    known = Document.objects.filter(
        bot=OuterRef("conversation__bot"),
        source=DocumentSource.QUESTION_ANSWER,
        title__iexact=OuterRef("in_reply_to__text"),
    )
    grouped = GroupedQuestion.objects.filter(message=OuterRef("in_reply_to"))
    answered = grouped.filter(group__status=GroupStatus.ANSWERED)
    found = rows.filter(UNANSWERED, in_reply_to__isnull=False)
    return found.filter(conversation__is_preview=False).annotate(
        is_known=Exists(known) | Exists(grouped.filter(group__status=GroupStatus.LEARNING)),
        answered_group=Subquery(answered.values("group")),
        answered_from=Subquery(answered.values("group__document")),
    )
