"""What the site's report pages share: access, security policy, form fields and links."""

import re
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext, gettext_lazy, gettext_noop
from pydantic import ValidationError

from chatplatform.api.errors import ApiError
from chatplatform.forms import refusals
from identity.models import Client, User
from reports.schemas.adhoc import PeriodQuery
from reports.services import periods

# The Content-Security-Policy of report pages. The site's menus use Alpine, which evaluates code in
# attributes; the command palette sends requests to this host; and the theme has inline styles and
# icons.
_POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-eval'; style-src 'self' 'unsafe-inline';"
    " img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none';"
    " form-action 'self'; frame-ancestors 'none'"
)
_TITLES = {
    "overview": gettext_lazy("Overview"),
    "adhoc": gettext_lazy("Explore"),
    "warnings": gettext_lazy("Alerts"),
}
# The labels of the fields.
FIELDS = {
    "date_from": gettext_noop("From"), "date_to": gettext_noop("To"), "q": gettext_noop(
        "Keywords"
    ),
    "rating_min": gettext_noop("Minimum rating"), "rating_max": gettext_noop("Maximum rating"),
    "bot_ids": gettext_noop("Bots"), "channels": gettext_noop("Channels"),
    "statuses": gettext_noop("Status"), "assignee_ids": gettext_noop("Agents"),
    "tags": gettext_noop("Tags"), "sentiments": gettext_noop("Sentiment"),
    "languages": gettext_noop("Languages"), "ended_by": gettext_noop("Ended by"),
    "countries": gettext_noop("Countries"), "handed_off": gettext_noop("Handed over"),
    "bot_resolved": gettext_noop("Resolved by the bot"), "has_feedback": gettext_noop("Rated"),
    "group_by": gettext_noop("Group by"), "metrics": gettext_noop("Metrics"),
    "sort": gettext_noop("Sort by"),
}  # fmt: skip
_DAYS = ("date_from", "date_to")
_NAMED = re.compile(rf"\b({'|'.join(FIELDS)})\b", re.IGNORECASE)


def viewer_of(request: HttpRequest) -> tuple[User, Client]:
    """The viewer and their client; 403 for platform staff, who have no client."""
    user = request.user
    if not isinstance(user, User) or user.client is None:
        raise PermissionDenied("Reports belong to a client: sign in as a member of its team.")
    return user, user.client


def show(
    request: HttpRequest, page: str, context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    """Render a report page. `as_of` in the context is the time of the page's data."""
    user, client = viewer_of(request)
    site: Any = admin.site
    shared = {"client": client, "may_write": user.role != "viewer"} | context
    response: HttpResponse = site.page(
        request, f"reports/{page}", _TITLES[page], status=status, **shared
    )
    response["Content-Security-Policy"] = _POLICY
    response["Cache-Control"] = "no-store"
    return response


def entered_dates(
    client: Client, form_values: dict[str, Any]
) -> tuple[PeriodQuery, dict[str, Any]]:
    """The requested period, and its days for the form. Invalid days stay in the form as entered,
    and the period is the default one."""
    dates: dict[str, Any] = {name: form_values[name] for name in _DAYS if name in form_values}
    try:
        query = PeriodQuery.model_validate(dates)
    except ValidationError:
        return PeriodQuery(), dates
    period = periods.resolve(client, query)
    return query, {"date_from": period.first.isoformat(), "date_to": period.last.isoformat()}


def problems(exc: ValidationError | ApiError) -> list[str]:
    """The reasons why a report is refused, with the fields' labels instead of their names."""
    reasons = []
    for place, message in refusals(exc):
        field = next((gettext(FIELDS[name]) for name in place if name in FIELDS), "")
        text = _NAMED.sub(lambda match: gettext(FIELDS[match[0].lower()]), gettext(message))
        reasons.append(f"{field}: {text}" if field else text)
    return reasons


def path_to(page: str, query: dict[str, Any] | None = None) -> str:
    """The path of a report page."""
    parameters = f"?{urlencode(query, doseq=True)}" if query else ""
    return reverse(f"reports_{page}") + parameters
