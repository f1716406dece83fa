"""Mails: written from plain templates in the reader's language, sent by a job.

Templates are `templates/identity/mail/<kind>.<language>.txt`: the subject, an empty line, the text.
"""

import smtplib
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.template import Context
from django.template.loader import get_template

from chatplatform.jobs import GiveUp, enqueue
from identity.models import Client, EmailNotification, User
from identity.services import audit
from identity.shapes.configs import EmailNotificationRequest

LANGUAGES = ("en", "vi")
# What a client can have mailed, and what its template reads from the context (each may be left
# out; chat_id and channel name the thing, the others are words for people).
NOTIFICATIONS = {
    "assigned": {"chat_id", "customer", "agent"},
    "unanswered": {"chat_id", "customer", "minutes"},
    "handoff": {"chat_id", "customer", "reason"},
    "channel_error": {"channel", "error"},
    "low_credit": {"credits_left"},
}
_MAX_VALUE = 300


def notify(client_id: int, kind: str, context: dict[str, Any]) -> None:
    """Mail the client's recipients that something of `kind` happened, if they want to know.

    Writes one job in the caller's transaction, or nothing. `kind` and what `context` may hold
    are those of NOTIFICATIONS; both end in a job's row, so neither may hold a secret.
    """
    unknown = set(context) - NOTIFICATIONS[kind]
    if unknown:
        raise ValueError(f"A mail about {kind} has no place for {sorted(unknown)}.")
    wanted = EmailNotification.objects.select_related("client").filter(
        client_id=client_id, **{f"on_{kind}": True}
    )
    row = wanted.first()
    if row and row.recipients:
        _send(client_id, kind, row.recipients, row.client.default_language, context)


def send_to(user: User, kind: str, context: dict[str, Any] | None = None) -> None:
    """Mail one of a client's people, in his language; one job in the caller's transaction."""
    about = {"name": user.full_name, **(context or {})}
    _send(user.client_id, kind, [user.email], user.language, about)


def deliver(kind: str, *, to: Sequence[str], language: str, context: dict[str, Any]) -> None:
    """Write and send a mail now: for jobs. Raises where the mail server does not take it."""
    if settings.EMAIL_BACKEND == settings.NO_EMAIL:
        raise GiveUp("No mail is sent: EMAIL_URL is not set.")
    subject, text = render(kind, language, context)
    try:
        EmailMessage(subject, text, to=list(to)).send()
    except smtplib.SMTPRecipientsRefused as exc:
        if all(code >= 500 for code, _ in exc.recipients.values()):
            raise GiveUp("The mail server refuses every recipient for good.") from exc
        raise


def render(kind: str, language: str, context: dict[str, Any]) -> tuple[str, str]:
    """Subject and text of a mail; English where it is not written in the language."""
    known = language.partition("-")[0]
    name = f"identity/mail/{kind}.{known if known in LANGUAGES else 'en'}.txt"
    template: Any = get_template(name)
    shown = {key: _one_line(value) for key, value in context.items()}
    # Plain text: nothing is HTML in it, so nothing is escaped.
    written = template.template.render(
        Context({**shown, "public_url": settings.PUBLIC_URL}, autoescape=False)
    )
    subject, _, text = written.strip().partition("\n")
    return subject.strip(), text.strip() + "\n"


def update_notification(
    client: Client, body: EmailNotificationRequest, *, by: User
) -> EmailNotification:
    """Who is told what; fields that the request leaves out keep their value."""
    changes = body.model_dump(include=body.model_fields_set)
    with transaction.atomic():
        rows = EmailNotification.objects.select_for_update()
        row: EmailNotification = rows.get_or_create(client=client)[0]
        for name, value in changes.items():
            setattr(row, name, value)
        row.save(update_fields=list(changes))
        # Who is told of customers' chats: their words may leave the platform by it.
        audit.record(client.pk, "email_notification.updated", by=by,
                     subject=f"client:{client.pk}", changes=changes)  # fmt: skip
    return row


def _send(
    client_id: int | None, kind: str, to: Sequence[str], language: str, context: dict[str, Any]
) -> None:
    enqueue(
        "identity.send_mail",
        client_id=client_id,
        kind=kind,
        to=list(to),
        language=language,
        context={name: str(value) for name, value in context.items()},
    )


def _one_line(value: Any) -> str:
    """A value as it may stand in a subject and a sentence."""
    line = " ".join(str(value).split())
    return line if len(line) <= _MAX_VALUE else line[: _MAX_VALUE - 1] + "…"
