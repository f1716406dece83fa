"""Saved views of the inbox, which are stored like the saved views of the site's lists."""

from chatplatform.api.errors import NotFound
from chats.schemas import desk as desk_schemas
from identity.models import SavedView, User
from identity.services import saved_views

# The inbox's name among the lists that have saved views.
LIST_NAME = "chats.inbox"


def list_for_user(user: User) -> list[tuple[SavedView, bool]]:
    """The user's own views and the views that colleagues share, each with whether the user may
    delete it."""
    return saved_views.visible_to(user, LIST_NAME)


def save(user: User, body: desk_schemas.DeskView) -> SavedView:
    """Save a view, or replace the user's own view of that name; 409 if the user has too many
    views."""
    return saved_views.save(
        user, LIST_NAME, name=body.name, query=body.query, is_shared=body.is_shared
    )


def delete(user: User, view_id: int) -> None:
    """Delete a view; 404 if the user cannot see it, 403 if it is a colleague's and the user is not
    an admin."""
    if view_id not in {row.pk for row, _ in list_for_user(user)}:
        raise NotFound
    saved_views.delete(user, view_id)
