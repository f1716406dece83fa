"""Creates, changes, looks up and revokes API keys."""

import re
import secrets
import time
from collections import OrderedDict
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import Model
from django.db.models.base import ModelState
from django.utils import timezone
from django.utils.translation import gettext_noop

from chatplatform import ids
from chatplatform.api.errors import Invalid, NotFound, first_or_404
from chatplatform.crypto import constant_time_equal, hash_secret
from identity.models import ApiKey, Client, KeyScope, User
from identity.schemas.clients import ApiKeyDto
from identity.services import audit
from identity.services.bot_hooks import bots

# How long a key is cached, in seconds. Other processes accept a revoked key until their cached copy
# expires.
_CACHE_SECONDS = 1.0
_MAX_CACHED_KEYS = 1_000
_USE_RECORD_INTERVAL = timedelta(minutes=1)
Row = TypeVar("Row", bound=Model)
_KEY_PATTERN = re.compile(r"([0-9A-Z]{12})\.([\w-]{20,100})", re.ASCII)

_cache: OrderedDict[str, tuple[float, ApiKey]] = OrderedDict()


def create(
    client: Client,
    *,
    name: str,
    scope: str,
    bot_id: int | None = None,
    expires_at: datetime | None = None,
    created_by: User | None = None,
    requests_per_minute: int | None = None,
    daily_credits: int | None = None,
    mcp_write: bool = False,
) -> tuple[ApiKey, str]:
    """Create a key. Returns the key and its full text, which callers send. The full text of a
    secret key is not stored."""
    _check_bot(client, scope, bot_id)
    _check_scope(scope, daily_credits=daily_credits, mcp_write=mcp_write)
    if expires_at and expires_at <= timezone.now():
        raise Invalid.field("body", "expires_at", msg=gettext_noop("Must be in the future."))
    prefix, secret = ids.short_code(12), secrets.token_urlsafe(32)
    with transaction.atomic():
        key = ApiKey.objects.create(
            client=client,
            name=name,
            scope=scope,
            bot_id=bot_id,
            expires_at=expires_at,
            requests_per_minute=requests_per_minute,
            daily_credits=daily_credits,
            mcp_write=mcp_write,
            created_by=created_by,
            prefix=prefix,
            secret_hash=hash_secret(secret),
            public_key=f"{prefix}.{secret}" if scope == KeyScope.PUBLIC else "",
        )
        _record(key, "api_key.created", by=created_by, changes={"scope": scope, "bot_id": bot_id})
    key.refresh_from_db(fields=["created_at"])
    return key, f"{prefix}.{secret}"


def create_with_hosts(client: Client, *, hosts: str, **fields: Any) -> tuple[ApiKey, str]:
    """Create a key like `create`. For a public key, also set the hosts that the key's bot allows.
    If `hosts` is empty, the bot keeps its hosts; 422 if it has none."""
    bot_id = fields["bot_id"]
    with transaction.atomic():
        created = create(client, **fields)
        if fields["scope"] == KeyScope.PUBLIC:
            if hosts:
                bots().allow_hosts(client, bot_id, hosts, by=fields.get("created_by"))
            elif not bots().allowed_hosts(bot_id):
                raise Invalid.field(
                    "body",
                    "allowed_domain",
                    msg=gettext_noop(
                        "Add at least one allowed website. Without one, the key doesn't work."
                    ),
                )
    return created


def change(client: Client, *, api_key_id: int, change: ApiKeyDto, by: User) -> ApiKey:
    """Change the key's fields that are set in `change`; 404 if the client has no such key."""
    fields = {name: getattr(change, name) for name in change.model_fields_set}
    with transaction.atomic():
        rows = ApiKey.objects.for_client(client).select_for_update(no_key=True)
        key = first_or_404(rows.filter(pk=api_key_id))
        _check_scope(
            key.scope,
            daily_credits=fields.get("daily_credits"),
            mcp_write=fields.get("mcp_write", False),
        )
        changed = {name: value for name, value in fields.items() if value != getattr(key, name)}
        for name, value in changed.items():
            setattr(key, name, value)
        if changed:
            key.save(update_fields=sorted(changed))
            _record(key, "api_key.updated", by=by, changes={"fields": sorted(changed)})
    _cache.pop(key.prefix, None)
    return key


def revoke(client: Client, *, api_key_id: int, by: User | None) -> None:
    """Revoke a key, unless it is revoked already. 404 if the client has no such key."""
    key = first_or_404(ApiKey.objects.for_client(client).filter(pk=api_key_id))
    with transaction.atomic():
        # A second revocation must not change the time of the first.
        live = ApiKey.objects.for_client(client).filter(pk=key.pk, revoked_at=None)
        if live.update(revoked_at=timezone.now()):
            _record(key, "api_key.revoked", by=by)
    _cache.pop(key.prefix, None)


def revoke_of_bot(client: Client, *, bot_id: int) -> int:
    """Revoke every key of a bot, in the caller's transaction. Returns how many were revoked."""
    live = ApiKey.objects.for_client(client).filter(bot_id=bot_id, revoked_at=None)
    prefixes = list(live.values_list("prefix", flat=True))
    revoked = live.update(revoked_at=timezone.now())
    for prefix in prefixes:
        _cache.pop(prefix, None)
    return revoked


def get_valid(presented: str) -> ApiKey | None:
    """The key (with its client) whose text is `presented`; None if there is no valid one."""
    parts = _KEY_PATTERN.fullmatch(presented)
    if parts is None:
        return None
    prefix, secret = parts.groups()
    until, cached = _cache.get(prefix, (0.0, None))
    is_fresh = time.monotonic() < until
    # Most requests find the key in the cache, so no query is built for them. Just building it,
    # without running it, would take a tenth of a request's time.
    key = cached if is_fresh else _find(prefix)
    if key is None or not constant_time_equal(key.secret_hash, hash_secret(secret)):
        return None
    if key.expires_at and key.expires_at <= timezone.now():
        return None
    if not is_fresh:
        # The rows of a frozen client must not change. The caller of this function refuses the
        # request.
        if not key.client.frozen_at:
            _record_use(key)
        _cache[prefix] = (time.monotonic() + _CACHE_SECONDS, key)
        if len(_cache) > _MAX_CACHED_KEYS:
            _cache.popitem(last=False)
    # Return copies, because a request may attach data to the client that other requests must not
    # see.
    key_copy = _copy(key)
    key_copy.client = _copy(key.client)
    return key_copy


def _find(prefix: str) -> ApiKey | None:
    live = ApiKey.objects.filter(prefix=prefix, revoked_at=None, client__is_disabled=False)
    return live.select_related("client").first()


def _check_bot(client: Client, scope: str, bot_id: int | None) -> None:
    if bot_id is None:
        if scope == KeyScope.PUBLIC:
            raise Invalid.field(
                "body",
                "bot_id",
                msg=gettext_noop("A public key works for one bot. Choose which one."),
            )
        return
    if not bots().exists(client, bot_id):
        raise NotFound("This bot doesn't exist.", field="bot_id")


def _check_scope(scope: str, *, daily_credits: int | None, mcp_write: bool) -> None:
    """Raise a 422 if keys of this scope cannot have these settings."""
    if daily_credits is not None and scope != KeyScope.PUBLIC:
        raise Invalid.field(
            "body", "daily_credits", msg=gettext_noop("Only public keys have a daily limit.")
        )
    if mcp_write and scope != KeyScope.SECRET:
        raise Invalid.field(
            "body", "mcp_write", msg=gettext_noop("MCP clients can't use public keys.")
        )


def _record_use(key: ApiKey) -> None:
    now = timezone.now()
    if key.last_used_at is None:
        with transaction.atomic():
            if ApiKey.objects.filter(pk=key.pk, last_used_at=None).update(last_used_at=now):
                _record(key, "api_key.first_used", by=key)
    elif key.last_used_at < now - _USE_RECORD_INTERVAL:
        due = ApiKey.objects.filter(pk=key.pk, last_used_at__lt=now - _USE_RECORD_INTERVAL)
        due.update(last_used_at=now)


def _record(
    key: ApiKey, action: str, *, by: User | ApiKey | None, changes: dict[str, Any] | None = None
) -> None:
    changes = {"prefix": key.prefix, **(changes or {})}
    audit.record(key.client_id, action, by=by, subject=f"api_key:{key.pk}", changes=changes)


def _copy(row: Row) -> Row:
    """A copy of a row without its cache of related objects. `copy.copy` would use the row's
    pickling methods, which is ten times slower."""
    row_copy = type(row).__new__(type(row))
    row_copy.__dict__.update(row.__dict__, _state=ModelState())
    row_copy._state.db, row_copy._state.adding = row._state.db, row._state.adding
    return row_copy
