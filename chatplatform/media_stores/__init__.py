"""The file stores: a folder, or a bucket that all machines share. Both are Django storages that can
also list a part of a folder."""

from collections.abc import Iterable
from datetime import datetime
from typing import Protocol

from django.utils.translation import gettext_noop

from chatplatform.api.errors import ApiError


class Listing(Protocol):
    def some_files(self, folder: str, *, start: str, most: int) -> Iterable[tuple[str, datetime]]:
        """Up to `most` files of a folder, from the name `start` on and then from the beginning of
        the folder: for each, its name in the store and the time at which it was stored."""


class FilesUnavailable(ApiError, OSError):
    """The file store cannot be reached, or refuses the call. It is also an OSError, like the error
    for a full disk."""

    code, status = "files_unavailable", 503
    detail = gettext_noop("File storage can't be reached. Try again.")
    headers = {"Retry-After": "5"}
