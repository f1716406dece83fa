"""What an engine finds in a conversation: a summary, tags, a sentiment; stored where asked.

Whatever is made is paid for; what is current already is not made again.
"""

import uuid
from contextlib import AbstractContextManager
from datetime import datetime
from functools import partial
from typing import Any, TypeAlias

from django.conf import settings
from django.db.models import Case, QuerySet, Value, When
from django.utils import timezone

from bots.engine import digest, sentiment, tagging
from bots.engine.sentiment import Feeling, Reading
from bots.engine.tagging import KnownTag, Suggested
from bots.engine.writer import MAX_JUDGED, MAX_NEW_TAGS, MAX_TAGS, Judgement, TagDrafts, Writer
from bots.services import engines
from chatplatform import jobs
from chatplatform.locks import single_flight
from chats.models import Conversation, LockedConversation, Message, Summary, Tagging
from chats.services.core import conversations, tags
from chats.services.insight import transcripts
from chats.shapes.insight import MAX_TAG_CHARS, ChatSentiment, ChatSummary, distinct
from identity.services.credits import InsufficientCredits

# A model's tags of less confidence are proposed and never stored by themselves.
STORED_FROM = 0.6
KINDS = ("summary", "tags", "sentiment")
# How many of the customer's last messages the embedded engine reads.
READ_OF_CUSTOMER = 5
# The sentiment of single messages, by their ids.
Moods: TypeAlias = dict[uuid.UUID, str]


def newest_summary(chat: Conversation) -> Summary | None:
    """The latest summary of a chat, whatever was said since."""
    rows: QuerySet[Summary] = Summary.objects.for_client(chat.client)
    return rows.filter(conversation=chat).order_by("-id").first()


def summarise(chat: Conversation, *, made_since: datetime | None = None) -> Summary:
    """The current summary of a chat, or a new one.

    With `made_since` one that is older is not good enough, even where nothing has been said since.
    Who asks while one is being made waits for it.
    """
    current = partial(
        _current_summary, chat, message_count=chat.message_count, made_since=made_since
    )
    found = current()
    if found:
        return found
    with single_flight(f"summary:{chat.pk}", patience=settings.LLM_DEADLINE_SECONDS):
        return current() or _new_summary(chat, made_since)


def propose_tags(chat: Conversation) -> list[Suggested]:
    """Tags that would fit and that the chat does not have, best first; nothing is stored."""
    transcript = transcripts.for_chat(chat)
    if not transcript.of_customer:
        return []
    with _tagging(chat, transcript) as engine:
        return _proposed(chat, transcript, engine)


def auto_tag(chat: Conversation) -> list[Tagging]:
    """Give the chat the tags that an engine is sure enough of; all that it has then."""
    transcript = transcripts.for_chat(chat)
    if not transcript.of_customer:
        return tags.for_chat(chat)
    with _tagging(chat, transcript) as engine:
        proposed = _proposed(chat, transcript, engine)
        if engine.writer is None:
            return tags.add_suggested(chat, suggested=tagging.clear(proposed))
        sure = [one for one in proposed if one.confidence >= STORED_FROM]
        return tags.add_suggested(chat, suggested=sure)


def judge(chat: Conversation) -> ChatSentiment:
    """How the customer feels; stored on the chat, and on each message that was looked at."""
    transcript = transcripts.for_chat(chat)
    if not transcript.of_customer:
        return _store_sentiment(chat, Feeling("neutral", 0.0), {}, "embedded")
    with engines.session(
        chat.client_id, purpose=f"sentiment:{chat.pk}", characters=transcript.characters
    ) as engine:
        if engine.writer is None:
            reading = _reading(transcript)
            return _store_sentiment(
                chat, reading.whole, _moods_read(transcript, reading), engine.name
            )
        lines = transcript.hidden_by(transcripts.mask_of(chat.client))
        draft = engine.pay(engine.writer.judge(lines))
        feeling = Feeling(draft.sentiment, round(draft.score, 3))
        return _store_sentiment(chat, feeling, _moods_written(transcript, draft), engine.name)


def run_after_end(conversation_id: str) -> None:
    """After the end of a chat: a job for each insight that the client asks for."""
    chat = Conversation.objects.select_related("client__config").filter(pk=conversation_id).first()
    if chat is None:
        return
    config = chat.client.config
    wanted = (config.auto_summary, config.auto_tag, config.auto_sentiment)
    with jobs.commit():
        for kind, is_wanted in zip(KINDS, wanted, strict=True):
            if is_wanted:
                jobs.enqueue(
                    "chats.compute_insight", client_id=chat.client_id,
                    dedupe_key=f"{kind}:{chat.pk}", conversation_id=str(chat.pk), kind=kind,
                )  # fmt: skip


def compute(conversation_id: str, kind: str) -> None:
    """One insight into a chat, for the job."""
    chat = Conversation.objects.select_related("client").filter(pk=conversation_id).first()
    if chat is None:
        return
    actions: dict[str, Any] = {"summary": summarise, "tags": auto_tag, "sentiment": judge}
    try:
        actions[kind](chat)
    except InsufficientCredits as exc:
        raise jobs.GiveUp("The credits are used up.") from exc


def _current_summary(
    chat: Conversation, *, message_count: int, made_since: datetime | None
) -> Summary | None:
    """The newest summary, where it covers so many messages and is new enough."""
    newest = newest_summary(chat)
    if newest is None or newest.message_count < message_count:
        return None
    return newest if made_since is None or newest.created_at >= made_since else None


def _new_summary(chat: Conversation, made_since: datetime | None) -> Summary:
    transcript = transcripts.for_chat(chat)
    if not transcript.lines:
        return _store_summary(chat, _embedded_summary(chat, transcript), made_since)
    with engines.session(
        chat.client_id, purpose=f"summary:{chat.pk}", characters=transcript.characters
    ) as engine:
        if engine.writer is None:
            made = _embedded_summary(chat, transcript)
        else:
            made = _written_summary(chat, transcript, engine, engine.writer)
        stored = _store_summary(chat, made, made_since)
        if stored is not made:
            engine.waive()
        return stored


def _written_summary(
    chat: Conversation, transcript: transcripts.Transcript, engine: engines.Session, writer: Writer
) -> Summary:
    mask = transcripts.mask_of(chat.client)
    lines = transcript.hidden_by(mask)
    draft = engine.pay(writer.summarise_chat(lines, language=chat.language))
    shown = mask.reveal if mask else str
    return Summary(
        language=chat.language,
        summary=shown(draft.summary),
        key_points=[shown(point) for point in draft.key_points],
        customer_intent=shown(draft.customer_intent),
        resolution=shown(draft.resolution),
        message_count=transcript.message_count,
        engine=engine.name,
    )


def _embedded_summary(chat: Conversation, transcript: transcripts.Transcript) -> Summary:
    made = digest.of_conversation(
        transcript.lines,
        language=chat.language,
        tags=chat.tags,
        sentiment=_reading(transcript).whole.sentiment,
    )
    return Summary(
        language=made.language,
        summary=made.summary,
        key_points=made.key_points,
        customer_intent=made.customer_intent,
        resolution=made.resolution,
        message_count=transcript.message_count,
        engine="embedded",
    )


def _store_summary(chat: Conversation, made: Summary, made_since: datetime | None) -> Summary:
    """Store a summary and make it the chat's, unless one that covers as much was faster."""
    with jobs.commit():
        locked = conversations.lock(chat)
        made.client_id, made.conversation = chat.client_id, locked
        faster = _current_summary(locked, message_count=made.message_count, made_since=made_since)
        if faster:
            return faster
        made.save()
        locked.summary = made.summary
        locked.save(update_fields=["summary"])
        shape = ChatSummary.from_row(made).model_dump(mode="json")
        conversations.announce_change(locked, "summary.created", summary=shape)
    return made


def _tagging(
    chat: Conversation, transcript: transcripts.Transcript
) -> AbstractContextManager[engines.Session]:
    return engines.session(
        chat.client_id, purpose=f"tags:{chat.pk}", characters=transcript.characters
    )


def _proposed(
    chat: Conversation, transcript: transcripts.Transcript, engine: engines.Session
) -> list[Suggested]:
    had = {row.name.casefold() for row in tags.for_chat(chat)}
    known = tags.vocabulary(chat)
    if engine.writer is None:
        found = tagging.suggest(
            "\n".join(transcript.of_customer),
            [one for one in known if one.name.casefold() not in had],
        )
    else:
        lines = transcript.hidden_by(transcripts.mask_of(chat.client))
        names = [one.name for one in known]
        found = _tidied(engine.pay(engine.writer.tag(lines, known=names)), known)
    return [one for one in found if one.name.casefold() not in had]


def _tidied(drafts: TagDrafts, known: list[KnownTag]) -> list[Suggested]:
    """A model's tags: the known ones as they are spelt here, at most three others, none twice."""
    spelt = {one.name.casefold(): one.name for one in known}
    confidence: dict[str, float] = {}
    for draft in drafts.tags:
        confidence.setdefault(" ".join(draft.name.split()).casefold(), round(draft.confidence, 3))
    found, new = [], 0
    for name in distinct(draft.name for draft in drafts.tags):
        if not name or len(name) > MAX_TAG_CHARS:
            continue
        new += name.casefold() not in spelt
        if name.casefold() in spelt or new <= MAX_NEW_TAGS:
            found.append(Suggested(spelt.get(name.casefold(), name), confidence[name.casefold()]))
    found.sort(key=lambda one: -one.confidence)
    return found[:MAX_TAGS]


def _reading(transcript: transcripts.Transcript) -> Reading:
    return sentiment.read(transcript.of_customer[-READ_OF_CUSTOMER:])


def _moods_read(transcript: transcripts.Transcript, reading: Reading) -> Moods:
    ids = transcript.ids_of_customer[-READ_OF_CUSTOMER:]
    found = zip(ids, reading.each, strict=True)
    return {message_id: one.sentiment for message_id, one in found if one}


def _moods_written(transcript: transcripts.Transcript, draft: Judgement) -> Moods:
    ids = dict(enumerate(transcript.ids_of_customer[-MAX_JUDGED:], start=1))
    return {ids[one.number]: one.sentiment for one in draft.messages if one.number in ids}


def _store_sentiment(
    chat: Conversation, feeling: Feeling, moods: Moods, engine: str
) -> ChatSentiment:
    judged = ChatSentiment(
        chat_id=chat.pk,
        sentiment=feeling.sentiment,
        score=feeling.score,
        engine=engine,
        created_at=timezone.now(),
    )
    with jobs.commit():
        locked = conversations.lock(chat)
        _mark(locked, moods)
        if (locked.sentiment, locked.sentiment_score) == (feeling.sentiment, feeling.score):
            return judged
        locked.sentiment, locked.sentiment_score = feeling.sentiment, feeling.score
        locked.save(update_fields=["sentiment", "sentiment_score"])
        conversations.announce_change(
            locked, "sentiment.updated", sentiment=feeling.sentiment, score=feeling.score
        )
    return judged


def _mark(chat: LockedConversation, moods: Moods) -> None:
    """Write each message's own sentiment, all in one statement."""
    by_mood: dict[str, list[uuid.UUID]] = {}
    for message_id, mood in moods.items():
        by_mood.setdefault(mood, []).append(message_id)
    if by_mood:
        cases = [When(pk__in=ids, then=Value(mood)) for mood, ids in by_mood.items()]
        Message.objects.filter(conversation=chat, pk__in=moods).update(sentiment=Case(*cases))
