"""Views of the inbox that people keep: saved views, as of the site's lists."""

from chatplatform.api.errors import NotFound
from chats.shapes import desk as desk_shapes
from identity.models import SavedView, User
from identity.services import saved_views

# The inbox among the lists that have saved views.
LIST_NAME = "chats.inbox"


def list_for_user(user: User) -> list[tuple[SavedView, bool]]:
    """The user's own views and those that colleagues share; whether the user may delete each."""
    return saved_views.seen_by(user, LIST_NAME)


def save(user: User, body: desk_shapes.DeskView) -> SavedView:
    """Save a view, or replace the user's own of that name; 409 if they have too many."""
    return saved_views.save(
        user, LIST_NAME, name=body.name, query=body.query, is_shared=body.is_shared
    )


def delete(user: User, view_id: int) -> None:
    """Delete a view; 403 if it is a colleague's and the user is not an admin."""
    if view_id not in {row.pk for row, _ in list_for_user(user)}:
        raise NotFound
    saved_views.delete(user, view_id)
