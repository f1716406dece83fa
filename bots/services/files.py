"""Files of the media store: taken away once the rows that named them are surely gone."""

from collections.abc import Iterable

from django.core.files.storage import default_storage

from bots.models import Bot, Document
from chatplatform.jobs import enqueue

# Names of one job; more files are more jobs.
_BATCH = 200


def remove_later(client_id: int, names: Iterable[str | None]) -> None:
    """Ask for the removal of files, in the transaction that gives up their rows."""
    wanted = [name for name in names if name]
    for start in range(0, len(wanted), _BATCH):
        enqueue("bots.remove_files", client_id=client_id, names=wanted[start : start + _BATCH])


def remove(names: list[str]) -> None:
    """Remove files that no row names; one that is not there any more is as good as removed."""
    used = {
        *Document.objects.filter(file__in=names).values_list("file", flat=True),
        *Bot.objects.filter(banner__in=names).values_list("banner", flat=True),
    }
    for name in names:
        if name not in used:
            default_storage.delete(name)
