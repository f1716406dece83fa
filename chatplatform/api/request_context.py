"""The id and the caller's address of the request being served, for logs, jobs and audit entries."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_request_id: ContextVar[str] = ContextVar("request_id", default="-")
_address: ContextVar[str] = ContextVar("address", default="")


def current_request_id() -> str:
    """The id of the request being served in this context; `-` outside of one."""
    return _request_id.get()


def current_address() -> str:
    """The network address of the caller being served in this context; empty outside of one."""
    return _address.get()


@contextmanager
def serving(*, request_id: str, address: str) -> Iterator[None]:
    """Set both for the length of the block."""
    id_token, address_token = _request_id.set(request_id), _address.set(address)
    try:
        yield
    finally:
        _address.reset(address_token)
        _request_id.reset(id_token)


class RequestIdFilter(logging.Filter):
    """Puts the request's id on every log line."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = current_request_id()
        return True
