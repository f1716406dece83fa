"""CORS: which pages may read the answers to a public key."""

import pytest
from django.db import connection

from bots.testing import make_bot
from identity.testing import make_key

CONFIG = "/ai/bot/config"
GOOD = "https://good.com"
NOT_ALLOWED = [
    "https://evil.com", "https://good.com.evil.com", "https://evilgood.com", "http://good.com",
    "null", "https://", "good.com", "https://good.com/path", "https://user@good.com",
    "https://g\u043eod.com".encode().decode("latin-1"), "https://xn--gd-jbbb.com", "*",
    "https://shop.example", "https://[", "file://good.com", "https://good.com, https://evil.com",
]  # fmt: skip


@pytest.fixture
def widget(ann):
    bot = make_bot(ann.client, allowed_domain="good.com,*.shop.example")
    return make_key(ann.client, "public", bot.pk)


def preflight(person, origin, path=CONFIG, method="GET", **more):
    headers = {"Access-Control-Request-Method": method, "Origin": origin, **more}
    return person.browser.options(path, headers=headers)


def allowed_origin(reply):
    return reply.get("Access-Control-Allow-Origin")


@pytest.mark.parametrize(
    "origin",
    [GOOD, "https://GOOD.com", "https://good.com:8443", "https://a.shop.example",
     "https://a.b.shop.example"],
)  # fmt: skip
def test_an_allowed_origin_is_granted(widget, nobody, origin):
    before = preflight(nobody, origin, **{"Access-Control-Request-Headers": "api-key,content-type"})
    assert (before.status_code, before.content, allowed_origin(before)) == (204, b"", origin)
    assert "API-KEY" in before["Access-Control-Allow-Headers"]
    assert before["Access-Control-Allow-Methods"] == "GET"
    reply = widget.get(CONFIG, Origin=origin)
    assert (reply.status_code, allowed_origin(reply)) == (200, origin)
    assert "ETag" in reply["Access-Control-Expose-Headers"]
    for answer in (before, reply):
        assert "Origin" in answer["Vary"]
        assert "Access-Control-Allow-Credentials" not in answer


@pytest.mark.parametrize("origin", NOT_ALLOWED)
def test_any_other_origin_is_refused(widget, nobody, origin):
    before, reply = preflight(nobody, origin), widget.get(CONFIG, Origin=origin)
    assert before.status_code == 204
    assert reply.status_code == 403
    for answer in (before, reply):
        assert allowed_origin(answer) is None
        assert "Origin" in answer["Vary"]


def test_an_allowed_origin_may_read_errors(widget):
    reply = widget.get(CONFIG, {"no": "1"}, Origin=GOOD)
    assert (reply.status_code, allowed_origin(reply)) == (422, GOOD)
    reply = widget.post("/ai/client/chat", {"no": 1}, Origin=GOOD)
    assert (reply.status_code, allowed_origin(reply)) == (422, GOOD)


def test_another_bots_origin_passes_only_the_preflight(ann, nobody, widget):
    make_bot(ann.client, allowed_domain="other.com")
    assert allowed_origin(preflight(nobody, "https://other.com")) == "https://other.com"
    reply = widget.get(CONFIG, Origin="https://other.com")
    assert (reply.status_code, allowed_origin(reply)) == (403, None)


def test_a_request_without_an_origin(widget):
    reply = widget.get(CONFIG)
    assert (reply.status_code, allowed_origin(reply)) == (200, None)
    assert "Origin" in reply["Vary"]


def test_a_secret_key_is_granted_no_origin(ann, widget):
    bot_id = widget.key.bot_id
    reply = make_key(ann.client, bot_id=bot_id).get(CONFIG, Origin=GOOD)
    assert (reply.status_code, allowed_origin(reply)) == (200, None)


@pytest.mark.parametrize(
    ("path", "method"),
    [
        ("/ai/bot", "GET"),  # users, who do not call from a client's page
        ("/identity/token2", "POST"),
        ("/ai/client/documents", "DELETE"),  # secret keys only
        (CONFIG, "POST"),  # not served
        ("/nowhere", "GET"),
        ("/admin/", "GET"),
    ],
)
def test_no_preflight_for_operations_that_a_public_key_may_not_call(widget, nobody, path, method):
    assert allowed_origin(preflight(nobody, GOOD, path, method)) is None


def test_a_preflight_for_an_operation_that_a_public_key_may_call(widget, nobody):
    assert allowed_origin(preflight(nobody, GOOD, "/ai/client/chat", "POST")) == GOOD
    assert allowed_origin(preflight(nobody, GOOD, "/ai/client/chat/", "POST")) == GOOD


def test_an_options_request_without_a_method_is_no_preflight(widget, nobody):
    reply = nobody.browser.options(CONFIG, headers={"Origin": GOOD})
    assert allowed_origin(reply) is None


@pytest.mark.django_db
def test_an_index_finds_the_bots_that_allow_an_origin(widget):
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(
            "EXPLAIN SELECT 1 FROM bots_bot WHERE string_to_array(allowed_domain, ',')"
            " && ARRAY['good.com']"
        )
        plan = "\n".join(row[0] for row in cursor.fetchall())
    assert "bot_allowed_hosts" in plan
