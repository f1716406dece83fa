"""Files of the media store: taken away once the rows that named them are surely gone."""

import logging
import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from heapq import nsmallest
from pathlib import Path

from django.apps import apps
from django.core.files.storage import default_storage
from django.db import models
from django.utils import timezone

from chatplatform.jobs import enqueue

log = logging.getLogger(__name__)

# Names of one job; more files are more jobs.
_BATCH = 200
# A younger file may be an upload whose row is on its way; a day is more than any takes.
UNNAMED_FOR = timedelta(days=1)
# Files that one tidying looks at: of each folder so many, so many in one look into the tables.
LOOKED_AT, LOOKED_UP = 4_000, 1_000


def remove_later(client_id: int, names: Iterable[str | None]) -> None:
    """Ask for the removal of files, in the transaction that gives up their rows."""
    wanted = [name for name in names if name]
    for start in range(0, len(wanted), _BATCH):
        enqueue("bots.remove_files", client_id=client_id, names=wanted[start : start + _BATCH])


def remove(names: Sequence[str]) -> None:
    """Remove files that no row names; one that is not there any more is as good as removed."""
    named = _named(names)
    for name in names:
        if name not in named:
            default_storage.delete(name)


def tidy() -> None:
    """Remove files that no row names: of uploads whose process died before the commit.

    Each run looks at a part of each folder from a random place on. Names are random too, so all
    have their turn, and nothing has to be kept from run to run.
    """
    for folder in _folders():
        names = _old(folder, _some_names(folder, start=secrets.token_hex(16)))
        for at in range(0, len(names), LOOKED_UP):
            _remove_unnamed(names[at : at + LOOKED_UP])


def _remove_unnamed(names: Sequence[str]) -> None:
    for name in sorted(set(names) - _named(names)):
        try:
            default_storage.delete(name)
        except OSError as exc:
            # One that cannot be removed must not keep all the others.
            log.warning("%s, which no row names, could not be removed: %s", name, exc)
        else:
            log.info("%s was removed: no row names it", name)


def _file_fields() -> Iterator[tuple[type[models.Model], models.FileField]]:
    """Every column that names files, of whatever app: those above this one too."""
    for model in apps.get_models():
        for field in model._meta.local_fields:
            if isinstance(field, models.FileField):
                yield model, field


def _named(names: Sequence[str]) -> set[str]:
    """Which of these files a row of any table names."""
    found: set[str] = set()
    for model, field in _file_fields():
        rows = model._base_manager.filter(**{f"{field.name}__in": names})
        found.update(rows.values_list(field.name, flat=True))
    return found


def _folders() -> list[str]:
    """The folders that columns keep their files in; whatever else lies beside them is not ours."""
    return sorted({str(field.upload_to).strip("/") for _, field in _file_fields()})


def _some_names(folder: str, *, start: str) -> list[str]:
    """Names of a folder's files, from `start` on and around, as many as one run looks at."""
    try:
        with os.scandir(default_storage.path(folder)) as entries:
            names = (one.name for one in entries if one.is_file(follow_symlinks=False))
            return nsmallest(LOOKED_AT, names, key=lambda name: (name < start, name))
    except FileNotFoundError:
        return []


def _old(folder: str, names: Iterable[str]) -> list[str]:
    """Which of a folder's files came long enough ago, by their names in the store."""
    latest = (timezone.now() - UNNAMED_FOR).timestamp()
    found = []
    for name in names:
        try:
            stat = Path(default_storage.path(f"{folder}/{name}")).lstat()
        except FileNotFoundError:
            continue
        # A restored file keeps its old time of change; when it came here only the other one says.
        if max(stat.st_mtime, stat.st_ctime) < latest:
            found.append(f"{folder}/{name}")
    return found
