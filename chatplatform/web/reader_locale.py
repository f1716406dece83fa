"""The language and time zone of pages: the reader's language and their company's time zone, else
the browser's language and UTC."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from zoneinfo import ZoneInfo

from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone, translation
from django.utils.cache import patch_vary_headers


def in_reader_language(request: HttpRequest) -> AbstractContextManager[None]:
    """A context in which texts are rendered in the reader's language."""
    own_language = getattr(getattr(request, "user", None), "language", "")
    try:
        language = translation.get_supported_language_variant(own_language)
    except LookupError:
        language = translation.get_language_from_request(request)
    return translation.override(language)


class ReadersLanguage:
    """Middleware that shows the site in the reader's language and their company's time zone."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        client = getattr(getattr(request, "user", None), "client", None)
        zone = ZoneInfo(client.timezone) if client else None
        with in_reader_language(request), timezone.override(zone):
            language = translation.get_language() or ""
            request.LANGUAGE_CODE = language  # error pages read it
            response = self.get_response(request)
            response.headers.setdefault("Content-Language", language)
        patch_vary_headers(response, ("Accept-Language",))
        return response
