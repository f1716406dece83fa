"""Background jobs for webhooks. The dispatcher, which sends deliveries, runs in the same worker."""

from chatplatform import jobs
from chatplatform.jobs import Queue, job, periodic
from identity.models import Subscription
from identity.services.mails import notify
from webhooks.services import announce, deliveries, events, feed_order


@job("webhooks.credits_low", queue=Queue.WEBHOOK)
def credits_low(*, subscription_id: int, threshold: int) -> None:
    """Announce that a client's credits are running low, and email the client.

    `identity` enqueues this job because it must not import `webhooks`.
    """
    account = Subscription.objects.get(pk=subscription_id)
    data = {"plan": account.plan, "credits_left": account.credits_left}
    with jobs.commit():
        announce(account.client_id, "credits.low", data | {"threshold": threshold})
        notify(account.client_id, "low_credit", {"credits_left": account.credits_left})


@job("webhooks.replay_range", queue=Queue.WEBHOOK)
def replay_range(
    *, config_id: str, created_from: str, created_to: str, state: str, event_type: str | None
) -> None:
    """Queue a range of events for an endpoint again."""
    deliveries.replay_range(config_id, created_from, created_to, state, event_type)


@job("webhooks.give_up", queue=Queue.WEBHOOK)
def give_up(*, config_id: str) -> None:
    """Give up on the waiting deliveries of an endpoint that was switched off."""
    deliveries.give_up(config_id)


@periodic("webhooks.number_events")
def number_events() -> None:
    """Give new events their positions in the feed, even if nobody reads it."""
    feed_order.number_all_events()


@periodic("webhooks.clean_up")
def clean_up() -> None:
    """Delete expired deliveries and events, and endpoints deleted over 30 days ago."""
    deliveries.purge_expired()
    events.purge_expired()
