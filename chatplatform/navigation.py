"""The site's navigation: pages by what people do, each shown to whoever may read it."""

from typing import Any

from django.apps import apps
from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse

# Group to its pages: the words, the symbol, and the model whose rows the page lists, with the name
# of the page if it is another than their list.
PAGES: dict[str, tuple[tuple[str, ...], ...]] = {
    "Conversations": (
        ("Conversations", "forum", "chats.Conversation"),
        ("Questions without an answer", "help", "chats.Conversation", "chats_unanswered"),
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


def for_viewer(request: HttpRequest) -> list[dict[str, Any]]:
    """The groups for Unfold's sidebar: the pages that the viewer may read."""
    user: Any = request.user
    first = [_item("Desk", "support_agent", reverse("admin:desk"))]
    if user.is_superuser:
        first = [_item("Home", "home", reverse("admin:index"))]
    elif user.role != "agent":
        first.insert(0, _item("Home", "home", reverse("admin:index")))
    first.append(_item("Failures", "report", reverse("failures")))
    shown = {name: [_page(*page) for page in pages if _may_read(request, page[2])]
             for name, pages in PAGES.items()}  # fmt: skip
    if not user.is_superuser:
        shown["Reports"] = [_item(*page) for page in _reports()] + shown["Reports"]
    return [{"items": first}] + [
        {"title": name, "items": items} for name, items in shown.items() if items
    ]


def _reports() -> list[tuple[str, str, str]]:
    """The pages of the reports, which are a client's."""
    return [
        ("Overview", "monitoring", reverse("reports_overview")),
        ("Ad-hoc reports", "table_view", reverse("reports_adhoc")),
        ("Warnings", "warning", reverse("reports_warnings")),
    ]


def _may_read(request: HttpRequest, label: str) -> bool:
    page = admin.site.get_model_admin(apps.get_model(label))
    return bool(page.has_view_permission(request))


def _page(title: str, icon: str, label: str, name: str = "") -> dict[str, Any]:
    name = name or f"{label.lower().replace('.', '_')}_changelist"
    return _item(title, icon, reverse(f"admin:{name}"))


def _item(title: str, icon: str, link: str) -> dict[str, Any]:
    return {"title": title, "icon": icon, "link": link}
