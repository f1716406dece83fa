"""The id and the caller's address of the request being served, for logs, jobs and audit entries."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# The id of the request being served in this context; `-` if there is none.
REQUEST_ID: ContextVar[str] = ContextVar("request_id", default="-")
_address: ContextVar[str] = ContextVar("address", default="")


def current_address() -> str:
    """The network address of the caller being served in this context; empty if there is none."""
    return _address.get()


@contextmanager
def serving(*, request_id: str, address: str) -> Iterator[None]:
    """Set the request's id and the caller's address for the block."""
    id_token, address_token = REQUEST_ID.set(request_id), _address.set(address)
    try:
        yield
    finally:
        _address.reset(address_token)
        REQUEST_ID.reset(id_token)


class RequestIdFilter(logging.Filter):
    """Adds the request's id to every log record."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = REQUEST_ID.get()
        return True
