"""A client's page for the platform's staff: its home page, and links to its rows."""

from dataclasses import replace
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from chatplatform import navigation
from identity.models import Client, User
from reports.services import home


def page(request: HttpRequest, client_id: int) -> HttpResponse:
    """Figures and warnings of a client; every link shows only this client's rows."""
    user = request.user
    assert isinstance(user, User), "the site admits people alone"
    if not user.is_superuser:
        raise PermissionDenied
    site: Any = admin.site
    clients = site.get_model_admin(Client)
    client: Client = clients.row(request, client_id)

    def own(path: str) -> str:
        return navigation.of_client(path, client.pk)

    figures = home.figures(client)
    shown: HttpResponse = site.page(
        request, "client", str(client),
        client=client,
        page=clients,
        people=own(reverse("admin:identity_user_changelist")),
        figures=[replace(figure, path=own(_of_staff(figure.path))) for figure in figures],
        warnings=[replace(warning, path=own(warning.path)) for warning in home.warnings(client)],
        groups=[
            # Renamed, because `items` in a template would be the dictionary's method.
            {"title": group["title"], "pages": group["items"]}
            for group in navigation.for_client(request, client.pk)
        ],
    )  # fmt: skip
    return shown


def _of_staff(path: str) -> str:
    """The path behind a figure for the platform's staff: the plan's page belongs to the client."""
    if path == reverse("admin:settings_plan"):
        return reverse("admin:identity_subscription_changelist")
    return path
