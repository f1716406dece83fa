"""Runs that summarize a client's chats: chats without a current summary or, with `force`, all
chats."""

import logging
import uuid
from typing import Any, ClassVar

from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet
from django.db.models.functions import Greatest, Now
from django.utils.translation import gettext_noop

from bots.services import bots, engines
from chatplatform import jobs
from chatplatform.api.errors import ApiError, first_or_404, not_found_in
from chats.models import Conversation, Summary, SummaryJob, SummaryJobStatus
from chats.schemas.chat_analysis import SummaryCalculateRequest
from chats.services.insight import chat_analysis
from identity.models import Client, User
from identity.services.credits import InsufficientCredits

log = logging.getLogger(__name__)
# The maximum number of chats per job. A worker that shuts down finishes its job first.
CHATS_PER_JOB = 50
# After this many failures in a row, the engine is probably the cause, so the run is given up.
MAX_CONSECUTIVE_FAILURES = 3
_UNFINISHED = (SummaryJobStatus.QUEUED, SummaryJobStatus.RUNNING)


class SummaryRunning(ApiError):
    code, status = "summary_running", 409
    more: ClassVar = {"job_id": (uuid.UUID, "The id of the run in progress.")}
    detail = gettext_noop("Another run is in progress. Wait for it to finish.")


def start(client: Client, *, by: User, given: SummaryCalculateRequest) -> SummaryJob:
    """Start a run; 409 `summary_running` while another run of the client is in progress."""
    with not_found_in("bot_id"):
        bot = bots.get(client, given.bot_id) if given.bot_id else None
    with transaction.atomic():
        # The lock makes a second request wait here.
        Client.objects.select_for_update(no_key=True).get(pk=client.pk)
        running = SummaryJob.objects.for_client(client).filter(status__in=_UNFINISHED).first()
        if running:
            raise SummaryRunning(job_id=str(running.pk))
        run = SummaryJob.objects.create(
            client=client,
            bot=bot,
            created_from=given.created_from,
            created_to=given.created_to,
            force=given.force,
            created_by=by,
        )
        run.total = _chats(run).count()
        run.save(update_fields=["total"])
        _enqueue(run)
    return run


def get(client: Client, job_id: Any) -> SummaryJob:
    """One of the client's runs; 404 if there is none with this id."""
    return first_or_404(SummaryJob.objects.for_client(client).filter(pk=job_id))


def summarize_next(summary_job_id: str) -> None:
    """Summarize the run's next chats, from where the previous job ended."""
    run = SummaryJob.objects.select_related("client").filter(pk=summary_job_id).first()
    if run is None or run.status not in _UNFINISHED:
        return
    failures = 0
    chats = list(_chats(run).select_related("client__config", "bot").order_by("id")[:CHATS_PER_JOB])
    for chat in chats:
        is_done = _summarize(run, chat)
        failures = 0 if is_done else failures + 1
        _count(run, chat, is_done=is_done)
        if failures >= MAX_CONSECUTIVE_FAILURES:
            raise jobs.GiveUp("The engine failed several times in a row.")
    with jobs.commit():
        if len(chats) == CHATS_PER_JOB:
            _enqueue(run)
        else:
            _end(run.pk, SummaryJobStatus.DONE)


def mark_failed(summary_job_id: str) -> None:
    """Mark the run as failed after its job's last attempt."""
    _end(summary_job_id, SummaryJobStatus.FAILED)


def _chats(run: SummaryJob) -> QuerySet[Conversation]:
    """The run's chats after its position that have messages and need a summary, without previews
    and without chats opened after the run began."""
    rows = Conversation.objects.for_client(run.client).filter(message_count__gt=0, is_preview=False)
    filters = {
        "bot_id": run.bot_id,
        "created_at__gte": run.created_from,
        "created_at__lt": run.created_to,
        "created_at__lte": run.created_at,
        "id__gt": run.position,
    }
    rows = rows.filter(**{name: value for name, value in filters.items() if value is not None})
    if run.force:
        return rows
    current = Summary.objects.filter(
        conversation=OuterRef("pk"), message_count__gte=OuterRef("message_count")
    )
    return rows.exclude(Exists(current))


def _summarize(run: SummaryJob, chat: Conversation) -> bool:
    try:
        chat_analysis.summarize(chat, made_since=run.created_at if run.force else None)
    except InsufficientCredits as exc:
        raise jobs.GiveUp("You're out of credits.") from exc
    except engines.EngineDown as exc:
        log.warning("chat %s could not be summarized: %s", chat.pk, exc)
        return False
    return True


def _count(run: SummaryJob, chat: Conversation, *, is_done: bool) -> None:
    """Count a chat and store the run's position. The total grows if more chats than at the start
    need a summary, because summaries became outdated during the run."""
    with jobs.commit():
        counted = {"done": F("done") + 1} if is_done else {"failed": F("failed") + 1}
        SummaryJob.objects.filter(pk=run.pk, status__in=_UNFINISHED).update(
            status=SummaryJobStatus.RUNNING,
            position=chat.pk,
            total=Greatest("total", F("done") + F("failed") + 1),
            **counted,
        )


def _enqueue(run: SummaryJob) -> None:
    jobs.enqueue("chats.summarise_all", client_id=run.client_id, summary_job_id=str(run.pk))


def _end(summary_job_id: Any, status: SummaryJobStatus) -> None:
    SummaryJob.objects.filter(pk=summary_job_id, status__in=_UNFINISHED).update(
        status=status, finished_at=Now()
    )
