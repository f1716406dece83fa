"""The security page: the company's own sign-in provider, how many people have a second factor, and
a link to the audit log."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext, gettext_lazy

from chatplatform.admin_base import viewer
from chatplatform.api.outgoing_call_limits import calls_out
from chatplatform.forms import ServiceForm
from identity.models import SignInProvider, User
from identity.pages.settings.base import Part, own_client, show, submitted_values
from identity.pages.sign_in_providers import ProviderForm
from identity.schemas.sign_in_providers import SignInProviderDto
from identity.services import sign_in_providers


@calls_out
def page(site: Any, request: HttpRequest) -> HttpResponse:
    """The page on which owners and admins set up or remove the company's own sign-in provider."""
    client, by = own_client(request), viewer(request)
    row = SignInProvider.objects.for_client(client).first()

    def store(data: dict[str, Any]) -> object:
        return sign_in_providers.store(client, body=SignInProviderDto(**data), by=by)

    def remove(_data: dict[str, Any]) -> None:
        sign_in_providers.remove(client, by=by)

    parts = [
        Part(
            "provider",
            gettext("Single sign-on (SSO)"),
            ProviderForm.of(submitted_values(request, "provider"), row),
            store,
            done=gettext_lazy("Saved. Test the sign-in link in a private window."),
        )
    ]
    if row:
        parts.append(
            Part(
                "remove",
                "",
                ServiceForm(submitted_values(request, "remove")),
                remove,
                button=gettext_lazy("Remove SSO"),
                done=gettext_lazy("SSO removed. Your team now signs in with passwords."),
            )
        )
    people = User.objects.filter(client=client, is_disabled=False)
    return show(
        site, request, gettext("Security"), parts, template="settings/security",
        provider=row,
        sign_in_url=sign_in_providers.sign_in_url(client),
        redirect_url=sign_in_providers.redirect_url(),
        people=people.count(),
        with_second_factor=people.filter(second_factor__isnull=False).count(),
    )  # fmt: skip
