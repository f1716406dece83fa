"""Erases a customer, their chats, and what jobs, events and saved views contain about them. The
audit log and the ledger stay. Each job erases a limited number of chats."""

import json
import uuid
from collections.abc import Iterable

from django.db import transaction
from django.db.models import Q, TextField
from django.db.models.functions import Cast, Now

from chatplatform import jobs
from chatplatform.api.errors import first_or_404
from chatplatform.models import Job, JobState
from chats.models import Conversation, Customer, CustomerErasure, ErasureStatus
from chats.services.core import channel_hooks
from chats.services.data_exchange import retention
from chats.services.desk import customer_editing
from identity.auth import Principal
from identity.models import AuditEvent, Client
from identity.services import audit, saved_views
from webhooks.services import events

_UNFINISHED = (ErasureStatus.QUEUED, ErasureStatus.RUNNING)
_ENDED = (JobState.DONE, JobState.DEAD, JobState.CANCELLED)


def request(caller: Principal, customer_id: int) -> CustomerErasure:
    """Start to erase a customer, or return the erasure in progress. 404 if the caller may not see
    the customer."""
    assert caller.user
    with transaction.atomic():
        rows = customer_editing.visible(caller).select_for_update(of=("self",))
        customer = first_or_404(rows.filter(pk=customer_id))
        running = CustomerErasure.objects.for_client(caller.client).filter(
            customer_id=customer.pk, status__in=_UNFINISHED
        )
        if existing := running.first():
            return existing
        erasure = CustomerErasure.objects.create(
            client=caller.client,
            customer_id=customer.pk,
            chats_total=customer.conversations.count(),
            created_by=caller.user,
        )
        audit.record(
            caller.client_id, "customer.erasure_asked", by=caller.user, subject=_subject(erasure)
        )
        _enqueue(erasure)
    return erasure


def get(client: Client, erasure_id: uuid.UUID) -> CustomerErasure:
    """One of the client's erasures; 404 if there is none."""
    return first_or_404(CustomerErasure.objects.for_client(client).filter(pk=erasure_id))


def erase_next(erasure_id: str) -> None:
    """Erase the customer's next chats and, if no chat is left, the customer."""
    with jobs.commit():
        erasures = CustomerErasure.objects.select_for_update()
        erasure = erasures.filter(pk=erasure_id, status__in=_UNFINISHED).first()
        if erasure is None:
            return
        rows = Conversation.objects.filter(customer_id=erasure.customer_id).order_by("pk")
        locked = list(rows.select_for_update(of=("self",))[: retention.MAX_CHATS])
        chats = retention.up_to_max_messages(locked)
        for chat in chats:
            _delete_jobs(erasure.client_id, [str(chat.pk), chat.chat_code], ended_only=False)
            retention.delete(chat)
        erasure.status = ErasureStatus.RUNNING
        erasure.chats_erased += len(chats)
        # A chat may have been opened meanwhile; no further one can be while the customer is locked.
        customer = Customer.objects.select_for_update().filter(pk=erasure.customer_id).first()
        if rows.exists():
            _enqueue(erasure)
        else:
            _finish(erasure, customer)
        erasure.save()


def mark_failed(erasure_id: str) -> None:
    """Mark the erasure as failed after its job's last attempt. What is not erased stays until
    another erasure is requested."""
    CustomerErasure.objects.filter(pk=erasure_id, status__in=_UNFINISHED).update(
        status=ErasureStatus.FAILED, finished_at=Now()
    )


def _finish(erasure: CustomerErasure, customer: Customer | None) -> None:
    if customer is not None:
        values = (customer.name, customer.email, customer.phone, customer.external_id)
        identifiers = [value for value in values if value]
        identifiers += channel_hooks.sender().erase_customer(customer)
        _delete_jobs(erasure.client_id, identifiers)
        saved_views.delete_about_customer(erasure.client_id, identifiers)
        events.delete_about_customers(erasure.client_id, _ids_with_merged(customer))
        # Exported reports may contain the customer's name; users can export them again.
        jobs.enqueue("reports.delete_exports", client_id=erasure.client_id,
                client=erasure.client_id)  # fmt: skip
        customer.delete()
    erasure.status, erasure.finished_at = ErasureStatus.DONE, Now()
    audit.record(
        erasure.client_id,
        "customer.erased",
        by=erasure.created_by,
        subject=_subject(erasure),
        changes={"conversations_deleted": erasure.chats_erased},
    )


def _ids_with_merged(customer: Customer) -> list[int]:
    """The ids of the customer and of all customers merged into it, directly or indirectly."""
    ids = [customer.pk]
    for customer_id in ids:  # the list grows in the loop
        merged = AuditEvent.objects.filter(
            client_id=customer.client_id,
            action="customer.merged",
            subject=f"customer:{customer_id}",
        )
        ids += merged.values_list("changes__merged_id", flat=True)
    return ids


def _delete_jobs(client_id: int, texts: Iterable[str], *, ended_only: bool = True) -> None:
    """Delete jobs whose arguments contain one of these texts, such as an email address; running
    jobs stay and, with `ended_only`, so do waiting ones."""
    contains_any = Q()
    for text in texts:
        contains_any |= Q(text__contains=json.dumps(text, ensure_ascii=False))
    if contains_any:
        rows = Job.objects.filter(client_id=client_id).exclude(state=JobState.RUNNING)
        rows = rows.filter(state__in=_ENDED) if ended_only else rows
        rows.annotate(text=Cast("args", TextField())).filter(contains_any).delete()


def _subject(erasure: CustomerErasure) -> str:
    return f"customer:{erasure.customer_id}"


def _enqueue(erasure: CustomerErasure) -> None:
    jobs.enqueue("chats.erase_customer", client_id=erasure.client_id, erasure_id=str(erasure.pk))
