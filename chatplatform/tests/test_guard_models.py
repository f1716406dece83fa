"""Guards over models, the rows that views reach, and migrations."""

import ast
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django.core.exceptions import FieldDoesNotExist

APPS = sorted(path.parent.name for path in settings.BASE_DIR.glob("*/apps.py"))
MODELS = [model for name in APPS for model in apps.get_app_config(name).get_models()]

NULL_BECAUSE = {"identity.User": "platform staff (superusers) belong to no client"}
IMPORTED_BECAUSE = {
    "chatplatform.ids": "functions that return a row's default id",
    "chatplatform.channel_names": "the choices of a channel are no part of its column",
    "chatplatform.crypto": "the encrypted field is a column type, like Django's",
}


def client_field(model):
    try:
        return model._meta.get_field("client")
    except FieldDoesNotExist:
        return None


def parsed(pattern: str) -> dict[Path, ast.Module]:
    return {
        path.relative_to(settings.BASE_DIR): ast.parse(path.read_text())
        for name in APPS
        for path in sorted((settings.BASE_DIR / name).glob(pattern))
    }


OF_CLIENT = [model for model in MODELS if client_field(model)]


def test_rows_of_a_client_always_have_one():
    assert len(OF_CLIENT) >= 10
    nullable = {model._meta.label for model in OF_CLIENT if client_field(model).null}
    assert nullable == set(NULL_BECAUSE)


@pytest.mark.parametrize("model", OF_CLIENT, ids=lambda model: model._meta.label)
def test_rows_of_a_client_are_reached_through_it(model):
    assert callable(getattr(model._default_manager, "for_client", None))


def test_views_reach_rows_through_their_client():
    views = {**parsed("views/*.py"), **parsed("views.py")}
    assert len([path for path in views if path.name != "__init__.py"]) >= 4
    for path, tree in views.items():
        of_client = {
            id(node.value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and node.attr == "for_client"
        }
        violations = [
            f"{path}:{node.lineno}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute)
            and node.attr in {"objects", "_default_manager", "_base_manager"}
            and id(node) not in of_client
        ]
        assert not violations, "begin with .objects.for_client(client)"


def test_no_order_is_hidden_in_a_model():
    assert MODELS
    assert not [model._meta.label for model in MODELS if model._meta.ordering]


def test_migrations_stand_alone():
    migrations = parsed("migrations/0*.py")
    assert {path.parts[0] for path in migrations} == set(APPS)
    imported = {
        module
        for tree in migrations.values()
        for node in ast.walk(tree)
        for module in modules_of(node)
        if module.split(".")[0] in APPS
    }
    assert imported <= set(IMPORTED_BECAUSE), "a migration must not change with the code"


def modules_of(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else []
