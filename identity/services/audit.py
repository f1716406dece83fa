"""Who granted, revealed or deleted what: one append-only log a client."""

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
    """Write what was done, in the transaction of the doing.

    `action` reads `<subject>.<past participle>`, `subject` is such as `user:12`. `changes` names
    what changed, with values only where they are no secrets. `by` None: the platform itself.
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
