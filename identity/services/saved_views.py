"""Saved views of the site's lists: filters, order and columns under a name, own or shared."""

import re
from collections.abc import Iterable, Sequence
from urllib.parse import urlencode

from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import QueryDict

from chatplatform.api.errors import ApiError, Forbidden
from identity.models import SavedView, User
from identity.services import audit

# Of one person and list: more than anybody reads.
MOST = 30
# Letters of the shortest word that can name somebody.
_LEAST = 3


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


def forget(client_id: int, told: Sequence[str]) -> None:
    """Delete what a client's people, or the platform's staff, kept under or for words of a
    customer who is erased: their name, addresses and ids."""
    rows = SavedView.objects.filter(Q(user__client=client_id) | Q(user__client=None))
    for row in rows:
        values = [(name, item) for name, many in QueryDict(row.query).lists() for item in many]
        searched = [item for name, item in values if name == "q" or "@" in item]
        if mentions(row.name, searched, told):
            row.delete()


def mentions(name: str, searched: Iterable[str], told: Sequence[str]) -> bool:
    """Whether a name holds what a customer is called, or a word of it, or a search finds them.

    Words of less than three letters name nobody. Rather one too many: it is made again in a minute.
    """
    called = [text.casefold() for text in told if len(text) >= _LEAST]
    words = {word for text in called for word in text.split() if len(word) >= _LEAST}
    sought = [text.casefold() for text in searched if len(text) >= _LEAST]
    texts = [name.casefold(), *sought]
    return (
        any(item in text for item in called for text in texts)
        or any(text in item for item in called for text in sought)
        or any(words & set(re.findall(r"\w+", text)) for text in texts)
    )


def _may_delete(row: SavedView, user: User) -> bool:
    """One's own; owners and admins also what their colleagues share."""
    rules = user.is_superuser or user.is_admin
    is_shared = row.is_shared and row.user.client_id == user.client_id
    return row.user_id == user.pk or (rules and is_shared)


def _kept(query: str) -> str:
    """What is remembered of the address of a list: not the page, on which other rows are later."""
    params = QueryDict(query.removeprefix("?"))
    return urlencode(
        [(name, item) for name, many in params.lists() if name != "p" for item in many]
    )


def _record(row: SavedView, what: str, *, by: User) -> None:
    """What colleagues see changes; one's own views are nobody else's business. Without the name:
    it may be a customer's."""
    if row.is_shared:
        audit.record(by.client_id, f"saved_view.{what}", by=by, subject=f"saved_view:{row.pk}",
                     changes={"page": row.page})  # fmt: skip
