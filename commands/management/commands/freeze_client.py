"""`manage.py freeze_client CODE`: stops all changes to a client until it is unfrozen or erased."""

import time
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from commands import client_pending_work, client_rows
from identity.services import move_freeze

_PAUSE_SECONDS = 0.2


class Command(BaseCommand):
    help = (
        "Refuse a client's requests with 503 `client_frozen`, let its jobs wait, and wait until"
        " what has begun has ended. What is asked for meanwhile is sent again by its caller."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("code")
        parser.add_argument("--undo", action="store_true", help="let the client work again")
        parser.add_argument("--wait", type=float, default=60, help="seconds to wait at most")

    def handle(self, *args: Any, code: str, undo: bool, wait: float, **options: Any) -> None:
        client = client_rows.client_by_code(code)
        if undo:
            was_frozen = move_freeze.unfreeze(client, by=None)
            self.stdout.write(f"{code} {'works again' if was_frozen else 'was not frozen'}.")
            return
        move_freeze.freeze(client, by=None)
        client.refresh_from_db()
        ends_at = time.monotonic() + wait
        while left := list(client_pending_work.under_way(client)):
            if time.monotonic() > ends_at:
                words = ", ".join(left)
                raise CommandError(
                    f"{code} is frozen, and not quiet yet: {words}. Run this again, or with --undo."
                )
            time.sleep(_PAUSE_SECONDS)
        self.stdout.write(f"{code} is frozen, and nothing of it is under way.")
