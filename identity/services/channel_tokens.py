"""A client's own access tokens at messaging providers: stored encrypted, never returned."""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from chatplatform.channels import MessagingChannel
from identity.models import ChannelToken, Client, User
from identity.services import audit


def store(
    client: Client,
    *,
    channel: MessagingChannel,
    access_token: str,
    expires_in: int | None,
    user_external_id: str,
    by: User,
) -> None:
    """Store the channel's token; it replaces the previous one."""
    now = timezone.now()
    with transaction.atomic():
        ChannelToken.objects.update_or_create(
            client=client,
            channel=channel,
            defaults={
                "access_token": access_token,
                "user_external_id": user_external_id,
                "expires_at": now + timedelta(seconds=expires_in) if expires_in else None,
                "created_by": by,
            },
        )
        audit.record(client.pk, f"{channel}_token.stored", by=by, subject=f"channel:{channel}")
