"""Housekeeping by schedule; each may run twice and at any time."""

from celery import shared_task

from identity.services import credits, logins, tokens


@shared_task(name="identity.tidy")
def tidy(**_: object) -> None:
    """Forget sign-in failures and refresh tokens whose time is over."""
    logins.forget_old_failures()
    tokens.forget_expired()


@shared_task(name="identity.tidy_credits")
def tidy_credits(**_: object) -> None:
    """Begin the periods that are due, and give back what cut-off calls hold."""
    credits.renew_due()
    credits.release_abandoned()
