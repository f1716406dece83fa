"""Serves the public pictures: banners and avatars, under random names."""

from django.http import HttpRequest, HttpResponseBase

from bots.services import uploaded_pictures
from chatplatform import media
from chatplatform.api import errors


def serve_picture(request: HttpRequest, name: str) -> HttpResponseBase:
    """Serve a picture. Each has its own random name, so browsers may cache it forever."""
    if request.method not in {"GET", "HEAD"}:
        return errors.error_response(405, "Only GET is allowed here.", headers={"Allow": "GET"})
    stored = uploaded_pictures.open_stored(name)
    if stored is None:
        return errors.page_not_found(request)
    file, mime_type = stored
    response = media.file_response(
        file, mime_type=mime_type, cache_control="public, max-age=31536000, immutable"
    )
    # Clients' websites, which are other origins, show the picture.
    response["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response
