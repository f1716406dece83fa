"""The page of checks names tests and drills that exist."""

import ast
import re

from django.conf import settings

PAGE = settings.BASE_DIR / "docs" / "checks.md"


def names_in(path):
    tree = ast.parse((settings.BASE_DIR / path).read_text())
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_named_test_exists():
    named = re.findall(r"`([\w/]+\.py)::(\w+)`", PAGE.read_text())
    assert len(named) > 100
    there = {path: names_in(path) for path, _ in named}
    assert [f"{path}::{name}" for path, name in named if name not in there[path]] == []


def test_every_row_of_a_check_names_a_test():
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    checks = [row for row in rows if row.count(" | ") == 2 and " --- " not in row]
    assert len(checks) > 60
    assert [row for row in checks if ".py::" not in row and "shown by" not in row] == []
