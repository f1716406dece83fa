"""The address of a list is no query language: of all that Django would take, a few comparisons of a
few columns run, whoever asks."""

import itertools
import time
from typing import Any

import pytest
from django.db import connection, models
from django.test.utils import CaptureQueriesContext

from chatplatform import sql
from chatplatform.admin_lists import MAX_QUERY_CHARS
from chatplatform.tests.test_guard_site import PAGES, READ_BY, entered, mine, url, world  # noqa: F401
from chats.models import Conversation, Customer
from identity.models import Role, User

pytestmark = pytest.mark.full

COMPARISONS = {"exact", "in", "isnull", "gte", "lt"}
TEXTS: Any = (models.TextField, models.CharField, models.JSONField)
OFFERED_TEXTS = {
    "auditevent.action", "auditevent.subject", "bot.default_language",
    "conversation.handoff_reason", "conversation.sentiment", "document.language",
}  # fmt: skip
LISTS = url(Conversation, "changelist")


def columns_of(model: Any, depth: int = 2) -> Any:
    """The paths of all columns of a model, and of the models related to it in either direction."""
    for field in model._meta.get_fields():
        name = field.name
        yield name, field
        if getattr(field, "attname", name) != name:
            yield field.attname, field
        if field.is_relation and field.related_model and depth > 1:
            for path, column in columns_of(field.related_model, depth - 1):
                yield f"{name}__{path}", column


def lookups_of(field: Any) -> set[str]:
    """Every lookup that Django registers on a column, those behind a transform as well."""
    column = field if isinstance(field, models.Field) else models.ForeignKey(User, models.CASCADE)
    found = set()
    for name, lookup in column.get_lookups().items():
        found.add(name)
        if issubclass(lookup, models.Transform):
            found |= {f"{name}__{item}" for item in models.IntegerField().get_lookups()}
    return found | {"a_key", "a_key__regex", "0__icontains", "date__week__gte"}


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OWNER])
def test_nothing_but_comparisons_of_offered_columns_is_let_through(mine, rf, role):  # noqa: F811
    request = rf.get("/admin/")
    request.user = User(client=mine[User].client, role=role)
    tried, let_through = 0, set()
    for model, page in PAGES.items():
        for path, field in columns_of(model):
            for lookup in lookups_of(field):
                tried += 1
                if page.lookup_allowed(f"{path}__{lookup}", "1", request):
                    let_through.add((model, path, lookup))
            if page.lookup_allowed(path, "1", request):
                let_through.add((model, path, "exact"))
    assert tried > 40_000
    assert {lookup for _, _, lookup in let_through} <= COMPARISONS | {"isempty"}
    # Of columns without choices those alone that a filter or a link of the site names.
    texts = {
        f"{model._meta.model_name}.{path}"
        for model, path, _ in let_through
        for field in [dict(columns_of(model))[path]]
        if isinstance(field, TEXTS) and not field.choices
    }
    assert texts == OFFERED_TEXTS


def test_every_choice_of_every_filter_is_let_through(mine, rf):  # noqa: F811
    tried = 0
    for model, page in PAGES.items():
        if model not in READ_BY:
            continue
        request = rf.get(url(model, "changelist"))
        request.user = mine[User]
        shown = page.get_changelist_instance(request)
        for spec in shown.filter_specs:
            for choice in spec.choices(shown):
                tried += 1
                again = rf.get(url(model, "changelist") + choice["query_string"])
                again.user = mine[User]
                page.get_changelist_instance(again)
    assert tried > 100


HTML = {"Accept": "text/html"}


def is_refused(reply: Any) -> bool:
    return reply.status_code == 400 and b"<h1" in reply.content


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OWNER])
@pytest.mark.parametrize(
    "query",
    ["chat_code__regex=(x%2B)%2B", "messages__text__iregex=x", "customer__email__contains=a",
     "customer__attributes__a__icontains=x", "created_at__year=2026", "client__config__isnull=1",
     "customer__secret=1", "status__regex=x", "status__in__regex=x", "nothing=1", "pk__regex=x"],
)  # fmt: skip
def test_other_lookups_are_refused_and_not_run(mine, role, query):  # noqa: F811
    browser = entered(mine, role)
    with CaptureQueriesContext(connection) as seen:
        for ask in (browser.get, browser.post):
            reply = ask(f"{LISTS}?{query}", headers=HTML)
            assert is_refused(reply)
            assert b"has filters that" in reply.content
    assert not [item for item in seen if "chats_conversation" in item["sql"]]
    if role == Role.OWNER:
        export = url(Conversation, "export_list")
        assert browser.get(f"{export}?{query}").status_code == 400


NAMES = (
    "id__exact", "bot__id__exact", "client_id", "status__exact", "is_preview__exact", "status__in",
    "bot__isnull", "began", "waiting", "handoff_reason", "p", "o", "all", "columns", "_popup",
    "_to_field", "e", "q", "sentiment__lt", "bot__id__in",
)  # fmt: skip
VALUES = (
    "x", "%00", "99999999999999999999999", "", "-1", "0", "1,,2", "%ff", "NaN", "1.-2.99.x",
    "2026-13-45", "%F0%9F%98%80", "'\"%5C%25_", "9" * 300,
)  # fmt: skip
FEW = [*zip(NAMES, itertools.cycle(VALUES[:3]), strict=False), ("bot__id__in", "1,%00")]
ALL = pytest.param([*itertools.product(NAMES, VALUES)], marks=pytest.mark.drill)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("pairs", [FEW, ALL], ids=["few", "all"])
def test_values_that_make_no_sense_are_refused_or_change_nothing(pairs):
    browser = entered(world("ourownword"), Role.VIEWER)
    replies = {pair: browser.get(f"{LISTS}?{'='.join(pair)}") for pair in pairs}
    assert {reply.status_code for reply in replies.values()} == {200, 400}


def test_too_much_at_once_is_refused(mine):  # noqa: F811
    browser, customers = entered(mine, Role.VIEWER), url(Customer, "changelist")
    many = "&".join(f"bot__id__exact={number}" for number in range(900))
    autocomplete = "/admin/autocomplete/?app_label=chats&model_name=conversation&field_name=bot"
    for query in (f"id__in={',' * MAX_QUERY_CHARS}", many, f"o={'1.' * MAX_QUERY_CHARS}"):
        assert is_refused(browser.get(f"{LISTS}?{query}", headers=HTML))
    for words in ("x" * 201, "+".join("abcdefghijk")):
        for address in (f"{LISTS}?q={words}", f"{customers}?q={words}"):
            assert is_refused(browser.get(address, headers=HTML))
        assert browser.get(f"{autocomplete}&term={words}").status_code == 400
    assert browser.get(f"{customers}?q=a+b%25+%22c+d%22", headers=HTML).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_a_statement_that_takes_too_long_is_cancelled(monkeypatch, ann):
    """As a page here, and as JSON there; the connection is as before."""
    browser = entered(world("ourownword"), Role.VIEWER)
    slow = Conversation.objects.annotate(pause=models.Func(5, function="pg_sleep")).filter(
        pause__isnull=False
    )
    monkeypatch.setattr("chatplatform.api.middleware.SITE_READ_MILLISECONDS", 200)
    monkeypatch.setattr(type(PAGES[Conversation]), "get_queryset", lambda page, request: slow)
    began = time.monotonic()
    reply = browser.get(LISTS)
    assert time.monotonic() - began < 3
    assert (reply.status_code, b"too long" in reply.content) == (503, True)
    with connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        assert cursor.fetchone() == ("30s",)
    monkeypatch.setattr("bots.services.bots.list_for_client", lambda *_: list(slow))
    with sql.statements_within(200):
        reply = ann.get("/ai/bot")
    assert (reply.status_code, reply.json()["code"]) == (503, "unavailable")
    assert "too long" in reply.json()["detail"]
