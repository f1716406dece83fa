"""Push notifications in the browsers that people have subscribed, for when their inbox is
closed."""

import uuid
from collections.abc import Iterable
from datetime import timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import translation
from django.utils.translation import gettext, gettext_noop

from chatplatform import egress, jobs, web_push
from chatplatform.api.errors import Invalid, first_or_404
from chatplatform.json_encoding import as_json
from chats.models import Conversation, Notification, NotificationKind, PushSubscription, Status
from chats.schemas import desk as desk_schemas
from identity.models import RefreshToken, Role, SiteSession, User
from identity.services import audit, tokens

MAX_DEVICES = 20
# How long a push waits. People who are looking at the inbox have read the message by then, and get
# no push. For customers' messages, `chats_store_message` enqueues the pushes.
WAIT = timedelta(seconds=5)
# The kind of push for a customer's message in a conversation that the person has. Such messages
# have no `Notification`.
MESSAGE = "message"
_TITLES = {
    MESSAGE: gettext_noop("New message from %(name)s"),
    NotificationKind.ASSIGNED.value: gettext_noop("Assigned to you: %(name)s"),
    NotificationKind.MENTIONED.value: gettext_noop("You were mentioned: %(name)s"),
}


def subscribe(
    user: User, body: desk_schemas.NewPushSubscription, *, sign_in: uuid.UUID, device: str
) -> PushSubscription:
    """Subscribe this browser to the person's pushes, and end other people's subscriptions in it.
    If the person has more than `MAX_DEVICES` subscriptions, the oldest are deleted."""
    assert user.client
    try:
        is_safe = egress.keeps_secrets(body.endpoint, purpose=web_push.PURPOSE)
    except egress.Blocked:
        is_safe = False
    if not is_safe:
        raise Invalid.field("body", "endpoint", msg="Must be an https URL.")
    with transaction.atomic():
        PushSubscription.objects.filter(endpoint=body.endpoint).exclude(user=user).delete()
        row, is_new = PushSubscription.objects.update_or_create(
            endpoint=body.endpoint,
            defaults={
                "client": user.client, "user": user, "sign_in": sign_in, "device": device,
                "p256dh": body.keys.p256dh, "auth": body.keys.auth,
            },
        )  # fmt: skip
        surplus = list_for_user(user).order_by("-id")[MAX_DEVICES:]
        PushSubscription.objects.filter(pk__in=list(surplus.values_list("pk", flat=True))).delete()
        if is_new:
            _record(row, "push_subscription.created", by=user)
    return row


def list_for_user(user: User) -> QuerySet[PushSubscription]:
    """The subscriptions of the browsers in which a person gets pushes."""
    assert user.client
    return PushSubscription.objects.for_client(user.client).filter(user=user)


def unsubscribe(user: User, subscription_id: uuid.UUID) -> None:
    """Delete one of the person's subscriptions; 404 for another person's subscription."""
    row = first_or_404(list_for_user(user).filter(pk=subscription_id))
    with transaction.atomic():
        _record(row, "push_subscription.deleted", by=user)
        row.delete()


def enqueue_pushes(chat: Conversation, kind: NotificationKind, to: Iterable[int]) -> None:
    """Enqueue pushes for a notification to these people; a job sends them after `WAIT` if the
    notification is still unread."""
    rows = PushSubscription.objects.filter(client_id=chat.client_id, user_id__in=list(to))
    for subscription_id in rows.order_by("id").values_list("pk", flat=True):
        jobs.enqueue(
            "chats.send_push",
            client_id=chat.client_id,
            dedupe_key=f"{subscription_id}:{chat.pk}:{kind}",
            wait=WAIT,
            subscription_id=str(subscription_id),
            conversation_id=str(chat.pk),
            kind=str(kind),
        )


def send(subscription_id: str, conversation_id: str, kind: str) -> None:
    """Send a push to one person in one browser, unless it is no longer wanted. Delete the
    subscription if its sign-in is no longer valid, or if the push service no longer accepts the
    subscription."""
    rows = PushSubscription.objects.select_related("user")
    row = rows.filter(pk=subscription_id).first()
    if row is None:
        return
    person = tokens.find_user_by_claims((row.user_id, row.user.token_version, row.sign_in))
    chats = Conversation.objects.filter(pk=conversation_id, client_id=row.client_id)
    chat = chats.select_related("customer").first()
    if person is None or not _send_if_wanted(row, chat, kind, person):
        with jobs.commit():
            row.delete()


def _send_if_wanted(
    row: PushSubscription, chat: Conversation | None, kind: str, person: User
) -> bool:
    """Send the push if it is still wanted; False if the push service no longer accepts it."""
    if chat is None or not _is_wanted(chat, kind, person):
        return True
    message = as_json({"chat_id": chat.pk, "title": _title(chat, kind, person)})
    try:
        status = web_push.send(
            row.endpoint, message, key=row.p256dh, auth=row.auth, topic=chat.pk.hex
        )
    except egress.Blocked:
        return False
    except egress.EgressError as exc:
        raise jobs.TryLater(str(exc)) from exc
    if status == 429 or status >= 500:
        raise jobs.TryLater(f"The push service answered {status}.")
    if status >= 300 and status not in {404, 410}:
        raise jobs.GiveUp(f"The push service answered {status}.")
    return status < 300


def clean_up() -> None:
    """Delete the subscriptions whose sign-in has ended."""
    sessions = SiteSession.objects.filter(token_family=OuterRef("sign_in"))
    refresh = RefreshToken.objects.filter(family=OuterRef("sign_in"), revoked_at=None)
    PushSubscription.objects.filter(~Exists(sessions), ~Exists(refresh)).delete()


def _is_wanted(chat: Conversation, kind: str, person: User) -> bool:
    """Whether the person has not read this yet and still has the chat, which must be open. For a
    mention, they need not have the chat."""
    is_own = chat.assignee_id == person.pk and chat.status == Status.OPEN
    if kind == MESSAGE:
        return is_own and person.role != Role.VIEWER and chat.unread_count > 0
    unread = Notification.objects.filter(
        user=person, conversation=chat, kind=kind, is_read=False
    ).exists()
    return unread and (is_own or kind == NotificationKind.MENTIONED)


def _title(chat: Conversation, kind: str, person: User) -> str:
    """The text that the browser shows, in the person's language. The customer's name is the only
    detail of the chat in it."""
    with translation.override(person.language):
        return gettext(_TITLES[kind]) % {"name": str(chat.customer)}


def _record(row: PushSubscription, action: str, *, by: User) -> None:
    audit.record(
        row.client_id, action, by=by, subject=f"user:{by.pk}", changes={"device": row.device}
    )
