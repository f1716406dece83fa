"""The order of the feed: committed events get places, one client at a time.

A transaction that announces knows no place: another that began later may end earlier. So it leaves
a row in `UnnumberedEvent`, and whoever reads a feed first numbers what its client has committed,
in one statement of the database (`webhooks_number_events`) under a lock of the client. Places grow
from one numbering to the next, and those of one become visible together. So a reader that goes on
after a place misses nothing, and waits for no transaction that is still open.

Why the events of a conversation keep their `sequence`: the later one is announced under the
conversation's lock after the earlier one was committed, so it has the higher number here, and
nobody sees it without the earlier one.
"""

from django.db import connection

from webhooks.models import UnnumberedEvent

BATCH_SIZE = 2_000  # the lock is held for some 50 ms


def number_events(client_id: int) -> None:
    """Give every committed event of a client that has no place the next ones."""
    taken = BATCH_SIZE
    while taken == BATCH_SIZE:
        with connection.cursor() as cursor:
            cursor.execute("SELECT webhooks_number_events(%s, %s)", [client_id, BATCH_SIZE])
            (taken,) = cursor.fetchone()


def number_all_events() -> None:
    """The same for all clients: of those whose feed nobody reads, events must not pile up."""
    clients = UnnumberedEvent.objects.values_list("client_id", flat=True).distinct()
    for client_id in list(clients):
        number_events(client_id)
