"""Clients that public generators make from the OpenAPI document compile and run the quick start."""

import os
import re
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from drills.platform import ROOT, Platform

DOCUMENT = ROOT / "docs" / "openapi.json"
PYTHON_GENERATOR = "openapi-python-client==0.29.1"
NPM_PACKAGES = (
    "openapi-typescript@7.13.0", "openapi-fetch@0.17.0", "typescript@5.9.3", "@types/node@20.19.0",
)  # fmt: skip
COMPILER = (
    "--strict", "--module", "nodenext", "--target", "es2022", "--lib", "es2023,dom,dom.iterable",
    "--types", "node", "--outDir", "made",
)  # fmt: skip


@pytest.fixture(scope="module")
def platform(tmp_path_factory) -> Iterator[Platform]:
    with Platform(tmp_path_factory.mktemp("platform")) as running:
        yield running


@pytest.fixture(scope="module")
def document(tmp_path_factory) -> Path:
    """The document with which docs/quickstart.md trains its bot."""
    page = (ROOT / "docs" / "quickstart.md").read_text()
    found = re.search(r"<<'END'\n(.*?)^END$", page, re.S | re.M)
    assert found
    path = tmp_path_factory.mktemp("document") / "acme-shop.md"
    path.write_text(found[1])
    return path


def run(*command: str | Path, cwd: Path) -> str:
    # Hide the environment of the drills' own process from the tools and programs.
    environ = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    done = subprocess.run(command, cwd=cwd, env=environ, text=True, capture_output=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def journey_of(platform: Platform, document: Path) -> list[str]:
    email = f"ann-{uuid.uuid4().hex}@example.com"
    return [str(platform.client.base_url), email, str(document)]


@pytest.mark.timeout(1200)
def test_python(platform, document, tmp_path):
    run(sys.executable, "-m", "venv", "venv", cwd=tmp_path)
    python = tmp_path / "venv" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", PYTHON_GENERATOR, cwd=tmp_path)
    output = run(
        python.with_name("openapi-python-client"), "generate", "--path", DOCUMENT,
        "--output-path", "shop_client", "--meta", "none", cwd=tmp_path,
    )  # fmt: skip
    assert "Skipping" not in output.replace("Skipping Integration", "")
    assert "unable to" not in output.lower()
    run(python, "-m", "compileall", "-q", "shop_client", cwd=tmp_path)
    shutil.copy(ROOT / "drills" / "clients" / "journey.py", tmp_path)
    answer = run(python, "journey.py", *journey_of(platform, document), cwd=tmp_path)
    assert "nine o'clock" in answer


@pytest.mark.timeout(1200)
@pytest.mark.skipif(not shutil.which("npm"), reason="npm is missing: install Node.js")
def test_typescript(platform, document, tmp_path):
    (tmp_path / "package.json").write_text('{"private": true, "type": "module"}')
    run("npm", "install", "--no-audit", "--no-fund", *NPM_PACKAGES, cwd=tmp_path)
    tools = tmp_path / "node_modules" / ".bin"
    run(
        tools / "openapi-typescript", DOCUMENT, "--default-non-nullable", "false",
        "-o", "schema.d.ts", cwd=tmp_path,
    )  # fmt: skip
    shutil.copy(ROOT / "drills" / "clients" / "journey.ts", tmp_path)
    run(tools / "tsc", *COMPILER, "journey.ts", "schema.d.ts", cwd=tmp_path)
    (tmp_path / "made" / "package.json").write_text('{"type": "module"}')
    answer = run("node", "made/journey.js", *journey_of(platform, document), cwd=tmp_path)
    assert "nine o'clock" in answer
