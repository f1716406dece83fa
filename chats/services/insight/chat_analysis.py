"""Summarizes and tags conversations and analyzes their sentiment, which costs credits. When a
conversation has ended, starts these tasks and asks the customer for a rating."""

import uuid
from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from functools import partial
from typing import Any, TypeAlias

from django.conf import settings
from django.db.models import Case, Value, When
from django.utils import timezone

from bots.engine import rule_based_summary, sentiment, tagging, text_tasks
from bots.engine.extractive import ExtractiveEngine
from bots.engine.sentences import statements
from bots.engine.sentiment import Sentiment
from bots.engine.tagging import KnownTag, TagSuggestion
from bots.engine.text_tasks import MAX_ANALYZED, MAX_NEW_TAGS, MAX_TAGS, ChatSummaryDraft, TagDrafts
from bots.engine.types import Line
from bots.language import detection
from bots.services import engines
from chatplatform import jobs
from chatplatform.locks import single_flight
from chats.models import Conversation, LockedConversation, Message, Summary, Tagging
from chats.schemas.chat_analysis import ChatSentiment, ChatSummary
from chats.schemas.tags import MAX_TAG_CHARS, distinct, is_visible, key_of
from chats.services.core import conversations, feedback, tags
from chats.services.insight import public_key_credit_cap, transcripts
from chats.services.insight.transcripts import Transcript

# A model's tags with less confidence are proposed to agents but never stored automatically.
MIN_STORED_CONFIDENCE = 0.6
KINDS = ("summary", "tags", "sentiment")
# The number of the customer's latest messages whose sentiment the extractive engine analyzes.
ANALYZED_BY_RULES = 5
# The sentiment of each message, by the message's id.
ByMessage: TypeAlias = dict[uuid.UUID, str]


def newest_summary(chat: Conversation) -> Summary | None:
    """The latest summary of a chat, even if newer messages are missing from it; None if there is no
    summary."""
    rows = Summary.objects.for_client(chat.client)
    return rows.filter(conversation=chat).order_by("-id").first()


def summarize(
    chat: Conversation, *, made_since: datetime | None = None, key_id: int | None = None
) -> Summary:
    """The summary of a chat. A new one is written if the newest does not cover all messages, or was
    made before `made_since`. A second caller waits for the summary that the first is making."""
    current = partial(
        _current_summary, chat, message_count=chat.message_count, made_since=made_since
    )
    summary = current()
    if summary:
        return summary
    with single_flight(f"summary:{chat.pk}", max_wait_seconds=settings.LLM_DEADLINE_SECONDS):
        return current() or _new_summary(chat, made_since, key_id)


def propose_tags(chat: Conversation) -> list[TagSuggestion]:
    """Tags that fit the chat and that it does not have yet, best first. Nothing is stored."""
    transcript = transcripts.for_chat(chat)
    if not transcript.customer_texts:
        return []
    with _paid_work("tags", chat, transcript) as work:
        return _proposed_tags(chat, transcript, work)


def auto_tag(chat: Conversation, *, key_id: int | None = None) -> list[Tagging]:
    """Add the tags in which an engine has enough confidence; return all tags of the chat."""
    transcript = transcripts.for_chat(chat)
    if not transcript.customer_texts:
        return tags.for_chat(chat)
    with _paid_work("tags", chat, transcript, key_id) as work:
        proposed = _proposed_tags(chat, transcript, work)
        confident = (
            [tag for tag in proposed if tag.confidence >= MIN_STORED_CONFIDENCE]
            if work.uses_model
            else tagging.clear_winner(proposed)
        )
        return tags.add_suggested(chat, suggested=confident)


def analyze_sentiment(chat: Conversation, *, key_id: int | None = None) -> ChatSentiment:
    """Analyze the customer's sentiment. Store the overall sentiment with the chat, and the
    sentiment of single messages with those for which the engine found one."""
    transcript = transcripts.for_chat(chat)
    if not transcript.customer_texts:
        return _store_sentiment(chat, Sentiment("neutral", 0.0), {}, ExtractiveEngine.name)
    with _paid_work("sentiment", chat, transcript, key_id) as work:
        if work.uses_model:
            overall, by_message = _sentiment_by_model(chat, transcript, work)
        else:
            overall, by_message = _sentiment_by_rules(transcript)
        return _store_sentiment(chat, overall, by_message, work.engine.name)


def run_after_end(conversation_id: str) -> None:
    """After a chat has ended, ask the customer for a rating and enqueue a job for each insight, if
    the client's settings say so."""
    rows = Conversation.objects.select_related("client__config", "bot")
    chat = rows.filter(pk=conversation_id).first()
    if chat is None:
        return
    config = chat.client.config
    settings_of_kinds = (config.auto_summary, config.auto_tag, config.auto_sentiment)
    with jobs.commit():
        if config.ask_feedback:
            feedback.request_rating(conversations.lock(chat))
        for kind, is_enabled in zip(KINDS, settings_of_kinds, strict=True):
            if is_enabled:
                jobs.enqueue(
                    "chats.compute_insight", client_id=chat.client_id,
                    dedupe_key=f"{kind}:{chat.pk}", conversation_id=str(chat.pk), kind=kind,
                )  # fmt: skip


def compute(conversation_id: str, kind: str) -> None:
    """Compute and store one insight into a chat, in a job; `kind` is one of `KINDS`."""
    chat = Conversation.objects.select_related("client", "bot").filter(pk=conversation_id).first()
    if chat is None:
        return
    analyze: Any = {"summary": summarize, "tags": auto_tag, "sentiment": analyze_sentiment}[kind]
    with public_key_credit_cap.paid_work(chat) as key_id:
        analyze(chat, key_id=key_id)


def _current_summary(
    chat: Conversation, *, message_count: int, made_since: datetime | None
) -> Summary | None:
    """The newest summary if it covers at least `message_count` messages and was made since
    `made_since`; else None."""
    newest = newest_summary(chat)
    if newest is None or newest.message_count < message_count:
        return None
    return newest if made_since is None or newest.created_at >= made_since else None


def _new_summary(chat: Conversation, made_since: datetime | None, key_id: int | None) -> Summary:
    transcript = transcripts.for_chat(chat)
    if not transcript.lines:
        return _store_summary(chat, _summary_by_rules(chat, transcript), made_since)
    with _paid_work("summary", chat, transcript, key_id) as work:
        if work.uses_model:
            summary = _summary_by_model(chat, transcript, work)
        else:
            summary = _summary_by_rules(chat, transcript)
        stored = _store_summary(chat, summary, made_since)
        if stored is not summary:
            work.waive_charge()
        return stored


def _summary_by_model(
    chat: Conversation, transcript: Transcript, work: engines.MeteredWork
) -> Summary:
    mask = transcripts.mask_for(chat.client)
    lines = transcript.masked(mask)
    draft: ChatSummaryDraft = work.complete(
        text_tasks.summarize_chat(lines, language=chat.language)
    )
    resolution = _resolution(lines, draft, work, language=chat.language)
    prose = _confirmed_prose(lines, draft, work)
    return Summary(
        language=chat.language,
        summary=mask.reveal(prose) or _summary_by_rules(chat, transcript).summary,
        key_points=[mask.reveal(point) for point in draft.key_points],
        customer_intent=mask.reveal(draft.customer_intent),
        resolution=mask.reveal(resolution),
        message_count=transcript.message_count,
        engine=work.engine.name,
    )


def _resolution(
    lines: Sequence[Line], draft: ChatSummaryDraft, work: engines.MeteredWork, *, language: str
) -> str:
    """The resolution that a model wrote, if the matter may be solved and the replies say so; else
    an empty text."""
    written = draft.resolution
    if not written or not rule_based_summary.may_be_solved(lines, language=language):
        return ""
    replies = [line.text for line in lines if line.role == "assistant" and line.is_answer]
    return written if work.confirms(written, replies) else ""


def _confirmed_prose(
    lines: Sequence[Line], draft: ChatSummaryDraft, work: engines.MeteredWork
) -> str:
    """The statements of a model's summary that the conversation supports."""
    conversation = "\n".join(f"{line.role}: {line.text}" for line in lines)
    return "".join(work.confirmed(statements(draft.summary), results=conversation)).strip()


def _summary_by_rules(chat: Conversation, transcript: Transcript) -> Summary:
    parts = rule_based_summary.of_conversation(
        transcript.lines,
        language=detection.detect("\n".join(transcript.customer_texts), default=chat.language),
        tags=chat.tags,
        sentiment=sentiment.analyze(_latest_of_customer(transcript)).overall.sentiment,
    )
    origin = {"message_count": transcript.message_count, "engine": ExtractiveEngine.name}
    return Summary(**vars(parts), **origin)


def _store_summary(chat: Conversation, summary: Summary, made_since: datetime | None) -> Summary:
    """Store a summary, also on the chat, and return it. If another job has just stored a summary
    that covers as many messages, return the other job's summary and store nothing."""
    with jobs.commit():
        locked = conversations.lock(chat)
        summary.client_id, summary.conversation = chat.client_id, locked
        existing = _current_summary(
            locked, message_count=summary.message_count, made_since=made_since
        )
        if existing:
            return existing
        summary.save()
        locked.summary = summary.summary
        locked.save(update_fields=["summary"])
        data = ChatSummary.from_row(summary).model_dump(mode="json")
        conversations.announce_change(locked, "summary.created", summary=data)
    return summary


def _paid_work(
    kind: str, chat: Conversation, transcript: Transcript, key_id: int | None = None
) -> AbstractContextManager[engines.MeteredWork]:
    return engines.paid_work(
        chat.client,
        bot=chat.bot,
        purpose=f"{kind}:{chat.pk}",
        characters=transcript.characters,
        key_id=key_id,
    )


def _proposed_tags(
    chat: Conversation, transcript: Transcript, work: engines.MeteredWork
) -> list[TagSuggestion]:
    existing_keys = {key_of(row.name) for row in tags.for_chat(chat)}
    known_tags = tags.vocabulary(chat)
    if work.uses_model:
        lines = transcript.masked(transcripts.mask_for(chat.client))
        names = [tag.name for tag in known_tags]
        proposed = _clean_tags(work.complete(text_tasks.tag(lines, known=names)), known_tags)
    else:
        candidates = [tag for tag in known_tags if key_of(tag.name) not in existing_keys]
        proposed = tagging.suggest("\n".join(transcript.customer_texts), candidates)
    return [tag for tag in proposed if key_of(tag.name) not in existing_keys]


def _clean_tags(drafts: TagDrafts, known_tags: list[KnownTag]) -> list[TagSuggestion]:
    """A model's tags without duplicates, ordered by confidence. Known tags get the client's
    spelling, and at most `MAX_NEW_TAGS` new tags are kept."""
    spelling = {key_of(tag.name): tag.name for tag in known_tags}
    confidence: dict[str, float] = {}
    for draft in drafts.tags:
        confidence.setdefault(key_of(" ".join(draft.name.split())), round(draft.confidence, 3))
    tags, new_count = [], 0
    for name in distinct(draft.name for draft in drafts.tags):
        key = key_of(name)
        if not is_visible(name) or len(name) > MAX_TAG_CHARS:
            continue
        new_count += key not in spelling
        if key in spelling or new_count <= MAX_NEW_TAGS:
            tags.append(TagSuggestion(spelling.get(key, name), confidence[key]))
    tags.sort(key=lambda tag: -tag.confidence)
    return tags[:MAX_TAGS]


def _latest_of_customer(transcript: Transcript) -> list[str]:
    return transcript.customer_texts[-ANALYZED_BY_RULES:]


def _sentiment_by_rules(transcript: Transcript) -> tuple[Sentiment, ByMessage]:
    analysis = sentiment.analyze(_latest_of_customer(transcript))
    ids = transcript.customer_message_ids[-ANALYZED_BY_RULES:]
    pairs = zip(ids, analysis.by_message, strict=True)
    return analysis.overall, {
        message_id: result.sentiment for message_id, result in pairs if result
    }


def _sentiment_by_model(
    chat: Conversation, transcript: Transcript, work: engines.MeteredWork
) -> tuple[Sentiment, ByMessage]:
    lines = transcript.masked(transcripts.mask_for(chat.client))
    draft = work.complete(text_tasks.analyze_sentiment(lines))
    ids = dict(enumerate(transcript.customer_message_ids[-MAX_ANALYZED:], start=1))
    by_message: ByMessage = {
        ids[message.number]: message.sentiment
        for message in draft.messages
        if message.number in ids
    }
    return Sentiment(draft.sentiment, round(draft.score, 3)), by_message


def _store_sentiment(
    chat: Conversation, overall: Sentiment, by_message: ByMessage, engine: str
) -> ChatSentiment:
    result = ChatSentiment(
        chat_id=chat.pk,
        sentiment=overall.sentiment,
        score=overall.score,
        engine=engine,
        created_at=timezone.now(),
    )
    with jobs.commit():
        locked = conversations.lock(chat)
        _mark_messages(locked, by_message)
        if (locked.sentiment, locked.sentiment_score) == (overall.sentiment, overall.score):
            return result
        locked.sentiment, locked.sentiment_score = overall.sentiment, overall.score
        locked.save(update_fields=["sentiment", "sentiment_score"])
        conversations.announce_change(
            locked, "sentiment.updated", sentiment=overall.sentiment, score=overall.score
        )
    return result


def _mark_messages(chat: LockedConversation, by_message: ByMessage) -> None:
    """Store the sentiment of each message, in one statement."""
    ids: dict[str, list[uuid.UUID]] = {}
    for message_id, name in by_message.items():
        ids.setdefault(name, []).append(message_id)
    if ids:
        cases = [When(pk__in=pks, then=Value(name)) for name, pks in ids.items()]
        Message.objects.filter(conversation=chat, pk__in=by_message).update(sentiment=Case(*cases))
