"""What makes an app of the inbox on a phone or a computer: its manifest, and its service worker."""

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.templatetags.static import static
from django.urls import reverse
from django.utils.translation import gettext

# The sizes that browsers ask for before they install an app.
_SIZES = (192, 512)


def manifest(_site: Any, _request: HttpRequest) -> HttpResponse:
    """What a browser has to know to install the inbox."""
    inbox = reverse("admin:desk")
    icons = [
        {
            "src": static(f"chatplatform/icon-{size}.png"), "sizes": f"{size}x{size}",
            "type": "image/png", "purpose": purpose,
        }
        for size in _SIZES
        for purpose in ("any", "maskable")
    ]  # fmt: skip
    data = {
        "id": inbox, "start_url": inbox, "scope": inbox, "name": gettext("Inbox"),
        "display": "standalone", "background_color": "#f8fafc", "theme_color": "#4f46e5",
        "icons": icons,
    }  # fmt: skip
    return JsonResponse(data, content_type="application/manifest+json")


def worker(_site: Any, request: HttpRequest) -> HttpResponse:
    """The script that shows push notifications. It lies in the inbox's folder, its scope."""
    page = render(request, "admin/desk_worker.js", content_type="text/javascript")
    page["Cache-Control"] = "no-cache"
    return page
