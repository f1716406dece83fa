"""The pages for connecting MCP servers, choosing their tools, and reviewing changed tools."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext, gettext_lazy
from unfold.widgets import UnfoldAdminPasswordWidget

from bots.models import Approval, Bot, McpServer
from bots.pages.function_forms import APPROVERS
from bots.pages.functions import without_model
from bots.schemas.mcp_server import McpServerDto, McpServerRequest, McpToolChoice, McpToolDto
from bots.services import bots, mcp_servers
from chatplatform.admin_base import TenantAdmin, button, column, viewer
from chatplatform.api.outgoing_call_limits import calls_out
from chatplatform.forms import ServiceForm, Setting, SettingsForm

_STATES = {
    "changed": (gettext_lazy("Changed, needs review"), "warning"),
    "gone": (gettext_lazy("No longer available"), "danger"),
    "unusable": (gettext_lazy("Can't be used"), "danger"),
}
_NOT_USED = gettext_lazy("Not used")
# Shown to people who may not change the choice.
_APPROVALS: dict[str, Any] = {
    Approval.NONE: gettext_lazy("Runs automatically"),
    Approval.CUSTOMER: gettext_lazy("Confirmed by the customer"),
    Approval.AGENT: gettext_lazy("Approved by a teammate"),
}


class ServerForm(SettingsForm):
    schemas = (McpServerRequest,)
    settings = (
        Setting("name", gettext_lazy("Name"), attrs={"placeholder": gettext_lazy("Shop")}),
        Setting("url", gettext_lazy("URL"), attrs={"placeholder": "https://your-shop.com/mcp"}),
        Setting(
            "token", gettext_lazy("Token"),
            gettext_lazy(
                "Stored encrypted and never shown. Leave empty if the server doesn't need one."
            ),
            widget=UnfoldAdminPasswordWidget, attrs={"autocomplete": "new-password"},
        ),
    )  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].required = self.fields["url"].required = True

    def clean(self) -> dict[str, Any]:
        """The values for the service: a `token` of None keeps the stored token."""
        self.cleaned_data["token"] = self.cleaned_data.get("token") or None
        return self.cleaned_data


class NewServerForm(ServerForm):
    bot = forms.TypedChoiceField(label=gettext_lazy("Bot"), coerce=int)
    field_order: Any = ("bot", "name", "url", "token")


class ChangeServerForm(ServerForm):
    is_enabled = forms.BooleanField(label=gettext_lazy("Use this server"), required=False)
    removes_token = forms.BooleanField(label=gettext_lazy("Remove saved token"), required=False)
    field_order: Any = ("is_enabled", "name", "url", "token", "removes_token")

    def clean(self) -> dict[str, Any]:
        data = super().clean()
        if data.pop("removes_token", False) and data["token"] is None:
            data["token"] = ""
        return data


class ToolsForm(ServiceForm):
    """For each tool of a server, whether the bot may call it and who approves."""

    def __init__(self, *args: Any, server: McpServerDto) -> None:
        super().__init__(*args)
        self.rows: list[tuple[McpToolDto, str, str, Any]] = []
        choices = [("", _NOT_USED), *APPROVERS.items()]
        for at, tool in enumerate(server.tools):
            text, color = _STATES.get(tool.state, ("", ""))
            if tool.state not in {"unusable", "gone"}:
                # A person must review a changed tool and choose it again.
                current = tool.requires_approval if tool.state == "allowed" else ""
                label = tool.name
                chosen = forms.ChoiceField(
                    label=label, choices=choices, required=False, initial=current,
                    widget=forms.Select(attrs={"aria-label": label}),
                )  # fmt: skip
                self.add_field(f"tool_{at}", chosen)
                version = forms.CharField(
                    widget=forms.HiddenInput, required=False, initial=tool.version
                )
                self.add_field(f"version_{at}", version)
            self.rows.append((tool, str(text), color, at))

    @property
    def tool_rows(self) -> list[dict[str, Any]]:
        """Each tool with its state, its approval if it is allowed, and its fields if it can be
        chosen."""
        return [
            {
                "tool": tool,
                "text": text,
                "color": color,
                "approval": _APPROVALS[tool.requires_approval or Approval.NONE]
                if tool.state == "allowed"
                else "",
                "field": self[f"tool_{at}"] if f"tool_{at}" in self.fields else None,
                "version": self[f"version_{at}"] if f"tool_{at}" in self.fields else None,
            }
            for tool, text, color, at in self.rows
        ]

    def choices(self) -> list[McpToolChoice]:
        """The chosen tools, each with the version that the person saw."""
        return [
            McpToolChoice(
                name=tool.name,
                requires_approval=self.cleaned_data[f"tool_{at}"],
                version=self.cleaned_data[f"version_{at}"] or None,
            )
            for tool, _, _, at in self.rows
            if self.cleaned_data.get(f"tool_{at}")
        ]


@admin.register(McpServer)
class McpServerAdmin(TenantAdmin):
    """Servers whose tools bots may call. Tokens are never shown."""

    intro = gettext_lazy(
        "MCP servers offer tools for AI. Connect one, then choose which of its tools a bot can use."
    )
    list_display = ("shown_name", "bot", "url", "is_enabled", "listed_at")
    list_display_links = None
    list_filter = ("bot", "is_enabled")
    search_fields = ("name", "url", "bot__bot_name", "client__name")
    list_select_related = ("bot",)
    exclude = ("token",)
    audited_as = "bot"
    actions_list: Any = ("connect",)
    actions_detail: Any = ("edit",)

    @column(gettext_lazy("Name"), ordering="name")
    def shown_name(self, row: McpServer) -> str:
        link = reverse("admin:bots_mcpserver_edit", args=[row.pk])
        return format_html('<a href="{}">{}</a>', link, row.name)

    @calls_out
    @button(gettext_lazy("Connect MCP server"), permissions=["create"], icon="add")
    def connect(self, request: HttpRequest) -> HttpResponse:
        """Connect a server, then open its page to choose its tools."""
        by = viewer(request)

        def act(data: dict[str, Any]) -> HttpResponse:
            bot = bots.get(by.client, data.pop("bot"))
            row = mcp_servers.connect(bot, body=McpServerRequest(**data), by=by)
            messages.success(request, gettext("Connected. Now choose its tools."))
            return redirect("admin:bots_mcpserver_edit", row.pk)

        form = NewServerForm(request.POST or None)
        form.offer("bot", list(bots.names(by.client).items()))
        return self.form_page(
            request, form, act,
            title=gettext("Connect MCP server"), button=gettext("Connect"), intro=self.intro,
        )  # fmt: skip

    @calls_out
    @button(gettext_lazy("Change"), permissions=["view"], icon="tune")
    def edit(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """A server's page: its tools, its settings, and its removal."""
        row: McpServer = self.row(request, object_id)
        by, chosen = viewer(request), request.POST.get("form")
        may_change = self.has_create_permission(request)
        if request.method == "POST" and not may_change:
            raise PermissionDenied
        if chosen == "delete":
            mcp_servers.delete(row.bot, row.pk, by=by)
            messages.success(request, gettext("Server removed."))
            return redirect("admin:bots_mcpserver_changelist")
        refreshing = ServiceForm(request.POST if chosen == "refresh" else None)
        settings = ChangeServerForm(
            request.POST if chosen == "settings" else None,
            initial={name: getattr(row, name) for name in ("name", "url", "is_enabled")},
        )
        if not row.token:
            del settings.fields["removes_token"]
        else:
            settings.fields["token"].help_text = gettext(
                "A token is saved. Leave empty to keep it."
            )
        tools = ToolsForm(
            request.POST if chosen == "tools" else None, server=mcp_servers.describe(row)
        )
        saved = self._carry_out(request, row, refreshing=refreshing, settings=settings, tools=tools)
        return saved or self.page(
            request, "admin/bots/mcp_server.html", row.name,
            row=row, refreshing=refreshing, form=settings, tools=tools, may_change=may_change,
            without_model=without_model(Bot.objects.filter(pk=row.bot_id)),
        )  # fmt: skip

    def _carry_out(
        self,
        request: HttpRequest,
        row: McpServer,
        *,
        refreshing: ServiceForm,
        settings: ChangeServerForm,
        tools: ToolsForm,
    ) -> HttpResponse | None:
        """Save the submitted form and redirect; None if no form was submitted or it was refused."""
        by, text = viewer(request), gettext("Saved.")

        def change(body: McpServerRequest) -> McpServer:
            return mcp_servers.update(row.bot, row.pk, body=body, by=by)

        done: McpServer | None = None
        if refreshing.is_bound:
            done = refreshing.carry_out(lambda _: mcp_servers.refresh(row.bot, row.pk))
            text = gettext("Tools are up to date.")
        elif settings.is_bound:
            done = settings.carry_out(lambda data: change(McpServerRequest(**data)))
        elif tools.is_bound:
            done = tools.carry_out(lambda _: change(McpServerRequest(allowed=tools.choices())))
        if done is None:
            return None
        messages.success(request, text)
        return redirect("admin:bots_mcpserver_edit", row.pk)
