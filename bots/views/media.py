"""The stored files that anyone may fetch: banners, under names that cannot be guessed."""

from django.http import HttpRequest, HttpResponseBase

from bots.services import banners
from chatplatform import media
from chatplatform.api import errors


def banner(request: HttpRequest, name: str) -> HttpResponseBase:
    """A banner's picture. Its name changes with its bytes, so that it may be kept for good."""
    if request.method not in {"GET", "HEAD"}:
        return errors.error_response(405, "Only GET is allowed here.", headers={"Allow": "GET"})
    found = banners.stored(name)
    if found is None:
        return errors.page_not_found(request)
    path, mime_type = found
    response = media.file_response(
        path.open("rb"),
        mime_type=mime_type,
        cache_control="public, max-age=31536000, immutable",
    )
    # Shown on the clients' own pages, which are other sites than this one.
    response["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response
