"""Questions that bots had no answer to: what a client's people teach them next."""

from django.db.models import Exists, OuterRef, QuerySet, Subquery

from bots.models import Document, DocumentSource
from chats.models import UNANSWERED, GroupedQuestion, GroupStatus, Message


def among(rows: QuerySet[Message]) -> QuerySet[Message]:
    """The messages of bots that hold no answer, unordered.

    `is_known`: whether the bot has an answer to that very question by now, or learns one to its
    group. `answered_group`: its group, if the bot has answered that since; `answered_from`: the
    document that was written for it.
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
