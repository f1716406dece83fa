"""What stands above each list of the site: chips, saved views, columns, and the rows as a file."""

import csv
import io
import re
import uuid
from typing import Any

import pytest
from django.contrib import admin
from django.db import connection
from django.test.utils import CaptureQueriesContext

from bots.models import Document, GoldenQuestion
from chatplatform.empty_states import EMPTY_STATES
from chatplatform.tests.test_codes import faults, texts
from chatplatform.tests.test_guard_site import PAGES, READ_BY, entered, url, world
from chats.models import Customer
from identity.models import AuditEvent, Client, SavedView, User
from identity.testing import make_person, signed_in

CHATS, CUSTOMERS, PEOPLE = (
    "/admin/chats/conversation/", "/admin/chats/customer/", "/admin/identity/user/",
)  # fmt: skip
SAVE, DELETE = "/admin/views/save/", "/admin/views/delete/"


def chips(reply):
    """Each chip, with the address that takes it away."""
    found = re.search(r'<ul class="chips".*?</ul>', reply.content.decode(), re.DOTALL)
    return re.findall(r"<li>(.*?) <a href=\"(.*?)\"", found[0]) if found else []


def rows_of(reply):
    body = b"".join(reply.streaming_content).decode("utf-8-sig")
    return list(csv.reader(io.StringIO(body)))


def test_each_filter_is_a_chip_that_can_be_taken_away(ann, bot):
    browser = signed_in(ann.user)
    page = browser.get(f"{CHATS}?q=Zoe&status__exact=open&o=1")
    shown = dict(chips(page))
    assert [words.partition(":")[0] for words in shown] == ["Search", "Status"]
    assert shown["Search: Zoe"] == "?o=1&amp;status__exact=open"
    assert b'href="?o=1">Clear all' in page.content
    named = browser.get(f"{CHATS}?bot__id__exact={bot.pk}")
    assert [words for words, _ in chips(named)] == [f"Bot: {bot}"]
    assert chips(browser.get(CHATS)) == []


def test_a_filter_that_no_list_offers_is_a_chip_too(ann):
    page = signed_in(ann.user).get("/admin/identity/auditevent/?subject__exact=user:1")
    assert chips(page) == [("Subject: user:1", "?")]


def save(browser, **form):
    form = {"page": "identity.user", "name": "Agents", "query": "role__exact=agent&p=2"} | form
    return browser.post(SAVE, form)


def test_a_view_is_saved_found_again_replaced_and_deleted(ann, ben):
    own, colleague = signed_in(ann.user), signed_in(ben.user)
    assert save(own)["Location"] == f"{PEOPLE}?role__exact=agent"
    page = own.get(PEOPLE)
    assert b'href="?role__exact=agent">Agents</a>' in page.content
    assert b">Agents</a>" not in colleague.get(PEOPLE).content
    assert b">Agents</a>" not in own.get(CHATS).content
    save(own, query="role__exact=owner")
    assert [row.query for row in SavedView.objects.all()] == ["role__exact=owner"]
    assert not AuditEvent.objects.filter(action__startswith="saved_view").exists()
    own.post(DELETE, {"page": "identity.user", "view": SavedView.objects.get().pk})
    assert not SavedView.objects.exists()


def test_shared_views_are_the_clients_and_owners_may_delete_them(ann, ben, cara):
    save(signed_in(ben.user), is_shared="on")
    row = SavedView.objects.get()
    assert b">Agents</a>" in signed_in(ann.user).get(PEOPLE).content
    assert b">Agents</a>" not in signed_in(cara.user).get(PEOPLE).content
    for who in (cara, make_person(ann.client, "agent", "Zoe")):
        reply = signed_in(who.user).post(DELETE, {"page": "identity.user", "view": row.pk})
        assert reply.status_code == 403
    assert SavedView.objects.exists()
    signed_in(ann.user).post(DELETE, {"page": "identity.user", "view": row.pk})
    assert not SavedView.objects.exists()
    actions = AuditEvent.objects.filter(action__startswith="saved_view").order_by("pk")
    assert list(actions.values_list("action", "user")) == [
        ("saved_view.saved", ben.user.pk), ("saved_view.deleted", ann.user.pk),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "form", [{"name": ""}, {"name": "x" * 61}, {"page": "identity.apikey"}, {"page": "x.y"},
             {"page": ""}, {"query": "x" * 2001}]
)  # fmt: skip
def test_nonsense_saves_nothing(ben, form):
    assert save(signed_in(ben.user), **form).status_code in {302, 404}
    assert not SavedView.objects.exists()


def test_columns_are_chosen_in_the_address(ann, bot):
    Customer.objects.create(client=ann.client, name="Zoe", email="zoe@x.example")
    browser = signed_in(ann.user)
    page = browser.get(f"{CUSTOMERS}?columns=who&columns=phone&columns=secret&q=Zoe")
    shown = [item for item in page.context["cl"].list_display if item != "action_checkbox"]
    assert shown == ["who", "phone"]
    assert b"zoe@x.example" not in page.content
    assert len(chips(page)) == 1
    assert 'name="columns" value="phone" checked' in page.content.decode()
    usual = browser.get(f"{CUSTOMERS}?columns=nonsense")
    assert b"zoe@x.example" in usual.content


def test_what_is_filtered_is_exported_without_formulas(ann, cara):
    for name in ("=1+1", "Zoe", "Bo"):
        Customer.objects.create(client=ann.client, name=name)
    Customer.objects.create(client=cara.client, name="Zoe of another")
    browser = signed_in(ann.user)
    header, *rows = rows_of(browser.get(f"{CUSTOMERS}export-list/?columns=who"))
    assert header == ["Customer"]
    assert rows == [["Bo"], ["Zoe"], ["'=1+1"]]
    assert rows_of(browser.get(f"{CUSTOMERS}export-list/?columns=who&q=Zoe"))[1:] == [["Zoe"]]
    recorded = AuditEvent.objects.filter(action="customer.exported", user=ann.user).order_by("pk")
    assert [row.changes["rows"] for row in recorded] == [3, 1]
    assert browser.get(f"{CUSTOMERS}export-list/?nothing=1").status_code in {400, 404}


def test_a_cell_without_a_value_is_empty_in_the_file(ann):
    Customer.objects.create(client=ann.client, name="Zoe")
    columns = "columns=who&columns=email&columns=channels"
    reply = signed_in(ann.user).get(f"{CUSTOMERS}export-list/?{columns}")
    assert reply["Content-Disposition"] == 'attachment; filename="customers.csv"'
    assert rows_of(reply)[1:] == [["Zoe", "", ""]]


@pytest.mark.parametrize("query", ["", "client_id={}", "client__in={}", "client__id__exact={}"])
def test_each_client_reads_of_its_rows_that_the_staff_took_away(ann, cara, query):
    """Whatever the list was filtered by: what counts are the rows in the file."""
    for client, count in ((ann.client, 2), (cara.client, 1)):
        for _ in range(count):
            Customer.objects.create(client=client, name="Zoe")
    staff = User.objects.create_superuser("staff@example.com", full_name="Staff")
    browser = signed_in(staff)
    address = f"{CUSTOMERS}export-list/?columns=who&{query.format(ann.client.pk)}"
    taken = rows_of(browser.get(address))[1:]
    assert len(taken) == (2 if query else 3)
    rows = AuditEvent.objects.filter(action="customer.exported", user=staff)
    recorded = {row.client_id: row.changes["rows"] for row in rows}
    assert recorded == {ann.client.pk: 2} | ({} if query else {cara.client.pk: 1})


def test_agents_and_viewers_take_no_list_away(ann, ben):
    assert signed_in(ben.user).get(f"{CUSTOMERS}export-list/").status_code == 403
    assert b"Export as CSV" not in signed_in(ben.user).get(CUSTOMERS).content
    assert b"Export as CSV" in signed_in(ann.user).get(CUSTOMERS).content


@pytest.mark.full
def test_every_list_is_exported_as_it_is_shown(db):
    mine, other = world("Ourownword"), world("Foreignword")
    browser = entered(mine)
    for model in READ_BY:
        reply = browser.get(url(model, "export_list"))
        assert reply.status_code == 200, model
        header, *rows = rows_of(reply)
        assert rows, model
        assert all(len(row) == len(header) for row in rows), model
        assert not [cell for row in rows for cell in row if "<" in cell or "oreignword" in cell]
    assert other[Client].pk != mine[Client].pk


def test_a_longer_export_costs_the_same(ann, bot):
    def add(count):
        Document.objects.bulk_create(
            Document(client=bot.client, bot=bot, file_name=f"{number}", mime_type="text/plain",
                     size_bytes=1, sha256=uuid.uuid4().hex * 2) for number in range(count)
        )  # fmt: skip

    costs = []
    for _ in range(2):
        add(20)
        with CaptureQueriesContext(connection) as seen:
            assert len(rows_of(signed_in(ann.user).get("/admin/bots/document/export-list/"))) > 20
        costs.append(len(seen))
    assert costs[0] == costs[1]


@pytest.mark.full
def test_an_empty_list_says_what_to_do_next(client_a):
    assert set(EMPTY_STATES) == {model._meta.label for model in admin.site._registry}
    browser = signed_in(User.objects.create_superuser("staff@example.com", full_name="Staff"))
    tried = 0
    for model in PAGES:
        if model._default_manager.exists():
            continue
        tried += 1
        reply = browser.get(url(model, "changelist"))
        assert EMPTY_STATES[model._meta.label] in " ".join(texts(reply)), model
        assert b"yielded" not in reply.content
        assert faults(reply) == [], model
    assert tried > 20
    nothing = browser.get(f"{CHATS}?q=nobody")
    assert "No items match: Search: nobody." in " ".join(texts(nothing))


def test_the_empty_list_of_a_bot_says_what_to_do_next_too(ann, bot):
    golden = url(GoldenQuestion, "changelist")
    of_bot = f"{golden}?bot__id__exact={bot.pk}"
    said = EMPTY_STATES["bots.GoldenQuestion"]
    assert said in " ".join(texts(signed_in(ann.user).get(of_bot)))
    assert said not in " ".join(texts(signed_in(ann.user).get(f"{of_bot}&q=nobody")))


def test_an_empty_list_names_buttons_that_are_there():
    pages: list[Any] = list(admin.site._registry.values())
    buttons = [getattr(page, name) for page in pages for name in page.actions_list]
    named = re.findall("[Ss]elect “(.+?)”", " ".join(EMPTY_STATES.values()))
    assert len(named) >= 8
    assert set(named) <= {view.short_description for view in buttons}
