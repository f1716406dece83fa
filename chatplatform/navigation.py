"""The site's navigation: list pages in groups, as far as the viewer may read them."""

from typing import Any

from django.apps import apps
from django.contrib import admin
from django.http import HttpRequest, QueryDict
from django.urls import reverse
from django.utils.translation import gettext

# The list pages of each group: title, icon, and the model that is listed.
PAGES: dict[str, tuple[tuple[str, str, str], ...]] = {
    "Conversations": (
        ("Conversations", "forum", "chats.Conversation"),
        ("Questions without an answer", "help", "chats.QuestionGroup"),
        ("Customers", "person", "chats.Customer"),
        ("Ratings", "star", "chats.Feedback"),
        ("Summaries", "summarize", "chats.Summary"),
        ("Summaries in bulk", "dynamic_feed", "chats.SummaryJob"),
    ),
    "Bots & training": (
        ("Bots", "smart_toy", "bots.Bot"),
        ("Prompts", "edit_note", "bots.Prompt"),
        ("Documents", "description", "bots.Document"),
        ("Web addresses", "language", "bots.WebUrl"),
        ("Passages", "short_text", "bots.Chunk"),
        ("Golden questions", "verified", "bots.GoldenQuestion"),
        ("Replays", "replay", "chats.Replay"),
        ("Golden runs", "fact_check", "bots.GoldenRun"),
        ("Language models", "neurology", "bots.LanguageModel"),
        ("Function settings", "tune", "bots.FunctionCalling"),
        ("Functions", "function", "bots.Function"),
        ("Function calls", "call_made", "bots.FunctionCall"),
    ),
    "Channels": (
        ("Connections", "cable", "channels_app.ChannelConnection"),
        ("Sent messages", "send", "channels_app.OutboundSend"),
    ),
    "Webhooks": (
        ("Endpoints", "webhook", "webhooks.WebhookConfig"),
        ("Deliveries", "local_shipping", "webhooks.Delivery"),
        ("Events", "bolt", "webhooks.Event"),
    ),
    "Reports": (("Large exports", "download", "reports.Export"),),
    "People & keys": (
        ("People", "group", "identity.User"),
        ("API keys", "key", "identity.ApiKey"),
        ("Log-in provider", "login", "identity.SignInProvider"),
    ),
    "Settings": (
        ("Company", "apartment", "identity.Client"),
        ("Chats", "settings", "identity.ClientConfig"),
        ("Plan and credits", "account_balance_wallet", "identity.Subscription"),
        ("Credit orders", "receipt_long", "identity.CreditOrder"),
        ("Credit ledger", "menu_book", "identity.CreditEntry"),
        ("Audit log", "history", "identity.AuditEvent"),
    ),
    "System": (
        ("Jobs", "work_history", "chatplatform.Job"),
        ("Callbacks", "call_received", "channels_app.InboundCallback"),
    ),
}
# The report pages: title, icon, and the name of the path.
_REPORTS = (
    ("Overview", "monitoring", "reports_overview"),
    ("Ad-hoc reports", "table_view", "reports_adhoc"),
    ("Warnings", "warning", "reports_warnings"),
)
# The filter of a list by client; the platform's staff keep it from list to list.
_CLIENT = "client__id__exact"


def for_viewer(request: HttpRequest) -> list[dict[str, Any]]:
    """The groups of Unfold's sidebar, with the list pages that the viewer may read."""
    user: Any = request.user
    first = [_item("Desk", "support_agent", reverse("admin:desk"))]
    if user.is_superuser:
        first = [_item("Home", "home", reverse("admin:index"))]
    elif user.role != "agent":
        first.insert(0, _item("Home", "home", reverse("admin:index")))
    chosen = chosen_client(request)
    failures = reverse("failures")
    first.append(_item("Failures", "report", of_client(failures, chosen) if chosen else failures))
    return [{"items": first}, *_groups(request, str(chosen or ""))]


def chosen_client(request: HttpRequest) -> int | None:
    """The client that the platform's staff filter by; on a row's page, the filter of its list."""
    user: Any = request.user
    from_list = QueryDict(request.GET.get("_changelist_filters", "")).get(_CLIENT, "")
    found = request.GET.get(_CLIENT, "") or from_list
    return int(found) if user.is_superuser and found.isdecimal() else None


def for_client(request: HttpRequest, client_id: int) -> list[dict[str, Any]]:
    """The groups of list pages, filtered by one client."""
    return _groups(request, str(client_id), of_clients=True)


def of_client(path: str, client_id: int) -> str:
    """The path of a list, filtered by one client."""
    return f"{path}{'&' if '?' in path else '?'}{_CLIENT}={client_id}"


def _groups(
    request: HttpRequest, client_id: str, *, of_clients: bool = False
) -> list[dict[str, Any]]:
    """The groups that the viewer may read; links to client-owned lists keep the chosen client."""
    viewer: Any = request.user
    shown = {}
    for name, pages in PAGES.items():
        items = []
        for title, icon, label in pages:
            page = admin.site.get_model_admin(apps.get_model(label))
            is_tenants: Any = getattr(page, "client_path", None) == "client"
            if not page.has_view_permission(request) or (of_clients and not is_tenants):
                continue
            link = reverse(f"admin:{label.lower().replace('.', '_')}_changelist")
            if client_id.isdecimal() and is_tenants:
                link = of_client(link, int(client_id))
            items.append(_item(title, icon, link))
        if name == "Reports" and not viewer.is_superuser:
            items = [_item(title, icon, reverse(name)) for title, icon, name in _REPORTS] + items
        shown[name] = items
    return [{"title": gettext(name), "items": items} for name, items in shown.items() if items]


def _item(title: str, icon: str, link: str) -> dict[str, Any]:
    return {"title": gettext(title), "icon": icon, "link": link}
