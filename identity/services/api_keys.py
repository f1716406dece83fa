"""API keys: made, found, revoked."""

import copy
import re
import secrets
import time
from collections import OrderedDict
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from chatplatform import ids
from chatplatform.api.errors import Invalid, NotFound
from chatplatform.crypto import constant_time_equal, hash_secret
from identity.models import ApiKey, Client, KeyScope, User
from identity.services import audit
from identity.services.bot_lookup import bots

# How long another process may go on with a key that is revoked here (seconds).
_REMEMBERED_SECONDS = 1.0
_REMEMBERED_KEYS = 1_000
_USE_IS_NOTED_EVERY = timedelta(minutes=1)
_PRESENTED = re.compile(r"([0-9A-Z]{12})\.([\w-]{20,100})", re.ASCII)

_remembered: OrderedDict[str, tuple[float, ApiKey]] = OrderedDict()


def create(
    client: Client,
    *,
    name: str,
    scope: str,
    bot_id: int | None = None,
    expires_at: datetime | None = None,
    created_by: User | None = None,
) -> tuple[ApiKey, str]:
    """A new key, and the text that its holder sends: it is known here and now, and never again."""
    _check_bot(client, scope, bot_id)
    if expires_at and expires_at <= timezone.now():
        raise Invalid.field("body", "expires_at", msg="Must lie in the future.")
    prefix, secret = ids.short_code(12), secrets.token_urlsafe(32)
    with transaction.atomic():
        key = ApiKey.objects.create(
            client=client,
            name=name,
            scope=scope,
            bot_id=bot_id,
            expires_at=expires_at,
            created_by=created_by,
            prefix=prefix,
            secret_hash=hash_secret(secret),
        )
        _record(key, "api_key.created", by=created_by, changes={"scope": scope, "bot_id": bot_id})
    key.refresh_from_db(fields=["created_at"])
    return key, f"{prefix}.{secret}"


def list_for_client(client: Client) -> QuerySet[ApiKey]:
    """The client's keys, also the revoked ones: who used what must stay visible."""
    return ApiKey.objects.for_client(client)


def revoke(client: Client, *, api_key_id: int, by: User | None) -> None:
    """End a key; once more does nothing. 404 for one that is not the client's."""
    key = ApiKey.objects.for_client(client).filter(pk=api_key_id).first()
    if key is None:
        raise NotFound
    with transaction.atomic():
        # The first moment stays: it says since when the key was dead.
        live = ApiKey.objects.for_client(client).filter(pk=key.pk, revoked_at=None)
        if live.update(revoked_at=timezone.now()):
            _record(key, "api_key.revoked", by=by)
    _remembered.pop(key.prefix, None)


def revoke_of_bot(client: Client, *, bot_id: int) -> int:
    """End every key that speaks for one bot, in the caller's transaction; how many were ended."""
    live = ApiKey.objects.for_client(client).filter(bot_id=bot_id, revoked_at=None)
    prefixes = list(live.values_list("prefix", flat=True))
    ended = live.update(revoked_at=timezone.now())
    for prefix in prefixes:
        _remembered.pop(prefix, None)
    return ended


def get_valid(presented: str) -> ApiKey | None:
    """The key (and its client) that `prefix.secret` opens; None where it opens nothing."""
    parts = _PRESENTED.fullmatch(presented)
    if parts is None:
        return None
    prefix, secret = parts.groups()
    known = _recall(prefix)
    key = known or _find(prefix)
    if key is None or not constant_time_equal(key.secret_hash, hash_secret(secret)):
        return None
    if key.expires_at and key.expires_at <= timezone.now():
        return None
    if known is None:
        _note_use(key)
        _remember(key)
    return _own_copy(key)


def _check_bot(client: Client, scope: str, bot_id: int | None) -> None:
    if bot_id is None:
        if scope == KeyScope.PUBLIC:
            raise Invalid.field("body", "bot_id", msg="A public key speaks for one bot: name it.")
        return
    if not bots().exists(client, bot_id):
        raise Invalid.field("body", "bot_id", msg="There is no such bot.")


def _find(prefix: str) -> ApiKey | None:
    rows = ApiKey.objects.select_related("client")
    return rows.filter(prefix=prefix, revoked_at=None, client__is_disabled=False).first()


def _note_use(key: ApiKey) -> None:
    now = timezone.now()
    if key.last_used_at is None:
        with transaction.atomic():
            if ApiKey.objects.filter(pk=key.pk, last_used_at=None).update(last_used_at=now):
                _record(key, "api_key.first_used", by=key)
    elif key.last_used_at < now - _USE_IS_NOTED_EVERY:
        due = ApiKey.objects.filter(pk=key.pk, last_used_at__lt=now - _USE_IS_NOTED_EVERY)
        due.update(last_used_at=now)


def _record(
    key: ApiKey,
    action: str,
    *,
    by: User | ApiKey | None,
    changes: dict[str, Any] | None = None,
) -> None:
    about = {"prefix": key.prefix, **(changes or {})}
    audit.record(key.client_id, action, by=by, subject=f"api_key:{key.pk}", changes=about)


def _recall(prefix: str) -> ApiKey | None:
    until, key = _remembered.get(prefix, (0.0, None))
    return key if time.monotonic() < until else None


def _remember(key: ApiKey) -> None:
    _remembered[key.prefix] = (time.monotonic() + _REMEMBERED_SECONDS, key)
    if len(_remembered) > _REMEMBERED_KEYS:
        _remembered.popitem(last=False)


def _own_copy(key: ApiKey) -> ApiKey:
    # A request may load more onto its client; that must not reach the next request.
    own = copy.copy(key)
    own.client = copy.copy(key.client)
    return own
