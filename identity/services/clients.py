"""Registers and changes clients, and stores their access tokens for messaging providers."""

from datetime import timedelta

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.text import slugify

from chatplatform import ids
from chatplatform.channel_names import MessagingChannel
from identity.models import ChannelAccessToken, Client, ClientConfig, Role, User
from identity.schemas.clients import ClientChange, CompanyDto, CompanyName
from identity.services import audit, credits, users

TRIAL_PERIOD = timedelta(days=30)
TRIAL_CREDITS = 1000


def register(body: CompanyDto, *, password: str | None, by: User | None = None) -> Client:
    """Create a client with an owner, chat settings and a trial plan; 409 `email_taken` if the
    owner's address is in use.

    `by` is the staff member who adds the client, or None for a self-registration. If `password` is
    None, a link to choose a password is mailed to the owner.
    """
    with transaction.atomic():
        client = _create_client(body)
        owner = users.create(
            client,
            email=body.email,
            full_name=body.full_name,
            role=Role.OWNER,
            language=body.language,
            password=password,
            by=by,
        )
        audit.record(client.pk, "client.registered", by=by or owner, subject=f"client:{client.pk}")
        ClientConfig.objects.create(client=client)
        client.subscription = credits.open_account(
            client, included=TRIAL_CREDITS, period_end=timezone.now() + TRIAL_PERIOD
        )
    client.refresh_from_db(fields=["created_at"])
    return client


def update(client: Client, change: ClientChange | CompanyName, *, by: User) -> None:
    """Set the client's fields to the values in `change`. A disabled client's people and keys are
    refused."""
    with transaction.atomic():
        row = Client.objects.select_for_update(no_key=True).get(pk=client.pk)
        changes = {
            name: value
            for name, value in change.model_dump().items()
            if value != getattr(row, name)
        }
        Client.objects.filter(pk=row.pk).update(**changes)
        is_disabled = changes.pop("is_disabled", None)
        if is_disabled is not None:
            _record(row, "client.disabled" if is_disabled else "client.enabled", by=by)
        if changes:
            _record(row, "client.updated", by=by, fields=sorted(changes))


def _record(client: Client, action: str, *, by: User, **changes: list[str]) -> None:
    audit.record(client.pk, action, by=by, subject=f"client:{client.pk}", changes=changes)


def store_channel_access_token(
    client: Client,
    *,
    channel: MessagingChannel,
    access_token: str,
    expires_in: int | None,
    user_external_id: str,
    by: User,
) -> ChannelAccessToken:
    """Store a person's access token for a messaging provider. It replaces the client's earlier
    token for the channel."""
    expires_at = timezone.now() + timedelta(seconds=expires_in) if expires_in else None
    with transaction.atomic():
        token, _ = ChannelAccessToken.objects.update_or_create(
            client=client,
            channel=channel,
            defaults={
                "access_token": access_token,
                "user_external_id": user_external_id,
                "expires_at": expires_at,
                "created_by": by,
            },
        )
        audit.record(client.pk, f"{channel}_token.stored", by=by, subject=f"channel:{channel}")
    return token


def _create_client(body: CompanyDto) -> Client:
    """Create a client. Its code is the slug of its name, with a suffix if another client has that
    code."""
    slug = slugify(body.company_name)[:50].strip("-") or "client"
    client = Client(
        name=body.company_name, default_language=body.language, timezone=body.timezone, code=slug
    )
    try:
        with transaction.atomic():
            client.save()
    except IntegrityError:
        client.code = f"{slug}-{ids.short_code(6).lower()}"
        client.save()
    return client
