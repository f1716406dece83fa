"""Everything that is stored about a customer, in one file that can be handed to them."""

import tempfile
import zipfile
from collections.abc import Iterable
from typing import IO, Any

from django.db.models import QuerySet

from chatplatform.json_encoding import as_json
from chats.models import Attachment, Conversation, Customer, Message
from chats.services.desk import customer_records
from chats.services.exchange import exporting
from chats.shapes.exchange import ConversationEntity, MessageEntity
from chats.shapes.people import CustomerDto
from identity.auth import Principal
from identity.services import audit

_READ_AT_ONCE = 500


def write(caller: Principal, customer_id: int) -> IO[bytes]:
    """A ZIP file with the customer, their chats and messages as JSON lines, and their files; the
    caller closes it. 404 if the caller may not see the customer."""
    customer = customer_records.get(caller, customer_id)
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    try:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            rows = _add(archive, customer)
        subject = f"customer:{customer.pk}"
        audit.record_export(
            customer.client_id, "customer", by=caller.key or caller.user, rows=rows, subject=subject
        )
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return file


def _add(archive: zipfile.ZipFile, customer: Customer) -> int:
    """Write all entries; return the number of chats and messages."""
    archive.writestr("customer.json", as_json(CustomerDto.from_row(customer)))
    chats = exporting.whole(Conversation.objects.filter(customer=customer))
    count = _add_lines(
        archive, "conversations.jsonl", map(ConversationEntity.from_row, _each(chats))
    )
    messages = Message.objects.filter(conversation__customer=customer)
    rows = _each(messages.prefetch_related("feedback_set"))
    count += _add_lines(archive, "messages.jsonl", map(MessageEntity.from_row, rows))
    for attachment in _each(Attachment.objects.filter(conversation__customer=customer)):
        with (
            attachment.file.open("rb") as stored,
            archive.open(f"files/{attachment.pk}-{attachment.file_name}", "w") as entry,
        ):
            for block in stored.chunks():
                entry.write(block)
    return count


def _each(rows: QuerySet[Any]) -> Iterable[Any]:
    return rows.order_by("pk").iterator(_READ_AT_ONCE)


def _add_lines(archive: zipfile.ZipFile, name: str, rows: Iterable[Any]) -> int:
    count = 0
    with archive.open(name, "w") as entry:
        for row in rows:
            entry.write(as_json(row) + b"\n")
            count += 1
    return count
