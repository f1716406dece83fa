"""Guards over every page of the site: a viewer meets the rows of one client alone, by the rights of
their role, and no page writes by itself."""

import ast
import re
from typing import Any

import pytest
from django.conf import settings
from django.contrib import admin
from django.contrib.admin.utils import quote
from django.db import models
from django.test import Client as Browser
from django.urls import reverse
from django.utils import timezone

from bots.models import (
    Bot,
    Chunk,
    Document,
    Function,
    FunctionCall,
    FunctionCalling,
    GoldenQuestion,
    GoldenRun,
    LanguageModel,
    McpServer,
    Prompt,
    SampleQuestion,
    WebPage,
    WebUrl,
)
from channels_app.models import ChannelConnection, OutboundSend
from chatplatform.admin_base import ADMINS, EVERYBODY, PLATFORM, TenantAdmin
from chatplatform.ids import uuid7
from chatplatform.models import Job
from chats.models import (
    Conversation,
    Customer,
    Feedback,
    GroupedQuestion,
    Message,
    QuestionGroup,
    Replay,
    Summary,
    SummaryJob,
    text_content,
)
from identity.models import (
    ApiKey,
    AuditEvent,
    Client,
    ClientConfig,
    CreditEntry,
    CreditOrder,
    Role,
    SignInProvider,
    Subscription,
    User,
)
from identity.testing import make_client, make_person, signed_in
from reports.models import Export
from webhooks.models import Delivery, DeliveryAttempt, Event, WebhookConfig

pytestmark = pytest.mark.full

PAGES: dict[Any, Any] = dict(admin.site._registry)
# Who may read the rows of a page; a new page is entered here.
READ_BY: dict[Any, frozenset[str]] = {
    **dict.fromkeys(
        (Bot, Prompt, Document, Chunk, WebUrl, FunctionCalling, Function, FunctionCall, McpServer),
        EVERYBODY,
    ),
    **dict.fromkeys((Conversation, Customer, Feedback, Summary, SummaryJob), EVERYBODY),
    **dict.fromkeys((Client, User, Subscription, ChannelConnection), EVERYBODY),
    **dict.fromkeys((Export,), EVERYBODY),
    LanguageModel: ADMINS,
    **dict.fromkeys((GoldenQuestion, GoldenRun, QuestionGroup, Replay), EVERYBODY),
    **dict.fromkeys((ApiKey, CreditEntry, AuditEvent), ADMINS),
    **dict.fromkeys((Event, WebhookConfig, Delivery, OutboundSend), ADMINS),
}
# Rows of clients that only the platform's staff see as they are stored: a client's people have the
# pages of Settings instead.
STAFFS_LISTS = (ClientConfig, CreditOrder, SignInProvider)
PLATFORMS_OWN = {"job", "inboundcallback"}


def world(name: str) -> dict[Any, Any]:
    """A client with a row for each page; the word `name` stands in whatever a page shows."""
    client: Any = make_client(name)
    person: Any = make_person(client, Role.OWNER, name).user
    own: dict[str, Any] = {"client": client}
    rows: dict[Any, Any] = {Client: client, User: person, ClientConfig: client.config}
    rows[Subscription] = client.subscription
    rows[CreditEntry] = CreditEntry.objects.filter(client=client)[0]
    rows[CreditOrder] = CreditOrder.objects.create(**own, amount=5, reference=name)
    rows[ApiKey] = ApiKey.objects.create(**own, name=name, scope="secret", prefix=name[:12])
    rows[AuditEvent] = AuditEvent.objects.create(**own, action=f"{name}.made", user=person)
    rows[Export] = Export.objects.create(
        **own, created_by=person, param={}, rows=1, file_name=name, expires_at=timezone.now()
    )
    bot = rows[Bot] = Bot.objects.create(**own, bot_name=name)
    of_bot = {**own, "bot": bot}
    rows[Prompt] = Prompt.objects.create(**of_bot, version=1, content=name, created_by=person)
    SampleQuestion.objects.create(**of_bot, question=name, language="en")
    rows[Document] = Document.objects.create(
        **of_bot, file_name=name, mime_type="text/plain", size_bytes=1, sha256="0" * 64
    )
    rows[Chunk] = Chunk.objects.create(
        **of_bot, document=rows[Document], position=0, text=name, sentences=[name], language="en"
    )
    rows[WebUrl] = WebUrl.objects.create(**of_bot, url=f"http://{name}.example/")
    WebPage.objects.create(
        **own, web_url=rows[WebUrl], url=f"http://{name}.example/a", fetched_at=timezone.now()
    )
    rows[GoldenQuestion] = GoldenQuestion.objects.create(**of_bot, question=name)
    waiting = Prompt.objects.create(**of_bot, version=2, content=name, is_current=False)
    rows[GoldenRun] = GoldenRun.objects.create(
        **of_bot, prompt=waiting, status="done", outcome="held"
    )
    rows[LanguageModel] = LanguageModel.objects.create(
        **of_bot, base_url=f"http://127.0.0.1:9/{name}", model=name
    )
    rows[SignInProvider] = SignInProvider.objects.create(
        **own, issuer=f"https://{name}.example", application_secret="x", email_domains=["x.example"]
    )
    rows[FunctionCalling] = FunctionCalling.objects.create(**of_bot)
    rows[Function] = Function.objects.create(
        **of_bot, name=name, parameters={}, method="GET", url="https://x.example/"
    )
    rows[McpServer] = McpServer.objects.create(
        **of_bot, name=name, url=f"https://{name}.example/mcp", token="x"
    )
    rows[FunctionCall] = FunctionCall.objects.create(
        **of_bot, status="waiting", function_name=name, conversation_id=uuid7()
    )
    return rows | rows_of_chats(of_bot, name) | rows_of_events(of_bot, name)


def rows_of_chats(of_bot: dict[str, Any], name: str) -> dict[Any, Any]:
    own, bot = {"client": of_bot["client"]}, of_bot["bot"]
    customer = Customer.objects.create(**own, name=name)
    chat = Conversation.objects.create(**of_bot, customer=customer, language="en")
    of_chat = {**own, "conversation": chat}
    message = Message.objects.create(
        **of_chat, seq=1, sender_type="customer", text=name, content=text_content(name)
    )
    group = QuestionGroup.objects.create(**of_bot, digest=name, count=1)
    GroupedQuestion.objects.create(**own, group=group, message=message, asked_at=timezone.now())
    connection = ChannelConnection.objects.create(
        **of_bot, channel="socialnet", account_id=name, account_name=name
    )
    return {
        Customer: customer,
        Conversation: chat,
        QuestionGroup: group,
        Replay: Replay.objects.create(**of_bot, day="2026-01-31", status="done"),
        Feedback: Feedback.objects.create(**of_chat, rating=1, comment=name),
        Summary: Summary.objects.create(**of_chat, engine=name, language="en", message_count=1),
        SummaryJob: SummaryJob.objects.create(**own, bot=bot),
        ChannelConnection: connection,
        OutboundSend: OutboundSend.objects.create(
            **own, message=message, connection=connection, part=0, recipient_id=name, is_last=True
        ),
    }


def rows_of_events(of_bot: dict[str, Any], name: str) -> dict[Any, Any]:
    own = {"client": of_bot["client"]}
    config = WebhookConfig.objects.create(**own, url=f"https://{name}.example/", secret="whsec_x")
    event = Event.objects.create(**own, type=f"{name}.made", data={})
    delivery = Delivery.objects.create(**own, event=event, config=config)
    DeliveryAttempt.objects.create(**own, delivery=delivery, number=1, error=name)
    return {WebhookConfig: config, Event: event, Delivery: delivery}


@pytest.fixture
def mine(db: None) -> dict[Any, Any]:
    return world("ourownword")


@pytest.fixture
def theirs(db: None) -> dict[Any, Any]:
    return world("foreignword")


def entered(rows: dict[Any, Any], role: str = Role.OWNER) -> Browser:
    browser = Browser()
    browser.force_login(make_person(rows[Client], role, role).user)  # type: ignore[arg-type]
    return browser


def url(model: Any, what: str, *ids: Any) -> str:
    meta = model._meta
    return reverse(f"admin:{meta.app_label}_{meta.model_name}_{what}", args=[quote(i) for i in ids])


def test_every_page_is_in_the_table_or_the_platforms_own():
    assert len(PAGES) > 20
    own = {*PAGES} - {*READ_BY, *STAFFS_LISTS}
    named = {model._meta.model_name for model in own}
    assert named == PLATFORMS_OWN
    for model, page in PAGES.items():
        assert isinstance(page, TenantAdmin)
        assert page.read_by == READ_BY.get(model, PLATFORM), model
        assert (page.client_path is None) == (model in own), model


@pytest.mark.parametrize("query", ["", "?q=foreignwor"])
def test_lists_and_searches_show_one_client_alone(mine, theirs, query):
    browser = entered(mine)
    for model in READ_BY:
        reply = browser.get(url(model, "changelist") + query)
        assert reply.status_code == 200, model
        assert "foreignword" not in reply.content.decode(), model
        shown = set(reply.context["cl"].queryset.values_list("pk", flat=True))
        assert theirs[model].pk not in shown, model
        assert query or mine[model].pk in shown, model


@pytest.mark.parametrize("what", ["change", "delete"])
def test_another_clients_row_is_not_found(mine, theirs, what):
    browser = entered(mine)
    for model in READ_BY:
        own, other = (browser.get(url(model, what, rows[model].pk)) for rows in (mine, theirs))
        assert own.status_code == (403 if what == "delete" else 200), model
        assert "foreignword" not in own.content.decode()
        assert other.status_code in ({403, 404} if what == "delete" else {404}), model


def test_the_page_of_a_row_says_each_field_once(mine):
    browser = entered(mine)
    for model in set(READ_BY) - {User}:  # a person's page is not Django's
        form = browser.get(url(model, "change", mine[model].pk)).context["adminform"]
        fields = [field.label_tag() for group in form for line in group for field in line]
        assert fields, model
        assert [field for field in fields if fields.count(field) > 1] == [], model


def test_pages_about_a_client_bear_its_name(mine):
    browser = entered(mine)
    reply = browser.get(url(Subscription, "change", mine[Subscription].pk))
    assert reply.context["subtitle"] == "Trial of ourownword"
    assert "Trial of ourownword" in reply.content.decode()


def test_nothing_is_changed_through_another_clients_id(mine, theirs):
    browser = entered(mine)
    for model, page in PAGES.items():
        if page.changed_by is None or model not in READ_BY:
            continue
        reply = browser.post(url(model, "change", theirs[model].pk), {"is_disabled": "on"})
        assert reply.status_code in {403, 404}, model
    assert not User.objects.filter(is_disabled=True).exists()


def test_autocomplete_and_foreign_keys_offer_one_client_alone(mine, theirs, rf):
    request = rf.get("/admin/")
    request.user = mine[User]
    tried = 0
    for model, page in PAGES.items():
        for field in model._meta.get_fields():
            if not isinstance(field, models.ForeignKey) or field.related_model not in PAGES:
                continue
            tried += 1
            offered = page.formfield_for_foreignkey(field, request).queryset
            assert not offered.filter(pk=theirs[field.related_model].pk).exists(), field
            query = {
                "app_label": model._meta.app_label,
                "model_name": model._meta.model_name,
                "field_name": field.name,
                "term": "foreignword",
            }
            reply = entered(mine).get("/admin/autocomplete/", query)
            assert not reply.json().get("results")
    assert tried > 20


def test_actions_leave_another_clients_rows_alone(mine, theirs):
    browser, tried = entered(mine), 0
    jobs = Job.objects.count()
    for model, page in PAGES.items():
        for name in page.actions or ():
            tried += 1
            form = {"action": name, "_selected_action": [theirs.get(model, mine[Bot]).pk]}
            form["confirmed"] = "yes"
            reply = browser.post(url(model, "changelist"), form)
            assert reply.status_code in {200, 302, 403}, name
    assert tried >= 6
    assert Job.objects.count() == jobs
    assert not ApiKey.objects.exclude(revoked_at=None).exists()
    assert set(CreditOrder.objects.values_list("status", flat=True)) == {"pending"}


TAKEN_AT_ONCE_BECAUSE = {
    "requeue": "a dead job is tried again, as a live one would be",
    "refresh": "reading again ends where it began",
    "enable": "it can be disabled again",
    "switch_on": "it can be switched off again",
    "test": "it asks the model for one word, and changes nothing",
    "send_test": "a test says that it is one",
    "send_again": "receivers know an event by its id",
}


def test_every_action_asks_first_or_can_be_repeated(mine):
    browser, asked = Browser(), set()
    browser.force_login(User.objects.create_superuser("staff@example.com", full_name="Staff"))
    mine[Job] = Job.objects.create(name="x.y", state="dead")
    for model, page in PAGES.items():
        for name in page.actions or ():
            if name in TAKEN_AT_ONCE_BECAUSE:
                continue
            form = {"action": name, "_selected_action": [mine[model].pk]}
            reply = browser.post(url(model, "changelist"), form)
            assert b'name="confirmed"' in reply.content, (
                f"{name}: @confirm_action, or the table above"
            )
            asked.add(name)
    assert asked >= {"revoke", "mark_paid", "refuse", "cancel", "roll_secret"}
    names = {name for page in PAGES.values() for name in page.actions or ()}
    assert set(TAKEN_AT_ONCE_BECAUSE) <= names


def test_every_action_says_who_may_take_it():
    for page in PAGES.values():
        for name in (*(page.actions or ()), *page.actions_list, *page.actions_detail):
            assert getattr(getattr(page, name), "allowed_permissions", None), (page, name)


# They differ most; a drill reads as all four roles.
READERS = [
    role if role in {Role.OWNER, Role.AGENT} else pytest.param(role, marks=pytest.mark.drill)
    for role in Role.values
]


@pytest.mark.parametrize("role", READERS)
def test_each_role_reads_what_the_api_lets_it_read(mine, role):
    browser = entered(mine, role)
    for model in PAGES:
        reply = browser.get(url(model, "changelist"))
        may = role in READ_BY.get(model, PLATFORM)
        assert reply.status_code == (200 if may else 403), model
        if model in READ_BY:
            row = browser.get(url(model, "change", mine[model].pk))
            assert row.status_code == (200 if may else 403), model
            if role not in ADMINS:
                assert browser.post(url(model, "change", mine[model].pk), {}).status_code == 403


@pytest.mark.parametrize("role", [Role.AGENT, Role.VIEWER])
def test_who_may_not_act_is_offered_no_action(mine, rf, role):
    request = rf.get("/admin/")
    request.user = make_person(mine[Client], role, role).user
    read = [model for model in READ_BY if PAGES[model].has_view_permission(request)]
    assert len(read) == sum(role in roles for roles in READ_BY.values())
    assert [model for model in read if PAGES[model].get_actions(request)] == []


@pytest.mark.parametrize(
    "column", ["password__startswith", "client__users__password__startswith", "secret_hash__gt"]
)
def test_nobody_filters_by_a_secret(mine, column):
    for model in (User, ApiKey):
        reply = entered(mine).get(url(model, "changelist"), {column: "a"})
        assert reply.status_code == 400 or "e=1" in reply.headers.get("Location", "")


def test_nobody_adds_or_deletes_a_row(mine):
    browser = signed_in(User.objects.create_superuser("staff@example.com", full_name="Staff"))
    job = Job.objects.create(name="x.y", state="dead")
    for model, row in {**mine, Job: job}.items():
        assert browser.get(url(model, "add")).status_code == 403, model
        assert browser.post(url(model, "delete", row.pk), {"post": "yes"}).status_code == 403
        form = {"action": "delete_selected", "_selected_action": [row.pk], "post": "yes"}
        browser.post(url(model, "changelist"), form)
        assert model._default_manager.filter(pk=row.pk).exists(), model


def test_every_name_has_its_right_plural():
    plurals = [str(model._meta.verbose_name_plural) for model in PAGES]
    assert not [name for name in plurals if re.search("[^aeiou]ys$", name)]


def test_a_healthy_row_shows_no_cross(mine):
    browser = entered(mine)
    page = browser.get(url(User, "changelist")).content.decode()
    assert "Active" in page
    assert "close_small" not in page


WRITES = {
    "save", "create", "update", "delete", "bulk_create", "bulk_update", "get_or_create",
    "update_or_create",
}  # fmt: skip


def services_in(tree: ast.Module) -> set[str]:
    """The modules of services that a module imports, by the names that it calls them."""
    froms = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    found = [node for node in froms if "services" in (node.module or "").split(".")]
    return {name.asname or name.name for node in found for name in node.names}


def test_no_page_writes_by_itself():
    """Services write: they check, audit and announce."""
    paths = sorted(
        [
            *settings.BASE_DIR.glob("*/admin.py"),
            *settings.BASE_DIR.glob("*/pages/**/*.py"),
            *settings.BASE_DIR.glob("*/forms.py"),
        ]
    )
    assert len(paths) >= 8
    violations = []
    for path in paths:
        tree = ast.parse(path.read_text())
        services = services_in(tree)
        violations += [
            f"{path.parent.name}/{path.name}:{node.lineno} {ast.unparse(node.func)}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in WRITES | {"save_model"}
            and ast.unparse(node.func.value) not in services
        ]
    assert violations == []
    for model, page in PAGES.items():
        own = type(page).save_model.__module__
        assert page.changed_by is None or own.endswith(".admin"), model
