"""Saved views of the site's lists: filters, order and columns under a name, own or shared."""

from urllib.parse import urlencode

from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import QueryDict

from chatplatform.api.errors import ApiError, Forbidden
from identity.models import SavedView, User
from identity.services import audit

# Of one person and list: more than anybody reads.
MOST = 30


class TooManyViews(ApiError):
    code, status = "too_many_views", 409
    detail = f"You have {MOST} saved views of this list: delete one first."


def seen_by(user: User, page: str) -> QuerySet[SavedView]:
    """A person's own views of a list, and those that colleagues share."""
    rows = SavedView.objects.filter(page=page).select_related("user")
    shared = Q(is_shared=True, user__client=user.client_id)
    if user.client_id is None:
        shared = Q(is_shared=True, user__client=None)
    return rows.filter(Q(user=user) | shared).order_by("name", "pk")


def seen_with_rights(user: User, page: str) -> list[tuple[SavedView, bool]]:
    """The views of a list that a person may choose, and whether they may delete each."""
    return [(row, _may_delete(row, user)) for row in seen_by(user, page)[: 4 * MOST]]


def save(user: User, page: str, *, name: str, query: str, is_shared: bool) -> SavedView:
    """Store what a list shows; one's own view of the same name is replaced. 409: too many."""
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).get(pk=user.pk)
        own = SavedView.objects.filter(user=user, page=page)
        if own.exclude(name=name).count() >= MOST:
            raise TooManyViews
        values = {"query": _kept(query), "is_shared": is_shared}
        row, _ = SavedView.objects.update_or_create(
            user=user, page=page, name=name, defaults=values
        )
        _record(row, "saved", by=user)
    return row


def delete(user: User, view_id: int) -> None:
    """Delete a view of one's own, or as an owner or admin a shared one; 403 for others."""
    with transaction.atomic():
        row = SavedView.objects.select_related("user").filter(pk=view_id).first()
        if row is None or not _may_delete(row, user):
            raise Forbidden("This view is somebody else's, or is gone.")
        _record(row, "deleted", by=user)
        row.delete()


def _may_delete(row: SavedView, user: User) -> bool:
    """One's own; owners and admins also what their colleagues share."""
    rules = user.is_superuser or user.is_admin
    is_shared = row.is_shared and row.user.client_id == user.client_id
    return row.user_id == user.pk or (rules and is_shared)


def _kept(query: str) -> str:
    """What is remembered of the address of a list: not the page, on which other rows are later."""
    params = QueryDict(query.removeprefix("?"))
    return urlencode([(name, one) for name, many in params.lists() if name != "p" for one in many])


def _record(row: SavedView, what: str, *, by: User) -> None:
    """What colleagues see changes; one's own views are nobody else's business."""
    if row.is_shared and by.client_id:
        audit.record(by.client_id, f"saved_view.{what}", by=by, subject=f"saved_view:{row.pk}",
                     changes={"name": row.name, "page": row.page})  # fmt: skip
