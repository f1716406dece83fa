"""Sample files that customers send, and files that are fetched from URLs in the apps' calls."""

import io
import urllib.error
import urllib.request
from functools import cache
from typing import Any

from PIL import Image

from simulator.http import Fetched
from simulator.world import Json

FETCH_SECS = 10
MAX_FETCH = 101_000_000
_PDF = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    b"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]>>endobj\n"
    b"trailer<</Root 1 0 R>>\n%%EOF\n"
)
_MP4 = b"\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom" + b"\x00\x00\x00\x08mdat"
_OGG = b"OggS\x00\x02" + bytes(20) + b"\x01\x13OpusHead\x01\x01" + bytes(18)
MIMES = {
    "image": "image/jpeg",
    "png": "image/png",
    "gif": "image/gif",
    "sticker": "image/webp",
    "audio": "audio/ogg",
    "video": "video/mp4",
    "file": "application/pdf",
    "document": "application/pdf",
}


@cache
def sample(kind: str) -> tuple[bytes, str]:
    """A small file of this kind, and its MIME type."""
    mime = MIMES.get(kind, "image/jpeg")
    if mime.startswith("image/"):
        buffer = io.BytesIO()
        picture = Image.new("RGB", (96, 64), (40, 110, 200))
        picture.paste((250, 200, 60), (24, 16, 72, 48))
        picture.save(buffer, mime.partition("/")[2].upper())
        return buffer.getvalue(), mime
    return {"audio/ogg": _OGG, "video/mp4": _MP4, "application/pdf": _PDF}[mime], mime


def addresses(body: Any) -> list[str]:
    """The media URLs in the body of a send or an upload, in any provider's format."""
    if not isinstance(body, dict):
        return []
    found: list[Any] = []
    message = body.get("message")
    if isinstance(message, dict):
        attachments = [message.get("attachment"), *_list(message.get("attachments"))]
        for attachment in attachments:
            payload = _dict(_dict(attachment).get("payload"))
            if _dict(attachment).get("type") != "template":
                found.append(payload.get("url"))
            elif payload.get("template_type") == "media":
                found += [_dict(item).get("url") for item in _list(payload.get("elements"))]
    for kind in ("image", "audio", "video", "document", "sticker"):
        found.append(_dict(body.get(kind)).get("link"))
    # For telegram, the parameter is the URL itself.
    found += [body.get(kind) for kind in ("photo", "audio", "video")]
    for component in _list(_dict(body.get("template")).get("components")):
        for parameter in _list(_dict(component).get("parameters")):
            kind = str(_dict(parameter).get("type"))
            found.append(_dict(_dict(parameter).get(kind)).get("link"))
    return [address for address in found if isinstance(address, str) and address]


def fetch(address: str) -> Fetched:
    """Fetch a URL like a provider: within 10 seconds, and at most `MAX_FETCH` bytes."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(address, timeout=FETCH_SECS) as reply:
            data = reply.read(MAX_FETCH)
            return Fetched(data, reply.headers.get_content_type())
    except (OSError, ValueError) as error:
        return Fetched(error=str(error))


def _dict(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
