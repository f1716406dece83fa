"""Regenerates the replies of a day to show which questions the bot would newly answer today, and
which it would no longer answer."""

import uuid
import zoneinfo
from datetime import UTC, date, datetime, time, timedelta
from typing import ClassVar

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils.translation import gettext_noop

from bots.models import Bot
from bots.services import bots, engines
from chatplatform import jobs
from chatplatform.api.errors import ApiError, Invalid, first_or_404
from chats.models import Message, Replay, ReplayChange, ReplayedReply, ReplayStatus
from chats.services.reply import reply_replay
from chats.services.reply.reply_replay import RegeneratedReply
from identity.models import User
from identity.services import audit, credits

# The maximum number of replies in a replay; further replies of the day are left out.
MAX_REPLIES = 1_000
# The maximum number of replies per job. A worker that shuts down finishes its job first.
REPLIES_PER_JOB = 10
# The maximum number of characters that are stored of a regenerated reply.
MAX_TEXT = 4_000
# Replies with function calls, which are left out because a replay must not call functions.
_CALLED = Q(receipt__has_key="calls") & ~Q(receipt__calls=[])
# Imported answers and results of calls, which are left out because they do not come from the bot's
# content, so changes of the content cannot affect them.
_NOT_FROM_CONTENT = Q(receipt__decision="answered") & (
    ~Q(receipt__has_key="knowledge_version") | Q(created_at__lt=F("conversation__imported_at"))
)
_UNFINISHED = (ReplayStatus.QUEUED, ReplayStatus.RUNNING)


class ReplayRunning(ApiError):
    code, status = "replay_running", 409
    more: ClassVar = {"replay_id": (uuid.UUID, "The id of the replay in progress.")}
    detail = gettext_noop("A replay of this bot is in progress. Wait for it to finish.")


def list_for_bot(bot: Bot) -> QuerySet[Replay]:
    """The bot's replays, unordered."""
    return Replay.objects.for_client(bot.client).filter(bot=bot)


def get(bot: Bot, replay_id: uuid.UUID) -> Replay:
    """One of the bot's replays; 404 if there is none."""
    return first_or_404(list_for_bot(bot).filter(pk=replay_id))


def replies_of(replay: Replay, *, change: str | None = None) -> QuerySet[ReplayedReply]:
    """The regenerated replies of a replay with the original messages, unordered."""
    rows = replay.replies.select_related("message__in_reply_to", "message__conversation")
    return rows.filter(change=change) if change else rows


def start(bot: Bot, *, day: date, limit: int = MAX_REPLIES, by: User) -> Replay:
    """Start a replay of a day's replies. 422 if the day is in the future, 409 `replay_running`
    while another replay of the bot is in progress."""
    if day > datetime.now(UTC).astimezone(zoneinfo.ZoneInfo(bot.client.timezone)).date():
        raise Invalid.field("body", "day", msg="Can't be in the future.")
    rows = _replies(bot, day)
    with transaction.atomic():
        bots.lock(bot)
        running = list_for_bot(bot).filter(status__in=_UNFINISHED).first()
        if running:
            raise ReplayRunning(replay_id=str(running.pk))
        ids = list(rows.exclude(_CALLED).order_by("id").values_list("pk", flat=True)[: limit + 1])
        replay = Replay.objects.create(
            client_id=bot.client_id,
            bot=bot,
            day=day,
            message_ids=ids[:limit],
            is_cut=len(ids) > limit,
            with_calls=rows.filter(_CALLED).count(),
            created_by=by,
        )
        jobs.enqueue("chats.replay_next", client_id=bot.client_id, replay_id=str(replay.pk))
        audit.record(
            bot.client_id, "replay.started", by=by, subject=f"replay:{replay.pk}",
            changes={"bot_id": bot.pk, "day": day.isoformat()},
        )  # fmt: skip
    return get(bot, replay.pk)


def replay_next(replay_id: str) -> None:
    """Regenerate the next replies, from where the previous job ended."""
    rows = Replay.objects.select_related("bot__client")
    replay = rows.filter(pk=replay_id, status__in=_UNFINISHED).first()
    if replay is None:
        return
    for message_id in replay.message_ids[replay.done :][:REPLIES_PER_JOB]:
        reply = Message.objects.filter(pk=message_id, in_reply_to__isnull=False).first()
        regenerated = _regenerate(replay, reply) if reply else None
        with jobs.commit():
            if reply and regenerated:
                _store(replay, reply, regenerated)
            Replay.objects.filter(pk=replay.pk).update(
                done=F("done") + 1, status=ReplayStatus.RUNNING
            )
    with jobs.commit():
        replay.refresh_from_db()
        if replay.done < len(replay.message_ids):
            jobs.enqueue("chats.replay_next", client_id=replay.client_id, replay_id=replay_id)
        else:
            replay.status, replay.finished_at = ReplayStatus.DONE, datetime.now(UTC)
            bot = Bot.objects.select_related("client").get(pk=replay.bot_id)
            replay.engine = engines.engine_for(bot.client, bot).name
            replay.knowledge_version = bot.knowledge_version
            replay.save(update_fields=["status", "finished_at", "engine", "knowledge_version"])


def fail(replay_id: str) -> None:
    """Mark the replay as failed after its job's last attempt; replies already regenerated stay."""
    Replay.objects.filter(pk=replay_id, status__in=_UNFINISHED).update(
        status=ReplayStatus.FAILED,
        finished_at=datetime.now(UTC),
        error=gettext_noop("The replay couldn't finish. Check whether you have credits left."),
    )


def _replies(bot: Bot, day: date) -> QuerySet[Message]:
    """The replies of a day in the client's time zone that needed an engine, except the answers
    selected by `_NOT_FROM_CONTENT`."""
    zone = zoneinfo.ZoneInfo(bot.client.timezone)
    begins = datetime.combine(day, time.min, zone)
    ends = datetime.combine(day + timedelta(days=1), time.min, zone)
    rows = Message.objects.for_client(bot.client).exclude(_NOT_FROM_CONTENT)
    return rows.filter(
        conversation__bot=bot,
        conversation__is_preview=False,
        in_reply_to__isnull=False,
        receipt__decision__in=reply_replay.ENGINE_DECISIONS,
        created_at__gte=begins,
        created_at__lt=ends,
    )


def _regenerate(replay: Replay, reply: Message) -> RegeneratedReply:
    try:
        return reply_replay.regenerate(reply, reference=f"replay:{replay.pk}:{reply.pk}")
    except credits.InsufficientCredits as exc:
        raise jobs.GiveUp("You're out of credits.") from exc


def _store(replay: Replay, reply: Message, regenerated: RegeneratedReply) -> None:
    change = _change(reply, regenerated)
    ReplayedReply.objects.create(
        client_id=replay.client_id,
        replay=replay,
        message=reply,
        change=change,
        text=regenerated.text[:MAX_TEXT],
        sources=[source[:300] for source in regenerated.sources],
        decision=regenerated.decision,
    )
    Replay.objects.filter(pk=replay.pk).update(**{str(change): F(str(change)) + 1})


def _change(reply: Message, regenerated: RegeneratedReply) -> ReplayChange:
    if not reply_replay.was_answered(reply):
        return ReplayChange.GAINED if regenerated.is_answered else ReplayChange.UNANSWERED
    if not regenerated.is_answered:
        return ReplayChange.LOST
    # A model words each answer differently, so the first sources are compared, not the texts.
    before = [citation["title"] for citation in reply.citations[:1]]
    after = [*regenerated.sources][:1]
    return ReplayChange.ANSWERED if before == after else ReplayChange.CHANGED
