"""Saves and deletes people's saved views of lists, then redirects to the list."""

from django import forms
from django.apps import apps
from django.contrib import admin, messages
from django.contrib.admin.exceptions import NotRegistered
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from chatplatform.admin_base import viewer
from identity.services import saved_views


class SavedViewForm(forms.Form):
    """The name of a view, the list's identifier and query, and whether colleagues see the view."""

    page = forms.CharField(max_length=60)
    name = forms.CharField(max_length=60)
    query = forms.CharField(max_length=2000, required=False)
    is_shared = forms.BooleanField(required=False)


@require_POST
def save(request: HttpRequest) -> HttpResponse:
    """Save the filters, order and columns of a list under a name."""
    form, list_url = SavedViewForm(request.POST), _list_url(request)
    if not form.is_valid():
        messages.error(request, gettext("Enter a name of up to 60 characters."))
        return redirect(list_url)
    data = form.cleaned_data
    row = saved_views.save(viewer(request), data.pop("page"), **data)
    messages.success(request, gettext("“%(name)s” is saved.") % {"name": row.name})
    return redirect(f"{list_url}?{row.query}")


@require_POST
def delete(request: HttpRequest) -> HttpResponse:
    """Delete a saved view."""
    view_id = request.POST.get("view", "")
    saved_views.delete(viewer(request), int(view_id) if view_id.isdecimal() else 0)
    messages.success(request, gettext("Saved view deleted."))
    return redirect(_list_url(request))


def _list_url(request: HttpRequest) -> str:
    """The URL of the list in the form's field `page`; 404 if the viewer may not see that list."""
    try:
        model = apps.get_model(request.POST.get("page", ""))
        page = admin.site.get_model_admin(model)
    except (LookupError, ValueError, NotRegistered) as exc:
        raise Http404("This list doesn't exist.") from exc
    if not page.has_view_permission(request):
        raise Http404("This list doesn't exist.")
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
