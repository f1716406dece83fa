"""The audit log: who granted, revealed or deleted what."""

from typing import Any

from chatplatform.api.request_context import current_address, current_request_id
from identity.models import ApiKey, AuditEvent, User


def record(
    client_id: int,
    action: str,
    *,
    by: User | ApiKey | None,
    subject: str = "",
    changes: dict[str, Any] | None = None,
) -> None:
    """Record an action, in its transaction.

    `action` is `<noun>.<past participle>`, `subject` for example `user:12`. `changes` names the
    changed fields, with values unless they are secret. `by` None: the platform itself.
    """
    AuditEvent.objects.create(
        client_id=client_id,
        user=by if isinstance(by, User) else None,
        api_key=by if isinstance(by, ApiKey) else None,
        action=action,
        subject=subject,
        changes=changes or {},
        address=current_address(),
        request_id=current_request_id(),
    )
