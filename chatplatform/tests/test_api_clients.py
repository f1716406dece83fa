"""The API's own clients in clients/: as `make clients` writes them, and used against a platform."""

import http.server
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime

import pytest
import standardwebhooks
from django.conf import settings
from django.contrib.auth.hashers import make_password

from bots.testing import *  # noqa: F403
from chatplatform.testing import documented, working
from identity.auth import Argon2
from identity.models import User
from identity.testing import PASSWORD
from local import api_client_generator

ROOT = settings.BASE_DIR / "clients"


@pytest.fixture
def package(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "python"))
    yield importlib.import_module("chatplatform_client")
    for name in [name for name in sys.modules if name.startswith("chatplatform_client")]:
        del sys.modules[name]


@pytest.mark.parametrize("path", api_client_generator.files(documented.document()))
def test_generated_files_are_current(path):
    made = api_client_generator.files(documented.document())[path]
    assert (ROOT / path).read_text() == made, "run make clients"


def code_of_readme():
    page = (ROOT / "python" / "README.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, re.S)
    return code


@pytest.mark.full
@pytest.mark.django_db(transaction=True)
def test_the_journey_of_the_readme(package, web_port, ann, tmp_path, capsys):
    code = code_of_readme()
    assert len(code.splitlines()) <= 30
    handbook = tmp_path / "handbook.md"
    handbook.write_text("# Opening hours\n\nThe shop opens at nine o'clock every day.\n")
    # The web process has the product's own hasher.
    User.objects.filter(pk=ann.user.pk).update(password=make_password(PASSWORD, hasher=Argon2()))
    with working():
        exec(
            compile(code, "README.md", "exec"),
            {
                "API": f"http://127.0.0.1:{web_port}",
                "EMAIL": ann.user.email,
                "PASSWORD": PASSWORD,
                "HANDBOOK": str(handbook),
            },
        )
    said = capsys.readouterr().out
    assert "nine o'clock" in said
    assert "401 not_authenticated" in said


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """What the wheel of the Python client installs, in a folder that was empty."""
    pytest.importorskip("setuptools")
    source, target = tmp_path_factory.mktemp("source") / "python", tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT / "python", source)
    build = [sys.executable, "-c", "import setuptools; setuptools.setup()", "-q", "build"]
    subprocess.run([*build, f"--build-lib={target}"], cwd=source, check=True, timeout=60)
    return target


@pytest.mark.full
def test_the_installed_client_is_complete(installed):
    (package,) = installed.iterdir()
    names = {path.name for path in package.iterdir()}
    assert names == {"__init__.py", "api.py", "core.py", "types.py", "py.typed"}
    code = "import chatplatform_client as c; print(c.__file__, c.Client('http://x').server)"
    env = {**os.environ, "PYTHONPATH": str(installed)}
    ran = subprocess.run(
        [sys.executable, "-c", code], env=env, cwd=installed, capture_output=True, text=True,
        check=True, timeout=30,
    )  # fmt: skip
    assert ran.stdout.split() == [str(package / "__init__.py"), "http://x"]


@pytest.mark.full
def test_an_integration_is_strictly_typed_against_the_client(installed, tmp_path):
    """The README's code, the example, and a copy of it with a mistake in each of three kinds."""
    names = "API = EMAIL = PASSWORD = HANDBOOK = ''\n"
    (tmp_path / "readme.py").write_text(names + code_of_readme())
    example = (ROOT / "python" / "example.py").read_text()
    (tmp_path / "right.py").write_text(example)
    wrong = example
    for right, mistaken in {
        '"reply": "wait"': '"reply": "later"',
        'chat["chat_code"]': 'chat["code"]',
        "shop.create_chat(": "shop.open_chat(",
    }.items():
        assert right in wrong
        wrong = wrong.replace(right, mistaken)
    (tmp_path / "wrong.py").write_text(wrong)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--no-error-summary"]
    ran = subprocess.run(
        [*command, "--cache-dir=cache", "readme.py", "right.py", "wrong.py"],
        cwd=tmp_path, timeout=100,
        env={**os.environ, "MYPYPATH": str(installed)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    said = ran.stdout.splitlines()
    assert [line for line in said if not line.startswith("wrong.py")] == [], ran.stderr
    assert {line.rpartition("[")[2] for line in said if ": error:" in line} == {
        "typeddict-item]", "attr-defined]",
    }  # fmt: skip


class Busy(http.server.BaseHTTPRequestHandler):
    """Refuses the first request with a 429; notes the key of each."""

    keys: list[str] = []  # noqa: RUF012 - emptied by the test

    def do_POST(self):
        self.keys.append(self.headers["Idempotency-Key"])
        self.rfile.read(int(self.headers["Content-Length"]))
        body = json.dumps({"code": "too_many_requests", "id": 7}).encode()
        self.send_response(429 if len(self.keys) == 1 else 201)
        self.send_header("Retry-After", "0")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Quiet."""


def test_a_429_is_repeated_with_the_same_idempotency_key(package):
    server = http.server.HTTPServer(("127.0.0.1", 0), Busy)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        api = package.Client(f"http://127.0.0.1:{server.server_port}", token="t")
        assert api.create_bot({"bot_name": "Acme"})["id"] == 7
        (first, second) = Busy.keys
        assert first == second
        Busy.keys.clear()
        with pytest.raises(package.ApiError) as refused:
            package.Client(f"http://127.0.0.1:{server.server_port}", retries=0).create_bot({})
        assert (refused.value.status, refused.value.code) == (429, "too_many_requests")
    finally:
        Busy.keys.clear()
        server.shutdown()
        server.server_close()


def test_webhooks_are_verified(package):
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    body, now = '{"type": "message.created"}', time.time()
    signature = standardwebhooks.Webhook(secret).sign(
        "evt_1", datetime.fromtimestamp(int(now), UTC), body
    )
    headers = {
        "Webhook-Id": "evt_1",
        "Webhook-Timestamp": str(int(now)),
        "Webhook-Signature": f"v1,other {signature}",
    }
    assert package.verify_webhook(body.encode(), headers, secret) == {"type": "message.created"}
    with pytest.raises(ValueError, match="not signed"):
        package.verify_webhook(b"{}", headers, secret)
    old = {**headers, "Webhook-Timestamp": str(int(now) - 600)}
    with pytest.raises(ValueError, match="too old"):
        package.verify_webhook(body.encode(), old, secret)
