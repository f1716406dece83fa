"""What the Settings pages share: who may open them, and how their forms are shown and saved."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.functional import lazy
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy

from chatplatform.admin_base import ADMINS, viewer
from chatplatform.forms import SAVE, ServiceForm, SettingsForm
from identity.models import Client
from identity.schemas.configs import ClientConfigDto
from identity.services import configs


@dataclass(frozen=True)
class Part:
    """A form of a page, and the function that is called with its values."""

    name: str
    title: Any
    form: ServiceForm
    act: Callable[[dict[str, Any]], object]
    button: Any = SAVE
    # The message after success, or a function that makes it from the result of `act`.
    done: Any = gettext_lazy("Saved.")
    intro: Any = ""
    # The button's style; only one button per page is filled.
    variant: str = ""

    @property
    def is_saved(self) -> bool:
        """Whether the form saves values, rather than doing something else."""
        return self.button is SAVE


def _linked(text: Any, title: Any, name: str) -> SafeString:
    return format_html('{} <a class="underline" href="{}">{}</a>', text, reverse(name), title)


# Returns a lazy help text that ends with a link to another page.
linked = lazy(_linked, SafeString)


class ConfigForm(SettingsForm):
    """A form for some of a client's chat settings. The other settings keep their values."""

    heading: ClassVar[Any] = ""
    schemas = (ClientConfigDto,)

    def __init__(self, request: HttpRequest, name: str) -> None:
        self.config, self.by = own_client(request).config, viewer(request)
        initial = {item.name: getattr(self.config, item.name) for item in self.settings}
        super().__init__(submitted_values(request, name), initial=initial)

    def save(self, data: dict[str, Any]) -> object:
        """Change the settings that the person has changed."""
        return configs.update(self.config, ClientConfigDto(**self.only_changed(data)), by=self.by)

    def saved_message(self, result: object) -> str:
        return gettext("Saved.")


def own_client(request: HttpRequest, roles: frozenset[str] = ADMINS) -> Client:
    """The client of the request's user; a 403 if the user has no client or none of these roles."""
    user = viewer(request)
    if user.client_id is None or user.role not in roles:
        raise PermissionDenied
    client: Client = user.client
    return client


def submitted_values(request: HttpRequest, name: str) -> QueryDict | None:
    """The submitted values of the form with this name; None if another form or none was
    submitted."""
    is_submitted = request.method == "POST" and request.POST.get("form") == name
    return request.POST if is_submitted else None


def are_saved_together(parts: Iterable[Part]) -> bool:
    """Whether one button saves all forms of the page: if several of them save values."""
    return sum(part.is_saved for part in parts) > 1


def show(
    site: Any,
    request: HttpRequest,
    title: str,
    parts: Sequence[Part],
    *,
    template: str = "settings/page",
    **context: Any,
) -> HttpResponse:
    """The page with its forms, or a redirect after one of them was submitted and accepted."""
    if done := carry_out(request, parts):
        return done
    page: HttpResponse = site.page(
        request, template, gettext(title), parts={part.name: part for part in parts},
        are_saved_together=are_saved_together(parts), **context,
    )  # fmt: skip
    return page


def carry_out(
    request: HttpRequest, parts: Sequence[Part], *, then: str | None = None
) -> HttpResponse | None:
    """A redirect to the same page, or to `then`, if one of the forms was submitted and accepted.
    None if no form was submitted, or if it is invalid. 403 for a POST without one of the forms."""
    part = next((part for part in parts if part.form.is_bound), None)
    if part is None:
        if request.method == "POST":
            raise PermissionDenied
        return None
    # In a tuple, so that None from `act` differs from None for an invalid form.
    result = part.form.carry_out(lambda data: (part.act(data),))
    if result is None:
        return None
    message = part.done(*result) if callable(part.done) else str(part.done)
    level = messages.WARNING if part.form.is_warning(result[0]) else messages.SUCCESS
    messages.add_message(request, level, message, extra_tags="" if then else part.name)
    return redirect(then or f"{request.get_full_path()}#{part.name}")


def show_config(
    site: Any,
    request: HttpRequest,
    title: str,
    forms: Mapping[str, type[ConfigForm]],
    *,
    template: str = "settings/page",
) -> HttpResponse:
    """A page of chat settings; `forms` maps the name of each form to its class."""
    instances = [(name, form(request, name)) for name, form in forms.items()]
    parts = [
        Part(name, form.heading, form, form.save, done=form.saved_message)
        for name, form in instances
    ]
    return show(site, request, title, parts, template=template)
