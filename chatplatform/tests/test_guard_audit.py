"""Guards of the audit log: every change and every file that leaves writes a row of it."""

import base64
import io
from typing import Any

import pytest
from django.conf import settings
from django.contrib import admin
from django.contrib.admin.utils import quote
from django.contrib.auth.hashers import make_password
from django.core.management import call_command
from django.test import Client as Browser
from django.urls import reverse
from django.utils import timezone
from django_otp.oath import totp

from bots.models import Bot, Prompt
from bots.testing import make_bot
from channels_app.models import ChannelConnection
from chatplatform.api.operation import RawResponse
from chatplatform.models import Job
from chatplatform.templatetags.action_words import AUDITED
from chatplatform.tests.served import ALL, callers, rows_of, send, undone
from chatplatform.tests.test_guard_site import PAGES, url, world
from identity.models import ApiKey, AuditEvent, SecondFactor, User
from identity.pages import people
from identity.services import audit, passwords, site_sessions
from identity.testing import PASSWORD, make_key, signed_in
from webhooks.models import WebhookConfig

# Operations that change nothing which the audit log is for; the reason, and where it stands.
NOT_AUDITED_BECAUSE = {
    "the event log holds what is done in conversations": {
        "POST /ai/chat/{chat_id}/generate", "POST /ai/chat/{chat_id}/assign",
        "POST /ai/chat/{chat_id}/unassign", "POST /ai/chat/{chat_id}/manual",
        "POST /ai/chat/{chat_id}/manual/files", "POST /ai/chat/{chat_id}/end",
        "POST /ai/chat/{chat_id}/agent-end", "POST /ai/chat/{chat_id}/snooze",
        "PUT /ai/chat/{chat_id}/priority", "POST /ai/chat/{chat_id}/reopen",
        "POST /ai/chat/{chat_id}/summarize", "POST /ai/chat/{chat_id}/tags",
        "PUT /ai/chat/{chat_id}/tags", "POST /ai/chat/{chat_id}/tags/auto",
        "POST /ai/chat/{chat_id}/sentiment", "POST /ai/chat/{chat_id}/feedback",
        "POST /ai/client/chat", "POST /ai/client/chat/{chat_id}",
        "POST /ai/client/chat/customer/{chat_id}", "POST /ai/client/chat/files/{chat_id}",
        "POST /ai/client/chat/assistant/{chat_id}",
        "POST /ai/client/chat/auto-response/{chat_id}",
        "POST /ai/client/chat/{chat_id}/delivered", "POST /ai/client/chat/{chat_id}/read",
        "POST /mesaging/conversations",
        "POST /mesaging/conversations/{conversation_id}/messages",
        "PUT /mesaging/conversations/{conversation_id}/end",
        "POST /mesaging/conversations/{conversation_id}/summary",
        "POST /mesaging/conversations/{conversation_id}/ai-tags",
        "POST /socialnet/webhook", "POST /photoapp/webhook", "POST /localapp/callback",
        "POST /chatapp/webhook", "POST /telegram/webhook/{account_id}",
        "POST /telegram/{client_id}/messages/{bot_id}",
        "POST /socialnet/{client_id}/messages/{bot_id}",
        "POST /photoapp/{client_id}/messages/{bot_id}",
        "POST /localapp/{client_id}/messages/{bot_id}",
        "POST /chatapp/{client_id}/messages/{bot_id}",
        "POST /chatapp/{client_id}/templates/{bot_id}",
    },
    "it answers and stores no change": {
        "POST /ai/{bot_id}/generate-chat", "POST /ai/chat/{chat_id}/tags/auto-temp",
        "POST /ai/client/chat/suggestions/{chat_id}", "POST /client/translate",
        "POST /ai/chat/{chat_id}/rewrite", "POST /ai/client/visitor", "POST /ai/translate",
        "POST /client/summarize",
        "POST /report/adhoc/search",
        "POST /identity/verify-reset-token", "POST /config/{client_id}/email-notification/test",
        "POST /ai/model/test", "POST /ai/chat/{chat_id}/messages/{message_id}/replay",
    },
    "it lasts seconds, or is one person's reading mark": {
        "POST /ai/chat/{chat_id}/typing", "POST /ai/chat/{chat_id}/viewing",
        "POST /ai/chat/events/ticket", "POST /ai/chat/{chat_id}/read",
        "PUT /ai/chat/notifications/read", "PUT /ai/chat/notifications/{notification_id}/read",
    },
    "a row of its own says who asked, and when": {"POST /ai/chat/summary/calculate"},
    "it sends or reads again what is there": {
        "POST /identity/resend-registration",
        "POST /ai/{bot_id}/unanswered-questions/{question_id}/ask",
        "POST /webhook/test", "POST /webhook/events/{event_id}/replay", "POST /webhook/replay",
        "POST /ai/{bot_id}/train/document/reupload",
        "POST /function-calling/{bot_id}/mcp-servers/{mcp_server_id}/refresh",
    },
    "the person is sent to the provider; what comes back is recorded": {
        "POST /socialnet/{client_id}/connect/{bot_id}",
        "POST /photoapp/{client_id}/connect/{bot_id}",
        "POST /localapp/{client_id}/connect/{bot_id}",
    },
}  # fmt: skip
EXEMPT = {operation for operations in NOT_AUDITED_BECAUSE.values() for operation in operations}
# What needs more than a row and a body is tried in a test of its own, which names the action.
TRIED_IN = {
    "POST /ai/{bot_id}/golden-runs/{run_id}/discard": (
        "chats/tests/test_held_changes.py", "golden_run.discarded"
    ),
    "POST /ai/{bot_id}/train/document/{document_id}/discard": (
        "chats/tests/test_held_changes.py", "document.change_discarded"
    ),
    "DELETE /ai/model": ("chats/tests/test_language_models.py", "language_model.removed"),
    "POST /identity/confirm-registration": (
        "identity/tests/test_confirm_registration.py", "client.registered"
    ),
    "POST /identity/token2": ("identity/tests/test_audit.py", "user.signed_in"),
    "POST /identity/forgot-password": (
        "identity/tests/test_password_reset.py", "password_reset.asked"
    ),
    "POST /identity/reset-password": (
        "identity/tests/test_password_reset.py", "password_reset.used"
    ),
    "POST /identity/subscription/payments": (
        "identity/tests/test_credit_orders.py", "credits.topped_up"
    ),
    "PUT /ai/chat/{chat_id}/messages/{message_id}": (
        "chats/tests/test_change_message.py", "message.edited"
    ),
    "DELETE /ai/chat/{chat_id}/messages/{message_id}": (
        "chats/tests/test_change_message.py", "message.deleted"
    ),
    "POST /function-calling/{bot_id}/mcp-servers": (
        "chats/tests/test_mcp_tools.py", "mcp_server.connected"
    ),
    # Every channel is connected by the same service.
    **dict.fromkeys(
        (
            "POST /socialnet/{client_id}/connect_page/{bot_id}",
            "PUT /socialnet/{client_id}/reconnect_page/{bot_id}",
            "POST /photoapp/{client_id}/connect_page/{bot_id}",
            "POST /chatapp/{client_id}/connect/{bot_id}",
            "POST /telegram/{client_id}/connect/{bot_id}",
        ),
        ("channels_app/tests/test_socialnet_connect.py", "channel.connected"),
    ),
}  # fmt: skip
SHARED_REPLY = {"shortcut": "x", "texts": {"en": "x"}, "is_shared": True}
# Another body than the accepted one, which would leave its row as it is.
CHANGED = {
    "PUT /ai/customers/{customer_id}": {"name": "Zoe Fox"},
    "PUT /ai/{bot_id}/train/text/{text_id}": {"title": "Hours", "text": "Open from ten."},
    # Everybody's: one's own are nobody else's business.
    "POST /ai/chat/views": {"name": "x", "query": "view=all", "is_shared": True},
    "POST /ai/chat/saved-replies": SHARED_REPLY,
    "PUT /ai/chat/saved-replies/{saved_reply_id}": SHARED_REPLY,
}


def new_actions(before: int) -> list[str]:
    actions = list(AuditEvent.objects.filter(pk__gt=before).values_list("action", flat=True))
    unlisted = {action for action in actions if not action.endswith(".exported")} - AUDITED.keys()
    assert not unlisted, "an entry in AUDITED, which the OpenAPI document lists"
    return actions


@pytest.mark.full
def test_every_operation_that_changes_something_is_audited(ann):
    key = make_key(ann.client)
    ApiKey.objects.update(last_used_at="2026-01-01T00:00:00Z")  # its first use is recorded
    own_ids = rows_of(ann, key)
    Bot.objects.filter(pk=own_ids["bot_id"]).update(banner="banners/x.png")
    Prompt.objects.update(is_current=False)
    before = AuditEvent.objects.latest("pk").pk
    silent, tried = set(), 0
    for served in (served for served in ALL if served.method != "GET"):
        name = str(served)
        if name in TRIED_IN:
            continue
        tried += 1
        caller = (callers(served.declared.access, ann, key) or [ann])[0]
        with undone():
            ids = own_ids
            if name == "DELETE /ai/bot/{bot_id}":  # one without conversations
                ids = own_ids | {"bot_id": make_bot(ann.client).pk}
            elif "disconnect" in name:
                ChannelConnection.objects.update(status="connected")
            reply = send(caller, served, ids, CHANGED.get(name))
            actions = new_actions(before)
            assert reply.status_code < 300 or name in EXEMPT, (name, reply.content)
        if not actions:
            silent.add(name)
    assert tried > 100
    assert silent - EXEMPT == set(), "audit.record() in the service, or the table above"
    assert EXEMPT - silent == set(), "these are recorded, or gone: take them from the table"


# Downloads that are no export of rows; the reason.
FILES_NOT_AUDITED_BECAUSE = {
    "it is what somebody uploaded": {"GET /ai/{bot_id}/train/document/{document_id}/original"},
    "a customer takes their own chat along": {"GET /ai/client/chat/{chat_id}/transcript.txt"},
    "it is one chat that the agent reads anyway": {"GET /ai/chat/{chat_id}/transcript.txt"},
}
EXPORTS = {
    "GET /ai/customers/{customer_id}/export", "GET /identity/audit/export",
    "POST /report/adhoc/export", "GET /report/adhoc/export/{export_id}",
    # Pages of an export, of which the first is recorded.
    "GET /ai/client/migrate/messages", "GET /ai/client/migrate/conversations",
}  # fmt: skip
SITES_EXPORTS = {"admin:chats_customer_export", "reports_export"}


def is_file(reply: Any) -> bool:
    return str(reply.headers.get("Content-Disposition", "")).startswith("attachment")


def test_every_file_of_the_api_is_audited(ann):
    key = make_key(ann.client)
    ApiKey.objects.update(last_used_at=timezone.now())
    ids = rows_of(ann, key)
    before = AuditEvent.objects.latest("pk").pk
    files, audited = set(), set()
    for served in ALL:
        if not (isinstance(served.declared.returns, RawResponse) or str(served) in EXPORTS):
            continue
        caller = (callers(served.declared.access, ann, key) or [ann])[0]
        with undone():
            reply = send(caller, served, ids)
            if is_file(reply):
                files.add(str(served))
            if new_actions(before):
                audited.add(str(served))
    assert audited == EXPORTS, "audit.record_export() in the service, or the table above"
    exempt = set[str]().union(*FILES_NOT_AUDITED_BECAUSE.values())
    assert files - EXPORTS == exempt, "an export, or a line in the table above"


@pytest.mark.full
def test_every_file_of_the_site_is_audited(ann):
    rows = world("ourownword")
    browser = signed_in(User.objects.get(pk=rows[User].pk))
    before = AuditEvent.objects.latest("pk").pk
    paths = {
        name: reverse(name, args=[quote(rows[model].pk)] if is_detail else [])
        for model, page in PAGES.items()
        for is_detail, buttons in ((True, page.actions_detail), (False, page.actions_list))
        for button in buttons
        for name in [f"admin:{model._meta.app_label}_{model._meta.model_name}_{button}"]
        if model in rows
    } | {"reports_export": reverse("reports_export")}
    found = set()
    for name, path in paths.items():
        with undone():
            ask = browser.post if name == "reports_export" else browser.get
            reply = ask(path)
            if is_file(reply):
                list(reply)
                (action,) = new_actions(before)
                assert action.endswith(".exported")
                found.add(name)
    assert found == SITES_EXPORTS, "a new file of the site is entered in the table"


def test_what_is_tried_elsewhere_is_served_and_named_there():
    assert set(TRIED_IN) <= {str(served) for served in ALL}
    for path, action in TRIED_IN.values():
        assert action in AUDITED
        assert action in (settings.BASE_DIR / path).read_text(), path


ACTIONS_NOT_AUDITED_BECAUSE = {
    "test": "asks the model for one word",
    "refresh": "reads again what is there",
    "send_test": "sends an event that says it is a test",
    "send_again": "sends again what was sent",
    "requeue": "the job, which stays, counts its attempts",
}


def prepare(rows: dict[Any, Any], action: str) -> None:
    """Bring the row into the state in which the action changes it."""
    person = rows[User]
    if action == "enable":
        Bot.objects.filter(pk=rows[Bot].pk).update(is_disabled=True)
    elif action == "switch_on":
        WebhookConfig.objects.update(is_active=False, url="https://93.184.215.14/")
    elif action == "restore":
        Prompt.objects.update(is_current=False)
    elif action == "delete_bots":
        rows[Bot] = make_bot(person.client)
    elif action == "second_factor":
        SecondFactor.objects.create(user=person, secret="A", latest_step=1, recovery_hashes=[])
    elif action == "cancel":
        rows[Job] = Job.objects.create(name="x.y", client_id=person.client_id)


@pytest.mark.full
def test_every_action_of_the_site_is_audited(db):
    rows = world("ourownword")
    rows[Job] = Job.objects.create(name="x.y", state="dead", client_id=rows[User].client_id)
    browser = signed_in(User.objects.create_superuser("staff@example.com", full_name="Staff"))
    before = AuditEvent.objects.latest("pk").pk
    silent = set()
    pages = admin.site._registry.items()
    actions = [(model, str(name)) for model, page in pages for name in page.actions or ()]
    for model, name in actions:
        with undone():
            prepare(rows, str(name))
            act(browser, model, name, rows[model])
            if not new_actions(before):
                silent.add(name)
    assert len(actions) > 15
    assert silent == set(ACTIONS_NOT_AUDITED_BECAUSE)


def act(browser: Browser, model: Any, action: str, row: Any) -> None:
    form = {"action": action, "_selected_action": [row.pk], "confirmed": "yes"}
    browser.post(url(model, "changelist"), form)


def written_on(person: User) -> list[tuple[str, Any]]:
    """The rows of the platform's own log on one of its staff: action, and who did it."""
    rows = AuditEvent.objects.filter(client_id=audit.PLATFORM, subject=f"user:{person.pk}")
    return list(rows.order_by("pk").values_list("action", "user"))


def test_what_is_done_to_one_of_the_staff_is_audited(db):
    """Those are no client's people: it stands in the platform's own log."""
    eve, max_ = (
        User.objects.create_superuser(f"{name}@staff.example", full_name=name)
        for name in ("Eve", "Max")
    )
    browser = signed_in(eve)
    form = {name: getattr(max_, name) for name in ("email", "full_name", "role", "language")}
    changes = {"email": "new@staff.example", "full_name": "New", "language": "vi"}
    silent = set()
    for name in (*people.ACCOUNT_ACTIONS, *changes):
        with undone():
            if name == "second_factor":
                prepare({User: max_}, name)
            sent = {"form": name}
            if name in changes:
                sent = form | {"form": "person", name: changes[name]}
            browser.post(url(User, "change", max_.pk), sent)
            written = written_on(max_)
            assert AuditEvent.objects.count() == len(written), name
            assert {by for _, by in written} <= {eve.pk}, name
            if not written:
                silent.add(name)
    # Nobody invites staff: `make admin` makes them.
    assert silent == {"invite", "reset", "enable"}


@pytest.mark.full
def test_what_one_of_the_staff_does_to_their_own_account_is_audited(db):
    call_command("make_admin", "eve@staff.example", stdout=io.StringIO())
    eve = User.objects.get()
    passwords.set_encoded(eve, make_password(PASSWORD), by=eve)
    browser, login, factor = Browser(), reverse("admin:login"), reverse("admin:second_factor")
    own = {"username": eve.email, "password": PASSWORD}
    browser.post(login, own)
    offer = browser.get(factor).context["offer"]
    code = f"{totp(base64.b32decode(offer.secret)):06}"
    form = {"password": PASSWORD, "signed": offer.signed, "code": code}
    codes = browser.post(factor, form).context["codes"]
    browser.post(factor, {"password": PASSWORD, "code": codes[0]})
    new = "another-horse-battery"
    form = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
    browser.post(reverse("admin:password_change"), form)
    browser.post(reverse("admin:logout"))
    for _ in range(10):
        browser.post(login, own)
    browser.force_login(eve := User.objects.get())
    (sign_in,) = site_sessions.list_own(eve, current=None)
    browser.post(reverse("admin:sign_ins"), {"end": sign_in.id})
    call_command("make_admin", eve.email, stdout=io.StringIO())
    assert written_on(eve) == [
        ("user.created", None),
        ("user.password_set", eve.pk),
        ("user.password_set", eve.pk),
        ("user.signed_in", eve.pk),
        ("second_factor.set_up", eve.pk),
        ("recovery_code.used", eve.pk),
        ("second_factor.removed", eve.pk),
        ("user.password_set", eve.pk),
        ("user.signed_in", eve.pk),
        ("user.signed_out", eve.pk),
        ("user.locked", None),
        ("user.signed_out", eve.pk),
        ("user.password_set", eve.pk),
    ]
