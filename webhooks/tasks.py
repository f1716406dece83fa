"""Jobs of the event log."""

from django.db import transaction

from chatplatform.jobs import Queue, hold_lease, job
from identity.models import Subscription
from identity.serializers import SubscriptionDto
from identity.services import mails
from webhooks.services import announce


@job("webhooks.credits_low", queue=Queue.WEBHOOK)
def credits_low(*, subscription_id: int, threshold: int) -> None:
    """Announce for `identity`, which lies below, that a client's credits run low."""
    account = Subscription.objects.get(pk=subscription_id)
    data = SubscriptionDto.of(account).model_dump(mode="json") | {"threshold": threshold}
    with transaction.atomic():
        hold_lease()
        announce(account.client_id, "credits.low", data)
        mails.notify(account.client_id, "low_credit", {"credits_left": account.credits_left})
