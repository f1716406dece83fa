"""The media store: stores files under random names, serves them and removes them. A file is removed
only if no row references it."""

import logging
import secrets
import shutil
import tempfile
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

from django.apps import apps
from django.conf import settings
from django.core.files import File
from django.core.files.storage import default_storage
from django.db import models
from django.http import FileResponse
from django.utils import timezone

from chatplatform.jobs import enqueue
from chatplatform.media_stores import Listing

log = logging.getLogger(__name__)

# The maximum number of files that one job removes.
_BATCH_SIZE = 200
# A clean-up keeps younger files, because the row of an upload may not be committed yet. No upload
# takes a day.
MIN_UNREFERENCED_AGE = timedelta(days=1)
# A clean-up checks FILES_PER_FOLDER files of each folder, in batches of FILES_PER_QUERY. A batch
# takes one query per table.
FILES_PER_FOLDER, FILES_PER_QUERY = 4_000, 1_000


def store(folder: str, file: "File[Any]", *, suffix: str = "") -> str:
    """Store a file and return its random name in the store."""
    return default_storage.save(f"{folder}/{secrets.token_hex(16)}{suffix}", file)


def public_url(name: str) -> str:
    """The public URL of a stored picture."""
    return f"{settings.PUBLIC_URL.rstrip('/')}/media/{name}"


def check_store() -> None:
    """Raise FilesUnavailable if the file store does not respond. A job calls this before long work
    whose result is a file."""
    default_storage.exists("any-name")


def safe_name(file: "File[Any]") -> str:
    """The file's original name for display, without folders, control characters and direction
    marks; at most its last 255 characters."""
    name = Path((file.name or "").replace("\\", "/")).name
    visible = "".join(char for char in name if unicodedata.category(char)[0] != "C")
    return visible[-255:] or "file"


def file_response(
    file: Any, *, mime_type: str, cache_control: str, download_as: str | None = None
) -> FileResponse:
    """A response with a file that browsers never run as a page or script.

    `download_as`: the browser saves the file under this name instead of showing it.
    """
    response = FileResponse(
        file, as_attachment=download_as is not None, filename=download_as or "",
        content_type=mime_type,
    )  # fmt: skip
    response["Cache-Control"] = cache_control
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = "sandbox; default-src 'none'"
    return response


@contextmanager
def as_path(name: str) -> Iterator[Path]:
    """Yield the path of a temporary local copy of a stored file; raises FileNotFoundError."""
    with default_storage.open(name) as file, tempfile.NamedTemporaryFile(prefix="media-") as copy:
        shutil.copyfileobj(file, copy)
        copy.flush()
        yield Path(copy.name)


def remove_later(client_id: int, names: Iterable[str | None]) -> None:
    """Enqueue the removal of files, in the transaction that deletes their rows."""
    stored = [name for name in names if name]
    for start in range(0, len(stored), _BATCH_SIZE):
        batch = stored[start : start + _BATCH_SIZE]
        enqueue("chatplatform.remove_files", client_id=client_id, names=batch)


def remove(names: Sequence[str]) -> None:
    """Remove the files that no row references; a missing file is not an error."""
    referenced = _referenced(names)
    for name in names:
        if name not in referenced:
            default_storage.delete(name)


def clean_up() -> None:
    """Remove files that no row references and that are older than a day: uploads whose process
    crashed before the commit. Each run checks part of each folder, starting at a random name."""
    listing, latest = cast(Listing, default_storage), timezone.now() - MIN_UNREFERENCED_AGE
    # Other folders of the store are not touched.
    for folder in sorted({str(field.upload_to).strip("/") for _, field in _file_fields()}):
        files = listing.some_files(folder, start=secrets.token_hex(16), most=FILES_PER_FOLDER)
        names = [name for name, came_at in files if came_at < latest]
        for start in range(0, len(names), FILES_PER_QUERY):
            _remove_unreferenced(names[start : start + FILES_PER_QUERY])


def _remove_unreferenced(names: Sequence[str]) -> None:
    for name in sorted(set(names) - _referenced(names)):
        try:
            default_storage.delete(name)
        except OSError as exc:
            # A file that cannot be removed must not keep the others from being removed.
            log.warning("%s, which no row references, could not be removed: %s", name, exc)
        else:
            log.info("%s was removed: no row references it", name)


def _file_fields() -> Iterator[tuple[type[models.Model], models.FileField]]:
    """Yield every column of every app that references files, with its model."""
    for model in apps.get_models():
        for field in model._meta.local_fields:
            if isinstance(field, models.FileField):
                yield model, field


def _referenced(names: Sequence[str]) -> set[str]:
    """The files among these that a row of any table references."""
    referenced: set[str] = set()
    for model, field in _file_fields():
        rows = model._base_manager.filter(**{f"{field.name}__in": names})
        referenced.update(rows.values_list(field.name, flat=True))
    return referenced
