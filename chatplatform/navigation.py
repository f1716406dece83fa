"""The site's navigation: the sections and pages that the viewer may read."""

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest, QueryDict
from django.urls import reverse
from django.utils.text import slugify
from django.utils.translation import gettext, gettext_noop


@dataclass(frozen=True)
class Page:
    """A page of a section. `target` is the model whose list it shows, or the name of a URL."""

    title: str
    target: str
    icon: str = ""
    # Only the platform's staff have it in their menu; other people reach it by links.
    is_technical: bool = False
    # The prefix of further paths that belong to the page.
    also: str = ""
    # Only owners and admins of a client may open it. For a list, its admin class decides.
    is_for_admins: bool = False

    @property
    def is_list(self) -> bool:
        return "." in self.target

    @property
    def admin(self) -> Any:
        """The admin class of the model."""
        return admin.site.get_model_admin(apps.get_model(self.target))

    @property
    def url_name(self) -> str:
        if self.is_list:
            return f"admin:{self.target.lower().replace('.', '_')}_changelist"
        return self.target

    @functools.cached_property
    def link(self) -> str:
        """The page's path, which never changes."""
        return reverse(self.url_name)


@dataclass(frozen=True)
class Section:
    """An entry of the menu. Each page of a section shows tabs that link to all its pages."""

    title: str
    icon: str
    pages: tuple[Page, ...]
    # Whether agents see it: they answer customers, but do not run the company.
    is_for_agents: bool = True


def _for_staff(title: str, target: str, icon: str) -> Page:
    return Page(title, target, icon, is_technical=True)


def _for_admins(title: str, target: str) -> Page:
    return Page(title, target, is_for_admins=True)


SECTIONS = (
    Section(gettext_noop("Home"), "home", (Page("Home", "admin:index"),), is_for_agents=False),
    Section(gettext_noop("Inbox"), "inbox", (Page("Inbox", "admin:desk"),)),
    Section(
        gettext_noop("Conversations"), "forum",
        (
            Page(gettext_noop("All conversations"), "chats.Conversation", "forum"),
            Page(gettext_noop("Ratings"), "chats.Feedback", "star"),
            Page(gettext_noop("Summaries"), "chats.Summary", "summarize"),
            _for_staff(gettext_noop("Bulk summaries"), "chats.SummaryJob", "dynamic_feed"),
        ),
    ),
    Section(
        gettext_noop("Customers"), "group",
        (Page(gettext_noop("Customers"), "chats.Customer", "person"),),
    ),
    Section(
        gettext_noop("Bots"), "smart_toy",
        (
            Page(
                gettext_noop("All bots"), "bots.Bot", "smart_toy",
                also="/admin/chats/conversation/try/",
            ),
            Page(
                gettext_noop("Unanswered questions"), "chats.QuestionGroup", "help",
                also="/admin/chats/conversation/unanswered/",
            ),
            Page(gettext_noop("Test questions"), "bots.GoldenQuestion", "verified"),
            Page(gettext_noop("Test runs"), "bots.GoldenRun", "fact_check"),
            Page(gettext_noop("Replays"), "chats.Replay", "replay"),
            _for_staff(gettext_noop("Documents"), "bots.Document", "description"),
            _for_staff(gettext_noop("Websites"), "bots.WebUrl", "language"),
            _for_staff(gettext_noop("Instructions"), "bots.Prompt", "edit_note"),
            _for_staff(gettext_noop("Passages"), "bots.Chunk", "short_text"),
            _for_staff(gettext_noop("Language models"), "bots.LanguageModel", "neurology"),
            _for_staff(gettext_noop("Function settings"), "bots.FunctionCalling", "tune"),
        ),
        is_for_agents=False,
    ),
    Section(
        gettext_noop("Reports"), "monitoring",
        (
            Page(gettext_noop("Overview"), "reports_overview", "monitoring"),
            Page(gettext_noop("Explore"), "reports_adhoc", "table_view"),
            Page(gettext_noop("Alerts"), "reports_warnings", "warning"),
            Page(gettext_noop("Exports"), "reports.Export", "download"),
        ),
    ),
    Section(
        gettext_noop("Channels"), "cable",
        (
            Page(gettext_noop("Channels"), "channels", "cable"),
            _for_staff(gettext_noop("Connections"), "channels_app.ChannelConnection", "cable"),
            _for_staff(gettext_noop("Sent messages"), "channels_app.OutboundSend", "send"),
            _for_staff(gettext_noop("Callbacks"), "channels_app.InboundCallback", "call_received"),
        ),
        is_for_agents=False,
    ),
    Section(
        gettext_noop("Developers"), "code",
        (
            Page(gettext_noop("API keys"), "identity.ApiKey", "key"),
            Page(gettext_noop("Webhooks"), "webhooks.WebhookConfig", "webhook"),
            Page(gettext_noop("Deliveries"), "webhooks.Delivery", "local_shipping"),
            Page(gettext_noop("Events"), "webhooks.Event", "bolt"),
            Page(gettext_noop("Functions"), "bots.Function", "function"),
            Page(gettext_noop("MCP servers"), "bots.McpServer", "extension"),
            Page(gettext_noop("Function calls"), "bots.FunctionCall", "call_made"),
            Page(gettext_noop("API documentation"), "docs", "menu_book"),
        ),
        is_for_agents=False,
    ),
    Section(
        gettext_noop("Team"), "badge",
        (
            Page(gettext_noop("People"), "identity.User", "group"),
            Page(gettext_noop("Audit log"), "identity.AuditEvent", "history"),
        ),
    ),
    Section(
        gettext_noop("Settings"), "settings",
        (
            _for_admins(gettext_noop("Company"), "admin:settings_company"),
            _for_admins(gettext_noop("Business hours"), "admin:settings_hours"),
            _for_admins(gettext_noop("Handover"), "admin:settings_handover"),
            _for_admins(gettext_noop("Messages"), "admin:settings_messages"),
            _for_admins(gettext_noop("After a conversation"), "admin:settings_after"),
            _for_admins(gettext_noop("Notifications"), "admin:settings_notifications"),
            _for_admins(gettext_noop("Privacy"), "admin:settings_privacy"),
            Page(gettext_noop("Plan"), "admin:settings_plan"),
            _for_admins(gettext_noop("Security"), "admin:settings_security"),
            _for_staff(gettext_noop("Companies"), "identity.Client", "apartment"),
            _for_staff(gettext_noop("Chat settings"), "identity.ClientConfig", "forum"),
            _for_staff(
                gettext_noop("Subscriptions"), "identity.Subscription", "account_balance_wallet"
            ),
            _for_staff(gettext_noop("Credit orders"), "identity.CreditOrder", "receipt_long"),
            _for_staff(gettext_noop("Credit ledger"), "identity.CreditEntry", "menu_book"),
            _for_staff(gettext_noop("Sign-in providers"), "identity.SignInProvider", "login"),
            _for_staff(gettext_noop("Jobs"), "chatplatform.Job", "work_history"),
        ),
        is_for_agents=False,
    ),
)  # fmt: skip
# A person's own account, which the menu under their name contains.
ACCOUNT = Section(
    gettext_noop("Profile"), "person",
    (
        Page(gettext_noop("Profile"), "admin:profile"),
        Page(gettext_noop("Password"), "admin:password_change"),
        Page(gettext_noop("Two-factor authentication"), "admin:second_factor"),
        Page(gettext_noop("Active sessions"), "admin:sign_ins"),
    ),
)  # fmt: skip
# The query parameter that filters a list by client; links keep it for the platform's staff.
_CLIENT = "client__id__exact"


def file_name_of(model: type[Model]) -> str:
    """The name, without extension, of a file with a model's rows, such as "webhooks"."""
    pages = (page for section in SECTIONS for page in section.pages)
    titles = {page.target: page.title for page in pages}
    return slugify(titles.get(model._meta.label) or str(model._meta.verbose_name_plural))


def sidebar(request: HttpRequest) -> list[dict[str, Any]]:
    """The groups of Unfold's sidebar: people of a client see an entry for each section, the
    platform's staff see every list."""
    viewer: Any = request.user
    if viewer.is_superuser:
        first = [_item("Home", "home", reverse("admin:index"))]
        first.append(_item("Inbox", "inbox", reverse("admin:desk")))
        return [{"items": first}, *_groups(request, str(chosen_client(request) or ""))]
    current, _ = _current(request)
    items = [
        _item(section.title, section.icon, readable[0].link) | {"active": section == current}
        for section, readable in _readable(request)
    ]
    return [{"items": items}]


def pages(request: HttpRequest) -> Iterator[tuple[Page, str]]:
    """Yield each page that the viewer may read, with its icon."""
    for section in (*SECTIONS, ACCOUNT):
        for page in section.pages:
            if _may_read(request, page):
                yield page, page.icon or section.icon


def tabs(request: HttpRequest) -> list[dict[str, Any]]:
    """The pages of the current section as tabs; none if the viewer may read only one of the pages.
    The platform's staff have tabs only in their profile."""
    viewer: Any = request.user
    section, current = _current(request)
    is_staff = not viewer.is_authenticated or viewer.is_superuser
    if section is None or (is_staff and section != ACCOUNT):
        return []
    items = [
        {"title": gettext(page.title), "link": page.link, "active": page == current}
        for page in section.pages
        if not page.is_technical and _may_read(request, page)
    ]
    return items if len(items) > 1 else []


def current_titles(request: HttpRequest) -> tuple[str, str]:
    """The titles of the current section and page; empty on a page outside the navigation."""
    section, page = _current(request)
    return gettext(section.title) if section else "", gettext(page.title) if page else ""


def chosen_client(request: HttpRequest) -> int | None:
    """The client that the platform's staff filter this list by, or filtered the previous list by;
    None if there is none."""
    user: Any = request.user
    from_list = QueryDict(request.GET.get("_changelist_filters", "")).get(_CLIENT, "")
    client_id = request.GET.get(_CLIENT, "") or from_list
    return int(client_id) if user.is_superuser and client_id.isdecimal() else None


def client_lists(request: HttpRequest, client_id: int) -> list[dict[str, Any]]:
    """The groups of list pages, filtered by one client."""
    return _groups(request, str(client_id), only_client_rows=True)


def filtered_by_client(path: str, client_id: int) -> str:
    """The path of a list, filtered by one client."""
    return f"{path}{'&' if '?' in path else '?'}{_CLIENT}={client_id}"


def _readable(request: HttpRequest) -> Iterator[tuple[Section, list[Page]]]:
    """Yield the sections that a client's viewer may open, with the pages that they may read."""
    viewer: Any = request.user
    for section in SECTIONS:
        may_train = section.title == "Bots" and viewer.can_train
        if viewer.role == "agent" and not (section.is_for_agents or may_train):
            continue
        pages = [page for page in section.pages if not page.is_technical]
        if found := [page for page in pages if _may_read(request, page)]:
            yield section, found


def _may_read(request: HttpRequest, page: Page) -> bool:
    viewer: Any = request.user
    if page.is_list:
        return bool(page.admin.has_view_permission(request))
    if page.target == "docs":
        return bool(settings.API_DOCS)
    if page.target in {"admin:index", "admin:desk"} or page in ACCOUNT.pages:
        return True
    return viewer.client_id is not None and (not page.is_for_admins or viewer.is_admin)


@functools.cache
def _path_prefixes() -> list[tuple[str, Section, Page]]:
    """The path prefixes of all pages with their section and page, longest first."""
    prefixes = [
        (start, section, page)
        for section in (*SECTIONS, ACCOUNT)
        for page in section.pages
        if page.target != "docs"
        for start in (page.link, page.also)
        if start
    ]
    return sorted(prefixes, key=lambda item: len(item[0]), reverse=True)


def _current(request: HttpRequest) -> tuple[Section | None, Page | None]:
    """The section and the page of the request's path; None if there is none."""
    for start, section, page in _path_prefixes():
        is_home = page.target == "admin:index"
        if request.path == start or (request.path.startswith(start) and not is_home):
            return section, page
    return None, None


def _groups(
    request: HttpRequest, client_id: str, *, only_client_rows: bool = False
) -> list[dict[str, Any]]:
    """The lists that the viewer may read, by section; links to lists of clients' rows keep the
    chosen client. `only_client_rows`: only lists of clients' rows."""
    groups = []
    for section in SECTIONS:
        items = []
        for page in section.pages:
            if not page.is_list or not _may_read(request, page):
                continue
            has_client_rows = getattr(page.admin, "client_path", None) == "client"
            if only_client_rows and not has_client_rows:
                continue
            link = page.link
            if client_id.isdecimal() and has_client_rows:
                link = filtered_by_client(link, int(client_id))
            items.append(_item(page.title, page.icon, link))
        if items:
            groups.append({"title": gettext(section.title), "items": items})
    return groups


def _item(title: str, icon: str, link: str) -> dict[str, Any]:
    return {"title": gettext(title), "icon": icon, "link": link}
