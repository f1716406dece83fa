"""Mails: rendered from text templates in the recipient's language, and usually sent by a job.

Templates are `templates/identity/mail/<kind>.<language>.txt`: the subject, an empty line, the text.
`CUSTOMER_MAILS` have a template in each language that bots speak, other mails in each of
`LANGUAGES`.
"""

import logging
import re
import smtplib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.template import Context
from django.template.loader import select_template
from django.utils.translation import gettext_noop

from chatplatform import cpu_slots
from chatplatform.api.errors import ApiError, NotConfigured, NotFound
from chatplatform.api.request_context import current_address
from chatplatform.jobs import GiveUp, TryLater, enqueue
from chatplatform.observing import metrics
from identity.models import AttemptKind, Client, EmailNotification, User
from identity.schemas.configs import EmailNotificationRequest
from identity.services import attempts, audit

log = logging.getLogger(__name__)
LANGUAGES = ("en", "vi")
CUSTOMER_MAILS = ("answer", "transcript")
# The kinds of notifications, and the context that their templates use. All values are optional.
# `chat_id` and `channel` are identifiers; the other values are texts.
NOTIFICATIONS = {
    "assigned": {"chat_id", "customer", "agent"},
    "unanswered": {"chat_id", "customer", "minutes"},
    "handoff": {"chat_id", "customer", "reason"},
    "channel_error": {"channel", "error"},
    "channel_notice": {"channel", "account", "notice"},
    "low_credit": {"credits_left"},
}
# For each kind without a setting: the kind whose setting applies to it.
_SETTING_KINDS = {"channel_notice": "channel_error"}
_MAX_VALUE_CHARS = 300
# Values that keep their line breaks and may be longer than others.
_TEXTS = {"answer"}
_MAX_TEXT_CHARS = 4_000
# Links that the platform itself writes.
_LINKS = {"link", "url"}
# Names that people have chosen. Unless they are plain, they are quoted to set them apart from the
# platform's words.
_NAMES = {"name", "company", "customer", "agent", "bot", "provider", "inviter"}
# Characters that change the reading direction: in a name, they could reverse a subject line.
_DIRECTIONS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
# Matches up to three words of letters, which cannot be a link and hardly a sentence.
_PLAIN_NAME = re.compile(r"[^\W\d_]+(?:[ '’-][^\W\d_]+){0,2}")
_MAX_PLAIN_NAME = 30
_QUOTES = re.compile('[“”„"]')
# Matches the dots and colons by which mail programs recognize URLs and host names, but not the
# colon in a time such as 9:05.
_LINK_SIGN = re.compile(r"(?<=\S)([.。．｡]|(?<!\d):|:(?!\d))(?=[/\\\w])")


class MailNotConfigured(NotConfigured):
    """The platform has no mail server."""

    code = "mail_not_configured"
    detail = gettext_noop("Email isn't set up. Set EMAIL_URL on the server.")


class MailFailed(ApiError):
    code, status = "mail_failed", 502
    detail = gettext_noop(
        "The mail server rejected the email. Check the addresses, or try again later."
    )


class NoRecipients(ApiError):
    code, status = "no_recipients", 409
    detail = gettext_noop("No one gets email notifications. Add recipients first.")


def notify(
    client_id: int, kind: str, context: dict[str, Any], *, assignee: User | None = None
) -> None:
    """Enqueue the mails of a notification if the client has turned this kind on: one to the
    client's recipients, and one to `assignee`, unless they are a recipient or the client has turned
    that off.

    NOTIFICATIONS lists the kinds and their context. The context is stored with the job, so it must
    not contain secrets.
    """
    unknown = set(context) - NOTIFICATIONS[kind]
    if unknown:
        raise ValueError(f"The mail {kind} does not use {sorted(unknown)}.")
    rows = EmailNotification.objects.select_related("client").filter(
        client_id=client_id, **{f"on_{_SETTING_KINDS.get(kind, kind)}": True}
    )
    row = rows.first()
    if row and row.recipients:
        _enqueue_mail(client_id, kind, row.recipients, row.client.default_language, context)
    if row and row.to_assignee and assignee and assignee.email not in row.recipients:
        _enqueue_mail(client_id, kind, [assignee.email], assignee.language, context)


def send_to(user: User, kind: str, context: dict[str, Any] | None = None) -> None:
    """Enqueue a mail to a user, in the user's language, in the caller's transaction."""
    context = {"name": user.full_name, **(context or {})}
    _enqueue_mail(user.client_id, kind, [user.email], user.language, context)


def deliver(
    kind: str,
    *,
    to: Sequence[str],
    language: str,
    context: dict[str, Any],
    attachment: tuple[str, str] | None = None,
) -> None:
    """Render a mail and send it now, usually in a job. `attachment` is a file's name and text.

    Raises GiveUp if no mail server is set or the mail server permanently refuses every recipient,
    and TryLater after any other failure.
    """
    if not is_enabled():
        raise GiveUp("No mail is sent: EMAIL_URL is not set.")
    subject, text = render(kind, language, context)
    mail = EmailMessage(subject, text, to=list(to))
    if attachment:
        mail.attach(*attachment, "text/plain")
    cpu_slots.release()  # other work can use the processor during the wait
    try:
        mail.send()
    except smtplib.SMTPRecipientsRefused as exc:
        metrics.MAIL_FAILURES.add()
        if all(code >= 500 for code, _ in exc.recipients.values()):
            raise GiveUp("The mail server permanently refuses every recipient.") from exc
        raise _retry(exc) from exc
    except OSError as exc:
        metrics.MAIL_FAILURES.add()
        raise _retry(exc) from exc


@contextmanager
def limit_link_mails(account: str) -> Iterator[bool]:
    """A context manager for sending a link that anyone can request. Yields whether the mail is
    within the account's limit, and counts it unless the block fails.

    Above the limit no error is raised, since earlier mails contain a working link.
    """
    try:
        attempt = attempts.start(AttemptKind.LINK_MAIL, address="", account=account)
    except attempts.TooManyAttempts:
        yield False
        return
    try:
        yield True
    except Exception:
        attempt.delete()
        raise


def render(kind: str, language: str, context: dict[str, Any]) -> tuple[str, str]:
    """A mail's subject and text, in English if there is no template for the language."""
    language = language.partition("-")[0]
    names = [f"identity/mail/{kind}.{code}.txt" for code in (language, "en")]
    template: Any = select_template(names)
    values = {key: _plain(key, value) for key, value in context.items()}
    # Mails are plain text, so nothing is escaped.
    rendered = template.template.render(
        Context({**values, "public_url": settings.PUBLIC_URL}, autoescape=False)
    )
    subject, _, text = rendered.strip().partition("\n")
    return subject.strip(), text.strip() + "\n"


def is_enabled() -> bool:
    """Whether the platform can send mails."""
    sends: bool = settings.EMAIL_BACKEND != settings.NO_EMAIL
    return sends


def check_configured() -> None:
    """Raise a 503 `mail_not_configured` if the platform cannot send mails."""
    if not is_enabled():
        raise MailNotConfigured(setting="EMAIL_URL")


def get_notification(client: Client, client_id: int) -> EmailNotification:
    """The client's notification settings, or an unsaved row without recipients. 404 if `client_id`
    is another client's id."""
    if client_id != client.pk:
        raise NotFound
    row: EmailNotification | None = EmailNotification.objects.for_client(client).first()
    return row or EmailNotification(client=client)


def send_test(row: EmailNotification) -> list[str]:
    """Send a test mail to the recipients now, and return their addresses. Raises an ApiError if no
    mail server is set, there are no recipients, the limit is reached, or sending fails."""
    check_configured()
    if not row.recipients:
        raise NoRecipients
    client = row.client
    attempts.start(AttemptKind.TEST_MAIL, address=current_address(), account=f"{client.pk}")
    context = {"company": str(client)}
    try:
        deliver("test", to=row.recipients, language=client.default_language, context=context)
    except (GiveUp, TryLater) as exc:
        log.warning("a test mail of client %s failed: %s", client.pk, exc)
        raise MailFailed from exc
    return row.recipients


def update_notification(
    before: EmailNotification, body: EmailNotificationRequest, *, by: User
) -> EmailNotification:
    """Change the fields that are set in `body`; the others keep their value."""
    changes, client = body.model_dump(include=body.model_fields_set), before.client
    with transaction.atomic():
        rows = EmailNotification.objects.select_for_update()
        row: EmailNotification = rows.get_or_create(client=client)[0]
        stored = {name: getattr(row, name) for name in changes}
        for name, value in changes.items():
            setattr(row, name, value)
        row.save(update_fields=list(changes))
        changed = audit.changed_values(stored, changes)
        # Audited, since the mails may contain customers' texts.
        audit.record(client.pk, "email_notification.updated", by=by,
                     subject=f"client:{client.pk}", changes=changed)  # fmt: skip
    return row


def _enqueue_mail(
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


def _retry(error: OSError) -> TryLater:
    """The exception that makes the job try again. Logs the error without a traceback, because its
    cause is outside the platform."""
    reason = f"{type(error).__name__}: {error}"
    log.warning("a mail was not accepted and will be tried again: %s", reason)
    return TryLater(reason)


def _plain(key: str, value: Any) -> str:
    """A value as it appears in a mail: cut to its maximum length, and changed so that mail programs
    turn only the platform's URLs into links."""
    is_text = key in _TEXTS
    value = _DIRECTIONS.sub("", str(value))
    lines = value.splitlines() if is_text else [value]
    text = "\n".join(" ".join(line.split()) for line in lines)
    max_chars = _MAX_TEXT_CHARS if is_text else _MAX_VALUE_CHARS
    text = text if len(text) <= max_chars else text[: max_chars - 1] + "…"
    if key in _LINKS:
        return text
    text = _LINK_SIGN.sub(r"\1 ", text)
    is_plain = len(text) <= _MAX_PLAIN_NAME and _PLAIN_NAME.fullmatch(text)
    if key in _NAMES and text and not is_plain:
        return f"“{_QUOTES.sub('', text)}”"
    return text
