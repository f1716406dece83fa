"""Jobs that send mails, and periodic housekeeping."""

from typing import Any

from chatplatform.jobs import Queue, job, periodic
from identity.services import (
    attempts,
    credits,
    mails,
    passwords,
    registrations,
    sign_in_providers,
    site_sessions,
    tokens,
)

# A mail is retried for about six minutes, enough for a mail server to restart.
_MAIL_ATTEMPTS = 11


@job("identity.send_mail", queue=Queue.WEBHOOK, max_attempts=_MAIL_ATTEMPTS)
def send_mail(*, kind: str, to: list[str], language: str, context: dict[str, Any]) -> None:
    """Send a mail through the mail server."""
    mails.deliver(kind, to=to, language=language, context=context)


@job("identity.send_reset_link", queue=Queue.WEBHOOK, max_attempts=_MAIL_ATTEMPTS)
def send_reset_link(*, email: str, asked_from: str) -> None:
    """Send the mail with a link to choose a new password."""
    passwords.send_reset_link(email=email, asked_from=asked_from)


@job("identity.send_invitation", queue=Queue.WEBHOOK, max_attempts=_MAIL_ATTEMPTS)
def send_invitation(*, user_id: int, by_id: int | None = None) -> None:
    """Send the mail that invites a teammate."""
    passwords.send_invitation(user_id=user_id, by_id=by_id)


@job("identity.send_registration_link", queue=Queue.WEBHOOK, max_attempts=_MAIL_ATTEMPTS)
def send_registration_link(*, email: str) -> None:
    """Send the mail with which a company confirms its registration."""
    registrations.send_link(email=email)


@job("identity.send_sign_in_link", queue=Queue.WEBHOOK, max_attempts=_MAIL_ATTEMPTS)
def send_sign_in_link(*, email: str) -> None:
    """Send the mail with a company's sign-in link."""
    sign_in_providers.send_link(email=email)


@periodic("identity.clean_up")
def clean_up() -> None:
    """Delete attempts, refresh tokens, sessions, links and registrations that have expired."""
    attempts.purge_expired()
    tokens.purge_expired()
    passwords.purge_expired()
    registrations.purge_expired()
    site_sessions.purge_expired()


@periodic("identity.clean_up_credits")
def clean_up_credits() -> None:
    """Start due periods, end due trials, and release the reservations of interrupted calls."""
    credits.renew_due()
    credits.release_abandoned()
