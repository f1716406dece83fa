"""Which pages may read what a key is answered."""

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
    asked = {"Access-Control-Request-Method": method, "Origin": origin, **more}
    return person.browser.options(path, headers=asked)


def granted(reply):
    return reply.get("Access-Control-Allow-Origin")


@pytest.mark.parametrize(
    "origin",
    [GOOD, "https://GOOD.com", "https://good.com:8443", "https://a.shop.example",
     "https://a.b.shop.example"],
)  # fmt: skip
def test_an_allowed_page(widget, nobody, origin):
    before = preflight(nobody, origin, **{"Access-Control-Request-Headers": "api-key,content-type"})
    assert (before.status_code, before.content, granted(before)) == (204, b"", origin)
    assert "API-KEY" in before["Access-Control-Allow-Headers"]
    assert before["Access-Control-Allow-Methods"] == "GET"
    reply = widget.get(CONFIG, Origin=origin)
    assert (reply.status_code, granted(reply)) == (200, origin)
    assert "ETag" in reply["Access-Control-Expose-Headers"]
    for one in (before, reply):
        assert "Origin" in one["Vary"]
        assert "Access-Control-Allow-Credentials" not in one


@pytest.mark.parametrize("origin", NOT_ALLOWED)
def test_any_other_page(widget, nobody, origin):
    before, reply = preflight(nobody, origin), widget.get(CONFIG, Origin=origin)
    assert before.status_code == 204
    assert reply.status_code == 403
    for one in (before, reply):
        assert granted(one) is None
        assert "Origin" in one["Vary"]


def test_a_page_reads_its_errors_too(widget):
    reply = widget.get(CONFIG, {"no": "1"}, Origin=GOOD)
    assert (reply.status_code, granted(reply)) == (422, GOOD)
    reply = widget.post("/ai/client/chat", {"no": 1}, Origin=GOOD)
    assert (reply.status_code, granted(reply)) == (422, GOOD)


def test_another_bots_page_passes_the_preflight_and_no_further(ann, nobody, widget):
    make_bot(ann.client, allowed_domain="other.com")
    assert granted(preflight(nobody, "https://other.com")) == "https://other.com"
    reply = widget.get(CONFIG, Origin="https://other.com")
    assert (reply.status_code, granted(reply)) == (403, None)


def test_without_an_origin_nothing_is_granted(widget):
    reply = widget.get(CONFIG)
    assert (reply.status_code, granted(reply)) == (200, None)
    assert "Origin" in reply["Vary"]


def test_a_secret_key_has_no_place_in_a_page(ann, widget):
    bot_id = widget.key.bot_id
    reply = make_key(ann.client, bot_id=bot_id).get(CONFIG, Origin=GOOD)
    assert (reply.status_code, granted(reply)) == (200, None)


@pytest.mark.parametrize(
    ("path", "method"),
    [
        ("/ai/bot", "GET"),  # for people, who do not call from a client's page
        ("/identity/token2", "POST"),
        ("/ai/client/documents", "DELETE"),  # for secret keys alone
        (CONFIG, "POST"),  # not served
        ("/nowhere", "GET"),
        ("/admin/", "GET"),
    ],
)
def test_only_what_a_public_key_may_call(widget, nobody, path, method):
    assert granted(preflight(nobody, GOOD, path, method)) is None


def test_what_a_public_key_may_call(widget, nobody):
    assert granted(preflight(nobody, GOOD, "/ai/client/chat", "POST")) == GOOD
    assert granted(preflight(nobody, GOOD, "/ai/client/chat/", "POST")) == GOOD


def test_a_plain_options_is_no_preflight(widget, nobody):
    reply = nobody.browser.options(CONFIG, headers={"Origin": GOOD})
    assert granted(reply) is None


@pytest.mark.django_db
def test_an_index_finds_who_allows_a_page(widget):
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(
            "EXPLAIN SELECT 1 FROM bots_bot WHERE string_to_array(allowed_domain, ',')"
            " && ARRAY['good.com']"
        )
        plan = "\n".join(row[0] for row in cursor.fetchall())
    assert "bot_allowed_hosts" in plan
