"""`Idempotency-Key`: a repeated request gets the answer of the first and does nothing more.

Where a request changes rows alone, its answer is stored in the same transaction: a process that
dies leaves both or neither. Where it calls out (a model, a receiver), a transaction must not wait
for a network: there the answer is stored after, and what died halfway is done again.
The header is that of draft-ietf-httpapi-idempotency-key-header.
"""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar

import orjson
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils import timezone

from chatplatform import locks
from chatplatform.api.errors import ApiError, Invalid
from chatplatform.models import StoredAnswer
from chatplatform.web.streaming import StreamingReply

HEADER = "Idempotency-Key"
RETENTION = timedelta(hours=24)
MAX_KEY_CHARACTERS = 255
MAX_ANSWER_BYTES = 1_000_000


class TwinInFlight(ApiError):
    code, status = "request_in_flight", 409
    detail = "A request with this Idempotency-Key is being served; ask again in a moment."
    headers: ClassVar[dict[str, str]] = {"Retry-After": "1"}


class KeyReused(ApiError):
    code, status = "idempotency_key_reused", 422
    detail = "This Idempotency-Key came with another body before; take a new key."


@dataclass(frozen=True)
class Place:
    """What a key is good for: one caller and one path."""

    client_id: int
    caller: str
    path: str
    key: str

    def digest(self) -> bytes:
        parts = (str(self.client_id), self.caller, self.path, self.key)
        return hashlib.sha256("\x00".join(parts).encode()).digest()


@dataclass
class _Try:
    """A request with a key, while it is served."""

    place: Place
    # What it is about: said by it, or by its first try.
    subject: str | None = None


_current: ContextVar[_Try | None] = ContextVar("idempotency_try", default=None)


def current_id() -> str | None:
    """An id that a repetition of the request being served has too; None without a key."""
    current = _current.get()
    return f"idempotency-key:{current.place.digest().hex()[:32]}" if current else None


def remember(subject: str) -> None:
    """Keep what the request being served turned out to be about, for its repetitions."""
    current = _current.get()
    if current:
        current.subject = subject


def remembered() -> str | None:
    """What the first try of the request being served was about; None in a first try."""
    current = _current.get()
    return current.subject if current else None


def once(
    request: HttpRequest,
    *,
    client_id: int,
    caller: str,
    act: Callable[[], HttpResponseBase],
    waits: bool,
) -> HttpResponseBase:
    """`act`'s answer, or the stored one of the same request; 409 while a twin is being served.

    Refusals are raised and store nothing: what was refused may be sent again, corrected.
    """
    place = Place(client_id, caller, request.path, _key_of(request))
    fingerprint, current = _fingerprint(request), _Try(place)
    token = _current.set(current)
    try:
        with _alone(place, waits=waits):
            known = _find(place)
            if known and known.fingerprint != fingerprint:
                raise KeyReused
            kept = orjson.loads(known.answer or "{}") if known else {}
            if "status" in kept:
                return _replayed(kept)
            current.subject = kept.get("subject")
            response = act()
            if known:
                # A held answer cannot be kept; its message was, and is found again.
                response["Idempotent-Replayed"] = "true"
            elif response.status_code < 400:
                _store(current, fingerprint, response)
            return response
    finally:
        _current.reset(token)


def _key_of(request: HttpRequest) -> str:
    key = request.headers[HEADER]
    if not 1 <= len(key) <= MAX_KEY_CHARACTERS or not (key.isascii() and key.isprintable()):
        raise Invalid.field("header", HEADER, msg="1 to 255 printable ASCII characters")
    return key


def _fingerprint(request: HttpRequest) -> str:
    """What was sent. A multipart body is read by its parts: its boundary is another each time."""
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


@contextmanager
def _alone(place: Place, *, waits: bool) -> Iterator[None]:
    """Be the only one with this key. The lock ends with the transaction, or the connection."""
    name = place.digest().hex()
    if waits:
        with locks.try_lock(name) as is_held:
            if not is_held:
                raise TwinInFlight
            yield
        return
    with transaction.atomic():
        if not locks.try_lock_in_transaction(name):
            raise TwinInFlight
        yield


def _find(place: Place) -> StoredAnswer | None:
    return StoredAnswer.objects.filter(
        client_id=place.client_id,
        place=place.digest().hex(),
        created_at__gt=timezone.now() - RETENTION,
    ).first()


def _replayed(answer: dict[str, Any]) -> HttpResponse:
    response = HttpResponse(answer["body"], status=answer["status"])
    del response["Content-Type"]  # an empty answer has none
    for name, value in answer["headers"].items():
        response[name] = value
    response["Idempotent-Replayed"] = "true"
    return response


def _store(current: _Try, fingerprint: str, response: HttpResponseBase) -> None:
    place = current.place
    StoredAnswer.objects.filter(client_id=place.client_id, place=place.digest().hex()).delete()
    StoredAnswer.objects.create(
        client_id=place.client_id,
        place=place.digest().hex(),
        fingerprint=fingerprint,
        answer=orjson.dumps(_answer(response) or {"subject": current.subject}).decode(),
    )


def _answer(response: HttpResponseBase) -> dict[str, Any]:
    """The answer as data; empty where a repetition makes it anew."""
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
    """Delete answers that no repetition may ask for any more."""
    StoredAnswer.objects.filter(created_at__lt=timezone.now() - RETENTION).delete()
