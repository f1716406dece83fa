"""Limits of the live feeds open at once: of a person, and of all people of a client.

Valkey counts them over all processes. The place of a feed whose process died is free again after a
while. While Valkey is away there is no limit.
"""

import uuid
from typing import Any, ClassVar

import redis
from django.conf import settings

from chatplatform.api.errors import ApiError
from chatplatform.live import valkey
from identity.models import User

# A person has one in each window. A client has a hundred people with ten each, or more if limits of
# its requests are raised.
OF_PERSON, OF_CLIENT = 10, 1_000
# How long a place is kept after the next check of its feed is due.
_SPARE_SECONDS = 30
# Keeps a place, or takes one if no set is full; returns whether there is one. KEYS: sets of places,
# scored by the second at which each is free again. ARGV: the place, seconds, the size of each set.
_KEEP = """
local now = tonumber(redis.call('time')[1])
for at, key in ipairs(KEYS) do
    redis.call('zremrangebyscore', key, '-inf', now)
    local is_new = not redis.call('zscore', key, ARGV[1])
    if is_new and redis.call('zcard', key) >= tonumber(ARGV[2 + at]) then
        return 0
    end
end
for _, key in ipairs(KEYS) do
    redis.call('zadd', key, now + ARGV[2], ARGV[1])
    redis.call('expire', key, ARGV[2])
end
return 1
"""
_in_valkey = valkey.BestEffort("live feeds are not counted")


class TooManyFeeds(ApiError):
    code, status = "too_many_feeds", 429
    detail = "Too many live feeds are open, yours or your client's in all: close one."
    headers: ClassVar[dict[str, str]] = {"Retry-After": "60"}


class Place:
    """The place of a live feed among those that are open."""

    def __init__(self, user: User) -> None:
        assert user.client
        self._name = uuid.uuid4().hex
        self._keys = [f"feeds:person:{user.pk}", f"feeds:client:{user.client_id}"]
        self._most = [OF_PERSON, max(1, round(OF_CLIENT * user.client.rate_limit_factor))]

    def take(self) -> None:
        """Take the place; 429 if there is none."""
        if not self.keep():
            raise TooManyFeeds

    def keep(self) -> bool:
        """Keep the place until after the next check of the feed; False if it was lost."""
        seconds = round(settings.SSE_REAUTH_SECONDS) + _SPARE_SECONDS

        def keep(client: redis.Redis) -> Any:
            count = len(self._keys)
            return client.eval(_KEEP, count, *self._keys, self._name, seconds, *self._most)

        return bool(_in_valkey(keep, default=True))

    def give_back(self) -> None:
        """Free the place: its feed has ended."""

        def remove(client: redis.Redis) -> None:
            with client.pipeline(transaction=False) as pipe:
                for key in self._keys:
                    pipe.zrem(key, self._name)
                pipe.execute()

        _in_valkey(remove, None)
