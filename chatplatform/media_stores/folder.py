"""Files in the folder `DATA_DIR/media`, which several machines may share."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from heapq import nsmallest
from pathlib import Path

from django.core.files.storage import FileSystemStorage


class Folder(FileSystemStorage):
    # The files belong to all clients, so only the platform's own account may read them.
    file_permissions_mode, directory_permissions_mode = 0o600, 0o700

    def some_files(self, folder: str, *, start: str, most: int) -> Iterator[tuple[str, datetime]]:
        for name in self._list_names(folder, start=start, most=most):
            try:
                stat = Path(self.path(f"{folder}/{name}")).lstat()
            except FileNotFoundError:
                continue
            # A restored file keeps its old mtime; its ctime is the time of the restore.
            stored_at = datetime.fromtimestamp(max(stat.st_mtime, stat.st_ctime), UTC)
            yield f"{folder}/{name}", stored_at

    def _list_names(self, folder: str, *, start: str, most: int) -> list[str]:
        try:
            with os.scandir(self.path(folder)) as entries:
                names = (entry.name for entry in entries if entry.is_file(follow_symlinks=False))
                return nsmallest(most, names, key=lambda name: (name < start, name))
        except FileNotFoundError:
            return []
