"""The heartbeat that each background process writes to the broker, for the health check. The loop
that does the work writes it, so that a loop that hangs is noticed."""

import logging
import os
import socket
import time
from pathlib import Path

from django.conf import settings

from chatplatform.live import valkey
from chatplatform.observing import outage_logging

log = logging.getLogger(__name__)
EVERY_SECONDS = 5.0
EXPIRES_SECONDS = 60


class Heartbeat:
    """Writes the key `alive:<name>`, which expires, and touches `HEARTBEAT_FILE` if that is set: a
    container's health check reads the file's modification time instead of starting Python."""

    def __init__(self, name: str) -> None:
        self._key = f"alive:{name}"
        self._broker = valkey.connect()
        self._written_at = 0.0

    def write_if_due(self) -> None:
        """Write if `EVERY_SECONDS` have passed, for loops that run more often."""
        if time.monotonic() - self._written_at >= EVERY_SECONDS:
            self.write()

    def write(self) -> None:
        # The file first: an unresponsive broker would delay it by seconds.
        self.touch_file()
        try:
            self._broker.set(self._key, time.time(), ex=EXPIRES_SECONDS)
            outage_logging.report_recovery("broker")
        except valkey.ERRORS as exc:
            log.warning("no heartbeat could be written: %s", exc)
        self._written_at = time.monotonic()

    def touch_file(self) -> None:
        """Touch the file and notify systemd: the part of a heartbeat that needs no broker."""
        if settings.HEARTBEAT_FILE:
            Path(settings.HEARTBEAT_FILE).touch()
        _notify_systemd()


def _notify_systemd() -> None:
    """Tell systemd, if it started this process, that the process is alive (sd_notify(3))."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
            # An address in the abstract namespace begins with a NUL, which is written as @.
            notify.connect(f"\0{address[1:]}" if address[0] == "@" else address)
            notify.send(b"WATCHDOG=1")
    except OSError as exc:
        log.warning("systemd could not be notified: %s", exc)
