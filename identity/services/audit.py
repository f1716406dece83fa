"""The audit log: who granted, revealed or changed what."""

from typing import Any

from chatplatform.api.request_context import current_address, current_request_id
from identity.models import ApiKey, AuditEvent, KeyScope, User


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
    changed fields, with values unless they are secret or a customer's. `by` None: the platform.
    """
    is_page = isinstance(by, ApiKey) and by.scope == KeyScope.PUBLIC
    AuditEvent.objects.create(
        client_id=client_id,
        user=by if isinstance(by, User) else None,
        api_key=by if isinstance(by, ApiKey) else None,
        action=action,
        subject=subject,
        changes=changes or {},
        # Whoever uses the key of a page is a customer.
        address="" if is_page else current_address(),
        request_id=current_request_id(),
    )
