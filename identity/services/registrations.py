"""Self-registration of companies. In production, the client and its owner are created only after a
mailed link confirms the registration. Only the job that sends the mail checks whether the address
has an account, so that no response reveals it."""

import secrets
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.hashers import check_password
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_noop

from chatplatform import jobs
from chatplatform.api.errors import ApiError, Forbidden, Invalid
from chatplatform.crypto import hash_secret
from identity.models import AttemptKind, Client, Registration, User
from identity.schemas.clients import CompanyDto, RegisterTrialDto
from identity.services import attempts, clients, mails, passwords

LINK_LIFETIME = timedelta(days=1)
# How long a registration is kept, so that a new link can be requested.
RETENTION = timedelta(days=3)


class RegistrationClosed(Forbidden):
    code = "registration_closed"
    detail = gettext_noop("Registration is closed. Contact your platform administrator.")


class RegistrationTokenInvalid(ApiError):
    code, status = "registration_token_invalid", 400
    detail = gettext_noop("This link is no longer valid. Request a new one, or register again.")


def register(body: RegisterTrialDto, *, address: str) -> Client | None:
    """In development, create a company at once and return its client. Otherwise enqueue a mail
    with a link, and return None.

    403 `registration_closed` if self-registration is off, 429 after too many attempts.
    """
    _check_open()
    passwords.check_rules(body.password)
    attempts.start(AttemptKind.REGISTER, address=address, account=body.email)
    if settings.DEVELOPMENT:
        return clients.register(body, password=body.password)
    encoded = passwords.encode(body.password)
    company = body.model_dump(exclude={"password"})
    with transaction.atomic():
        Registration.objects.create(**company, password=encoded)
        _enqueue_link(body.email)
    return None


def request_new_link(*, email: str, address: str) -> None:
    """Enqueue a job that mails a new link for an address's latest registration, if there is one."""
    _check_open()
    attempts.start(AttemptKind.REGISTER, address=address, account=email)
    _enqueue_link(email)


def send_link(*, email: str) -> None:
    """Mail a new link for an address's latest registration, or a note if the address already has an
    account. Does nothing if there is no registration."""
    row = Registration.objects.filter(email=email).order_by("-pk").first()
    if row is None:
        return
    existing = User.objects.filter(email=email).first()
    if existing:
        name, language = existing.full_name, existing.language
        mails.deliver("account_exists", to=[email], language=language, context={"name": name})
        return
    token = secrets.token_urlsafe(32)
    with jobs.commit():
        Registration.objects.filter(pk=row.pk).update(
            token_hash=hash_secret(token), expires_at=timezone.now() + LINK_LIFETIME
        )
    link = f"{settings.PUBLIC_URL}/admin/register/confirm/#token={token}"
    context = {"company": row.company_name, "link": link}
    mails.deliver("registration", to=[email], language=row.language, context=context)


def confirm(*, token: str, password: str, address: str) -> Client:
    """Create the company that a link confirms; each link works once. 400 for an invalid link, 422
    for a wrong password, 429 after too many attempts.

    The password must be the one chosen at registration. Otherwise a stranger could register
    somebody else's address, and that person would confirm an account whose password the stranger
    knows.
    """
    attempt = attempts.start(AttemptKind.CONFIRM, address=address, account=token)
    row = Registration.objects.filter(
        token_hash=hash_secret(token), expires_at__gt=timezone.now()
    ).first()
    if row is None:
        raise RegistrationTokenInvalid
    if not check_password(password, row.password):
        msg = gettext_noop("This isn't the password you registered with.")
        raise Invalid.field("body", "password", msg=msg)
    with transaction.atomic():
        # Of two concurrent requests, only the one that deletes the row creates the company.
        if not Registration.objects.filter(pk=row.pk, token_hash=row.token_hash).delete()[0]:
            raise RegistrationTokenInvalid
        client = clients.register(CompanyDto.copy_from(row), password=password)
        Registration.objects.filter(email=row.email).delete()
    attempt.delete()
    return client


def purge_expired() -> None:
    """Delete registrations that nobody confirmed in time."""
    Registration.objects.filter(created_at__lt=timezone.now() - RETENTION).delete()


def _check_open() -> None:
    if not settings.REGISTRATION_OPEN:
        raise RegistrationClosed
    if not settings.DEVELOPMENT:
        mails.check_configured()


def _enqueue_link(email: str) -> None:
    jobs.enqueue("identity.send_registration_link", client_id=None, email=email)
