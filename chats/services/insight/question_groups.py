"""Groups unanswered questions that have the same words or, if there is an encoder, similar vectors;
reads groups and unanswered questions."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import numpy as np
from django.db import transaction
from django.db.models import Case, Count, Exists, F, Max, OuterRef, QuerySet, Subquery, When
from django.db.models.functions import Coalesce

from bots.language import embedding
from bots.language.embedding import Vectors
from bots.language.phrasebook import plain
from bots.models import Bot, Document, DocumentSource
from chatplatform import jobs
from chats.models import (
    UNANSWERED,
    GroupedQuestion,
    GroupStatus,
    Message,
    QuestionGroup,
    SenderType,
)
from chats.services.core import enqueue_question_grouping

# Questions older than this are removed from their groups, and therefore from the list.
WINDOW = timedelta(days=30)
# The maximum number of questions per job; each takes about 8 ms. The next job groups the rest.
QUESTIONS_PER_JOB = 100
# A longer text is unlikely to be asked again in similar words, and would take up to 0.1 seconds to
# encode.
MAX_COMPARED_CHARACTERS = 500
# A question is compared with at most this many groups, those with the latest questions. Their
# vectors take 8 MB.
MAX_COMPARED = 5_000
# The minimum similarity for a question to join a group. Measured on questions in English and
# Vietnamese: 27 of 31 pairs with the same meaning reach it, and so do 7 of 530 pairs with different
# meanings. Each of these 7 pairs differs in one word ("to Norway", "to Sweden").
MIN_SIMILARITY = 0.89


def group_next(bot_id: int) -> None:
    """Group the bot's next unanswered questions; another job groups the rest."""
    bot = Bot.objects.filter(pk=bot_id).first()
    if bot is None:
        return
    replies = _new_replies().filter(client_id=bot.client_id, conversation__bot=bot)
    # One row more than a job groups shows whether another job is needed.
    rows = replies.select_related("in_reply_to").order_by("id")[: QUESTIONS_PER_JOB + 1]
    questions = [row.question for row in rows if row.question]
    groups = _Groups.load(bot)
    vectors = [groups.vector_of(row.text) for row in questions[:QUESTIONS_PER_JOB]]
    with jobs.commit():
        for question, vector in zip(questions, vectors, strict=False):
            _add(groups.nearest(question.text, vector), question)
        if len(questions) > QUESTIONS_PER_JOB:
            enqueue_question_grouping.enqueue_grouping(bot, wait=jobs.NO_WAIT)


def clean_up() -> None:
    """Remove questions older than the window, correct the counts, and group ungrouped questions."""
    with transaction.atomic():
        old = GroupedQuestion.objects.filter(asked_at__lt=datetime.now(UTC) - WINDOW)
        group_ids = set(old.values_list("group_id", flat=True))
        old.delete()
        # Deleting a chat also deletes its questions, so counts may be too high.
        members = GroupedQuestion.objects.filter(group=OuterRef("pk")).order_by()
        counts = members.values("group").annotate(count=Count("id")).values("count")
        rows = QuestionGroup.objects.annotate(counted=Coalesce(Subquery(counts), 0))
        changed = dict(rows.exclude(count=F("counted")).values_list("pk", "counted"))
        for pk in group_ids | changed.keys():
            questions = GroupedQuestion.objects.filter(group=pk)
            values = questions.aggregate(count=Count("id"), latest_at=Max("asked_at"))
            QuestionGroup.objects.filter(pk=pk).update(**values)
        QuestionGroup.objects.filter(count=0).delete()
        # If an answer was deleted before the bot could use it, its group is open again.
        without_answer = QuestionGroup.objects.filter(status=GroupStatus.LEARNING, document=None)
        without_answer.update(status=GroupStatus.OPEN)
    missing = _new_replies().filter(conversation__bot=OuterRef("pk"))
    for bot in Bot.objects.filter(Exists(missing)):
        enqueue_question_grouping.enqueue_grouping(bot)


def _new_replies() -> QuerySet[Message]:
    """Replies within the window whose questions were left unanswered and are not in a group yet,
    and such questions without a reply."""
    rows = _with_question(Message.objects.filter(UNANSWERED))
    grouped = GroupedQuestion.objects.filter(message=OuterRef("question_id"))
    rows = rows.filter(~Exists(grouped))
    since = datetime.now(UTC) - WINDOW
    return rows.filter(conversation__is_preview=False, created_at__gte=since)


def _with_question(rows: QuerySet[Message]) -> QuerySet[Message]:
    """The rows that have a `Message.question`, each annotated with its id, `question_id`."""
    is_question = When(sender_type=SenderType.CUSTOMER, then=F("pk"))
    rows = rows.annotate(question_id=Case(is_question, default=F("in_reply_to")))
    return rows.filter(question_id__isnull=False)


def _add(group: QuestionGroup, question: Message) -> None:
    group.client_id = question.client_id
    if group._state.adding:
        group.save()
    _, is_new = GroupedQuestion.objects.get_or_create(
        message=question,
        defaults={
            "client_id": question.client_id, "group": group, "asked_at": question.created_at,
        },
    )  # fmt: skip
    if not is_new:
        return
    QuestionGroup.objects.filter(pk=group.pk).update(
        count=F("count") + 1, latest_at=question.created_at
    )
    # If the group counted as answered before this question went unanswered, it is open again.
    answered = QuestionGroup.objects.filter(pk=group.pk, status=GroupStatus.ANSWERED)
    answered.filter(asked_again_at__lt=question.created_at).update(status=GroupStatus.OPEN)


@dataclass
class _Groups:
    """A bot's groups in memory, to find the group that a question belongs to."""

    bot: Bot
    rows: list[QuestionGroup]
    vectors: list[Vectors | None] = field(default_factory=list)

    @classmethod
    def load(cls, bot: Bot) -> "_Groups":
        groups = QuestionGroup.objects.filter(bot=bot).order_by("-latest_at", "-id")
        rows = list(groups[:MAX_COMPARED])
        return cls(bot, rows, [_vector(row) for row in rows])

    def vector_of(self, text: str) -> Vectors | None:
        """The vector by which to find a question's group; None if only its words count."""
        if len(text) > MAX_COMPARED_CHARACTERS or self._with_words(text):
            return None
        return embedding.embed_query(text)

    def nearest(self, text: str, vector: Vectors | None) -> QuestionGroup:
        """The group whose first question has the same words, else the most similar group, else a
        new group, which is not stored yet."""
        group = self._with_words(text) or self._most_similar(vector)
        if group is None:
            stored = b"" if vector is None else vector.tobytes()
            group = QuestionGroup(bot=self.bot, digest=_digest(text), vector=stored)
            self.rows.append(group)
            self.vectors.append(vector)
        return group

    def _with_words(self, text: str) -> QuestionGroup | None:
        digest = _digest(text)
        return next((row for row in self.rows if row.digest == digest), None)

    def _most_similar(self, vector: Vectors | None) -> QuestionGroup | None:
        """The most similar group, if its similarity is at least `MIN_SIMILARITY`."""
        pairs = [pair for pair in zip(self.rows, self.vectors, strict=True) if pair[1] is not None]
        if vector is None or not pairs:
            return None
        scores = np.stack([item for _, item in pairs if item is not None]) @ vector
        best = int(scores.argmax())
        return pairs[best][0] if scores[best] >= MIN_SIMILARITY else None


def _digest(text: str) -> str:
    return hashlib.sha256(plain(text).encode()).hexdigest()


def _vector(row: QuestionGroup) -> Vectors | None:
    vector = np.frombuffer(bytes(row.vector), dtype=np.float32)
    return vector if len(vector) == embedding.DIMENSION else None


# --- reading --------------------------------------------------------------------------------------


def with_question(rows: QuerySet[QuestionGroup]) -> QuerySet[QuestionGroup]:
    """The groups, each annotated as `question` with the text of its first question. Groups without
    questions are left out."""
    first = GroupedQuestion.objects.filter(group=OuterRef("pk")).order_by("id")
    annotated = rows.annotate(question=Subquery(first.values("message__text")[:1]))
    return annotated.filter(question__isnull=False).select_related("bot")


def list_for_bot(bot: Bot, *, statuses: Sequence[str]) -> QuerySet[QuestionGroup]:
    """The bot's groups with one of these statuses, unordered."""
    rows = QuestionGroup.objects.for_client(bot.client).filter(bot=bot, status__in=statuses)
    return with_question(rows)


def questions_of(group: QuestionGroup) -> QuerySet[GroupedQuestion]:
    """The questions of a group, loaded with the customers' messages and their chats, unordered."""
    return group.questions.select_related("message__conversation__customer")


def replies_without_answer(rows: QuerySet[Message]) -> QuerySet[Message]:
    """The replies among these messages that left a question unanswered, and such questions without
    a reply, unordered; no previews.

    Annotations: `is_known` is whether the bot now has a written answer to exactly this question, or
    is learning an answer for its group. `answered_group` is the question's group if its status is
    answered, and `answered_from` the document that was written for that group.
    """
    documents = Document.objects.filter(
        bot=OuterRef("conversation__bot"),
        source=DocumentSource.QUESTION_ANSWER,
        title__iexact=OuterRef("question_text"),
    )
    grouped = GroupedQuestion.objects.filter(message=OuterRef("question_id"))
    answered = grouped.filter(group__status=GroupStatus.ANSWERED)
    is_question = When(sender_type=SenderType.CUSTOMER, then=F("text"))
    replies = _with_question(rows.filter(UNANSWERED))
    replies = replies.annotate(question_text=Case(is_question, default=F("in_reply_to__text")))
    return replies.filter(conversation__is_preview=False).annotate(
        is_known=Exists(documents) | Exists(grouped.filter(group__status=GroupStatus.LEARNING)),
        answered_group=Subquery(answered.values("group")),
        answered_from=Subquery(answered.values("group__document")),
    )
