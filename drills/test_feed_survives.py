"""Kill the readers that number the feed at random: the feed stays complete and in order."""

import os
import random
import signal
import subprocess
import sys
import time
import uuid

import pytest
from django.db import connection, transaction

from chatplatform.testing import in_thread
from chatplatform.testing.web_process import database_url
from identity.models import Client
from webhooks.models import Event, FeedEntry, UnnumberedEvent
from webhooks.services import announce, events

pytestmark = pytest.mark.django_db(transaction=True)
SECONDS = float(os.environ.get("DRILL_SECONDS", "60"))
READER = """
import django; django.setup()
from identity.models import Client
from webhooks.services import events
client, place = Client.objects.get(pk={client}), 0
print("ready", flush=True)
while True:
    for entry in events.read_feed(client, place, 50):
        place = entry.position
        print(place, entry.pk.hex, flush=True)
"""


def start_reader(client: Client) -> subprocess.Popen[str]:
    env = os.environ | {
        "DJANGO_SETTINGS_MODULE": "chatplatform.settings_test", "DATABASE_URL": database_url()
    }  # fmt: skip
    return subprocess.Popen(
        [sys.executable, "-c", READER.format(client=client.pk)],
        env=env, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def write(client: Client, ends_at: float) -> None:
    """A conversation whose events overlap with those of other writers."""
    chat, sequence = uuid.uuid4(), 0
    while time.monotonic() < ends_at:
        with transaction.atomic():
            for _ in range(random.randrange(1, 4)):
                sequence += 1
                announce(client.pk, "message.created", {}, conversation_id=chat, sequence=sequence)
            connection.cursor().execute("SELECT pg_sleep(random() / 50)")


def test_killed_while_numbering(client_a: Client) -> None:
    ends_at = time.monotonic() + SECONDS
    writers = [in_thread(lambda: write(client_a, ends_at))[0] for _ in range(3)]
    shown: dict[int, str] = {}
    kills = 0
    while time.monotonic() < ends_at:
        readers = [start_reader(client_a) for _ in range(2)]
        for reader in readers:
            assert reader.stdout
            assert reader.stdout.readline() == "ready\n"
        time.sleep(random.random())
        for reader in readers:
            with reader:
                reader.send_signal(signal.SIGKILL)
                kills += 1
                assert reader.stdout
                for line in reader.stdout.read().splitlines(keepends=True):
                    if line.endswith("\n"):  # the last one may be cut
                        place, event = line.split()
                        assert shown.setdefault(int(place), event) == event
    for thread in writers:
        thread.join(30)
    entries: list[FeedEntry] = []
    while page := events.read_feed(client_a, entries[-1].position if entries else 0):
        entries += page
    assert len(entries) == Event.objects.count() == FeedEntry.objects.count() > 100
    assert not UnnumberedEvent.objects.exists()
    # A killed reader saw the beginning of the feed and missed no event in it.
    feed = [(entry.position, entry.pk.hex) for entry in entries]
    assert sorted(shown.items()) == feed[: len(shown)]
    sequences: dict[uuid.UUID | None, int] = {}
    for entry in entries:
        last = sequences.get(entry.event.conversation_id, 0)
        assert entry.event.sequence == last + 1
        sequences[entry.event.conversation_id] = last + 1
    print(f"{kills} readers killed, {len(entries):,} events, {len(shown):,} of them shown to them")
