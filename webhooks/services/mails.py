"""Mails to a client's owners about an endpoint that fails."""

from django.conf import settings
from django.core.mail import EmailMessage
from django.template.loader import render_to_string

from identity.models import Role, User
from webhooks.models import WebhookConfig

SUBJECTS = {
    "failing": "Your webhook endpoint has been failing for three days",
    "disabled": "Your webhook endpoint was switched off",
}


def tell_owners(config_id: str, kind: str) -> int:
    """Tell each owner once, in a mail of his own; how many were told."""
    config = WebhookConfig.objects.select_related("client").filter(pk=config_id).first()
    if config is None or config.deleted_at:
        return 0
    owners = User.objects.for_client(config.client).filter(role=Role.OWNER, is_disabled=False)
    addresses = list(owners.order_by("id").values_list("email", flat=True))
    body = render_to_string(
        f"webhooks/mail/{kind}.txt", {"config": config, "public_url": settings.PUBLIC_URL}
    )
    for address in addresses:
        EmailMessage(SUBJECTS[kind], body, to=[address]).send()
    return len(addresses)
