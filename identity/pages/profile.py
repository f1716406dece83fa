"""A person's own profile."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext

from chatplatform.admin_base import viewer
from identity.forms import ProfileForm
from identity.pages.settings.frame import Part, sent, show
from identity.services import users
from identity.shapes.users import OwnUser


def page(site: Any, request: HttpRequest) -> HttpResponse:
    """What colleagues and customers see of a person, and the language of their pages and mails."""
    by = viewer(request)
    form = ProfileForm(sent(request, "profile"), person=by)
    title = gettext("Profile")
    part = Part("profile", "", form, lambda data: users.update_own(by, OwnUser(**data)))
    return show(site, request, title, [part], template="profile", client=by.client)
