"""Records actions in the audit log."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from chatplatform.api.request_context import REQUEST_ID, current_address
from identity.models import ApiKey, AuditEvent, KeyScope, User

# The client id of the events in the platform's own log, which concern its staff, or data that
# belongs to no client. No client has this id.
PLATFORM = 0


def record(
    client_id: int | None,
    action: str,
    *,
    by: User | ApiKey | None,
    subject: str = "",
    changes: dict[str, Any] | None = None,
) -> None:
    """Record an action in the caller's transaction. If `client_id` is None, the action is recorded
    in the platform's own log.

    `action` has the form `<noun>.<past participle>` and an entry in `AUDITED`; `subject` names a
    row, such as `user:12`. `changes` maps changed fields to their old and new values. If the values
    are secret or a customer's data, it only lists the fields. `by` is None if the platform itself
    acted.
    """
    is_public_key = isinstance(by, ApiKey) and by.scope == KeyScope.PUBLIC
    AuditEvent.objects.create(
        client_id=client_id or PLATFORM,
        user=by if isinstance(by, User) else None,
        api_key=by if isinstance(by, ApiKey) else None,
        action=action,
        subject=subject,
        changes=changes or {},
        # The caller with a public key is a customer, whose IP address is not kept.
        address="" if is_public_key else current_address(),
        # Callers may send a longer id.
        request_id=REQUEST_ID.get()[:64],
    )


def changed_values(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of `after` that differ from `before`, each with its old and new value. If a field
    is a dict, each of its keys counts as a field of its own, such as `welcome_message.en`."""
    values = {}
    for name in sorted(after):
        old, new = before[name], after[name]
        if isinstance(old, dict) and isinstance(new, dict):
            for key in {**old, **new}:
                values[f"{name}.{key}"] = [old.get(key), new.get(key)]
        else:
            values[name] = [old, new]
    return {name: pair for name, pair in values.items() if pair[0] != pair[1]}


def record_export(
    client_id: int | None,
    noun: str,
    *,
    by: User | ApiKey | None,
    asked: BaseModel | None = None,
    rows: int | None = None,
    subject: str = "",
) -> None:
    """Record an export as `<noun>.exported`. The event has the names of the filters set in `asked`,
    but never their values. It also has the number of rows, unless that is None (unknown)."""
    names = asked.model_fields_set if asked else set()
    fields = sorted(name for name in names if getattr(asked, name) not in (None, "", []))
    changes: dict[str, Any] = {"fields": fields}
    if rows is not None:
        changes["rows"] = rows
    record(client_id, f"{noun}.exported", by=by, subject=subject, changes=changes)
