"""Stores pictures that people upload, which a higher app reads; `bots.apps` installs it."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from chatplatform.hooks import Hook

# Avatars are made as small as they are shown on sharp screens.
AVATAR_SIDE = 512


@dataclass(frozen=True)
class StoredPicture:
    """A picture in the file store, and its public URL."""

    name: str
    url: str
    mime_type: str
    width: int
    height: int
    size_bytes: int


class PictureStore(Protocol):
    """Implemented by the module `bots.services.uploaded_pictures`."""

    def stored(self, file: Any, *, largest_side: int = 0) -> AbstractContextManager[StoredPicture]:
        """Check and store an uploaded file for the block; if the block fails, it is deleted."""


pictures = Hook[PictureStore]()
