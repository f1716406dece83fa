"""Companies that register by themselves: on a real site their mailbox must answer first.

Until then there is no client and no person, so nothing else has to ask whether an account is real.
A request does the same for a known and for an unknown address; the job that mails looks it up.
"""

import secrets
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.hashers import check_password
from django.db import transaction
from django.utils import timezone

from chatplatform import jobs
from chatplatform.api.errors import ApiError, Forbidden, Invalid
from chatplatform.crypto import hash_secret
from identity.models import AttemptKind, Client, Registration, User
from identity.services import attempts, clients, mails, passwords
from identity.shapes.clients import CompanyDto, RegisterTrialDto

LINK_LIFETIME = timedelta(days=1)
# For so long a new link can be asked for.
KEPT = timedelta(days=3)


class RegistrationClosed(Forbidden):
    code = "registration_closed"
    detail = "Nobody registers here by themselves: ask those who run the platform."


class RegistrationTokenInvalid(ApiError):
    code, status = "registration_token_invalid", 400
    detail = "This link is not valid (any more); ask for a new one, or register again."


def ask(body: RegisterTrialDto, *, address: str) -> Client | None:
    """Register a company: in development at once, else None, and a mail asks its mailbox.

    403 `registration_closed` where nobody registers by themselves, 429 after too many tries.
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
        _mail(body.email)
    return None


def ask_again(*, email: str, address: str) -> None:
    """Mail a new link for the newest registration of an address, if there is one."""
    _check_open()
    attempts.start(AttemptKind.REGISTER, address=address, account=email)
    _mail(email)


def send_link(*, email: str) -> None:
    """Mail the link to a new address; tell whoever has an account that they have one."""
    row = Registration.objects.filter(email=email).order_by("-pk").first()
    if row is None:
        return
    known = User.objects.filter(email=email).first()
    if known:
        name, language = known.full_name, known.language
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
    """Make the company of a link, for whoever also knows the password: each link works once.

    The password shows that who reads the mail is who registered: else a stranger could register
    somebody's address with a password of the stranger's own.
    """
    attempt = attempts.start(AttemptKind.CONFIRM, address=address, account=token)
    row = Registration.objects.filter(
        token_hash=hash_secret(token), expires_at__gt=timezone.now()
    ).first()
    if row is None:
        raise RegistrationTokenInvalid
    if not check_password(password, row.password):
        msg = "This is not the password with which you registered."
        raise Invalid.field("body", "password", msg=msg)
    with transaction.atomic():
        # Of two uses at once one wins here.
        if not Registration.objects.filter(pk=row.pk, token_hash=row.token_hash).delete()[0]:
            raise RegistrationTokenInvalid
        client = clients.register(CompanyDto.copy_from(row), password=password)
        Registration.objects.filter(email=row.email).delete()
    attempt.delete()
    return client


def purge_expired() -> None:
    """Delete registrations whose mailbox never answered."""
    Registration.objects.filter(created_at__lt=timezone.now() - KEPT).delete()


def _check_open() -> None:
    if not settings.REGISTRATION_OPEN:
        raise RegistrationClosed
    if not settings.DEVELOPMENT:
        mails.check_configured()


def _mail(email: str) -> None:
    jobs.enqueue("identity.send_registration_link", client_id=None, email=email)
