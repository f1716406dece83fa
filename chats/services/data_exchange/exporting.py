"""Exports conversations and messages in the portable form, and one customer's data as a ZIP."""

import tempfile
import zipfile
from collections.abc import Iterable
from datetime import timedelta
from typing import IO, Any

from django.db.models import Prefetch, QuerySet
from django.utils import timezone

from chatplatform.json_encoding import as_json
from chats.models import (
    Attachment,
    Conversation,
    Customer,
    Feedback,
    Message,
    Summary,
    Tagging,
)
from chats.schemas.data_exchange import ConversationEntity, MessageEntity, MigratePage
from chats.schemas.people import CustomerDto
from chats.services.core.conversations import visible_to_key
from chats.services.desk import customer_editing
from identity.auth import Principal
from identity.models import ApiKey
from identity.services import audit

# The number of rows that are read from the database at once.
_BATCH_SIZE = 500
# A row gets its id before its transaction commits. An export that had already read past that id
# would miss the row, so rows newer than this are left for later. No request takes longer than this
# to commit.
SETTLED_AFTER = timedelta(seconds=5)


def conversations(key: ApiKey, query: MigratePage) -> QuerySet[Conversation]:
    """The conversations that a key may export, except conversations opened within
    `SETTLED_AFTER`."""
    _record_start(key, "conversations", query)
    settled = visible_to_key(key).filter(created_at__lt=timezone.now() - SETTLED_AFTER)
    return with_related_rows(settled)


def with_related_rows(rows: QuerySet[Conversation]) -> QuerySet[Conversation]:
    """The conversations, loaded with the related rows that their portable form contains."""
    chat_feedback = Feedback.objects.filter(message__isnull=True)
    return rows.select_related("customer", "assignee", "last_message").prefetch_related(
        Prefetch("taggings", Tagging.objects.order_by("id")),
        Prefetch("summaries", Summary.objects.order_by("id")),
        Prefetch("feedbacks", chat_feedback, to_attr="chat_feedback"),
    )


def messages(key: ApiKey, query: MigratePage) -> QuerySet[Message]:
    """The messages that a secret key may export, including internal notes, except messages stored
    within `SETTLED_AFTER`."""
    _record_start(key, "messages", query)
    rows = Message.objects.for_client(key.client).filter(conversation__is_preview=False)
    if key.bot_id:
        rows = rows.filter(conversation__bot_id=key.bot_id)
    settled = rows.filter(created_at__lt=timezone.now() - SETTLED_AFTER)
    return settled.prefetch_related("feedback_set")


def _record_start(key: ApiKey, noun: str, query: MigratePage) -> None:
    """Record an export in the audit log when its first page is read."""
    if not query.cursor:
        audit.record_export(key.client_id, noun, by=key, asked=query)


def write_customer(caller: Principal, customer_id: int) -> IO[bytes]:
    """A ZIP file with the customer as JSON, the chats and messages as JSON lines, and the files of
    the messages; the caller closes it. 404 if the caller may not see the customer."""
    customer = customer_editing.get(caller, customer_id)
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    try:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            rows = _add_customer(archive, customer)
        subject = f"customer:{customer.pk}"
        audit.record_export(
            customer.client_id, "customer", by=caller.key or caller.user, rows=rows, subject=subject
        )
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return file


def _add_customer(archive: zipfile.ZipFile, customer: Customer) -> int:
    """Write all entries to the archive; return the number of chats and messages."""
    archive.writestr("customer.json", as_json(CustomerDto.from_row(customer)))
    chats = with_related_rows(Conversation.objects.filter(customer=customer))
    count = _add_lines(
        archive, "conversations.jsonl", map(ConversationEntity.from_row, _in_batches(chats))
    )
    messages = Message.objects.filter(conversation__customer=customer)
    rows = _in_batches(messages.prefetch_related("feedback_set"))
    count += _add_lines(archive, "messages.jsonl", map(MessageEntity.from_row, rows))
    for attachment in _in_batches(Attachment.objects.filter(conversation__customer=customer)):
        with (
            attachment.file.open("rb") as stored,
            archive.open(f"files/{attachment.pk}-{attachment.file_name}", "w") as entry,
        ):
            for block in stored.chunks():
                entry.write(block)
    return count


def _in_batches(rows: QuerySet[Any]) -> Iterable[Any]:
    """The rows one by one, oldest first, read from the database in batches."""
    return rows.order_by("pk").iterator(_BATCH_SIZE)


def _add_lines(archive: zipfile.ZipFile, name: str, rows: Iterable[Any]) -> int:
    count = 0
    with archive.open(name, "w") as entry:
        for row in rows:
            entry.write(as_json(row) + b"\n")
            count += 1
    return count
