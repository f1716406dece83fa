"""The state of this host: the free space on its disks, its clock, and the latest backup."""

import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings

from chatplatform.observing import metrics
from chatplatform.observing.metrics import Reading, Readings

# Tokens tolerate a minute between the clocks of two hosts, so each clock may differ from the
# database's clock by half a minute.
MAX_SKEW_SECONDS = 30
# Backups touch this file in DATA_DIR (docs/operations.md, Backup).
BACKUP_MARK = "last-backup"


def disks() -> Iterator[tuple[str, int, int]]:
    """Yield each disk of this process: `data` or `media`, its free bytes, and its size in bytes."""
    folders = {"data": settings.DATA_DIR}
    if not settings.MEDIA_BUCKET:
        folders["media"] = settings.MEDIA_ROOT
    for name, folder in folders.items():
        usage = shutil.disk_usage(_existing(Path(folder)))
        yield name, usage.free, usage.total


def clock_skew(cursor: Any) -> float:
    """Seconds by which the database's clock is ahead of this host's."""
    began = time.time()
    cursor.execute("SELECT extract(epoch FROM clock_timestamp())::float8")
    (database_time,) = cursor.fetchone()
    return float(database_time) - (began + time.time()) / 2


def read() -> Readings:
    """The metrics of this host."""
    yield Reading(metrics.CLOCK, time.time())
    for name, free, size in disks():
        yield Reading(metrics.DISK_FREE, free, (name,))
        yield Reading(metrics.DISK_SIZE, size, (name,))
    mark = settings.DATA_DIR / BACKUP_MARK
    if mark.exists():
        yield Reading(metrics.BACKUP, mark.stat().st_mtime)


def _existing(folder: Path) -> Path:
    """This folder, or its nearest existing parent if no file has been stored in it yet."""
    return next(path for path in (folder, *folder.parents) if path.exists())
