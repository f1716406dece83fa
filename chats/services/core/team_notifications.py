"""Notifies the team of events in chats, in the inbox, by push and by mail. Previews notify
nobody."""

import re
import uuid
from collections import defaultdict
from collections.abc import Iterable

from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.db.models import Q, QuerySet
from django.utils import timezone

from bots.language.normalization import fold
from chatplatform import jobs
from chatplatform.api.errors import first_or_404
from chats.models import Conversation, Message, Notification, NotificationKind
from chats.schemas import desk as desk_schemas
from chats.services.core import presence, push
from identity.models import Role, User
from identity.services import mails
from webhooks.services import announce

# The kinds of notifications that are also pushed to people's browsers.
_PUSHED = {NotificationKind.ASSIGNED, NotificationKind.MENTIONED}
# The roles of the people who may have a chat.
ROLES = (Role.OWNER, Role.ADMIN, Role.AGENT)


def team(client_id: int) -> QuerySet[User]:
    """The client's users who may have a chat. Viewers, disabled users and people who have not
    accepted the invitation yet are left out."""
    rows = User.objects.filter(client_id=client_id, role__in=ROLES, is_disabled=False)
    return rows.exclude(last_login=None, password__startswith=UNUSABLE_PASSWORD_PREFIX)


def enqueue_waiting(chat: Conversation) -> None:
    """Enqueue jobs that notify the team of a chat that entered the queue, and that assign the chat.
    A job chooses whom to notify, because Valkey, which knows who is online, must not be called
    while the chat is locked."""
    if chat.is_preview:
        return
    # This job runs before waiting replies: agents are needed most when a model is slow.
    jobs.enqueue(
        "chats.notify_waiting",
        client_id=chat.client_id,
        conversation_id=str(chat.pk),
        priority=-1,
    )
    _mail(chat, NotificationKind.HANDOFF, reason=chat.handoff_reason or "")
    presence.enqueue_assignment(chat.client)


def notify_waiting(chat_id: str) -> None:
    """Notify the team's members who are online of a chat in the queue; if nobody is online, the
    whole team. Members who are away are left out."""
    chat = Conversation.objects.filter(pk=chat_id).first()
    if chat is None:
        return  # the chat was deleted
    online = presence.online(chat.client_id)
    with jobs.commit():
        _notify(chat, NotificationKind.HANDOFF, _audience(chat, online))


def notify_unanswered(chat: Conversation, *, online: set[int]) -> None:
    """Notify the chat's agent of a customer who has waited too long. If no agent has the chat,
    notify the team's members who are online or, if nobody is online, the whole team, without those
    who are away."""
    to = [chat.assignee_id] if chat.assignee_id else _audience(chat, online)
    _notify(chat, NotificationKind.UNANSWERED, to)
    waited = timezone.now() - (chat.waiting_since or timezone.now())
    minutes = str(int(waited.total_seconds() // 60))
    _mail(chat, NotificationKind.UNANSWERED, assignee=chat.assignee, minutes=minutes)


def notify_assigned(chat: Conversation, *, to: User, by: User | None) -> None:
    """Notify an agent of a chat that was assigned to them, unless they took it themselves."""
    _notify(chat, NotificationKind.ASSIGNED, [to.pk], by=by)
    if by != to:
        _mail(chat, NotificationKind.ASSIGNED, assignee=to, agent=to.full_name)


def notify_unassigned(chat: Conversation, *, from_: User, by: User | None) -> None:
    """Notify an agent of a chat that they no longer have, unless they gave it up themselves."""
    _notify(chat, NotificationKind.UNASSIGNED, [from_.pk], by=by)


def notify_mentioned(note: Message, *, by: User) -> None:
    """Notify the people whose names follow an `@` in a note, except its author. A first name, or a
    name without accents, is enough if only one person has it."""
    if "@" not in note.text:
        return
    people = User.objects.filter(client_id=note.client_id, is_disabled=False)
    ids = _ids_by_name(people.values_list("pk", "full_name"))
    names = "|".join(re.escape(name) for name in sorted(ids, key=len, reverse=True))
    found = re.findall(rf"(?<!\w)@({names})(?!\w)", _plain(note.text))
    to = sorted({user_id for name in found for user_id in ids.get(name, ())})
    _notify(note.conversation, NotificationKind.MENTIONED, to, by=by, message=note)


def _ids_by_name(people: Iterable[tuple[int, str]]) -> dict[str, set[int]]:
    """User ids by full name, and by first name or unaccented name if only one person has it."""
    full_names: dict[str, set[int]] = defaultdict(set)
    first_names: dict[str, set[int]] = defaultdict(set)
    unaccented: dict[str, set[int]] = defaultdict(set)
    for user_id, full_name in people:
        name = _plain(full_name)
        first_name = name.partition(" ")[0]
        full_names[name].add(user_id)
        first_names[first_name].add(user_id)
        for item in (name, first_name):
            unaccented[fold(item)].add(user_id)
    by_short_name = unaccented | first_names
    ids = {name: found for name, found in by_short_name.items() if len(found) == 1} | full_names
    return {name: found for name, found in ids.items() if name}


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def list_for_user(
    user: User, *, unread: bool | None, personal: bool | None = None
) -> QuerySet[Notification]:
    """A person's notifications, without the rows about their own actions, which `_notify` keeps for
    routing. If `unread` is True, only unread notifications; if it is False, only read ones. If
    `personal` is True, only notifications that concern this person; if it is False, only
    notifications for the whole team. None does not filter."""
    assert user.client
    rows = Notification.objects.for_client(user.client).filter(user=user).exclude(assigned_by=user)
    if unread is not None:
        rows = rows.filter(is_read=not unread)
    if personal is not None:
        unanswered = Q(kind=NotificationKind.UNANSWERED)
        is_for_one = ~unanswered & ~Q(kind=NotificationKind.HANDOFF)
        is_personal = is_for_one | unanswered & Q(conversation__assignee=user)
        rows = rows.filter(is_personal) if personal else rows.exclude(is_personal)
    return rows.select_related("assigned_by")


def mark_read(user: User, notification_id: uuid.UUID) -> Notification:
    """Mark one of the user's notifications as read; 404 for another user's notification."""
    row = first_or_404(list_for_user(user, unread=None).filter(pk=notification_id))
    if not row.is_read:
        row.is_read = True
        row.save(update_fields=["is_read"])
    return row


def mark_all_read(user: User) -> int:
    """Mark all of the user's notifications as read; return how many were unread."""
    return list_for_user(user, unread=True).update(is_read=True)


def _audience(chat: Conversation, online: set[int]) -> list[int]:
    """The ids of the team's members to notify: those who are online or, if nobody is, the whole
    team. Members who are away are left out."""
    everyone = set(team(chat.client_id).filter(is_away=False).values_list("pk", flat=True))
    return sorted(everyone & online or everyone)


def _mail(
    chat: Conversation, kind: NotificationKind, *, assignee: User | None = None, **details: str
) -> None:
    if chat.is_preview:
        return
    details_of_chat = {"chat_id": str(chat.pk), "customer": chat.customer.name, **details}
    mails.notify(chat.client_id, kind.value, details_of_chat, assignee=assignee)


def _notify(
    chat: Conversation,
    kind: NotificationKind,
    to: Iterable[int],
    *,
    by: User | None = None,
    message: Message | None = None,
) -> None:
    """Store and announce a notification. For the person who did it themselves, it is only stored:
    routing reads there who had a chat, and when."""
    if chat.is_preview:
        return
    rows = Notification.objects.bulk_create(
        Notification(
            client_id=chat.client_id,
            user_id=user_id,
            conversation=chat,
            message=message,
            kind=kind,
            assigned_by=by,
            is_read=by is not None and by.pk == user_id,
        )
        for user_id in to
    )
    rows = [row for row in rows if by is None or row.user_id != by.pk]
    if rows:
        # One event for all notifications; each live feed shows its user only their own.
        shown = [desk_schemas.AssignNotification.from_row(row) for row in rows]
        pairs = [
            {"user_id": row.user_id, "notification": item.model_dump(mode="json")}
            for row, item in zip(rows, shown, strict=True)
        ]
        announce(chat.client_id, "notification.created", {"notifications": pairs})
    if kind in _PUSHED:
        push.enqueue_pushes(chat, kind, (row.user_id for row in rows))
