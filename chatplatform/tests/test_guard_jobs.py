"""Guards over jobs: their names, their arguments, and the order of all time limits."""

import ast
import inspect
from pathlib import Path
from unittest import mock

import pytest
from django.conf import settings
from django.core import checks as django_checks

from chatplatform import checks
from chatplatform.celery import app
from chatplatform.jobs import Queue, registry

APPS = sorted(
    path.parent for path in settings.BASE_DIR.glob("*/apps.py") if path.parent.name[0] != "."
)


@pytest.fixture(scope="module")
def declared():
    app.loader.import_default_modules()
    return registry.declared


def sources() -> list[Path]:
    return [path for folder in APPS for path in folder.rglob("*.py") if "tests" not in path.parts]


def names_enqueued() -> dict[str, ast.expr | None]:
    """The first argument of each call of `enqueue`, by the place of the call."""
    names: dict[str, ast.expr | None] = {}
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and called_name(node) == "enqueue":
                place = f"{path.relative_to(settings.BASE_DIR)}:{node.lineno}"
                names[place] = node.args[0] if node.args else None
    return names


def called_name(node: ast.Call) -> str:
    return str(getattr(node.func, "id", None) or getattr(node.func, "attr", ""))


def test_jobs_take_only_keywords(declared):
    assert declared
    for name, job in declared.items():
        kinds = {parameter.kind for parameter in inspect.signature(job.run).parameters.values()}
        assert kinds <= {inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD}, name


def test_jobs_name_a_queue_and_stand_in_their_apps_tasks(declared):
    assert declared
    for name, job in declared.items():
        assert isinstance(job.queue, Queue), name
        assert job.run.__module__ == f"{name.split('.')[0]}.tasks", name
        assert job.max_attempts >= 1, name


@pytest.mark.full
def test_what_is_enqueued_is_declared(declared):
    names = names_enqueued()
    assert names
    for place, name in names.items():
        assert isinstance(name, ast.Constant), f"{place}: write the job's name as it is"
        assert name.value in declared, f"{place}: no job is called {name.value!r}"


@pytest.mark.full
def test_jobs_are_declared_nowhere_else():
    decorated = [
        path
        for path in sources()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef)
        for decorator in node.decorator_list
        if isinstance(decorator, ast.Call)
        and called_name(decorator) in {"job", "periodic", "shared_task"}
    ]
    assert decorated
    assert {path.name for path in decorated} == {"tasks.py"}


def test_jobs_run_with_arguments_of_a_newer_release(declared):
    for name, job in declared.items():
        for called in filter(None, (job.run, job.on_dead)):
            arguments = dict.fromkeys(inspect.signature(called).parameters, 1)
            function = mock.create_autospec(called)  # refuses what the signature does not have
            registry.call_with_known_args(function, {**arguments, "of_a_newer_release": 1})
            assert function.mock_calls == [mock.call(**arguments)], name


def test_tasks_run_with_arguments_of_a_newer_release(declared):
    tasks = {name: task for name, task in app.tasks.items() if not name.startswith("celery.")}
    assert tasks.keys() >= declared.keys()
    assert {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()} == (
        tasks.keys() - declared.keys()
    )
    for name, task in tasks.items():
        arguments = {"job_id": 1} if name in declared else {}
        inspect.signature(task.run).bind(**arguments, of_a_newer_release=1)


def test_time_limits_are_in_order():
    limits = checks.limits()
    assert len(limits) >= 5
    assert checks.limits_in_order() == []


def test_celery_has_the_limits_of_the_settings():
    assert app.conf.task_soft_time_limit == settings.CELERY_TASK_SOFT_TIME_LIMIT
    assert app.conf.task_time_limit == settings.CELERY_TASK_TIME_LIMIT
    assert (
        app.conf.broker_transport_options["visibility_timeout"]
        >= 2 * settings.CELERY_TASK_TIME_LIMIT
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LLM_DEADLINE_SECONDS", 700),
        ("CELERY_TASK_SOFT_TIME_LIMIT", 640),
        ("CELERY_TASK_TIME_LIMIT", 1000),
        ("CELERY_BROKER_TRANSPORT_OPTIONS", {"visibility_timeout": 300}),
    ],
)
def test_check_finds_limits_out_of_order(settings, name, value):
    setattr(settings, name, value)
    ids = [message.id for message in django_checks.run_checks()]
    assert "chatplatform.E001" in ids


@pytest.mark.parametrize(
    ("debug", "secret_key", "allowed_hosts", "expected"),
    [
        (True, "x" * 10, ["*"], ["chatplatform.W003"]),
        (True, "x" * 50, ["localhost", "127.0.0.1"], []),
        (True, "x" * 50, ["chat.example"], ["chatplatform.W003"]),
        (False, "x" * 50, ["chat.example"], []),
        (False, "x" * 10, ["chat.example"], ["chatplatform.E002"]),
        (False, "x" * 50, [], ["chatplatform.W001"]),
        (False, "x" * 50, ["*"], ["chatplatform.W002"]),
    ],
)
def test_check_of_what_a_deployment_sets(settings, debug, secret_key, allowed_hosts, expected):
    settings.DEVELOPMENT, settings.SECRET_KEY = debug, secret_key
    settings.ALLOWED_HOSTS = allowed_hosts
    assert [message.id for message in checks.deployment()] == expected


def test_check_finds_an_app_without_its_secret(settings):
    assert checks.channels() == []
    settings.SOCIALNET_APP_SECRET = ""
    assert [message.id for message in checks.channels()] == ["chatplatform.W005"]
    settings.SOCIALNET_APP_ID = ""
    assert checks.channels() == []
    settings.LOCALAPP_OA_SECRET_KEY = ""
    assert "LOCALAPP_OA_SECRET_KEY is not" in checks.channels()[0].msg
