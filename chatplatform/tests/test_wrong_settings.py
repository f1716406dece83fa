"""A wrong setting ends each process at its start, with a line that names it and what to write."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RIGHT = {
    "PATH": os.environ["PATH"], "DEBUG": "false", "SECRET_KEY": "x" * 50,
    "ALLOWED_HOSTS": "chat.example", "PUBLIC_URL": "https://chat.example",
}  # fmt: skip
# What is set beside the right settings, and the settings that its lines begin with.
WRONG = [
    ({"SECRET_KEY": ""}, "SECRET_KEY"),
    ({"DEBUG": "maybe"}, "DEBUG"),
    ({"REGISTRATION_OPEN": "sometimes"}, "REGISTRATION_OPEN"),
    ({"API_DOCS": "hidden"}, "API_DOCS"),
    ({"ALLOWED_HOSTS": "https://chat.example"}, "ALLOWED_HOSTS"),
    ({"ALLOWED_HOSTS": "chat.example:443"}, "ALLOWED_HOSTS"),
    ({"PUBLIC_URL": ""}, "PUBLIC_URL"),
    ({"PUBLIC_URL": "chat.example"}, "PUBLIC_URL"),
    ({"PUBLIC_URL": "http://chat.example"}, "PUBLIC_URL"),
    ({"PUBLIC_URL": "https://other.example"}, "PUBLIC_URL"),
    ({"PUBLIC_URL": "https://chat.example/site"}, "PUBLIC_URL"),
    ({"PUBLIC_URL": "https://chat.example:https"}, "PUBLIC_URL"),
    ({"PORT": "80a"}, "PORT"),
    ({"PORT": "70000"}, "PORT"),
    ({"FIELD_KEYS": "short"}, "FIELD_KEYS"),
    ({"FIELD_KEYS": "no base64!"}, "FIELD_KEYS"),
    ({"TRUSTED_PROXIES": "proxy"}, "TRUSTED_PROXIES"),
    ({"TRUSTED_PROXIES": "10.0.0.1/8"}, "TRUSTED_PROXIES"),
    ({"DATABASE_URL": "foo"}, "DATABASE_URL"),
    ({"DATABASE_URL": "mysql://u:p@host/name"}, "DATABASE_URL"),
    ({"DATABASE_URL": "postgres://u:p@host"}, "DATABASE_URL"),
    ({"DATABASE_URL": "postgres://u:a#b@host/name"}, "DATABASE_URL"),
    ({"DATABASE_URL": "postgres://u:a[b@host/name"}, "DATABASE_URL"),
    ({"DATABASE_URL": "postgres://u:p@host/name?sslmod=require"}, "DATABASE_URL"),
    ({"DATABASE_PORT": "tcp://10.0.0.1:5432"}, "DATABASE_PORT"),
    ({"DATABASE_OWNER_URL": "foo"}, "DATABASE_OWNER_URL"),
    ({"DATABASE_REPLICA_URL": "foo"}, "DATABASE_REPLICA_URL"),
    ({"REDIS_URL": "host:6379"}, "REDIS_URL"),
    ({"REDIS_URL": "http://host:6379"}, "REDIS_URL"),
    ({"EMAIL_URL": "mail.example"}, "EMAIL_URL"),
    ({"EMAIL_URL": "imap://mail.example"}, "EMAIL_URL"),
    ({"EMAIL_URL": "smtp://"}, "EMAIL_URL"),
    ({"EMAIL_FROM": "Acme"}, "EMAIL_FROM"),
    ({"LLM_BASE_URL": "llm.example/v1", "LLM_MODEL": "a"}, "LLM_BASE_URL"),
    ({"LLM_BASE_URL": "https://llm.example/v1"}, "LLM_MODEL"),
    ({"LLM_DEADLINE_SECONDS": "1,5"}, "LLM_DEADLINE_SECONDS"),
    ({"EMBEDDING_BASE_URL": "https://llm.example/v1"}, "EMBEDDING_MODEL"),
    ({"EMBEDDING_GATE": "[[1, 2, 3, 4]]"}, "EMBEDDING_GATE"),
    ({"EMBEDDING_GATE": "a gate"}, "EMBEDDING_GATE"),
    ({"MEDIA_BUCKET": "files"}, "MEDIA_BUCKET"),
    ({"AWS_ACCESS_KEY_ID": "id"}, "AWS_ACCESS_KEY_ID"),
    ({"EGRESS_ALLOW": "10.0.0.5"}, "EGRESS_ALLOW"),
    ({"EGRESS_DENY": "ours"}, "EGRESS_DENY"),
    ({"CREDIT_PACKS": "5000"}, "CREDIT_PACKS"),
    ({"LOG_LEVEL": "LOUD"}, "LOG_LEVEL"),
    ({"LOG_FORMAT": "xml"}, "LOG_FORMAT"),
    ({"TRACES_URL": "collector:4318"}, "TRACES_URL"),
    ({"TRACES_SHARE": "2"}, "TRACES_SHARE"),
    ({"SOCIALNET_API_URL": "graph"}, "SOCIALNET_API_URL"),
    ({"JOB_LEASE_SECONDS": "-1"}, "JOB_LEASE_SECONDS"),
    ({"METRICS_PORT": "off"}, "METRICS_PORT"),
    ({"EVENT_MONTHS": "1e3"}, "EVENT_MONTHS"),
    ({"REDIS_PASSWORD_FILE": "/nowhere"}, "REDIS_PASSWORD_FILE"),
    ({"SECRET_KEY_FILE": "/nowhere"}, "SECRET_KEY"),
    ({"SECURITY_CONTACT": "somebody"}, "SECURITY_CONTACT"),
    # Slips, which nothing would read.
    ({"ALLOWED_HOST": "chat.example"}, "ALLOWED_HOST"),
    ({"PUBLIC_ULR": "https://chat.example"}, "PUBLIC_ULR"),
    ({"LLM_BASEURL": "https://llm.example"}, "LLM_BASEURL"),
    ({"TRUSTED_PROXY": "10.0.0.7"}, "TRUSTED_PROXY"),
    ({"EMAIL_HOST": "mail.example"}, "EMAIL_HOST"),
    ({"DATABASE_PASSWORT": "a"}, "DATABASE_PASSWORT"),
]
# Loads the settings once for each environment, in a child: what they import is loaded already.
LOAD = """
import contextlib, io, json, os, sys
import celery, celery.signals, django.conf, django.db, django.http.request, django.urls
import django.templatetags.static

def load(environ):
    read, write = os.pipe()
    if not os.fork():
        os.dup2(write, 1)
        os.environ.clear()
        os.environ.update(environ)
        code, said = 0, ""
        try:
            import chatplatform.settings
        except SystemExit as exc:
            code, said = 1, str(exc)
        os.write(write, json.dumps([code, said]).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        return json.loads(pipe.read())

print(json.dumps([load(environ) for environ in json.load(sys.stdin)]))
"""


def loaded(folder, *given):
    """For each environment the exit code of a process that loads the settings, and its lines."""
    environs = [RIGHT | {"DATA_DIR": str(folder)} | more for more in given]
    done = subprocess.run(
        [sys.executable, "-c", LOAD], input=json.dumps(environs), cwd=ROOT, env=RIGHT,
        capture_output=True, text=True, check=False, timeout=100,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.full
def test_each_wrong_setting_is_a_line(tmp_path):
    assert len(WRONG) >= 40
    found = loaded(tmp_path, *(more for more, _ in WRONG))
    for (more, name), (code, said) in zip(WRONG, found, strict=True):
        assert code == 1, more
        assert said.count("\n") == 0, said
        assert said.startswith(f"{name}: "), said
        assert "Write " in said or "Name " in said or "leave out" in said, said
    assert list(tmp_path.iterdir()) == [], "a process that does not start stores nothing"


def test_no_secret_is_printed(tmp_path):
    word = "hunter2"
    given = (
        {"DATABASE_URL": f"mysql://u:{word}@host/name"}, {"REDIS_URL": f"http://:{word}@host"},
        {"EMAIL_URL": f"imap://u:{word}@host"}, {"FIELD_KEYS": word},
        {"PUBLIC_URL": f"https://u:{word}@chat.example"},
    )  # fmt: skip
    for code, said in loaded(tmp_path, *given):
        assert code == 1
        assert word not in said


@pytest.mark.full
def test_right_settings_are_right(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("a#b\n")
    given: tuple[dict[str, str], ...] = (
        {},
        {"DATABASE_URL": "postgresql://u:a%2Fb@[::1]:5433/name?sslmode=require"},
        {"DATABASE_PASSWORD": "$ b", "DATABASE_URL_0": "anything"},
        {"DATABASE_PASSWORD_FILE": str(secret), "REDIS_PASSWORD_FILE": str(secret)},
        # Nothing stands behind the name in an `.env`.
        {"EMAIL_URL": "", "METRICS_PORT": "", "DEBUG": "", "LLM_BASE_URL": "", "MEDIA_BUCKET": ""},
        {"REDIS_URL": "rediss://:p@host:6379/0", "REDIS_PORT": "tcp://10.0.0.1:6379"},
        {"MEDIA_BUCKET": "files", "AWS_REGION": "eu-central-1"},
        {"EMBEDDING_GATE": "[[128.0,5.0,0.0,-55.6],[81.3,8,70,-4e1],[80.0,0.0,48.0,-2.94]]"},
        {"LANG": "C", "HOSTNAME": "web", "TERM": "dumb", "PYTHONPATH": "/a", "TZ": "UTC"},
        {"DEBUG": "true", "PUBLIC_ULR": "a"},  # a developer's own names
    )
    assert [found for found in loaded(tmp_path, *given) if found != [0, ""]] == []


def test_secrets_come_from_files(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("a#b\n")
    script = "from chatplatform.settings import DATABASES, REDIS_URL as r; "
    script += "print(DATABASES['default']['PASSWORD'], r)"
    environ = RIGHT | {f"{name}_PASSWORD_FILE": str(secret) for name in ("DATABASE", "REDIS")}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=environ | {"DATA_DIR": str(tmp_path)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == ["a#b", "redis://:a%23b@127.0.0.1:6379/0"]


CELERY = ("-m", "celery", "--quiet", "-A", "chatplatform")
WEB = ("-m", "chatplatform.web.serve", "chatplatform.asgi:application")
PROCESSES = {
    "web": WEB,
    "worker": (*CELERY, "worker", "--pool", "threads", "-Q", "reply"),
    "worker-bulk": (*CELERY, "worker", "--pool", "prefork", "-Q", "train"),
    "beat": (*CELERY, "beat", "--pidfile="),
    "relay": ("manage.py", "relay"),
    "migrate": ("manage.py", "migrate"),
    "check": ("manage.py", "check"),
}


def started(folder, *command, **environ):
    return subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=RIGHT | {"DATA_DIR": str(folder)} | environ,
        capture_output=True, text=True, check=False, timeout=100,
    )  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize("name", PROCESSES)
def test_no_process_starts_with_wrong_settings(name, tmp_path):
    wrong = {"DATABASE_URL": "mysql://u:p@host/name", "PUBLIC_ULR": "https://chat.example"}
    done = started(tmp_path, *PROCESSES[name], **wrong)
    assert done.returncode == 1
    said = (done.stdout + done.stderr).strip().splitlines()
    assert [line.partition(":")[0] for line in said] == ["DATABASE_URL", "PUBLIC_ULR"], said


@pytest.mark.full
@pytest.mark.parametrize("name", ["web", "worker", "beat"])
def test_what_a_check_refuses_ends_a_process_too(name, tmp_path):
    wrong = {"SECRET_KEY": "short", "VAPID_PRIVATE_KEY": "short"}
    command = (*PROCESSES[name], "--workers=1") if name == "web" else PROCESSES[name]
    done = started(tmp_path, *command, **wrong)
    assert done.returncode == 1
    said = done.stdout + done.stderr
    assert "Traceback" not in said
    assert [word for word in wrong if said.count(word) != 1] == []


@pytest.mark.full
def test_a_taken_port_is_a_line(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = started(tmp_path, *WEB, "--port", str(port))
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert f"127.0.0.1:{port}" in done.stderr
