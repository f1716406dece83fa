"""Where files are kept: a folder of this machine, or a bucket that all machines share.

Both are Django storages that also list a part of a folder, which the clean-up of `media.py` needs.
`MEDIA_BUCKET` chooses.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Protocol

from chatplatform.api.errors import ApiError


class Listing(Protocol):
    def some_files(self, folder: str, *, start: str, most: int) -> Iterable[tuple[str, datetime]]:
        """At most so many files of a folder, from the name `start` on and around the end.

        Each with its name in the store and the time at which it came there.
        """


class FilesUnavailable(ApiError, OSError):
    """The store of files cannot be reached, or refuses: an OSError, as a full disk gives."""

    code, status = "files_unavailable", 503
    detail = "The store of files is not reachable; try again."
    headers = {"Retry-After": "5"}
