"""Re-encodes uploaded pictures in a child process, so that nothing but the picture remains.

Image decoders are C code, and a small file may unpack to gigabytes. In a child process, a crash or
a decompression bomb does no harm.
"""

import io
import json
import tempfile
import threading
from dataclasses import dataclass
from typing import Any

from bots.ingest import child_process

MAX_PIXELS = 16_000_000
MAX_STORED_BYTES = 20_000_000
_MEMORY_MB, _SECONDS = 512, 10
# The number of child processes that a process runs at once; each takes a core.
_CHILDREN = threading.BoundedSemaphore(2)
# Keys are the names that Pillow gives to formats.
_TYPES = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp"}
_SAVE_OPTIONS: dict[str, dict[str, Any]] = {
    "PNG": {"optimize": False},
    "JPEG": {"quality": 88},
    "WEBP": {"quality": 88, "method": 2},
}


@dataclass(frozen=True)
class Picture:
    data: bytes
    mime_type: str
    width: int
    height: int


class ImageError(Exception):
    """The file is refused; `code`: unsupported_type, too_large, malformed or timeout."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def reencode(data: bytes, *, largest_side: int = 0) -> Picture:
    """Re-encode a picture without its metadata; raises ImageError.

    It is scaled down until no side is longer than `largest_side` pixels; 0 keeps its size.
    """
    if not data.startswith((b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"RIFF")):
        raise ImageError("unsupported_type")
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        try:
            with _CHILDREN:
                finished = child_process.run(
                    "bots.ingest.image_reencoding", file.name, str(largest_side),
                    timeout_seconds=_SECONDS,
                )  # fmt: skip
        except child_process.TimedOut as exc:
            raise ImageError("timeout") from exc
        except child_process.OutputTooLarge as exc:
            raise ImageError("too_large") from exc
    return _parse_output(finished)


def _parse_output(finished: child_process.Finished) -> Picture:
    head, _, data = finished.output.partition(b"\n")
    if not head:
        raise ImageError("timeout" if finished.timed_out else "too_large")
    if len(data) > MAX_STORED_BYTES:
        raise ImageError("too_large")
    result: dict[str, Any] = json.loads(head)
    if "code" in result:
        raise ImageError(result["code"])
    return Picture(data, **result)


# --- in the child process -----------------------------------------------------------------------


def reencode_in_process(data: bytes, largest_side: int = 0) -> Picture:
    """Like `reencode`, but in this process."""
    from PIL import Image, ImageOps, UnidentifiedImageError  # noqa: PLC0415 - in the child process

    # Pillow itself refuses only pictures with twice as many pixels; the check below is exact.
    Image.MAX_IMAGE_PIXELS = MAX_PIXELS
    try:
        with Image.open(io.BytesIO(data), formats=list(_TYPES)) as opened:
            if opened.width * opened.height > MAX_PIXELS:
                raise ImageError("too_large")
            name = str(opened.format)
            # Phones store pictures sideways, with an EXIF tag that says how to rotate them.
            upright = ImageOps.exif_transpose(opened)
            if largest_side:
                upright.thumbnail((largest_side, largest_side))
            has_alpha = name != "JPEG" and upright.has_transparency_data
            plain = upright.convert("RGBA" if has_alpha else "RGB")
    except UnidentifiedImageError:
        raise ImageError("unsupported_type") from None
    except (Image.DecompressionBombError, MemoryError):
        raise ImageError("too_large") from None
    except ImageError:
        raise
    except Exception:
        # A decoder may raise anything on a hostile file.
        raise ImageError("malformed") from None
    # Drops comments, locations, color profiles and other metadata.
    plain.info = {}
    stored = io.BytesIO()
    plain.save(stored, format=name, **_SAVE_OPTIONS[name])
    return Picture(stored.getvalue(), _TYPES[name], plain.width, plain.height)


def _main(path: str, largest_side: str) -> None:
    child_process.limit_resources(_MEMORY_MB, _SECONDS)
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - nothing else is loaded yet
            picture = reencode_in_process(file.read(), int(largest_side))
    except ImageError as error:
        child_process.print_and_exit(json.dumps({"code": error.code}).encode())
        return
    head = {"mime_type": picture.mime_type, "width": picture.width, "height": picture.height}
    child_process.print_and_exit(json.dumps(head).encode() + b"\n" + picture.data)


if __name__ == "__main__":
    import sys

    _main(*sys.argv[1:])
