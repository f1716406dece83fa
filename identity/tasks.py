"""Jobs: mails. And housekeeping by schedule. Each may run twice and at any time."""

from typing import Any

from chatplatform.jobs import Queue, job, periodic
from identity.services import attempts, credits, mails, passwords, tokens

# About six minutes of waits: as long as a mail server's restart.
_MAIL_ATTEMPTS = 11


@job("identity.send_mail", queue=Queue.WEBHOOK, max_attempts=_MAIL_ATTEMPTS)
def send_mail(*, kind: str, to: list[str], language: str, context: dict[str, Any]) -> None:
    mails.deliver(kind, to=to, language=language, context=context)


@job("identity.send_reset_link", queue=Queue.WEBHOOK, max_attempts=_MAIL_ATTEMPTS)
def send_reset_link(*, email: str, asked_from: str) -> None:
    passwords.send_reset_link(email=email, asked_from=asked_from)


@job("identity.send_invitation", queue=Queue.WEBHOOK, max_attempts=_MAIL_ATTEMPTS)
def send_invitation(*, user_id: int) -> None:
    passwords.send_invitation(user_id=user_id)


@periodic("identity.clean_up")
def clean_up() -> None:
    """Forget tries, refresh tokens and reset links whose time is over."""
    attempts.purge_expired()
    tokens.forget_expired()
    passwords.forget_expired()


@periodic("identity.clean_up_credits")
def clean_up_credits() -> None:
    """Begin the periods that are due, and give back what cut-off calls hold."""
    credits.renew_due()
    credits.release_abandoned()
