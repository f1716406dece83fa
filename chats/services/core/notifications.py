"""Notifications: what one of the client's people should look at."""

import uuid
from collections.abc import Iterable
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from chatplatform.api.errors import NotFound
from chats.models import Conversation, Notification, NotificationKind
from chats.services.core import presence
from chats.shapes import desk as desk_shapes
from identity.models import Role, User
from identity.services import mails
from webhooks.services import announce

STAFF = (Role.OWNER, Role.ADMIN, Role.AGENT)


def staff(client_id: int) -> QuerySet[User]:
    """Whoever of a client may have a chat."""
    rows = User.objects.filter(client_id=client_id)
    return rows.filter(role__in=STAFF, is_disabled=False)


def notify_waiting(chat: Conversation) -> None:
    """A chat came into the queue: whoever is online hears of it, and everyone where nobody is."""
    _notify(chat, NotificationKind.HANDOFF, _audience(chat))
    _mail(chat, NotificationKind.HANDOFF, reason=chat.handoff_reason or "")


def notify_unanswered(chat: Conversation) -> None:
    """A customer waits too long: its agent hears of it, or whoever could be."""
    to = [chat.assignee_id] if chat.assignee_id else _audience(chat)
    _notify(chat, NotificationKind.UNANSWERED, to)
    waited = timezone.now() - (chat.waiting_since or timezone.now())
    _mail(chat, NotificationKind.UNANSWERED, minutes=str(int(waited.total_seconds() // 60)))


def notify_assigned(chat: Conversation, *, to: User, by: User | None) -> None:
    """An agent was given a chat; read already where he took it himself."""
    _notify(chat, NotificationKind.ASSIGNED, [to.pk], by=by)
    if by != to:
        _mail(chat, NotificationKind.ASSIGNED, agent=to.full_name)


def notify_unassigned(chat: Conversation, *, from_: User, by: User | None) -> None:
    """A chat was taken from an agent; read already where he gave it up himself."""
    _notify(chat, NotificationKind.UNASSIGNED, [from_.pk], by=by)


def list_for_user(user: User, *, unread: bool | None) -> QuerySet[Notification]:
    """A person's notifications; only the unread or only the read ones where asked."""
    assert user.client
    rows = Notification.objects.for_client(user.client).filter(user=user)
    if unread is not None:
        rows = rows.filter(is_read=not unread)
    return rows.select_related("assigned_by")


def mark_read(user: User, notification_id: uuid.UUID) -> Notification:
    """Note that its owner has read it; 404 for anyone else's."""
    found = list_for_user(user, unread=None).filter(pk=notification_id).first()
    if found is None:
        raise NotFound
    if not found.is_read:
        found.is_read = True
        found.save(update_fields=["is_read"])
    return found


def _audience(chat: Conversation) -> list[int]:
    # Asks Valkey while the chat is locked: half a millisecond, and never more than its second of
    # patience, after which nobody asks for two.
    everyone = set(staff(chat.client_id).values_list("pk", flat=True))
    return sorted(everyone & presence.online(chat.client_id) or everyone)


def _mail(chat: Conversation, kind: NotificationKind, **more: str) -> None:
    """Tell by mail those whom the client wants to be told."""
    about = {"chat_id": str(chat.pk), "customer": chat.customer.name, **more}
    mails.notify(chat.client_id, kind.value, about)


def _notify(
    chat: Conversation, kind: NotificationKind, to: Iterable[int], *, by: User | None = None
) -> None:
    made: list[Any] = Notification.objects.bulk_create(
        Notification(
            client_id=chat.client_id,
            user_id=user_id,
            conversation=chat,
            kind=kind,
            assigned_by=by,
            is_read=by is not None and by.pk == user_id,
        )
        for user_id in to
    )
    if made:
        # One event for all: a live stream picks out its own reader's.
        announce(
            chat.client_id,
            "notification.created",
            {
                "notifications": [
                    {
                        "user_id": one.user_id,
                        "notification": desk_shapes.AssignNotification.from_row(one).model_dump(
                            mode="json"
                        ),
                    }
                    for one in made
                ]
            },
        )
