"""The site's pages about events, endpoints and deliveries."""

from collections.abc import Callable, Iterator
from datetime import date, timedelta
from typing import Any, ClassVar, TypeAlias
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext, gettext_lazy, ngettext

from chatplatform.admin_base import (
    ADMINS,
    ReadOnlyInline,
    TenantAdmin,
    button,
    column,
    confirm_action,
    link,
    viewer,
)
from chatplatform.api.errors import ApiError
from chatplatform.api.outgoing_call_limits import calls_out
from chatplatform.forms import ServiceForm
from chatplatform.templatetags.codes import humanize_code
from chatplatform.templatetags.dates import when
from chatplatform.templatetags.row_history import MAX_ENTRIES, Entry, client_id_of
from identity.models import User
from webhooks import forms
from webhooks.models import (
    Delivery,
    DeliveryAttempt,
    DeliveryState,
    DisabledReason,
    Event,
    WebhookConfig,
)
from webhooks.schemas import webhook as webhook_schemas
from webhooks.services import deliveries, endpoints, event_history
from webhooks.transport import Fault

COLORS: dict[str, str] = {
    DeliveryState.PENDING: "info",
    DeliveryState.FAILED: "warning",
    DeliveryState.SUCCEEDED: "success",
    DeliveryState.GAVE_UP: "danger",
}
STATES: dict[str, Any] = {
    DeliveryState.PENDING: gettext_lazy("Queued"),
    DeliveryState.FAILED: gettext_lazy("Failed, retrying soon"),
    DeliveryState.SUCCEEDED: gettext_lazy("Delivered"),
    DeliveryState.GAVE_UP: gettext_lazy("Failed"),
}
_FAILED = (DeliveryState.FAILED, DeliveryState.GAVE_UP)
FAULTS: dict[str, Any] = {
    Fault.TIMEOUT: gettext_lazy("Your server didn't respond in time"),
    Fault.NAME_NOT_FOUND: gettext_lazy("Your server's name couldn't be found"),
    Fault.CONNECTION_REFUSED: gettext_lazy("Your server refused the connection. Is it running?"),
    Fault.CONNECTION_FAILED: gettext_lazy("Your server couldn't be reached"),
    Fault.BLOCKED_DESTINATION: gettext_lazy("The address isn't public"),
    Fault.REDIRECT: gettext_lazy("Your server sent a redirect, which we don't follow"),
    Fault.BAD_STATUS: gettext_lazy("Your server rejected the request"),
    Fault.INVALID_ANSWER: gettext_lazy("Your server's response wasn't valid HTTP"),
    Fault.GONE: gettext_lazy("Your server responded with 410 (Gone)"),
    Fault.INTERRUPTED: gettext_lazy("Interrupted by an error on our side"),
    Fault.ENDPOINT_DISABLED: gettext_lazy("The webhook was off"),
}
DISABLED_REASONS: dict[str, Any] = {
    DisabledReason.BY_HAND: gettext_lazy("It was turned off manually."),
    DisabledReason.GONE: gettext_lazy(
        "Your server responded with 410 (Gone), so we turned it off."
    ),
    DisabledReason.FAILING: gettext_lazy(
        "Nothing was delivered for five days, so we turned it off."
    ),
}
_MAX_SHOWN = 30


class Deliveries(ReadOnlyInline):
    model = Delivery
    fields = ("config", "state", "attempts", "due_at", "attempt_log")
    readonly_fields = fields
    ordering = ("id",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Delivery]:
        rows: QuerySet[Delivery] = super().get_queryset(request)
        return rows.select_related("config").prefetch_related("log")

    @column(gettext_lazy("Attempts"))
    def attempt_log(self, row: Delivery) -> str:
        log = sorted(row.log.all(), key=lambda entry: entry.number)
        return " · ".join(
            f"{entry.number}: {attempt_text(entry)} ({entry.duration_ms or 0} ms)" for entry in log
        )


class Attempts(ReadOnlyInline):
    model = DeliveryAttempt
    fields = ("number", "result", "duration", "response", "created_at")
    readonly_fields = fields
    ordering = ("number",)

    @column(gettext_lazy("Result"))
    def result(self, row: DeliveryAttempt) -> str:
        return attempt_text(row)

    @column(gettext_lazy("Duration"))
    def duration(self, row: DeliveryAttempt) -> str:
        return "–" if row.duration_ms is None else f"{row.duration_ms:,} ms"

    @column(gettext_lazy("Response"))
    def response(self, row: DeliveryAttempt) -> str:
        return row.response_excerpt or "–"


def attempt_text(attempt: DeliveryAttempt) -> str:
    """The result of an attempt in words, with its HTTP status if there is one."""
    if not attempt.error:
        return f"{gettext('Delivered')} ({attempt.http_status})"
    text = str(FAULTS.get(attempt.error) or humanize_code(attempt.error))
    return f"{text} ({attempt.http_status})" if attempt.http_status else text


@admin.register(Event)
class EventAdmin(TenantAdmin):
    read_by = ADMINS
    list_display = ("shown_type", "client", "chat", "created_at")
    more_columns = ("id", "sequence")
    search_fields = ("client__name",)
    linked_by = frozenset({"conversation_id"})
    list_select_related = ("client",)
    inlines = (Deliveries,)
    exclude = ("type",)
    readonly_fields = ("shown_type", "chat", "details")
    labels: ClassVar = {"client": gettext_lazy("Company")}

    def about(self, subject: str, row: Any) -> list[Entry]:
        """The latest events for a row's page, except those about a chat's messages."""
        client_id, (noun, _, row_id) = client_id_of(row), subject.partition(":")
        found = event_history.about(client_id, noun, row_id)[:MAX_ENTRIES] if client_id else ()
        return [Entry(item.created_at, humanize_code(item.type), **_cause(item)) for item in found]

    def link_to(self, subject: str, row: Any) -> tuple[str, str] | None:
        """The label and URL of the list of a conversation's events; None for other rows."""
        noun, _, row_id = subject.partition(":")
        path = reverse("admin:webhooks_event_changelist")
        is_chat = noun == "conversation"
        return (
            (gettext("All events"), f"{path}?conversation_id__exact={row_id}") if is_chat else None
        )

    def _is_useful_column(self, request: HttpRequest, name: Any) -> bool:
        """The JSON is for the platform's staff; the API has it for developers."""
        is_for_staff = name in {"data", "conversation_id"}
        return super()._is_useful_column(request, "client" if is_for_staff else name)

    @column(gettext_lazy("Details"))
    def details(self, row: Event) -> str:
        """Who caused the event, and its reason or error."""
        return " · ".join(filter(None, _cause(row).values())) or "–"

    @column(gettext_lazy("Type"), ordering="type")
    def shown_type(self, row: Event) -> str:
        return format_html("{} <code>{}</code>", humanize_code(row.type), row.type)

    @column(gettext_lazy("Conversation"))
    def chat(self, row: Event) -> str:
        """A link to the conversation, with the customer's name if the event has it."""
        if row.conversation_id is None:
            return "–"
        name = ((row.data.get("conversation") or {}).get("customer") or {}).get("name")
        page = "admin:chats_conversation_change"
        return link(page, row.conversation_id, name or gettext("Conversation"))


def _cause(event: Event) -> dict[str, str]:
    """Who caused the event, and its reason or error; empty if unknown."""
    data: dict[str, Any] = event.data
    by = (data.get("by") or {}).get("name", "")
    # Of a chat that a person returned to the queue, the reason says no more than the name.
    is_return = event.type == "conversation.unassigned" and by
    reason = None if is_return else data.get("reason")
    failure = ((data.get("document") or {}).get("error") or {}).get("message")
    return {"by": by, "details": humanize_code(reason) if reason else failure or ""}


@admin.register(WebhookConfig)
class WebhookConfigAdmin(TenantAdmin):
    read_by = ADMINS
    actions_list = ("new_endpoint",)
    actions_detail = ("manage",)
    list_display_links = None
    list_display = (
        "managed",
        "client",
        "shown_state",
        "description",
        "failing_since",
        "created_at",
    )
    more_columns = ("disabled_reason", "consecutive_failures", "paused_until")
    list_filter = ("is_active",)
    list_select_related = ("client",)
    search_fields = ("url", "client__name")
    exclude = ("secret", "previous_secret", "deleted_at")
    actions = ("switch_on", "send_test", "roll_secret")

    codes = frozenset({"disabled_reason"})
    # A POST to the list carries out an action, such as switching endpoints on.
    changelist_view = calls_out(TenantAdmin.changelist_view)

    def audit_subject(self, row: WebhookConfig) -> str:
        return f"webhook:{row.pk}"

    @column(gettext_lazy("URL"), ordering="url")
    def managed(self, row: WebhookConfig) -> str:
        link = reverse("admin:webhooks_webhookconfig_manage", args=[row.pk])
        return format_html('<a href="{}">{}</a>', link, row.url)

    @column(
        gettext_lazy("Status"),
        ordering="is_active",
        label={"on": "success", "failing": "warning", "off": "danger"},
    )
    def shown_state(self, row: WebhookConfig) -> tuple[str, str]:
        return health_of(row)

    @calls_out
    @button(gettext_lazy("Add webhook"), permissions=["create"], icon="add")
    def new_endpoint(self, request: HttpRequest) -> HttpResponse:
        """Add an endpoint; its secret is shown once."""
        by = viewer(request)

        def act(data: dict[str, Any]) -> HttpResponse:
            created = endpoints.create(by.client, webhook_schemas.WebhookConfig(**data), by=by)
            title = gettext("Your webhook is on")
            return self.page(
                request, "admin/webhooks/new_secrets.html", title, endpoints=[created], is_new=True
            )

        form = forms.EndpointForm(request.POST or None)
        done = form.carry_out(act) if form.is_bound else None
        title = gettext("New webhook")
        return done or self.page(request, "admin/webhooks/new.html", title, form=form)

    @calls_out
    @button(gettext_lazy("Manage"), permissions=["manage"], icon="tune")
    def manage(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """An endpoint's state, latest deliveries and settings; POST carries out an action."""
        row: WebhookConfig = self.row(request, object_id)
        filled = request.POST if request.method == "POST" else None
        chosen = request.POST.get("form")
        if chosen == "try":
            return self._try_again(request, row)
        if chosen == "roll":
            return self._new_secrets(request, [row])
        settings = forms.EndpointForm(
            filled if chosen == "settings" else None,
            initial={name: getattr(row, name) for name in ("url", "description", "event_types")},
        )
        replay = forms.ReplayForm(filled if chosen in {"count", "replay"} else None)
        plain, by, make = ServiceForm(filled), viewer(request), webhook_schemas.WebhookConfig
        # For each button: the form, the action, and the message after success.
        steps: dict[Any, tuple[ServiceForm, Callable[[dict[str, Any]], Any], str]] = {
            "settings": (settings, lambda data: endpoints.update(row, make(**data), by=by),
                         gettext("Saved.")),
            "replay": (replay, lambda data: _resend(row, _replay_request(data)),
                       gettext("The events are being resent.")),
            "reenable": (plain, lambda _: endpoints.reenable_and_replay(row, by=by),
                       gettext("The webhook is on. Missed events are being sent.")),
            "test": (plain, lambda _: deliveries.queue_test(row),
                     gettext("Test sent. See the result below.")),
            "off": (plain, lambda _: endpoints.update(row, make(is_active=False), by=by),
                    gettext("The webhook is off. No events are sent.")),
            "delete": (plain, lambda _: endpoints.delete(row, by=by),
                       gettext("%(webhook)s deleted.") % {"webhook": row}),
            "count": (replay, lambda data: deliveries.count_replay(row, _replay_request(data)), ""),
        }  # fmt: skip
        form, act, text = steps.get(chosen, (None, None, ""))
        done = form.carry_out(act) if form and act else None
        for refusal in form.non_field_errors() if form and form is not settings else ():
            messages.error(request, str(refusal))
        if form and text and not form.errors:
            messages.success(request, text)
            if chosen == "delete":
                return redirect("admin:webhooks_webhookconfig_changelist")
            shown = {"show": "all"} if chosen in {"test", "replay"} else {}
            if chosen == "replay":
                shown["resent"] = str(done)
            manage = reverse("admin:webhooks_webhookconfig_manage", args=[row.pk])
            return redirect(f"{manage}?{urlencode(shown)}" if shown else manage)
        return self._manage_page(request, row, settings=settings, replay=replay, count=done)

    def _try_again(self, request: HttpRequest, row: WebhookConfig) -> HttpResponse:
        """Queue a delivery again, and redirect to the endpoint's page, which shows the result."""
        delivery_id = request.POST.get("delivery", "")
        found = Delivery.objects.filter(
            client=row.client, config=row, pk=int(delivery_id) if delivery_id.isdecimal() else 0
        ).select_related("event", "config")
        delivery = get_object_or_404(found)
        show = {"show": request.GET.get("show", "")}
        if deliveries.retry(delivery):
            show["tried"] = str(delivery.pk)
        else:
            messages.error(request, gettext("Turn the webhook on first."))
        manage = reverse("admin:webhooks_webhookconfig_manage", args=[row.pk])
        return redirect(f"{manage}?{urlencode(show)}")

    def _manage_page(self, request: HttpRequest, row: WebhookConfig, **more: Any) -> HttpResponse:
        own = _of_endpoint(Delivery.objects.all(), row)
        failed_rows = _of_endpoint(deliveries.recent_in(*_FAILED), row)
        failed = [_shown(item) for item in failed_rows[: _MAX_SHOWN + 1]]
        chosen = request.GET.get("show") or ("failed" if failed else "all")
        shown = (
            failed[:_MAX_SHOWN]
            if chosen == "failed"
            else [_shown(item) for item in own[:_MAX_SHOWN]]
        )
        tried_id = request.GET.get("tried", "")
        tried = own.filter(pk=int(tried_id)).first() if tried_id.isdecimal() else None
        resent = request.GET.get("resent", "")
        failure = self._latest_failure(row, [*shown, *failed]) if row.failing_since else None
        missed = 0
        if not row.is_active:
            missed = sum(
                deliveries.count_replay(row, body) for body in endpoints.missed_replays(row)
            )
        state, state_text = health_of(row)
        return self.page(
            request, "admin/webhooks/manage.html", row.description or row.url,
            row=row, state=state, state_text=state_text, state_color=_HEALTH_COLORS[state],
            why_off=DISABLED_REASONS.get(row.disabled_reason or "", ""),
            failure=failure,
            failure_text=attempt_text(failure) if failure else "",
            missed=missed,
            most_counted=deliveries.MAX_COUNTED,
            days=_by_day(shown),
            show=chosen, failed_count=len(failed), most_shown=_MAX_SHOWN,
            tried=_outcome(tried) if tried else None,
            resent=int(resent) if resent.isdecimal() else None,
            is_busy=any(item.state == DeliveryState.PENDING for item, *_ in shown)
            or bool(tried and tried.state == DeliveryState.PENDING),
            **more,
        )  # fmt: skip

    def _latest_failure(self, row: WebhookConfig, shown: list[Any]) -> DeliveryAttempt | None:
        """The endpoint's latest failed attempt, if any. Also searches deliveries that wait for a
        retry, since the shown ones may not have been tried yet."""
        tried = [entry for item, *_ in shown for entry in item.log.all()]
        failed = [item for item in tried if item.error not in {None, Fault.ENDPOINT_DISABLED}]
        retried = deliveries.latest_failure(row)
        found = [*failed, retried] if retried else failed
        return max(found, key=lambda item: item.pk, default=None)

    def get_queryset(self, request: HttpRequest) -> QuerySet[WebhookConfig]:
        rows: QuerySet[WebhookConfig] = super().get_queryset(request)
        return rows.filter(deleted_at=None)

    @admin.action(description=gettext_lazy("Turn on"), permissions=["manage"])
    def switch_on(self, request: HttpRequest, rows: QuerySet[WebhookConfig]) -> None:
        assert isinstance(request.user, User), "only people can sign in to the site"
        for row in rows:
            try:
                was_off = endpoints.switch_on(row, by=request.user)
            except ApiError as exc:
                messages.error(request, f"{row}: {gettext(str(exc))}")
            else:
                text = gettext("%(webhook)s is on.")
                if not was_off:
                    text = gettext("%(webhook)s was already on.")
                messages.success(request, text % {"webhook": row})

    @admin.action(description=gettext_lazy("Send test"), permissions=["manage"])
    def send_test(self, request: HttpRequest, rows: QuerySet[WebhookConfig]) -> None:
        for row in rows:
            try:
                deliveries.queue_test(row)
            except ApiError as exc:
                messages.error(request, f"{row}: {gettext(str(exc))}")
            else:
                text = gettext("Test sent to %(webhook)s. See the result under Deliveries.")
                messages.success(request, text % {"webhook": row})

    @admin.action(description=gettext_lazy("Create new secret"), permissions=["manage"])
    @confirm_action(
        gettext_lazy(
            "Create new secrets for these webhooks? The old ones will keep working for 24 hours."
        )
    )
    def roll_secret(self, request: HttpRequest, rows: QuerySet[WebhookConfig]) -> HttpResponse:
        """Create new secrets and show them on a page, since a message would store them in a
        cookie."""
        return self._new_secrets(request, list(rows))

    def _new_secrets(self, request: HttpRequest, rows: list[WebhookConfig]) -> HttpResponse:
        by = viewer(request)
        return self.page(
            request, "admin/webhooks/new_secrets.html", gettext("New signing secret"),
            endpoints=[endpoints.rotate_secret(row, by=by) for row in rows],
        )  # fmt: skip


# A delivery as a page shows it: the row; its event, state and result in words; its last attempt, if
# any.
Shown: TypeAlias = tuple[Delivery, str, str, str, DeliveryAttempt | None]
_HEALTH_COLORS = {"on": "success", "failing": "warning", "off": "danger"}


def health_of(row: WebhookConfig) -> tuple[str, str]:
    """An endpoint's health: `on`, `failing` or `off`, and the label."""
    if not row.is_active:
        return "off", gettext("Off")
    return ("failing", gettext("Failing")) if row.failing_since else ("on", gettext("On"))


def _of_endpoint(rows: QuerySet[Delivery], row: WebhookConfig) -> QuerySet[Delivery]:
    own = rows.filter(client=row.client, config=row).order_by("-id")
    return own.select_related("event").prefetch_related("log")


def _shown(item: Delivery) -> Shown:
    log = sorted(item.log.all(), key=lambda entry: entry.number)
    last = log[-1] if log else None
    text = attempt_text(last) if last else gettext("Not tried yet")
    return item, humanize_code(item.event.type), str(STATES[item.state]), text, last


def _by_day(shown: list[Shown]) -> list[tuple[date, list[Shown]]]:
    """Deliveries grouped by the day of their creation, in the current time zone."""
    days: dict[date, list[Shown]] = {}
    for entry in shown:
        days.setdefault(timezone.localdate(entry[0].created_at), []).append(entry)
    return list(days.items())


def _outcome(item: Delivery) -> dict[str, str]:
    """The state of a delivery that was tried again, and a sentence about it."""
    _, event, _, text, _ = _shown(item)
    if item.state == DeliveryState.PENDING:
        return {
            "state": "pending",
            "text": gettext("Retrying: %(event)s…") % {"event": event},
        }
    if item.state == DeliveryState.SUCCEEDED:
        message = gettext("Delivered: %(event)s") % {"event": event}
        return {"state": "succeeded", "text": message}
    message = gettext("%(event)s failed again: %(reason)s.") % {"event": event, "reason": text}
    return {"state": "failed", "text": message}


def _resend(row: WebhookConfig, body: webhook_schemas.EventReplayRequest) -> int:
    """Resend a range of events, and return their number, counted up to 10,001."""
    count = deliveries.count_replay(row, body)
    deliveries.enqueue_replay(row, body)
    return count


def _replay_request(data: dict[str, Any]) -> webhook_schemas.EventReplayRequest:
    """The replay that was chosen in the form."""
    since = timezone.now() - timedelta(hours=data["hours"])
    return webhook_schemas.EventReplayRequest(created_from=since, state=data["state"])


class StateFilter(admin.ChoicesFieldListFilter):
    """A filter by state, with the same labels as the list."""

    def choices(self, changelist: Any) -> Iterator[Any]:
        words = {str(state.label): str(STATES[state]) for state in DeliveryState}
        for choice in super().choices(changelist):
            label = str(choice["display"])
            yield {**choice, "display": words.get(label, label)}


@admin.register(Delivery)
class DeliveryAdmin(TenantAdmin):
    read_by = ADMINS
    list_display = ("event_type", "config", "client", "shown_state", "attempts", "happened")
    more_columns = ("due_at",)
    labels: ClassVar = {"config": gettext_lazy("Webhook")}
    list_filter = (("state", StateFilter), "is_test")
    list_select_related = ("event", "config", "client")
    search_fields = ("=event__id", "config__url", "client__name")
    inlines = (Attempts,)
    actions = ("send_again",)
    fields = (
        "client", "sent_event", "config", "shown_state", "attempts", "next_attempt", "happened",
        "is_test",
    )  # fmt: skip
    readonly_fields = ("sent_event", "shown_state", "next_attempt", "happened")

    @column(gettext_lazy("Event"), ordering="event__type")
    def event_type(self, row: Delivery) -> str:
        return format_html("{} <code>{}</code>", humanize_code(row.event.type), row.event.type)

    @column(gettext_lazy("Event"))
    def sent_event(self, row: Delivery) -> str:
        """A link to the event, with its data."""
        return link("admin:webhooks_event_change", row.event_id, humanize_code(row.event.type))

    @column(gettext_lazy("Next attempt"), ordering="due_at")
    def next_attempt(self, row: Delivery) -> str:
        return when(row.due_at) if row.due_at else "–"

    @column(gettext_lazy("Time"), ordering="event")
    def happened(self, row: Delivery) -> str:
        return when(row.event.created_at)

    @column(gettext_lazy("Status"), ordering="state", label=COLORS)
    def shown_state(self, row: Delivery) -> tuple[str, str]:
        return row.state, str(STATES[row.state])

    @admin.action(description=gettext_lazy("Try again"), permissions=["manage"])
    def send_again(self, request: HttpRequest, rows: QuerySet[Delivery]) -> None:
        results = [deliveries.retry(row) for row in rows.select_related("event", "config")]
        if sent := sum(results):
            text = ngettext(
                "%(count)s delivery will be resent.",
                "%(count)s deliveries will be resent.",
                sent,
            )
            messages.success(request, text % {"count": sent})
        if skipped := len(results) - sent:
            text = ngettext(
                "%(count)s delivery was skipped because its webhook is off.",
                "%(count)s deliveries were skipped because their webhooks are off.",
                skipped,
            )
            messages.warning(request, text % {"count": skipped})
