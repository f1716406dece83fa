"""`manage.py migrate`: Django's, run as the tables' owner; also grants the application's rights."""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser
from django.core.management.commands import migrate
from django.db import connections, transaction
from psycopg import sql

from chatplatform import encryption_key_check

OWNER = "owner"
# Tables whose rows the application must not change, and those of them that it may only read.
APPEND_ONLY = ("identity_auditevent", "identity_auditlink", "identity_auditanchor")
READ_ONLY = ("identity_auditlink", "identity_auditanchor")


def migrating() -> str:
    """The connection for migrations: the tables' owner's, if the owner is another role."""
    users = {alias: database["USER"] for alias, database in settings.DATABASES.items()}
    return OWNER if users.get(OWNER, users["default"]) != users["default"] else "default"


class Command(migrate.Command):
    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.set_defaults(database=migrating())

    def handle(self, *args: Any, **options: Any) -> None:
        # Nothing is migrated with wrong keys.
        encryption_key_check.check(options["database"])
        # Indexing a big table takes longer than a request's statement may.
        with connections[options["database"]].cursor() as cursor:
            cursor.execute("SET statement_timeout = 0")
        try:
            super().handle(*args, **options)
        finally:
            with connections[options["database"]].cursor() as cursor:
                cursor.execute("RESET statement_timeout")
        if options["database"] == OWNER:
            application = settings.DATABASES["default"]
            grant(OWNER, role=application["USER"], password=application["PASSWORD"])
        encryption_key_check.check(options["database"])


def grant(alias: str, *, role: str, password: str) -> None:
    """Grant the application's role its rights on all tables; it cannot change the audit log.

    A missing role is created; an existing role keeps its password.
    """
    name = sql.Identifier(role)
    statements = [
        sql.SQL("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {}"),
        sql.SQL("GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {}"),
        *(sql.SQL(f"REVOKE UPDATE, DELETE, TRUNCATE ON {t} FROM {{}}") for t in APPEND_ONLY),
        *(sql.SQL(f"REVOKE INSERT ON {t} FROM {{}}") for t in READ_ONLY),
    ]
    with transaction.atomic(using=alias), connections[alias].cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role])
        if cursor.fetchone() is None:
            made = sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(name, sql.Literal(password))
            cursor.execute(made)
        for statement in statements:
            cursor.execute(statement.format(name))
