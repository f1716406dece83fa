"""A client's overview page for platform staff."""

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
    """A client's figures and warnings, and links to lists of its rows."""
    user = request.user
    assert isinstance(user, User), "only people can sign in to the site"
    if not user.is_superuser:
        raise PermissionDenied
    site: Any = admin.site
    clients = site.get_model_admin(Client)
    client: Client = clients.row(request, client_id)

    def filtered(path: str) -> str:
        return navigation.filtered_by_client(path, client.pk)

    figures = home.figures(client)
    response: HttpResponse = site.page(
        request, "client", str(client),
        client=client,
        page=clients,
        people=filtered(reverse("admin:identity_user_changelist")),
        figures=[replace(figure, path=filtered(_path_for_staff(figure.path))) for figure in
        figures], warnings=[
            replace(warning, path=filtered(warning.path)) for warning in home.warnings(client)
        ],
        groups=[
            # Not `items`: in a template, that would be the dictionary's method.
            {"title": group["title"], "pages": group["items"]}
            for group in navigation.client_lists(request, client.pk)
        ],
    )  # fmt: skip
    return response


def _path_for_staff(path: str) -> str:
    """The path of a figure's link. The list of plans replaces the plan page, which platform staff
    cannot open."""
    if path == reverse("admin:settings_plan"):
        return reverse("admin:identity_subscription_changelist")
    return path
