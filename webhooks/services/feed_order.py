"""The order of the feed: committed events get positions, one client at a time.

A transaction that announces an event cannot know its position, because a transaction that began
later may commit earlier. So it leaves a row in `UnnumberedEvent`. The next reader of the feed
numbers the client's committed events, in one database statement (`webhooks_number_events`) under a
lock on the client. Each numbering continues after the previous one, and its positions become
visible together. So a reader that continues after a position misses nothing, and waits for no open
transaction.

The events of a conversation are in order of `sequence`: an event is announced under the
conversation's lock, after the previous event was committed. So it gets the higher number, and no
reader sees it without the previous one.
"""

from chatplatform.sql import fetch_row
from webhooks.models import UnnumberedEvent

BATCH_SIZE = 2_000  # events; numbering them takes about 50 ms, while the lock is held


def number_events(client_id: int) -> None:
    """Give the next positions to all committed events of a client that have none."""
    numbered = BATCH_SIZE
    while numbered == BATCH_SIZE:
        (numbered,) = fetch_row("SELECT webhooks_number_events(%s, %s)", [client_id, BATCH_SIZE])


def number_all_events() -> None:
    """Number all clients' events, so that unnumbered events of unread feeds do not pile up."""
    clients = UnnumberedEvent.objects.values_list("client_id", flat=True).distinct()
    for client_id in list(clients):
        number_events(client_id)
