"""`Idempotency-Key`: a repeated request gets the first request's response and changes nothing.

If a request only changes rows, its response is stored in the same transaction: after a crash,
both exist or neither. If it waits for another server (a model, a webhook's receiver), no
transaction stays open while it waits: the response is stored afterwards. If the process crashes
before that, a repetition does the work again.
The header follows draft-ietf-httpapi-idempotency-key-header.
"""

import hashlib
import re
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar

import orjson
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils import timezone

from chatplatform import locks
from chatplatform.api.errors import ApiError, Invalid
from chatplatform.live.streaming import StreamingReply
from chatplatform.models import IdempotentResponse

HEADER = "Idempotency-Key"
RETENTION = timedelta(hours=24)
# For responses with credentials: long enough to repeat a request whose response was lost.
CREDENTIALS_RETENTION = timedelta(minutes=1)
MAX_KEY_CHARACTERS = 255
MIN_SHARED_CHARACTERS = 32
# Rejects counters and filler keys. A random UUID practically never has fewer different characters.
MIN_DIFFERENT_CHARACTERS = 6
MAX_ANSWER_BYTES = 1_000_000
# Placeholders that tools and scripts send if nobody filled in a key. All these requests would share
# a key, so each one after the first would count as a repetition and change nothing.
_PLACEHOLDER = re.compile(r"<.*>|\{.*\}|string|undefined|null|none", re.IGNORECASE)


class RequestInFlight(ApiError):
    code, status = "request_in_flight", 409
    detail = "A request with this Idempotency-Key is in progress. Try again in a moment."
    headers: ClassVar[dict[str, str]] = {"Retry-After": "1"}


class KeyReused(ApiError):
    code, status = "idempotency_key_reused", 422
    detail = "This Idempotency-Key was used with a different body. Use a new key."


@dataclass
class _KeyedRequest:
    """A request with a key, while it is being served. A key is unique per caller and path."""

    # 0 if there is no caller.
    client_id: int
    key_hash: str
    # Set by the operation, or read from the row that the first request stored.
    result_id: str | None = None


_current: ContextVar[_KeyedRequest | None] = ContextVar("idempotency_request", default=None)


def stable_id() -> str | None:
    """An id that the current request and its repetitions share; None if it has no key."""
    current = _current.get()
    return f"idempotency-key:{current.key_hash[:32]}" if current else None


def store_result_id(result_id: str) -> None:
    """Store the id of what the current request created, for repetitions of the request."""
    current = _current.get()
    if current:
        current.result_id = result_id


def earlier_result_id() -> str | None:
    """The id of what an earlier request with this key created; None if there was no such request,
    or this request has no key."""
    current = _current.get()
    return current.result_id if current else None


def run_once(
    request: HttpRequest,
    *,
    client_id: int | None,
    caller: str,
    run: Callable[[], HttpResponseBase],
    waits: bool,
    gives_credentials: bool = False,
) -> HttpResponseBase:
    """Return `run`'s response, or the response that an earlier request with this key stored.

    409 while the earlier request is still being served; 422 if its query or body was different.
    Errors are not stored, so a corrected request may reuse the key.

    Without a caller (`client_id` is None) several people may choose the same key, so a hash of the
    request stands for the caller. No transaction surrounds a request without a caller, since an
    error must not undo the count of failed attempts.
    """
    fingerprint = _fingerprint(request)
    if client_id is None:
        client_id, caller, waits = 0, fingerprint, True
    current = _KeyedRequest(client_id, _key_hash(request, client_id, caller))
    lock = locks.try_lock if waits else locks.try_lock_in_transaction
    token = _current.set(current)
    try:
        with lock(current.key_hash) as is_held:
            if not is_held:
                raise RequestInFlight
            after = timezone.now() - RETENTION
            stored = _stored(current).filter(created_at__gt=after).first()
            if stored and stored.fingerprint != fingerprint:
                raise KeyReused
            answer = orjson.loads(stored.response or "{}") if stored else {}
            if "status" in answer:
                return _replayed(answer)
            current.result_id = answer.get("result_id")
            response = run()
            if stored:
                # Only the result's id was stored, and `run` used it to find the result.
                response["Idempotent-Replayed"] = "true"
            elif response.status_code < 400:
                retention = CREDENTIALS_RETENTION if gives_credentials else RETENTION
                _store(current, fingerprint, response, retention)
            return response
    finally:
        _current.reset(token)


def ensure_hard_to_guess(request: HttpRequest) -> None:
    """Raise a 422 for a key that is easy to guess: many people share this caller's credential, and
    any of them who guessed the key would get the stored response."""
    key = request.headers[HEADER]
    if len(key) < MIN_SHARED_CHARACTERS or len(set(key)) < MIN_DIFFERENT_CHARACTERS:
        msg = (
            f"Without a Visitor-Token, the key needs at least {MIN_SHARED_CHARACTERS} random"
            " characters, such as a UUID."
        )
        raise Invalid.field("header", HEADER, msg=msg)


def _key_hash(request: HttpRequest, client_id: int, caller: str) -> str:
    key = request.headers[HEADER]
    if not 1 <= len(key) <= MAX_KEY_CHARACTERS or not (key.isascii() and key.isprintable()):
        raise Invalid.field("header", HEADER, msg="1 to 255 printable ASCII characters")
    if _PLACEHOLDER.fullmatch(key.strip()):
        msg = (
            "This is a placeholder: remove the header, or send a new random key, such as a UUID,"
            " with each request."
        )
        raise Invalid.field("header", HEADER, msg=msg)
    parts = (str(client_id), caller, request.path, key)
    return hashlib.sha256("\x00".join(parts).encode()).hexdigest()


def _fingerprint(request: HttpRequest) -> str:
    """A hash of the query and the body. A multipart body is hashed part by part, since its
    boundaries vary."""
    digest = hashlib.sha256(request.META.get("QUERY_STRING", "").encode())
    if request.content_type != "multipart/form-data":
        digest.update(b"\x00" + request.body)
        return digest.hexdigest()
    for name, values in sorted(request.POST.lists()):
        digest.update(repr((name, values)).encode())
    for name, files in sorted(request.FILES.lists()):
        for file in files:
            digest.update(repr((name, file.name, file.size)).encode())
            for piece in file.chunks():
                digest.update(piece)
            file.seek(0)
    return digest.hexdigest()


def _stored(current: _KeyedRequest) -> QuerySet[IdempotentResponse]:
    return IdempotentResponse.objects.filter(client_id=current.client_id, key_hash=current.key_hash)


def _replayed(answer: dict[str, Any]) -> HttpResponse:
    response = HttpResponse(answer["body"], status=answer["status"])
    del response["Content-Type"]  # an empty response has no content type
    for name, value in answer["headers"].items():
        response[name] = value
    response["Idempotent-Replayed"] = "true"
    return response


def _store(
    current: _KeyedRequest, fingerprint: str, response: HttpResponseBase, retention: timedelta
) -> None:
    answer = _answer(response) or {"result_id": current.result_id}
    _stored(current).delete()  # there may be an expired one
    IdempotentResponse.objects.create(
        client_id=current.client_id,
        key_hash=current.key_hash,
        fingerprint=fingerprint,
        response=orjson.dumps(answer).decode(),
        # Rows expire `RETENTION` after this time. For a shorter retention it lies in the past.
        created_at=timezone.now() - (RETENTION - retention),
    )


def _answer(response: HttpResponseBase) -> dict[str, Any]:
    """The response as data that can be stored; empty for a stream, a file or a large body, which a
    repetition creates again."""
    if isinstance(response, StreamingReply) or not isinstance(response, HttpResponse):
        return {}
    if len(response.content) > MAX_ANSWER_BYTES:
        return {}
    return {
        "status": response.status_code,
        "headers": dict(response.items()),
        "body": response.content.decode(),
    }


def purge_expired() -> None:
    """Delete the stored responses that are older than `RETENTION`."""
    IdempotentResponse.objects.filter(created_at__lt=timezone.now() - RETENTION).delete()
