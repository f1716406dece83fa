"""Impersonation: platform staff see the site as one of a client's people, but cannot change
anything. An impersonation belongs to a session and ends with it."""

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext_noop

from chatplatform.api.errors import Forbidden
from identity.models import Impersonation, SiteSession, User
from identity.services import audit

# The error for attempts to change something during an impersonation.
REFUSED = gettext_noop("You can't make changes while viewing as someone else. Stop viewing first.")
_NOT_VIEWABLE = gettext_noop("You can only view the site as an active user of a company.")


def can_be_impersonated(person: User) -> bool:
    """Whether the person belongs to a client and may sign in."""
    return person.client_id is not None and not person.is_superuser and person.is_active


def begin(session_key: str, person: User, *, by: User) -> None:
    """Impersonate `person` in this session. 403 if `by` is not platform staff, if the person may
    not be impersonated, or if the session already has an impersonation."""
    if not by.is_superuser or person.client_id is None or not can_be_impersonated(person):
        raise Forbidden(_NOT_VIEWABLE)
    with transaction.atomic():
        _, is_new = Impersonation.objects.get_or_create(
            session_id=SiteSession.key_of(session_key), defaults={"user": person}
        )
        if not is_new:
            raise Forbidden(REFUSED)
        _record(person, "user.view_started", by=by)


def impersonated_user(session_key: str | None) -> User | None:
    """The person impersonated in this session, if any. Ends the impersonation if the person may no
    longer sign in."""
    views = Impersonation.objects.select_related("user__client")
    view = views.filter(session_id=SiteSession.key_of(session_key)).first()
    if view is None or can_be_impersonated(view.user):
        return view.user if view else None
    leave(session_key)
    return None


def leave(session_key: str | None) -> User | None:
    """End the impersonation in this session; returns the impersonated person, if any."""
    return end(SiteSession.objects.filter(pk=SiteSession.key_of(session_key)))


def end(sessions: QuerySet[SiteSession]) -> User | None:
    """End the impersonations in these sessions; returns one of the impersonated people, if any."""
    person = None
    with transaction.atomic():
        views = Impersonation.objects.filter(session__in=sessions)
        for view in views.select_related("user", "session__user"):
            # If two requests end the same impersonation, only one of them records the end.
            if Impersonation.objects.filter(pk=view.pk).delete()[0]:
                person = view.user
                _record(person, "user.view_ended", by=view.session.user)
    return person


def _record(person: User, action: str, *, by: User | None) -> None:
    assert person.client_id, "only a client's people are impersonated"
    audit.record(person.client_id, action, by=by, subject=f"user:{person.pk}")
