"""A person's own profile."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.translation import gettext

from chatplatform.admin_base import viewer
from identity.forms import ProfileForm
from identity.models import User
from identity.pages.settings.base import Part, show, submitted_values
from identity.schemas.users import OwnUser
from identity.services import picture_hooks, users


def page(site: Any, request: HttpRequest) -> HttpResponse:
    """The page on which people change their own name, photo and language."""
    by = viewer(request)
    data = submitted_values(request, "profile")
    form = ProfileForm(data, None if data is None else request.FILES, person=by)
    title = gettext("Profile")
    part = Part("profile", "", form, lambda data: _save(by, **data), done=_saved)
    return show(site, request, title, [part], template="profile", client=by.client)


def _saved(person: User) -> str:
    """The message after saving, in the language of the page that shows it."""
    with translation.override(person.language or translation.get_language()):
        return gettext("Saved.")


def _save(by: User, *, file: Any, avatar_url: str, **data: Any) -> User:
    if not file:
        return users.update_own(by, OwnUser(avatar_url=avatar_url, **data))
    side = picture_hooks.AVATAR_SIDE
    with picture_hooks.pictures().stored(file, largest_side=side) as picture:
        return users.update_own(by, OwnUser(**data), picture=picture)
