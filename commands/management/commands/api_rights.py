"""`manage.py api_rights`: prints who may call what; `make openapi` stores it in docs/."""

import re
from typing import Any

from django.core.management.base import BaseCommand

from chatplatform.api.operation import routes

CALLERS = ("owner", "admin", "trainer", "agent", "viewer", "secret key", "public key")
HEAD = """\
# Who may call what

`make openapi` writes this page from the operations themselves, and a test calls every operation as
each of these callers. People send an access token, servers a secret key, web pages a public
key. A trainer is a person with `can_train`: that column is what it adds to the rights of the role.
A person or key without the right gets 403; one that the operation does not know at all, such as a
key where only people are admitted, gets 401. "anyone" needs neither: no credential, or one of
another kind, such as a signature.

"""


def table() -> str:
    """The page docs/rights.md."""
    rows = [["operation", "method and path", *CALLERS], ["---"] * (2 + len(CALLERS))]
    for method, path, declared in routes():
        admitted = declared.access.admitted(method)
        of_known = ["yes" if caller in admitted else "-" for caller in CALLERS]
        cells = of_known if admitted else ["anyone"] * len(CALLERS)
        template = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", path)
        rows.append([declared.name, f"`{method} {template}`", *cells])
    return HEAD + "".join(f"| {' | '.join(row)} |\n" for row in rows)


class Command(BaseCommand):
    help = "Print who may call which operation."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(table(), ending="")
