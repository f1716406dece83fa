"""Guards over the source: its size, its names, and the same files in every app."""

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

BASE = settings.BASE_DIR
MAX_POSITIONAL = 6
# Every app has these; `auth` and the like belong to one app. Small apps have a module `models.py`.
FILES_OF_AN_APP = {
    "__init__.py", "admin.py", "apps.py", "migrations", "models", "schemas", "services",
    "tasks.py", "tests", "urls.py", "views",
}  # fmt: skip
# Of apps whose pages in the site have forms, and of those with helpers for tests.
OPTIONAL_FILES = {"forms.py", "testing.py"}
OWN_FILES_BECAUSE = {
    "channels_app/fixtures": "what providers send",
    "identity/pages": "larger pages of the site, each in a module of its own",
    "bots/pages": "larger pages of the site, each in a module of its own",
    "channels_app/pages": "the pages on which accounts are connected",
    "identity/auth.py": "authentication, used by the views of every app",
    "identity/static": "the script of the page that a mailed link opens",
    "webhooks/catalogue.py": "the events in the OpenAPI document",
    "webhooks/transport.py": "signing and sending, without rows",
    "bots/engine": "how a model writes answers and other texts: without rows",
    "bots/search": "how passages are found and quoted without a model: without rows",
    "bots/ingest": "files and web sites become passages: without rows",
    "bots/language": "what a language needs, and how texts are read: without rows",
    "bots/static": "the script of the widget beside a bot's forms",
    "chats/pages": "larger pages of the site, each in a module of its own",
    "chats/static": "the pages of the desk and of the widget",
    "reports/static": "the style of the reports' pages",
    "chats/management": "the command that imports conversations",
    "channels_app/providers": "what each provider's calls and callbacks look like: without rows",
}


@functools.cache
def sources() -> dict[Path, str]:
    """Every Python file of the repository but migrations."""
    return {
        path.relative_to(BASE): path.read_text()
        for path in sorted(BASE.rglob("*.py"))
        if not {"migrations", "var", ".venv"} & set(path.relative_to(BASE).parts)
    }


def nodes(*, where: str = "") -> Iterator[tuple[Path, ast.AST]]:
    """The nodes of every file; of those alone in which the pattern `where` is found."""
    for path, text in sources().items():
        if re.search(where, text):
            for node in ast.walk(ast.parse(text)):
                yield path, node


@pytest.mark.full
def test_no_import_is_named_by_a_letter():
    assert [
        f"{path}:{node.lineno} {name.asname}"
        for path, node in nodes(where=r"\bas[\s\\]+\w\b")
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in node.names
        if name.asname and len(name.asname) == 1
    ] == []


@pytest.mark.full
def test_no_function_has_many_positional_parameters():
    violations = []
    for path, node in nodes():
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
        if len(names) - (names[:1] in (["self"], ["cls"])) > MAX_POSITIONAL:
            violations.append(f"{path}:{node.lineno} {node.name}")
    assert violations == [], (
        f"At most {MAX_POSITIONAL} positional parameters, and fixtures of a test count: make some"
        " keywords, or one frozen value."
    )


def test_view_methods_take_the_request_only_to_read_it():
    violations = [
        f"{path}:{node.lineno} {node.name}"
        for path, node in nodes(where=r"operation\s*\(")
        if isinstance(node, ast.FunctionDef)
        and any("operation(" in ast.unparse(decorator) for decorator in node.decorator_list)
        and "request" in [argument.arg for argument in node.args.args]
        and "request" not in {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    ]
    assert violations == []


def test_every_app_has_the_same_files():
    apps = {path.parent for path in BASE.glob("*/apps.py")} - {BASE / "chatplatform"}
    assert {app.name for app in apps} == {
        "identity",
        "webhooks",
        "bots",
        "chats",
        "channels_app",
        "reports",
    }
    own = set()
    for app in apps:
        files = {path.name for path in app.iterdir()} - {"__pycache__"}
        files = {"models" if name == "models.py" else name for name in files}
        assert files >= FILES_OF_AN_APP, f"{app.name} lacks {FILES_OF_AN_APP - files}"
        own |= {f"{app.name}/{name}" for name in files - FILES_OF_AN_APP - OPTIONAL_FILES}
    assert own == set(OWN_FILES_BECAUSE)
