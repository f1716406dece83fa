"""A sign of life that each background process leaves in the broker, for Check Health."""

import logging
import threading
import time

import redis
from django.conf import settings

log = logging.getLogger(__name__)
EVERY_SECONDS = 5
KEPT_SECONDS = 20


def start(name: str) -> None:
    """Leave `alive:<name>` every few seconds, from a thread, as long as this process lives."""
    threading.Thread(target=_beat, args=(name,), daemon=True, name="heartbeat").start()


def _beat(name: str) -> None:
    client = redis.Redis.from_url(settings.REDIS_URL, socket_timeout=1, socket_connect_timeout=1)
    while True:
        try:
            client.set(f"alive:{name}", time.time(), ex=KEPT_SECONDS)
        except (redis.RedisError, OSError) as exc:
            log.warning("no sign of life could be left: %s", exc)
        time.sleep(EVERY_SECONDS)
