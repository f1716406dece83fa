"""Uploaded pictures, drawn anew in a child process, so that nothing but the picture remains.

Image decoders are C code fed by strangers, and a small file may unpack to gigabytes: like the
parsers of documents they run where a crash or a bomb ends nothing but the child.
"""

import io
import json
import tempfile
from dataclasses import dataclass
from typing import Any

from bots.knowledge import child

MAX_PIXELS = 16_000_000
MAX_STORED_BYTES = 20_000_000
# Formats by the name that the decoder gives them.
_TYPES = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp"}
_SAVED: dict[str, dict[str, Any]] = {
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


class PictureError(Exception):
    """`code`: unsupported_type, too_large, malformed or timeout."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


_UNSUPPORTED = PictureError("unsupported_type", "The file is not a PNG, JPEG or WebP picture.")
_TOO_LARGE = PictureError("too_large", f"A picture has at most {MAX_PIXELS:,} pixels.")
_MALFORMED = PictureError("malformed", "The picture is damaged; save it anew.")
_TOO_MANY_BYTES = PictureError("too_large", "The picture is too large; scale it down.")
_TIMEOUT = PictureError("timeout", "Reading the picture took too long.")


def redraw(data: bytes, *, timeout_seconds: float = 10, memory_mb: int = 512) -> Picture:
    """The picture of a file, encoded anew without metadata; PictureError where it is none."""
    if not data.startswith((b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"RIFF")):
        raise _UNSUPPORTED
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        try:
            ended = child.run(
                "bots.knowledge.picture",
                file.name,
                str(memory_mb),
                str(max(1, int(timeout_seconds))),
                timeout_seconds=timeout_seconds,
            )
        except child.TookTooLong as exc:
            raise _TIMEOUT from exc
        except child.SaidTooMuch as exc:
            raise _TOO_MANY_BYTES from exc
    return _result(ended)


def _result(ended: child.Ended) -> Picture:
    head, _, drawn = ended.output.partition(b"\n")
    if not head:
        raise _TIMEOUT if ended.ran_out_of_time else _TOO_LARGE
    if len(drawn) > MAX_STORED_BYTES:
        raise _TOO_MANY_BYTES
    said: dict[str, Any] = json.loads(head)
    if "code" in said:
        raise PictureError(said["code"], said["message"])
    return Picture(drawn, **said)


# --- in the child -------------------------------------------------------------------------------


def draw(data: bytes) -> Picture:
    """As `redraw`, in this process."""
    from PIL import Image, ImageOps, UnidentifiedImageError  # noqa: PLC0415 - the child alone

    # Our own check by the header comes first; the library's is the second fence.
    Image.MAX_IMAGE_PIXELS = MAX_PIXELS
    try:
        with Image.open(io.BytesIO(data), formats=list(_TYPES)) as opened:
            if opened.width * opened.height > MAX_PIXELS:
                raise _TOO_LARGE
            name = str(opened.format)
            # A phone's picture lies on its side until its orientation is applied.
            upright = ImageOps.exif_transpose(opened)
            has_alpha = name != "JPEG" and upright.has_transparency_data
            plain = upright.convert("RGBA" if has_alpha else "RGB")
    except UnidentifiedImageError:
        raise _UNSUPPORTED from None
    except Image.DecompressionBombError:
        raise _TOO_LARGE from None
    except MemoryError:
        raise _TOO_LARGE from None
    except PictureError:
        raise
    except Exception:
        # The edge to foreign code fed by a foreign file: whatever it raises, the file is no good.
        raise _MALFORMED from None
    # Comments, places, colour profiles and what else a file carries along.
    plain.info = {}
    stored = io.BytesIO()
    plain.save(stored, format=name, **_SAVED[name])
    return Picture(stored.getvalue(), _TYPES[name], plain.width, plain.height)


def _main(path: str, memory_mb: str, cpu_seconds: str) -> None:
    child.limit(int(memory_mb), int(cpu_seconds))
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - before anything else is loaded
            drawn = draw(file.read())
    except PictureError as error:
        child.say(json.dumps({"code": error.code, "message": error.message}).encode())
        return
    said = {"mime_type": drawn.mime_type, "width": drawn.width, "height": drawn.height}
    child.say(json.dumps(said).encode() + b"\n" + drawn.data)


if __name__ == "__main__":
    import sys

    _main(*sys.argv[1:])
