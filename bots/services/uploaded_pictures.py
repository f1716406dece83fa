"""Pictures that people upload: checked, re-encoded, and served under random names."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext_noop

from bots.ingest import image_reencoding
from bots.schemas.widget import MAX_BANNER_BYTES
from chatplatform import media
from chatplatform.api.errors import Invalid, TooLarge
from identity.services.picture_hooks import StoredPicture

_SUFFIXES = {"image/png": ".png", "image/jpeg": ".jpg", "image/webp": ".webp"}
_NAME = re.compile(r"[0-9a-f]{32}(\.png|\.jpg|\.webp)")
_FOLDER = "banners"
# What is wrong with a picture, by the code of the `ImageError`.
_FAULTS = {
    "unsupported_type": gettext_noop("The file isn't a PNG, JPEG, or WebP image."),
    "too_large": gettext_noop("The image is too large. Make it smaller."),
    "malformed": gettext_noop("The image is damaged. Save it again."),
    "timeout": gettext_noop("The image took too long to read."),
}


class PictureTooLarge(TooLarge):
    detail = gettext_noop("The image is too large. Choose one up to 5 MB.")
    place = ("body", "file")


@contextmanager
def stored(file: Any, *, largest_side: int = 0) -> Iterator[StoredPicture]:
    """Check an uploaded file and store its picture; deletes the picture if the block raises.

    A picture with a side over `largest_side` pixels is scaled down; 0 keeps its size.
    """
    image = _reencoded(file, largest_side)
    name = media.store(_FOLDER, ContentFile(image.data), suffix=_SUFFIXES[image.mime_type])
    try:
        yield StoredPicture(
            name,
            media.public_url(name),
            image.mime_type,
            image.width,
            image.height,
            len(image.data),
        )
    except BaseException:
        default_storage.delete(name)
        raise


def _reencoded(file: Any, largest_side: int) -> image_reencoding.Picture:
    if not isinstance(file, UploadedFile):
        raise Invalid.field("body", "file", msg=gettext_noop("Send a file."))
    if (file.size or 0) > MAX_BANNER_BYTES:
        raise PictureTooLarge
    try:
        return image_reencoding.reencode(file.read(), largest_side=largest_side)
    except image_reencoding.ImageError as exc:
        raise Invalid.field("body", "file", msg=_FAULTS[exc.code], type=exc.code) from exc


def open_stored(name: str) -> tuple[IO[bytes], str] | None:
    """A picture's open file and media type; None if there is no such picture."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    mime_type = next(
        mime_type for mime_type, suffix in _SUFFIXES.items() if suffix == match.group(1)
    )
    try:
        return default_storage.open(f"{_FOLDER}/{name}"), mime_type
    except FileNotFoundError:
        return None
