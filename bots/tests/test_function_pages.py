"""An owner adds a function in the site, tries it, and says who is asked before it runs."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from django.urls import reverse
from django.utils.html import escape

from bots.models import Function, FunctionCall, FunctionCalling, LanguageModel
from bots.services import functions
from chatplatform.ids import uuid7
from chatplatform.models import Job
from chatplatform.testing.browser import violations
from identity.models import AuditEvent
from identity.testing import enter_site, signed_in

NEW = reverse("admin:bots_function_new_function")
LIST = reverse("admin:bots_function_changelist")


class Shop(ThreadingHTTPServer):
    """A client's own system; it says where an order is, and cancels."""

    daemon_threads = True

    def __init__(self, port=0):
        super().__init__(("127.0.0.1", port), _Handler)
        self.asked = []
        threading.Thread(target=self.serve_forever, args=(0.005,), daemon=True).start()

    @property
    def host_port(self):
        return f"127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server: Any = self.server
        server.asked.append((self.command, self.path, self.headers.get("Authorization")))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"state": "on its way"}')

    do_DELETE = do_GET

    def log_message(self, *_):
        pass


@pytest.fixture
def shop(settings):
    server = Shop()
    settings.EGRESS_ALLOW = [server.host_port]
    yield server
    server.shutdown()
    server.server_close()


def text(reply):
    assert reply.status_code == 200
    return reply.content.decode()


def values(shop, bot, **more):
    return {
        "form": "settings", "bot_id": bot.pk, "name": "Tra cứu đơn hàng", "method": "GET",
        "description": "Says where an order is.", "url": f"http://{shop.host_port}/o/{{order_id}}",
        "requires_approval": "none", "timeout_seconds": 10,
        "parameter_0_name": "order_id", "parameter_0_type": "string", "parameter_0_required": "on",
        "parameter_0_about": "On the receipt", "header_0_name": "Authorization",
        "header_0_value": "Bearer very-secret", **more,
    }  # fmt: skip


@pytest.fixture
def function(ann, bot, shop):
    assert signed_in(ann.user).post(NEW, values(shop, bot)).status_code == 302
    return Function.objects.get()


def edit_page(function):
    return reverse("admin:bots_function_edit", args=[function.pk])


def test_a_function_is_added_in_rows_and_turns_calls_on(function, ann, bot, shop):
    assert function.name == "tra_cuu_don_hang"
    assert function.parameters == {
        "type": "object", "additionalProperties": False, "required": ["order_id"],
        "properties": {"order_id": {"type": "string", "description": "On the receipt"}},
    }  # fmt: skip
    assert FunctionCalling.objects.get().is_enabled
    assert AuditEvent.objects.filter(action="function_calling.updated").count() == 1
    shown = text(signed_in(ann.user).get(edit_page(function)))
    assert "very-secret" not in shown
    again = signed_in(ann.user).post(NEW, values(shop, bot))
    assert 'class="errors' in text(again)
    assert Function.objects.count() == 1


@pytest.mark.full
@pytest.mark.parametrize(
    ("method", "approval"), [("GET", "none"), ("POST", "customer"), ("DELETE", "customer")]
)
def test_the_customer_is_asked_unless_a_function_only_reads(ann, bot, shop, method, approval):
    shown = text(signed_in(ann.user).get(NEW))
    assert '<option value="" selected>' in shown
    form = values(shop, bot, method=method, requires_approval="")
    assert signed_in(ann.user).post(NEW, form).status_code == 302
    row = Function.objects.get()
    assert row.requires_approval == approval
    assert '<option value="">' not in text(signed_in(ann.user).get(edit_page(row)))


def test_a_value_that_stands_in_the_address_needs_no_row(ann, bot, shop):
    form = values(shop, bot, parameter_0_name="")
    assert signed_in(ann.user).post(NEW, form).status_code == 302
    assert Function.objects.get().parameters["required"] == ["order_id"]


def test_a_change_keeps_secrets_and_what_only_the_api_sets(function, ann, bot, shop):
    function.parameters["properties"]["order_id"]["maxLength"] = 20
    function.save()
    other = function.__class__.objects.create(
        client=bot.client, bot=bot, name="cancel", description="x", parameters={"type": "object"},
        method="DELETE", url=f"http://{shop.host_port}/o", position=1,
    )  # fmt: skip
    form = values(shop, bot, header_0_name="", requires_approval="customer", url=function.url)
    assert signed_in(ann.user).post(edit_page(function), form).status_code == 302
    function.refresh_from_db()
    assert function.requires_approval == "customer"
    assert function.parameters["properties"]["order_id"]["maxLength"] == 20
    assert functions.secret_headers(function) == {"Authorization": "Bearer very-secret"}
    assert Function.objects.filter(pk=other.pk).exists()
    signed_in(ann.user).post(edit_page(function), {**form, "forgets_secrets": "on"})
    function.refresh_from_db()
    assert functions.secret_headers(function) == {}


def test_a_schema_that_rows_cannot_show_stays(function, ann, bot, shop):
    schema = {"type": "object", "properties": {"order_id": {"type": ["string", "null"]}}}
    Function.objects.update(parameters=schema)
    signed_in(ann.user).post(edit_page(function), values(shop, bot, url=function.url))
    assert Function.objects.get().parameters == schema


def test_what_somebody_wrote_of_a_value_is_text(function, ann, shop):
    written = {"a": '<div x-data x-init="alert(1)">', "b": "The <b>order</b> number"}
    Function.objects.update(
        parameters={
            "type": "object",
            "properties": {
                name: {"type": "string", "description": words} for name, words in written.items()
            },
        }
    )
    shown = signed_in(ann.user).get(edit_page(function)).content.decode()
    for words in written.values():
        assert words not in shown
        assert escape(words) in shown
    # Help texts of ours keep their markup.
    assert "<code>{customer.external_id}</code>" in shown
    assert "<code>{{order_id}}</code>" in shown


def test_it_is_tried_and_says_what_the_bot_would_read(function, ann, shop):
    page = text(signed_in(ann.user).post(edit_page(function), {"form": "try", "order_id": "A 17"}))
    assert shop.asked == [("GET", "/o/A%2017", "Bearer very-secret")]
    assert 'data-status="succeeded"' in page
    assert "on its way" in page
    call = FunctionCall.objects.get()
    assert (call.conversation_id, call.decided_by) == (None, ann.user)
    function.parameters["properties"]["order_id"]["maxLength"] = 20
    function.save()
    for wrong in ({}, {"order_id": "1" * 21}):
        reply = signed_in(ann.user).post(edit_page(function), {"form": "try", **wrong})
        assert 'id="trial-form" data-refused' in text(reply)
    assert len(shop.asked) == FunctionCall.objects.count() == 1


def test_a_number_may_have_decimals_and_an_integer_has_none(function, ann, shop):
    function.parameters["properties"] |= {"kg": {"type": "number"}, "pieces": {"type": "integer"}}
    function.save()
    form = {"form": "try", "order_id": "A", "kg": "1.5"}
    page = text(signed_in(ann.user).post(edit_page(function), form | {"pieces": "2"}))
    assert 'data-status="succeeded"' in page
    assert FunctionCall.objects.get().arguments == {"order_id": "A", "kg": 1.5, "pieces": 2}
    refused = text(signed_in(ann.user).post(edit_page(function), form | {"pieces": "2.5"}))
    assert 'id="trial-form" data-refused' in refused
    assert len(shop.asked) == 1


def test_an_address_of_ours_is_refused_beside_its_field(ann, bot, shop):
    page = text(signed_in(ann.user).post(NEW, values(shop, bot, url="https://10.0.0.1/{order_id}")))
    assert 'class="errors' in page
    assert not Function.objects.exists()


def test_calls_are_turned_off_and_a_function_is_deleted(function, ann, bot):
    switch = reverse("admin:bots_function_switch", args=[bot.pk])
    assert switch in text(signed_in(ann.user).get(LIST))
    signed_in(ann.user).post(switch, {"max_calls_per_reply": 3})
    row = FunctionCalling.objects.get()
    assert (row.is_enabled, row.max_calls_per_reply) == (False, 3)
    assert signed_in(ann.user).post(edit_page(function), {"form": "delete"})["Location"] == LIST
    assert not Function.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("answer", "status"), [("yes", "waiting"), ("no", "rejected")])
def test_a_teammate_decides_on_a_call(ann, ben, cara, bot, answer, status):
    call = FunctionCall.objects.create(
        client=bot.client, bot=bot, function_name="cancel_order", arguments={"order_id": "A-17"},
        status="waiting", requires_approval="agent", conversation_id=uuid7(),
    )  # fmt: skip
    decide = reverse("admin:bots_functioncall_decide", args=[call.pk])
    assert signed_in(cara.user).post(decide, {"approve": answer}).status_code == 404
    assert "Cancel order (order id: A-17)" in text(signed_in(ben.user).get(LIST))
    assert signed_in(ben.user).post(decide, {"approve": answer}).status_code == 302
    call.refresh_from_db()
    assert (call.status, call.decided_by) == (status, ben.user)
    assert Job.objects.filter(name="chats.continue_after_approval").count() == 1
    assert decide not in text(signed_in(ben.user).get(LIST))


def test_others_change_nothing(function, ben, cara, shop, bot):
    forms = ({"form": "delete"}, {"form": "try", "order_id": "1"}, values(shop, bot))
    for form in forms:
        assert signed_in(ben.user).post(edit_page(function), form).status_code == 403
        assert signed_in(cara.user).post(edit_page(function), form).status_code == 404
    assert signed_in(ben.user).get(edit_page(function)).status_code == 200
    assert signed_in(ben.user).post(NEW, values(shop, bot)).status_code == 403
    switch = reverse("admin:bots_function_switch", args=[bot.pk])
    assert signed_in(ben.user).post(switch, {"max_calls_per_reply": 1}).status_code == 403
    assert signed_in(cara.user).post(switch, {"max_calls_per_reply": 1}).status_code == 404
    assert Function.objects.count() == 1
    assert shop.asked == []


def test_in_the_browser_an_order_is_looked_up_and_a_cancellation_asks(
    screen, ann, bot, outside_port
):
    shop = Shop(outside_port)
    enter_site(screen, ann.user)
    screen.goto(LIST)
    screen.get_by_role("link", name="Add function").click()
    screen.locator("#id_name").fill("Look up an order")
    screen.locator("#id_description").fill("Says where an order is.")
    screen.get_by_label("URL").fill(f"http://{shop.host_port}/orders/{{order_id}}")
    assert violations(screen) == []
    screen.get_by_role("button", name="Add function").click()
    screen.get_by_label("Order id").fill("A-17")
    screen.get_by_role("button", name="Try it").click()
    screen.locator("#outcome[data-status=succeeded]").wait_for()
    assert violations(screen) == []
    screen.get_by_label("Who approves calls?").select_option("customer")
    screen.get_by_role("button", name="Save").click()
    screen.get_by_text("Saved.").wait_for()
    row = Function.objects.get()
    assert (row.name, row.requires_approval) == ("look_up_an_order", "customer")
    assert [path for _, path, _ in shop.asked] == ["/orders/A-17"]
    assert json.loads(FunctionCall.objects.get().result_excerpt) == {"state": "on its way"}
    shop.shutdown()
    shop.server_close()


@pytest.mark.full
def test_a_function_that_no_model_can_call_says_so_everywhere(ann, bot, shop, settings):
    settings.LLM_BASE_URL = ""
    site, shown = signed_in(ann.user), "data-needs-model"
    connect = reverse("admin:bots_languagemodel_set_model")
    new = text(site.get(NEW))
    assert shown in new
    assert connect in new
    added = site.post(NEW, values(shop, bot), follow=True)
    assert shown in text(added)
    assert [message.level_tag for message in added.context["messages"]] == ["warning"]
    assert shown in text(site.get(LIST))
    assert "data-no-model" in text(site.get(reverse("admin:bots_bot_behaviour", args=[bot.pk])))
    path = "/report/warning-dashboard"
    assert [row["code"] for row in ann.get(path).json()["warnings"]] == ["functions_without_model"]
    assert LIST in text(site.get(reverse("admin:index")))
    steps = {"name": "Refund", "starts_with": ["Refund"], "steps": "end"}
    ann.put(f"/ai/{bot.pk}/procedures", {"procedures": [steps]})
    assert shown not in text(site.get(LIST))
    assert ann.get(path).json()["warnings"] == []
    ann.put(f"/ai/{bot.pk}/procedures", {"procedures": []})
    LanguageModel.objects.create(
        client=bot.client, base_url="https://8.8.8.8/v1", model="gpt", api_key=""
    )
    for page in (NEW, LIST, edit_page(Function.objects.get())):
        assert shown not in text(site.get(page))
    assert ann.get(path).json()["warnings"] == []
