"""What the pages of Settings share: who may open them, and how their forms are saved."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils.translation import gettext, gettext_lazy

from chatplatform.admin_base import ADMINS, viewer
from chatplatform.forms import ServiceForm
from identity.models import Client, ClientConfig
from identity.services import configs
from identity.shapes.configs import ClientConfigDto


@dataclass(frozen=True)
class Part:
    """A form of a page, and the service that takes its values."""

    name: str
    title: Any
    form: ServiceForm
    act: Callable[[dict[str, Any]], object]
    button: Any = gettext_lazy("Save")
    done: Any = gettext_lazy("Saved.")
    intro: Any = ""
    # The theme's look of the button; a page has one filled button.
    variant: str = ""


class ConfigForm(ServiceForm):
    """A form of some of a client's chat settings; the names of its fields are theirs."""

    def __init__(self, data: QueryDict | None, config: ClientConfig, **initial: Any) -> None:
        shown = {name: getattr(config, name) for name in self.base_fields if hasattr(config, name)}
        super().__init__(data, initial=shown | initial)


def own_client(request: HttpRequest, roles: frozenset[str] = ADMINS) -> Client:
    """The client of a viewer with one of these roles; others are refused."""
    user = viewer(request)
    if user.client_id is None or user.role not in roles:
        raise PermissionDenied
    client: Client = user.client
    return client


def sent(request: HttpRequest, name: str) -> QueryDict | None:
    """The values of the form with this name, if it was sent."""
    is_sent = request.method == "POST" and request.POST.get("form") == name
    return request.POST if is_sent else None


def save_config(request: HttpRequest) -> Callable[[dict[str, Any]], object]:
    """Saves the fields of a `ConfigForm`; the other settings keep their value."""

    def act(data: dict[str, Any]) -> object:
        config = own_client(request).config
        return configs.update(config, ClientConfigDto(**data), by=viewer(request))

    return act


def show(
    site: Any,
    request: HttpRequest,
    title: str,
    parts: Sequence[Part],
    *,
    template: str = "settings/page",
    **context: Any,
) -> HttpResponse:
    """The page with its forms. A form that a service has taken is shown with its new values."""
    part = next((one for one in parts if one.form.is_bound), None)
    if request.method == "POST" and part is None:
        raise PermissionDenied
    if part and part.form.carry_out(lambda data: (part.act(data),)):
        messages.success(request, str(part.done), extra_tags=part.name)
        return redirect(request.get_full_path())
    page: HttpResponse = site.page(
        request, template, gettext(title), parts={one.name: one for one in parts}, **context
    )
    return page
