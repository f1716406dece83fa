"""The content of the site's home page, for a client's people or for platform staff."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from reports.services import charts, home, platform
from reports.views.base import viewer_of


def add_figures(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Add figures, warnings and set-up steps to the context of the home page; called by Unfold.
    Platform staff get the figures of all clients."""
    client = getattr(request.user, "client", None)
    if client is None:
        return context | {"figures": platform.figures(), "warnings": platform.warnings()}
    user, _ = viewer_of(request)
    steps, warnings = home.set_up_steps(client, user), home.warnings(client)
    client_context = context | {
        "steps": _readable(request, steps),
        "done": sum(step.is_done for step in steps),
        "warnings": _readable(request, warnings),
    }
    if not home.has_conversations(client):
        return client_context
    return client_context | {
        "figures": home.figures(client),
        "chart": home.conversations_chart(client),
        "width": charts.WIDTH,
        "height": charts.HEIGHT,
        "most_asked": home.most_asked(client),
    }


@require_POST
def dismiss_steps(request: HttpRequest) -> HttpResponse:
    """Hide the set-up steps permanently."""
    home.dismiss_steps(viewer_of(request)[0])
    return redirect("admin:index")


def _readable(request: HttpRequest, hints: list[home.Hint]) -> list[home.Hint]:
    """The hints about rows that the viewer may see."""
    site = admin.site
    return [hint for hint in hints if site.get_model_admin(hint.model).has_view_permission(request)]
