"""Saved replies: texts that agents send often, owned by one agent or shared with the whole team."""

import re
from typing import Any

from django.db import transaction
from django.db.models import Case, Func, Q, QuerySet, TextField, Value, When
from django.utils import timezone

from chatplatform.api.errors import ApiError, Forbidden, first_or_404, require_fields, unique
from chats.models import Conversation, SavedReply
from chats.schemas import desk as desk_schemas
from identity.models import User
from identity.services import audit

# The texts of a saved reply without the codes of their languages.
_SAID = Func(
    "texts",
    template="jsonb_path_query_array(%(expressions)s, '$.*')::text",
    output_field=TextField(),
)


class ShortcutTaken(ApiError):
    code, status = "shortcut_taken", 409
    detail = "Another saved reply already has this shortcut."


def list_for_user(user: User, query: desk_schemas.SavedRepliesQuery) -> QuerySet[SavedReply]:
    """The shared saved replies and the user's own, unordered; `rank` is 0 if the shortcut begins
    with `q`, else 1."""
    rows = _visible(user)
    if query.is_shared is not None:
        rows = rows.filter(owner__isnull=query.is_shared)
    if not query.q:
        return rows.annotate(rank=Value(0))
    begins, has_words = Q(shortcut__startswith=query.q.lower()), Q()
    for word in query.q.split():
        has_words &= Q(shortcut__icontains=word) | Q(said__icontains=word)
    rank = Case(When(begins, then=0), default=1)
    return rows.annotate(said=_SAID, rank=rank).filter(begins | has_words)


def create(user: User, body: desk_schemas.SavedReplyDto) -> SavedReply:
    """Create a saved reply; 403 if it is shared and the user is not an admin, 409 if the shortcut
    is in use."""
    assert user.client
    require_fields(body, "shortcut", "texts")
    return _store(SavedReply(client=user.client, owner=user), body, by=user)


def update(user: User, reply_id: int, body: desk_schemas.SavedReplyDto) -> SavedReply:
    """Change the given fields of a saved reply, which may become shared or the user's own. 403 if
    the user is not an admin and the reply was or becomes shared, 409 if the shortcut is in use."""
    with transaction.atomic():
        return _store(_lock(user, reply_id), body, by=user)


def delete(user: User, reply_id: int) -> None:
    """Delete a saved reply; 403 if it is shared and the user is not an admin."""
    with transaction.atomic():
        row = _lock(user, reply_id)
        _ensure_may_change(user, is_shared=row.owner_id is None)
        _record("deleted", row, by=user)
        row.delete()


def render(
    user: User, reply_id: int, chat: Conversation, *, language: str | None
) -> desk_schemas.RenderedReply:
    """A saved reply with its variables replaced by the values of a chat, in the requested language
    (else the chat's), in the bot's default language if it has no text in that, else in any."""
    row = first_or_404(_visible(user).filter(pk=reply_id))
    preferred = (language or chat.language, chat.bot.default_language)
    codes = (code for item in preferred for code in (item, item.split("-")[0]))
    chosen: str = next((code for code in codes if code in row.texts), next(iter(row.texts)))
    values = _values(user, chat)
    missing: dict[str, None] = {}

    def value(found: re.Match[str]) -> str:
        name, fallback = found.groups()
        if name in values:
            return values[name]
        missing[name] = None
        return fallback or ""

    return desk_schemas.RenderedReply(
        text=desk_schemas.VARIABLE.sub(value, row.texts[chosen]),
        language=chosen,
        missing=list(missing),
    )


def _visible(user: User) -> QuerySet[SavedReply]:
    assert user.client
    rows = SavedReply.objects.for_client(user.client)
    return rows.filter(Q(owner=user) | Q(owner__isnull=True))


def _lock(user: User, reply_id: int) -> SavedReply:
    return first_or_404(_visible(user).filter(pk=reply_id).select_for_update(of=("self",)))


def _store(row: SavedReply, body: desk_schemas.SavedReplyDto, *, by: User) -> SavedReply:
    is_new = row.pk is None
    was_shared = row.owner_id is None
    is_shared = body.is_shared if "is_shared" in body.model_fields_set else was_shared
    _ensure_may_change(by, is_shared=is_shared or was_shared)
    row.owner = None if is_shared else by
    for name in body.model_fields_set - {"is_shared"}:
        setattr(row, name, getattr(body, name))
    row.updated_at = timezone.now()
    if is_new:
        row.created_at = row.updated_at
    with unique("saved_reply_shortcut", ShortcutTaken):
        row.save()
        _record("created" if is_new else "updated", row, by=by)
    return row


def _ensure_may_change(user: User, *, is_shared: bool) -> None:
    if is_shared and not user.is_admin:
        raise Forbidden("Only owners and admins can change shared replies. Save your own instead.")


def _record(action: str, row: SavedReply, *, by: User) -> None:
    """Record a change in the audit log if the reply is shared."""
    if row.owner_id is None:
        audit.record(
            row.client_id,
            f"saved_reply.{action}",
            by=by,
            subject=f"saved_reply:{row.pk}",
            changes={"shortcut": row.shortcut},
        )


def _values(user: User, chat: Conversation) -> dict[str, str]:
    """The values of the variables in a saved reply, by name. Empty values are left out."""
    customer = chat.customer
    attributes: dict[str, Any] = {
        f"customer.attributes.{name}": value
        for name, value in customer.attributes.items()
        if isinstance(value, str | int | float)
    }
    values = attributes | {
        "customer.name": customer.name,
        "customer.email": customer.email,
        "customer.phone": customer.phone,
        "customer.external_id": customer.external_id,
        "agent.name": user.full_name,
        "bot.name": chat.bot.bot_name,
        "client.name": chat.client.name,
        "chat.code": chat.chat_code,
    }
    return {name: str(value) for name, value in values.items() if value not in (None, "")}
