"""Saved views of the site's lists, and saved reports. Both are named queries, private or shared."""

import re
from collections.abc import Iterable, Sequence

from django.db import transaction
from django.db.models import Q
from django.http import QueryDict
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy

from chatplatform.api.errors import ApiError, Forbidden
from identity.models import SavedView, User
from identity.services import audit

# The maximum number of views that a person can save for one list.
MAX_VIEWS = 30
# The minimum length, in characters, of a text that can identify somebody.
_MIN_LENGTH = 3


class TooManyViews(ApiError):
    code, status = "too_many_views", 409
    detail = format_lazy(
        gettext_lazy("You can have up to {count} saved views of this list. Delete one first."),
        count=MAX_VIEWS,
    )


def visible_to(user: User, list_name: str) -> list[tuple[SavedView, bool]]:
    """A person's views of a list and the views that colleagues share, each with whether the person
    may delete it."""
    rows = SavedView.objects.filter(list_name=list_name).select_related("user")
    visible = rows.filter(Q(user=user) | Q(is_shared=True, user__client=user.client_id))
    views = visible.order_by("name", "pk")[: 4 * MAX_VIEWS]
    return [(row, _may_delete(row, user)) for row in views]


def save(user: User, list_name: str, *, name: str, query: str, is_shared: bool) -> SavedView:
    """Save a view, or replace the person's view with that name; 409 if they have too many."""
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).get(pk=user.pk)
        views = SavedView.objects.filter(user=user, list_name=list_name)
        if views.exclude(name=name).count() >= MAX_VIEWS:
            raise TooManyViews
        parameters = QueryDict(query.removeprefix("?"), mutable=True)
        parameters.pop("p", None)  # the page number, because the rows on a page change
        values = {"query": parameters.urlencode(), "is_shared": is_shared}
        row, _ = SavedView.objects.update_or_create(
            user=user, list_name=list_name, name=name, defaults=values
        )
        _record(row, "saved", by=user)
    return row


def delete(user: User, view_id: int) -> None:
    """Delete the user's own view or, if the user is an owner or admin, a shared view; otherwise
    403."""
    with transaction.atomic():
        row = SavedView.objects.select_related("user").filter(pk=view_id).first()
        if row is None or not _may_delete(row, user):
            raise Forbidden("This view belongs to someone else or no longer exists.")
        _record(row, "deleted", by=user)
        row.delete()


def delete_about_customer(client_id: int, identifiers: Sequence[str]) -> None:
    """Delete the views of the client's people and of platform staff that mention an erased
    customer. `identifiers` are the customer's name, addresses and ids."""
    rows = SavedView.objects.filter(Q(user__client=client_id) | Q(user__client=None))
    for row in rows:
        values = [(name, item) for name, many in QueryDict(row.query).lists() for item in many]
        searched = [item for name, item in values if name == "q" or "@" in item]
        if mentions(row.name, searched, identifiers):
            row.delete()


def mentions(name: str, searched: Iterable[str], identifiers: Sequence[str]) -> bool:
    """Whether a view's name or searches contain an identifier or one of its words, or an identifier
    contains a search. A false match does little harm: the view can be saved again."""
    folded = [text.casefold() for text in identifiers if len(text) >= _MIN_LENGTH]
    words = {word for text in folded for word in text.split() if len(word) >= _MIN_LENGTH}
    searches = [text.casefold() for text in searched if len(text) >= _MIN_LENGTH]
    texts = [name.casefold(), *searches]
    return (
        any(identifier in text for identifier in folded for text in texts)
        or any(search in identifier for identifier in folded for search in searches)
        or any(words & set(re.findall(r"\w+", text)) for text in texts)
    )


def _may_delete(row: SavedView, user: User) -> bool:
    """Whether the view is the user's own, or shared and the user is an owner or admin."""
    may_manage = user.is_superuser or user.is_admin
    is_shared = row.is_shared and row.user.client_id == user.client_id
    return row.user_id == user.pk or (may_manage and is_shared)


def _record(row: SavedView, verb: str, *, by: User) -> None:
    """Record a change of a shared view in the audit log, without its name, which may contain a
    customer's."""
    if row.is_shared:
        audit.record(by.client_id, f"saved_view.{verb}", by=by, subject=f"saved_view:{row.pk}",
                     changes={"page": row.list_name})  # fmt: skip
