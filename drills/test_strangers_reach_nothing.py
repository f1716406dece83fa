"""No operation reads or writes another client's rows, with any kind of credential.

Random calls of every operation contain ids of the other client's rows.
`STRANGER_TRIES=100000 make drill` makes more calls, `STRANGER_SEED` repeats the calls of a run.
"""

import os
import random
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from django.apps import apps
from django.db import connection, models

from chatplatform.api.operation import Form
from chatplatform.tests.served import ACCEPTED, ALL, Served, part, rows_of, undone
from chatplatform.tests.test_erasing import write
from chatplatform.tests.test_guard_operations import PUBLIC_BECAUSE, lacks_a_server
from chatplatform.tests.test_guard_site import world
from chats.testing import visit
from commands import client_rows
from identity.models import Client, Role, User
from identity.testing import Person, make_client, make_key, make_person

TRIES = int(os.environ.get("STRANGER_TRIES", "20000"))
SEED = int(os.environ.get("STRANGER_SEED", random.randrange(10**6)))
# The word in all texts of the other client's rows.
WORD = "quokkamarker"
OTHER_ROWS = 3
TRIED = [served for served in ALL if served.ids or served.at not in PUBLIC_BECAUSE]
# Records each change of the other client's rows in a table, even if it is rolled back later.
WATCH = """
CREATE TABLE strangers_write (place text);
CREATE FUNCTION strangers_watch() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    row jsonb := to_jsonb(COALESCE(NEW, OLD));
BEGIN
    IF (row ->> 'client_id')::bigint = {client}
        OR (row ->> 'user_id')::bigint = ANY ('{people}') THEN
        INSERT INTO strangers_write VALUES (TG_OP || ' of ' || TG_TABLE_NAME);
    END IF;
    RETURN NULL;
END $$;
"""
ON_TABLE = """CREATE TRIGGER strangers_watch AFTER INSERT OR UPDATE OR DELETE ON "{table}"
    FOR EACH ROW EXECUTE FUNCTION strangers_watch()"""
# Fields in queries and bodies that hold the id of a row.
AN_ID = re.compile(r"^(id|.*_ids?|responsible|agents?|tags?|customer|conversation|file)$")


@dataclass(frozen=True)
class World:
    """The callers of one client, this client's rows, and the other client's rows."""

    callers: dict[str, Person]
    own: dict[str, Any]
    others: list[dict[str, Any]]


def other_client() -> tuple[Client, list[dict[str, Any]], Person]:
    """A client whose rows contain the word, the ids of its rows, and a person who may see them."""
    rows = world(WORD)
    client: Client = rows[Client]
    owner, key = make_person(client, Role.OWNER, WORD), make_key(client)
    write(key, WORD)  # type: ignore[no-untyped-call]
    return client, [rows_of(owner, key) for _ in range(OTHER_ROWS)], owner


def first_client() -> tuple[dict[str, Person], dict[str, Any]]:
    client = make_client("Acme")
    owner, key = make_person(client), make_key(client)
    own = rows_of(owner, key)
    page = make_key(client, "public", own["bot_id"])
    callers = {role: make_person(client, role) for role in Role.values}
    callers |= {"secret key": key, "key of one bot": make_key(client, "secret", own["bot_id"])}
    callers |= {"page": page, "visitor": visit(page)[0], "nobody": Person()}
    disabled = make_person(client, Role.ADMIN)
    User.objects.filter(pk=disabled.user.pk).update(is_disabled=True)  # type: ignore[union-attr]
    return callers | {"disabled person": disabled}, own


def watch(client: Client) -> None:
    ids = User.objects.filter(client=client).values_list("pk", flat=True)
    with connection.cursor() as cursor:
        cursor.execute(WATCH.format(client=client.pk, people=f"{{{','.join(map(str, ids))}}}"))
        for model, _ in client_rows.of_client(client):
            cursor.execute(ON_TABLE.format(table=model._meta.db_table))


def writes() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT DISTINCT place FROM strangers_write")
        return [place for (place,) in cursor.fetchall()]


def links_between_clients() -> str:
    """A statement that finds rows of one client that refer to a row of another."""
    tenants = {
        model
        for model in apps.get_models()
        if "client_id" in {field.attname for field in model._meta.concrete_fields}
    }
    found = [
        f"SELECT '{model.__name__}.{field.name}' FROM {model._meta.db_table} a"
        f" JOIN {field.related_model._meta.db_table} b ON b.id = a.{field.column}"
        " WHERE a.client_id <> b.client_id"
        for model in tenants
        for field in model._meta.concrete_fields
        if isinstance(field, models.ForeignKey) and field.related_model in tenants
    ]
    assert len(found) > 30
    return " UNION ALL ".join(found)


def a_caller(chance: random.Random, served: Served, world: World) -> str:
    """A random caller, mostly with a kind of credential that the operation accepts."""
    kinds = [*served.declared.access.security]
    kind = chance.choice([*kinds, *kinds, ""] if kinds else [""])
    names = {
        "bearer": [*Role.values, "disabled person"],
        "api_key": [name for name, caller in world.callers.items() if caller.key],
    }
    return chance.choice(names.get(kind) or list(world.callers))


def a_try(chance: random.Random, served: Served, world: World) -> tuple[str, dict[str, Any], Any]:
    """A path, a query and a body, with at least one id of the other client."""
    theirs = chance.choice(world.others)
    foreign = (
        set(chance.sample(served.ids, chance.randint(1, len(served.ids)))) if served.ids else set()
    )
    path = served.fill({**world.own, **{name: theirs[name] for name in foreign}})
    query, body = {}, ACCEPTED.get(served.at)
    if served.declared.query and (not foreign or chance.random() < 0.5):
        query = with_ids(chance, served.declared.query, theirs)
    declared = served.declared.body
    if isinstance(body, dict) and declared and (not foreign or chance.random() < 0.5):
        schema = declared.schema if isinstance(declared, Form) else declared
        body = {**body, **with_ids(chance, schema, theirs)}
    return path, query, body


def with_ids(chance: random.Random, schema: Any, theirs: dict[str, Any]) -> dict[str, Any]:
    """A schema's fields that refer to rows, with the other client's ids."""
    found = {}
    for name in schema.model_fields:
        if AN_ID.match(name) and chance.random() < 0.7:
            value = theirs.get(name.removesuffix("s"), chance.choice(list(theirs.values())))
            value = value if isinstance(value, int) else str(value)
            found[name] = [value] if name.endswith("s") else value
    return found


def send(caller: Person, served: Served, path: str, query: dict[str, Any], body: Any) -> Any:
    """Send a request; return the answer and its whole content."""
    at = f"{path}?{urlencode(query, doseq=True)}" if query else path
    headers, method = caller.headers, served.method.lower()
    if isinstance(served.declared.body, Form):
        parts = {name: part(value) for name, value in (body or {}).items()}
        reply = getattr(caller.browser, method)(at, parts, headers=headers)
    elif body is None:
        reply = caller.browser.generic(served.method, at, headers=headers)
    else:
        reply = getattr(caller.browser, method)(
            at, body, content_type="application/json", headers=headers
        )
    is_file = reply.headers.get("Content-Disposition")
    content = b"".join(reply) if is_file else b"" if reply.streaming else reply.content
    return reply, content


@pytest.mark.timeout(4 * 3600)
@pytest.mark.django_db
def test_strangers_read_and_write_nothing(settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path
    client, others, insider = other_client()
    callers, own = first_client()
    here, chance, links = World(callers, own, others), random.Random(SEED), links_between_clients()
    watch(client)
    # Make sure that the word can be found by those who may.
    assert WORD.encode() in insider.get("/ai/chats").content
    with undone():
        renamed = insider.put(f"/ai/bot/{others[0]['bot_id']}/update-bot", {"bot_name": "x"})
        assert (renamed.status_code, "UPDATE of bots_bot" in writes()) == (200, True)
    statuses: dict[str, Counter[int]] = {name: Counter() for name in callers}
    for number in range(TRIES):
        served = TRIED[number % len(TRIED)]
        name = a_caller(chance, served, here)
        path, query, body = a_try(chance, served, here)
        what = (SEED, number, name, served.method, path, query, body)
        with undone():
            reply, content = send(callers[name], served, path, query, body)
            statuses[name][reply.status_code] += 1
            assert WORD.encode() not in content, (what, content)
            assert writes() == [], what
            if served.ids and served.at not in PUBLIC_BECAUSE:
                assert reply.status_code >= 400, (what, content)
            assert reply.status_code < 500 or lacks_a_server(reply), (what, content)
            if reply.status_code < 300 and served.method != "GET":
                with connection.cursor() as cursor:
                    cursor.execute(links)
                    assert cursor.fetchall() == [], what
    print(f"\nseed {SEED}: {TRIES} tries over {len(TRIED)} operations, 0 reads, 0 writes")
    for name, counted in statuses.items():
        print(f"  {name}: {dict(sorted(counted.items()))}")
    assert statuses[Role.OWNER][404] > TRIES / len(callers) / 3
