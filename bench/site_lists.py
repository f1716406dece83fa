"""Measure the site's lists and its palette, each on a table with a million rows of one client.

    python -m local.datastores exec -- python bench/site_lists.py

Prints a table for docs/benchmarks.md. LISTS_ROWS (1,000,000) sets the size. Each table is filled
in a transaction that is rolled back, so that each is measured alone.
"""

import os
import sys
import time
from typing import Any

from comparison import ROOT

ROWS = int(os.environ.get("LISTS_ROWS", "1000000"))
BEST_OF = 3
# The lists that grow with use; the others grow with what people set up.
GROWING = (
    "chats.Conversation", "chats.Message", "chats.Customer", "chats.Feedback", "chats.Summary",
    "bots.Chunk", "bots.FunctionCall", "channels_app.OutboundSend", "webhooks.Event",
    "webhooks.Delivery", "identity.CreditEntry", "identity.AuditEvent", "chatplatform.Job",
)  # fmt: skip


# Models whose copies need a parent each, which is multiplied too: otherwise joins find nothing.
PARENTS = {"webhooks.Delivery": "webhooks.Event", "chats.Feedback": "chats.Conversation",
           "chats.Message": "chats.Conversation",
           "channels_app.OutboundSend": "chats.Message"}  # fmt: skip
# Fields with the same value in all copies.
SHARED = {"client", "document", "connection"}
# Prefers, among a constraint's columns, the type with most room for a million values.
_ROOM = {"BigAutoField": 5, "UUIDField": 4, "CharField": 3, "TextField": 3, "BigIntegerField": 2}


def _kind(field: Any) -> str:
    """The type of a column; for a foreign key, that of its target."""
    target = field.target_field if field.is_relation else field
    return str(target.get_internal_type())


def value_of(field: Any, *, is_unique: bool) -> str:
    """The n-th copy's value in a column: times are spread, unique values are made from n."""
    column, kind = f't."{field.column}"', _kind(field)
    if kind == "DateTimeField":
        return f"{column} - n * interval '9 seconds'"
    if not is_unique:
        return column
    if kind == "UUIDField":
        return "('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid"
    if kind in {"CharField", "TextField"}:
        return f"left({column}, 20) || n"
    return "1000000 + n"


def unique_names(model: Any) -> set[str]:
    """The fields whose values must be unique."""
    meta = model._meta
    names = {field.name for field in meta.concrete_fields if field.unique}
    for constraint in meta.constraints:
        fields = [name for name in getattr(constraint, "fields", ()) if name not in SHARED]
        if fields and not names & set(fields):
            names.add(max(fields, key=lambda name: _ROOM.get(_kind(meta.get_field(name)), 0)))
    return names


def multiply(template: Any) -> None:
    """Make a million copies of a row."""
    from django.db import connection  # noqa: PLC0415

    model, table = type(template), template._meta.db_table
    unique = unique_names(model)
    fields = [field for field in model._meta.concrete_fields if not field.generated]
    names = ", ".join(f'"{field.column}"' for field in fields)
    values = ", ".join(value_of(field, is_unique=field.name in unique) for field in fields)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")
        # Skip triggers and foreign keys, since the rows are copies of a valid one.
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(
            f"INSERT INTO {table} ({names}) SELECT {values} FROM {table} t,"
            f" generate_series(1, {ROWS}) n WHERE t.{model._meta.pk.column} = %s",
            [template.pk],
        )
        cursor.execute("SET LOCAL session_replication_role = origin")
        # Analyze all tables: if the planner took a joined one for large, it would sort the million.
        cursor.execute("ANALYZE")


def took(browser: Any, path: str) -> tuple[float, int, int]:
    """A page's milliseconds (the best of three), SQL statements and bytes."""
    from django.db import connection  # noqa: PLC0415
    from django.test.utils import CaptureQueriesContext  # noqa: PLC0415

    times = []
    for _ in range(BEST_OF):
        with CaptureQueriesContext(connection) as seen:
            began = time.perf_counter()
            reply = browser.get(path)
            times.append((time.perf_counter() - began) * 1000)
        assert reply.status_code == 200, (path, reply.status_code)
    if min(times) > 200:
        slow = max(seen, key=lambda query: float(query["time"]))
        print(
            f"  {min(times):.0f} ms {path}: {slow['time']} s {slow['sql'][-400:]}", file=sys.stderr
        )
    return min(times), len(seen), len(reply.content)


def filters_of(page: Any) -> list[str]:
    """The query strings of a list's filters, one for each choice."""
    found = []
    for name in page.list_filter:
        if isinstance(name, str) and "__" not in name:
            field = page.model._meta.get_field(name)
            choices = [code for code, _ in field.choices or ()]
            choices += [0, 1] if field.get_internal_type() == "BooleanField" else []
            found += [f"?{name}__exact={code}" for code in choices]
    return found


def palette(browser: Any) -> list[str]:
    """Search in the palette for words that no row contains, and for words that all contain."""
    from django.urls import reverse  # noqa: PLC0415

    found = []
    for term in ("nothing-like-it", "acme"):
        ms, queries, size = took(browser, f"{reverse('admin:search')}?s={term}")
        found.append(
            f"| Palette, `{term}` | owner | {ms:.0f} | | | | {queries} | {size / 1000:.0f} |"
        )
    return found


def ancestors(label: str) -> list[str]:
    """The parents to multiply before the rows of a list, the farthest first."""
    parent = PARENTS.get(label)
    return [*ancestors(parent), parent] if parent else []


def measure(model: Any, browsers: dict[str, Any]) -> list[str]:
    """Measure a list's first and a later page, its filters and its search, for each viewer."""
    from django.contrib import admin  # noqa: PLC0415
    from django.urls import reverse  # noqa: PLC0415

    path = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    page = admin.site.get_model_admin(model)
    rows = []
    for who, browser in browsers.items():
        if browser.get(path).status_code == 403:
            continue
        first, queries, size = took(browser, path)
        later = took(browser, f"{path}?p=20")[0]
        narrowed = max((took(browser, path + query)[0] for query in filters_of(page)), default=0)
        searched = took(browser, f"{path}?q=nothing-like-it")[0] if page.search_fields else 0
        title = str(model._meta.verbose_name_plural).capitalize()
        rows.append(
            f"| {title} | {who} | {first:.0f} | {later:.0f} | {narrowed:.0f} | {searched:.0f}"
            f" | {queries} | {size / 1000:.0f} |"
        )
        print(rows[-1], flush=True, file=sys.stderr)
    return rows


def world() -> tuple[dict[Any, Any], dict[str, Any]]:
    """A client with a row of each model, and the viewers' browsers."""
    from django.test import Client as Browser  # noqa: PLC0415

    from chatplatform.models import Job  # noqa: PLC0415
    from chatplatform.tests.test_guard_site import world as made  # noqa: PLC0415
    from chats.models import Message  # noqa: PLC0415
    from identity.models import User  # noqa: PLC0415

    rows = made("Acme")
    rows[Message] = Message.objects.earliest("pk")
    rows[Job] = Job.objects.create(name="bots.train_document", client_id=rows[User].client_id)
    staff = User.objects.create_superuser("staff@example.com", full_name="Staff")
    people = {"owner": rows[User], "staff": staff}
    browsers = {name: Browser() for name in people}
    for name, person in people.items():
        browsers[name].force_login(person)
    return rows, browsers


def main() -> None:
    sys.path.insert(0, str(ROOT))
    os.environ["DJANGO_SETTINGS_MODULE"] = "chatplatform.settings_test"
    import django  # noqa: PLC0415

    django.setup()
    from django.core.management import call_command  # noqa: PLC0415
    from django.db import transaction  # noqa: PLC0415
    from django.test.utils import setup_test_environment  # noqa: PLC0415

    call_command("migrate", verbosity=0)
    setup_test_environment()
    rows, browsers = world()
    of_label = {model._meta.label: row for model, row in rows.items()}
    found = []
    for label in os.environ.get("LISTS", ",".join(GROWING)).split(","):
        template = of_label.get(label)
        assert template, f"test_guard_site.world() makes no row of {label}"
        with transaction.atomic():
            for ancestor in (*ancestors(label), label):
                multiply(of_label[ancestor])
            if label == "chats.Message":
                found += palette(browsers["owner"])
            else:
                found += measure(type(template), browsers)
            transaction.set_rollback(True)
    print(f"load {os.getloadavg()[0]:.1f}")
    print("| list | who | first page, ms | page 20 | slowest filter | search | statements | KB |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    print("\n".join(found))


if __name__ == "__main__":
    main()
