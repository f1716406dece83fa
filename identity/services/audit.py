"""The audit log: who granted, revealed or changed what."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from chatplatform.api.request_context import REQUEST_ID, current_address
from identity.models import ApiKey, AuditEvent, KeyScope, User

# The log of the platform's own staff and rows: no client has this id.
PLATFORM = 0


def record(
    client_id: int | None,
    action: str,
    *,
    by: User | ApiKey | None,
    subject: str = "",
    changes: dict[str, Any] | None = None,
) -> None:
    """Record an action in the caller's transaction. `client_id` None: in the platform's own log.

    `action` is `<noun>.<past participle>`, `subject` for example `user:12`. `changes` names the
    changed fields, with values (old and new) unless they are secret or a customer's. `by` None: the
    platform.
    """
    is_public_key = isinstance(by, ApiKey) and by.scope == KeyScope.PUBLIC
    AuditEvent.objects.create(
        client_id=client_id or PLATFORM,
        user=by if isinstance(by, User) else None,
        api_key=by if isinstance(by, ApiKey) else None,
        action=action,
        subject=subject,
        changes=changes or {},
        # With a public key the caller is a customer, whose address is not kept.
        address="" if is_public_key else current_address(),
        # A caller may send a longer one.
        request_id=REQUEST_ID.get()[:64],
    )


def changed_values(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that differ, each with its old and new value. Of texts by language, only those
    that differ, as `welcome_message.en`."""
    found = {}
    for name in sorted(after):
        old, new = before[name], after[name]
        if isinstance(old, dict) and isinstance(new, dict):
            for key in {**old, **new}:
                found[f"{name}.{key}"] = [old.get(key), new.get(key)]
        else:
            found[name] = [old, new]
    return {name: pair for name, pair in found.items() if pair[0] != pair[1]}


def record_export(
    client_id: int | None,
    noun: str,
    *,
    by: User | ApiKey | None,
    asked: BaseModel | None = None,
    rows: int | None = None,
    subject: str = "",
) -> None:
    """Record that rows were exported: `<noun>.exported`, with the names of the fields set in
    `asked`, never their values. `rows` None: unknown."""
    names = asked.model_fields_set if asked else set()
    fields = sorted(name for name in names if getattr(asked, name) not in (None, "", []))
    changes: dict[str, Any] = {"fields": fields}
    if rows is not None:
        changes["rows"] = rows
    record(client_id, f"{noun}.exported", by=by, subject=subject, changes=changes)
