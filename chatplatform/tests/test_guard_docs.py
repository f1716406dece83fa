"""The pages for readers: links lead somewhere, lines are short, the page of settings is current."""

import io
import re

import pytest
from django.conf import settings
from django.core.management import call_command

from commands.management.commands import settings_page

ROOT = settings.BASE_DIR
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
LINK = re.compile(r"\]\(([^)\s]+)\)")
GENERATED_TABLE = ROOT / "docs" / "rights.md"


def anchors(page):
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings}


def test_there_are_pages():
    assert len(PAGES) > 50


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere_and_lines_are_short(page):
    text = page.read_text()
    for link in LINK.findall(text):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link
    if page != GENERATED_TABLE:
        assert [line for line in text.splitlines() if len(line) > 120] == []


def test_the_page_of_settings_is_made_from_all_of_them():
    modules = set(ROOT.glob("chatplatform/settings*.py")) - {ROOT / "chatplatform/settings_test.py"}
    reading = {path.stem for path in modules if "env." in path.read_text()}
    assert reading == set(settings_page.MODULES)


def test_the_page_of_settings_is_current():
    printed = io.StringIO()
    call_command("settings_page", stdout=printed)
    assert (ROOT / "docs" / "settings.md").read_text() == printed.getvalue(), "run make openapi"
