"""The table of rights (docs/rights.md) against what is served: every operation, every caller."""

import re

import pytest
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chatplatform.api.operation import listed
from chatplatform.tests.owners import *  # noqa: F403
from chatplatform.tests.owners import sign_in
from chatplatform.tests.served import ALL, CLOSED, for_each, send
from chats.models import Conversation
from chats.testing import visitor_of
from commands.management.commands.api_rights import CALLERS, table
from identity.models import ApiKey, Role, User
from identity.testing import make_key, make_person

pytestmark = pytest.mark.full

PAGE = settings.BASE_DIR / "docs" / "rights.md"
# Of the tags with a client's settings, what agents or viewers may do all the same.
STAFF_MAY_BECAUSE = {
    ("POST", "/identity/revoke"): "signing out changes only the person's own tokens",
    ("PUT", "/identity/users/me"): "a person's own name and language",
    ("PUT", "/identity/users/me/password"): "a person's own password",
    ("POST", "/function-calling/{bot_id}/events/{call_id}/decision"): "part of answering a chat",
}
SETTINGS_TAGS = {"bot", "function-calling", "Webhook", "identity", "config"}
_WRITES = re.compile(r"INSERT|UPDATE|DELETE")


def read_table():
    """Who may call each operation, as the page says it."""
    rows = [
        line.strip("| ").split(" | ") for line in PAGE.read_text().splitlines() if "` | " in line
    ]
    return {
        tuple(where.strip("`").split()): dict(zip(CALLERS, cells, strict=True))
        for _, where, *cells in rows
    }


TABLE = read_table() if PAGE.exists() else {}


def test_the_page_is_what_the_operations_declare():
    assert PAGE.read_text() == table(), "run make openapi"
    assert set(TABLE) == {served.at for served in ALL}
    rights = {right for served in ALL for right in served.declared.access.admitted("GET")}
    assert rights == set(CALLERS)


@pytest.fixture(scope="module")
def people(owners, django_db_blocker):
    """A person and a key of each kind beside the owner, of the same client, and the visitor's chat.

    Made once for all tests of this module.
    """
    client, ids = owners[0].user.client, owners[0].rows
    with django_db_blocker.unblock():
        public = make_key(client, "public", ids["bot_id"])
        Conversation.objects.filter(pk=ids["chat_id"]).update(
            opened_by_key=public.key, visitor_id=17
        )
        chat = Conversation.objects.get(pk=ids["chat_id"])
        users = {
            "owner": owners[0].user,
            "admin": make_person(client, Role.ADMIN, "Abe").user,
            "trainer": make_person(client, Role.AGENT, "Tom").user,
            "agent": make_person(client, Role.AGENT, "Ben").user,
            "viewer": make_person(client, Role.VIEWER, "Vic").user,
        }
        User.objects.filter(full_name="Tom").update(can_train=True)
        return users, make_key(client), public, chat


@pytest.fixture
def cast(people, ours, db):
    """A caller of each kind, and rows for the ids of paths."""
    users, secret, public, chat = people
    callers = {name: sign_in(user) for name, user in users.items()}
    callers |= {"secret key": secret, "public key": visitor_of(public, chat)}
    # Else the first use of a key is written down, whatever the answer.
    ApiKey.objects.update(last_used_at=timezone.now())
    return callers, ours


@for_each(CLOSED)
def test_each_caller_may_what_the_table_says(served, cast):
    callers, ids = cast
    row = TABLE[served.at]
    allowed = {name for name in callers if row[name] == "yes"}
    if "agent" in allowed:
        allowed.add("trainer")  # who is an agent here
    assert allowed, "somebody may call it"
    for name in callers.keys() - allowed:
        with CaptureQueriesContext(connection) as captured:
            reply = send(callers[name], served, ids)
        assert not [query for query in captured if _WRITES.match(query["sql"])], name
        scheme = "api_key" if name.endswith("key") else "bearer"
        if scheme not in served.declared.access.security:
            assert reply.status_code == 401, name
            continue
        assert (reply.status_code, reply.json()["code"]) == (403, "forbidden"), name
        kind = "agent" if name == "trainer" else name
        assert reply.json()["detail"].endswith(f" can do this. You are {listed([kind])}."), name
    for name in sorted(allowed):
        assert send(callers[name], served, ids).status_code not in {401, 403, 500}, name


def test_agents_work_on_chats_and_change_no_settings():
    written = [served for served in CLOSED if served.method != "GET"]
    settings_of = [served for served in written if served.declared.tag in SETTINGS_TAGS]
    assert len(settings_of) > 20
    may = {
        served.at
        for served in settings_of
        if {"agent", "viewer", "trainer"} & set(served.declared.access.rights)
    }
    assert may == set(STAFF_MAY_BECAUSE)
    training = {
        served.declared.access.rights for served in written if served.declared.tag == "AI / train"
    }
    assert training == {("owner", "admin", "trainer")}


def test_a_viewer_may_be_allowed_to_train(ann, ours):
    vic = make_person(ann.client, Role.VIEWER, "Vic")
    bot_id = ours["bot_id"]
    path, prompt = f"/ai/{bot_id}/train/prompt", {"content": "Be brief."}
    assert vic.post(path, prompt).status_code == 403
    role = {"role": "viewer", "can_train": True}
    vic_id = vic.get("/identity/users/me").json()["id"]
    reply = ann.put(f"/identity/users/{vic_id}/role", role)
    assert (reply.status_code, reply.json()["can_train"]) == (200, True)
    assert vic.post(path, prompt).status_code == 200
    assert vic.post("/ai/bot", {"bot_name": "Second"}).status_code == 403
