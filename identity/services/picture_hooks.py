"""The interface of the store for uploaded pictures, which `bots.apps` installs."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from chatplatform.hooks import Hook

# The maximum width and height of an avatar, in pixels: enough for high-resolution screens.
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
        """A context manager that checks and stores an uploaded file, and deletes it if the block
        fails. Scales down a picture with a side over `largest_side` pixels; 0 keeps the size."""


pictures = Hook[PictureStore]()
