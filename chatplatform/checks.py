"""System checks of a deployment's settings (`manage.py check`)."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning

from chatplatform.egress import TIMEOUT_SECONDS

_LOCAL = {"*", "localhost", "127.0.0.1", "[::1]"}
_SECRET_KEY_CHARACTERS = 32


def limits() -> list[tuple[str, float]]:
    """Time limits in seconds; each must be above the one before."""
    return [
        ("the timeout of an outbound request", TIMEOUT_SECONDS),
        ("LLM_DEADLINE_SECONDS", settings.LLM_DEADLINE_SECONDS),
        ("CELERY_TASK_SOFT_TIME_LIMIT", settings.CELERY_TASK_SOFT_TIME_LIMIT),
        ("CELERY_TASK_TIME_LIMIT", settings.CELERY_TASK_TIME_LIMIT),
        # Half of it: a message may wait for a whole job before its own begins.
        (
            "half of the broker's visibility_timeout",
            settings.CELERY_BROKER_TRANSPORT_OPTIONS["visibility_timeout"] / 2 + 1,
        ),
    ]


def limits_in_order(**_: Any) -> list[CheckMessage]:
    """Whoever waits must wait longer than what it waits for."""
    ordered = limits()
    return [
        Error(
            f"{inner} ({inner_seconds:g} s) must be below {outer} ({outer_seconds:g} s).",
            hint="Whoever waits must wait longer than what it waits for.",
            id="chatplatform.E001",
        )
        for (inner, inner_seconds), (outer, outer_seconds) in zip(
            ordered, ordered[1:], strict=False
        )
        if inner_seconds >= outer_seconds
    ]


def deployment(**_: Any) -> list[CheckMessage]:
    """Whether DEBUG, SECRET_KEY and ALLOWED_HOSTS fit together."""
    hosts = settings.ALLOWED_HOSTS
    if settings.DEVELOPMENT:
        if set(hosts) <= _LOCAL:
            return []
        return [
            Warning(
                "DEBUG is on, while ALLOWED_HOSTS names a real host.",
                hint="Set DEBUG=off: with it, error pages of the admin site show code.",
                id="chatplatform.W003",
            )
        ]
    messages: list[CheckMessage] = []
    if len(settings.SECRET_KEY) < _SECRET_KEY_CHARACTERS:
        messages.append(
            Error(
                f"SECRET_KEY has fewer than {_SECRET_KEY_CHARACTERS} characters.",
                hint="Tokens and stored secrets are as safe as it: make it long and random.",
                id="chatplatform.E002",
            )
        )
    if not hosts:
        messages.append(
            Warning(
                "ALLOWED_HOSTS is empty: every request will be refused.",
                hint="Set it to the host names of this site.",
                id="chatplatform.W001",
            )
        )
    if "*" in hosts:
        messages.append(
            Warning(
                "ALLOWED_HOSTS admits any host name.",
                hint="Set it to the host names of this site, unless a proxy checks them.",
                id="chatplatform.W002",
            )
        )
    if settings.EMAIL_BACKEND == settings.NO_EMAIL:
        messages.append(
            Warning(
                "EMAIL_URL is empty: reset links and notifications will not be sent.",
                hint="Set it to your mail server: smtp+tls://user:password@host:587.",
                id="chatplatform.W004",
            )
        )
    return messages
