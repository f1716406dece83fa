"""The pages for adding, changing and trying out functions, and for approving the bots' calls."""

import uuid
from typing import Any, ClassVar

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.translation import gettext, gettext_lazy

from bots import models
from bots.pages.function_forms import APPROVERS, FunctionForm, SwitchForm, TryForm
from bots.schemas.function_calling import FunctionDTO
from bots.services import bots, function_call_approvals, function_runner, functions
from chatplatform.admin_base import TenantAdmin, button, column, viewer
from chatplatform.api.errors import ApiError
from chatplatform.api.outgoing_call_limits import calls_out
from chatplatform.templatetags.codes import humanize_code

_STATES: dict[str, tuple[Any, str]] = {
    models.CallStatus.WAITING: (gettext_lazy("Waiting for approval"), "warning"),
    models.CallStatus.RUNNING: (gettext_lazy("In progress"), "info"),
    models.CallStatus.SUCCEEDED: (gettext_lazy("Succeeded"), "success"),
    models.CallStatus.FAILED: (gettext_lazy("Failed"), "danger"),
    models.CallStatus.REFUSED: (gettext_lazy("Not sent"), "danger"),
    models.CallStatus.REJECTED: (gettext_lazy("Not approved"), "warning"),
}
_COLORS = {status: color for status, (_, color) in _STATES.items()}
# The roles that may decide on a call; the API allows the same roles.
_DECIDERS = frozenset({"owner", "admin", "agent"})
_MAX_WAITING_SHOWN = 20


class ApprovalsMixin(TenantAdmin):
    """A list page that shows the calls waiting for a teammate's approval above the list."""

    list_before_template: Any = "admin/bots/functions.html"

    def has_decide_permission(self, request: HttpRequest) -> bool:
        """Whether the person may decide on calls: a client's owners, admins and agents may."""
        user = viewer(request)
        return user.client_id is not None and user.role in _DECIDERS

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> Any:
        """The list, with the calls that wait for approval and each bot's function settings."""
        client = viewer(request).client
        context = (extra_context or {}) | {
            "waiting": _waiting(request) if self.has_decide_permission(request) else [],
            "settings": _settings(client) if client and self.has_create_permission(request) else [],
        }
        return super().changelist_view(request, context)


def _waiting(request: HttpRequest) -> list[tuple[models.FunctionCall, str]]:
    """The calls that a teammate must approve, the oldest first, each with its description."""
    page = admin.site.get_model_admin(models.FunctionCall)
    rows = page.get_queryset(request).filter(
        status=models.CallStatus.WAITING, decided_at=None, requires_approval=models.Approval.AGENT
    )
    found = rows.select_related("bot").order_by("id")[:_MAX_WAITING_SHOWN]
    return [(row, function_call_approvals.ProposedCall.from_row(row).description) for row in found]


def _settings(client: Any) -> list[dict[str, Any]]:
    """The function settings of each bot that has any, and whether the bot can call functions."""
    unable = set(
        functions.without_model_or_procedure(models.Bot.objects.for_client(client)).values_list(
            "pk", flat=True
        )
    )
    rows = models.FunctionCalling.objects.for_client(client).select_related("bot")
    return [
        {
            "bot": row.bot,
            "is_enabled": row.is_enabled,
            "most": row.max_calls_per_reply,
            "is_available": row.bot_id not in unable,
        }
        for row in rows.order_by("bot__bot_name")
    ]


def without_model(bots: QuerySet[models.Bot]) -> list[str]:
    """The names of the bots that cannot call functions, having neither a model nor a procedure."""
    found = functions.without_model_or_procedure(bots).order_by("bot_name")
    return list(found.values_list("bot_name", flat=True))


@admin.register(models.FunctionCalling)
class FunctionCallingAdmin(TenantAdmin):
    list_display = ("bot", "is_enabled", "max_calls_per_reply", "updated_at")
    list_filter = ("is_enabled",)
    search_fields = ("bot__bot_name", "client__name")
    list_select_related = ("bot",)
    audited_as = "bot"


@admin.register(models.Function)
class FunctionAdmin(ApprovalsMixin):
    """Functions with which bots read or change data in a client's own system."""

    list_display = ("shown_name", "description", "bot", "asks")
    list_display_links = None
    list_filter = ("bot", "requires_approval")
    search_fields = ("name", "url", "bot__bot_name", "client__name")
    list_select_related = ("bot", "client")
    # Secrets are never shown.
    exclude = ("secret_headers",)
    audited_as = "bot"
    actions_list: Any = ("new_function",)
    actions_detail: Any = ("edit",)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.switch)
        url = path("bot/<int:bot_id>/", view, name="bots_function_switch")
        return [url, *super().get_urls()]

    @column(gettext_lazy("Name"), ordering="name")
    def shown_name(self, row: models.Function) -> str:
        link = reverse("admin:bots_function_edit", args=[row.pk])
        if row.mcp_server_id:
            link = reverse("admin:bots_mcpserver_edit", args=[row.mcp_server_id])
        return format_html('<a href="{}">{}</a>', link, humanize_code(row.name))

    @column(gettext_lazy("Approval"), ordering="requires_approval")
    def asks(self, row: models.Function) -> str:
        return str(APPROVERS[row.requires_approval]).partition(":")[0].partition(",")[0]

    @calls_out
    @button(gettext_lazy("Add function"), permissions=["create"], icon="add")
    def new_function(self, request: HttpRequest) -> HttpResponse:
        """Add a function to a bot, then open its page to try it out."""
        by = viewer(request)

        def act(data: dict[str, Any]) -> HttpResponse:
            bot, function = bots.get(by.client, data["bot_id"]), FunctionDTO(**data["function"])
            functions.save(bot, function, is_new=True, by=by)
            row = models.Function.objects.get(bot=bot, name=function.name)
            if without_model(models.Bot.objects.filter(pk=bot.pk)):
                messages.warning(request, gettext("Function added, but the bot can't use it yet."))
            else:
                messages.success(request, gettext("Function added. Try it now."))
            return redirect("admin:bots_function_edit", row.pk)

        names = bots.names(by.client)
        form = FunctionForm(request.POST or None, bots=names, function=None, secrets=[])
        return self.form_page(
            request, form, act, template="admin/bots/function.html", title=gettext("New function"),
            without_model=without_model(models.Bot.objects.for_client(by.client)),
        )  # fmt: skip

    @calls_out
    @button(gettext_lazy("Change"), permissions=["view"], icon="tune")
    def edit(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """A function's page: change it, try it, delete it."""
        row: models.Function = self.row(request, object_id)
        if row.mcp_server_id:
            return redirect("admin:bots_mcpserver_edit", row.mcp_server_id)
        may_change, by = self.has_create_permission(request), viewer(request)
        if request.method == "POST" and not may_change:
            raise PermissionDenied
        submitted = request.POST.get("form")
        if submitted == "delete":
            functions.delete(row, by=by)
            messages.success(request, gettext("Function deleted."))
            return redirect("admin:bots_function_changelist")

        def save(data: dict[str, Any]) -> HttpResponse:
            functions.save(row.bot, FunctionDTO(**data["function"]), is_new=False, by=by)
            messages.success(request, gettext("Saved."))
            return redirect("admin:bots_function_edit", row.pk)

        form = FunctionForm(
            request.POST if submitted == "settings" else None,
            bots={}, function=row, secrets=sorted(functions.secret_headers(row)),
        )  # fmt: skip
        trial = TryForm(request.POST if submitted == "try" else None, function=row)

        def try_out(data: dict[str, Any]) -> models.FunctionCall:
            customer = data.get("customer")
            return function_runner.try_out(
                row, trial.values(), customer_external_id=customer, by=by
            )

        saved = form.carry_out(save) if form.is_bound else None
        call = trial.carry_out(try_out) if trial.is_bound else None
        text, color = _STATES[call.status] if call else ("", "")
        error = call.error.removeprefix(function_runner.BLOCKED) if call else ""
        return saved or self.page(
            request, "admin/bots/function.html", humanize_code(row.name),
            row=row, form=form, trial=trial, call=call, may_change=may_change,
            asks=APPROVERS[row.requires_approval], call_text=text, call_color=color,
            call_error=gettext(error) if error else "",
            without_model=without_model(models.Bot.objects.filter(pk=row.bot_id)),
        )  # fmt: skip

    def switch(self, request: HttpRequest, bot_id: int) -> HttpResponse:
        """Set whether a bot calls functions, and how many calls an answer may have."""
        by = viewer(request)
        if not self.has_create_permission(request):
            raise PermissionDenied
        bot = get_object_or_404(models.Bot, pk=bot_id, client=by.client)
        current = functions.describe(bot)

        def act(data: dict[str, Any]) -> HttpResponse:
            functions.update_settings(bot, by=by, **data)
            messages.success(request, gettext("Saved."))
            return redirect("admin:bots_function_changelist")

        shown = {name: getattr(current, name) for name in ("is_enabled", "max_calls_per_reply")}
        form = SwitchForm(request.POST or None, initial=shown)
        title = gettext("Functions for %(bot)s") % {"bot": bot.bot_name}
        return self.form_page(request, form, act, title=title, button=gettext("Save"))


@admin.register(models.FunctionCall)
class FunctionCallAdmin(ApprovalsMixin):
    """The log of the calls that bots requested."""

    list_display = ("shown_name", "bot", "shown_status", "error", "decided_by", "created_at")
    more_columns = ("http_status", "duration_ms", "requires_approval")
    list_filter = ("status", "bot", "created_at")
    search_fields = ("function_name", "bot__bot_name", "=conversation_id", "=message_id")
    list_select_related = ("bot", "decided_by")
    fields = (
        "client", "shown_name", "bot", "shown_status", "error", "arguments",
        "result_excerpt", "http_status", "duration_ms", "requires_approval", "decided_by",
        "decided_at", "created_at",
    )  # fmt: skip
    readonly_fields = ("shown_name", "shown_status")
    codes = frozenset({"error"})
    labels: ClassVar = {
        "duration_ms": gettext_lazy("Duration (ms)"),
        "http_status": gettext_lazy("HTTP status"),
        "requires_approval": gettext_lazy("Approval needed from"),
        "result_excerpt": gettext_lazy("Response"),
    }

    def when_empty_for(self, request: HttpRequest) -> str:
        """Without calls, since there was none or since a customer with all of them was deleted."""
        by = viewer(request)
        rows = models.Function.objects
        if (rows.for_client(by.client) if by.client else rows.all()).exists():
            return gettext("You'll see each function call here.")
        return super().when_empty_for(request)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.decide)
        url = path("<uuid:call_id>/decide/", view, name="bots_functioncall_decide")
        return [url, *super().get_urls()]

    def decide(self, request: HttpRequest, call_id: uuid.UUID) -> HttpResponse:
        """Approve or reject a call that waits for a teammate."""
        if request.method != "POST" or not self.has_decide_permission(request):
            raise PermissionDenied
        call: models.FunctionCall = self.row(request, call_id)
        approve = request.POST.get("approve") == "yes"
        try:
            function_call_approvals.decide(call.bot, call.pk, approve=approve, by=viewer(request))
        except ApiError as exc:
            messages.error(request, gettext(str(exc)))
        else:
            approved = gettext("Approved. The bot will run it and reply to the customer.")
            rejected = gettext("Rejected. The bot will tell the customer.")
            messages.success(request, approved if approve else rejected)
        return redirect("admin:bots_functioncall_changelist")

    @column(gettext_lazy("Function"), ordering="function_name")
    def shown_name(self, call: models.FunctionCall) -> str:
        return humanize_code(call.function_name)

    @column(gettext_lazy("Status"), ordering="status", label=_COLORS)
    def shown_status(self, call: models.FunctionCall) -> tuple[str, str]:
        return call.status, str(_STATES[call.status][0])

    def get_queryset(self, request: HttpRequest) -> QuerySet[models.FunctionCall]:
        return super().get_queryset(request).select_related("bot__client")
