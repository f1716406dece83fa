"""System checks of a deployment's settings (`manage.py check`)."""

from itertools import pairwise
from typing import Any

from django.conf import settings
from django.core.checks import ERROR, CheckMessage, Error, Warning

from chatplatform import encryption_key_check, environment, web_push
from chatplatform.channel_names import MESSAGING_CHANNELS
from chatplatform.egress import PURPOSES, TIMEOUT_SECONDS
from chatplatform.signatures import is_secret

_LOCAL = {"localhost", "127.0.0.1", "[::1]"}
_SECRET_KEY_CHARACTERS = 32
_SHORT_KEY = Error(
    f"SECRET_KEY has fewer than {_SECRET_KEY_CHARACTERS} characters.",
    hint="Tokens and hashes of secrets depend on it: make it long and random.",
    id="chatplatform.E002",
)
_NO_HOSTS = Warning(
    "ALLOWED_HOSTS is empty: every request will be refused.",
    hint="Set it to the host names of this site.",
    id="chatplatform.W001",
)
_ANY_HOST = Warning(
    "ALLOWED_HOSTS admits any host name.",
    hint="Set it to the host names of this site, unless a proxy checks them.",
    id="chatplatform.W002",
)
_DEBUG = Warning(
    "DEBUG is on, and ALLOWED_HOSTS has names other than this machine's own.",
    hint="Set DEBUG=off. With DEBUG on, anybody can register without confirming an email address,"
    " and staff can sign in without a second factor.",
    id="chatplatform.W003",
)
_NO_EMAIL = Warning(
    "EMAIL_URL is empty: reset links and notifications will not be sent.",
    hint="Set it to your mail server: smtp+tls://user:password@host:587.",
    id="chatplatform.W004",
)

_NO_STATIC_FILES = Error(
    "The static files (styles, scripts, images) of this release have not been collected.",
    hint="Run `make static` once in this release's folder. Container images already have them.",
    id="chatplatform.E006",
)
_BAD_PAYMENT_SECRET = Error(
    "PAYMENT_WEBHOOK_SECRET is not a signing secret.",
    hint="Set it to the payment provider's secret: `whsec_` and the Base64 of at least 24 bytes.",
    id="chatplatform.E003",
)
_BAD_PUSH_KEY = Error(
    "VAPID_PRIVATE_KEY is not a private key for P-256.",
    hint="Set it to 32 bytes in URL-safe Base64, or leave it out.",
    id="chatplatform.E007",
)


def limits() -> list[tuple[str, float]]:
    """Names of time limits and their seconds; each limit must be greater than the one before it."""
    broker: dict[str, Any] = settings.CELERY_BROKER_TRANSPORT_OPTIONS
    return [
        ("the timeout of an outbound request", TIMEOUT_SECONDS),
        ("LLM_DEADLINE_SECONDS", settings.LLM_DEADLINE_SECONDS),
        ("CELERY_TASK_SOFT_TIME_LIMIT", settings.CELERY_TASK_SOFT_TIME_LIMIT),
        ("CELERY_TASK_TIME_LIMIT", settings.CELERY_TASK_TIME_LIMIT),
        # Half of the timeout is compared, because a message may wait for one whole job before its
        # own job begins. It may equal CELERY_TASK_TIME_LIMIT, so 1 is added.
        ("half of the broker's visibility_timeout", broker["visibility_timeout"] / 2 + 1),
    ]


def limits_in_order(**_: Any) -> list[CheckMessage]:
    """An error for each of the `limits` that is not below the next one."""
    hint = "A process must wait longer than the operation that it waits for."
    return [
        Error(
            f"{inner} ({inner_seconds:g} s) must be below {outer} ({outer_seconds:g} s).",
            hint,
            id="chatplatform.E001",
        )
        for (inner, inner_seconds), (outer, outer_seconds) in pairwise(limits())
        if inner_seconds >= outer_seconds
    ]


def push_key(**_: Any) -> list[CheckMessage]:
    """An error if VAPID_PRIVATE_KEY is set but cannot sign push notifications."""
    try:
        web_push.own_key()
    except ValueError:
        return [_BAD_PUSH_KEY]
    return []


def payment_secret(**_: Any) -> list[CheckMessage]:
    """An error if PAYMENT_WEBHOOK_SECRET is set but cannot verify callbacks."""
    secret = settings.PAYMENT_WEBHOOK_SECRET
    return [_BAD_PAYMENT_SECRET] if secret and not is_secret(secret) else []


def egress_purposes(**_: Any) -> list[CheckMessage]:
    """An error for each unknown purpose in EGRESS_ALLOW: its entry has no effect."""
    return [
        Error(
            f"EGRESS_ALLOW has an entry with an unknown purpose: {entry!r}.",
            hint=f"The purposes are {', '.join(sorted(PURPOSES))}.",
            id="chatplatform.E004",
        )
        for entry in settings.EGRESS_ALLOW
        if "=" in entry and entry.strip().rpartition("=")[0] not in PURPOSES
    ]


def channels(**_: Any) -> list[CheckMessage]:
    """A warning for each channel that has an app id but no app secret."""
    names = sorted(name.upper() for name in MESSAGING_CHANNELS)
    pairs = [(f"{name}_APP_ID", f"{name}_APP_SECRET") for name in names]
    # Localapp signs its callbacks with another key.
    pairs.append(("LOCALAPP_APP_ID", "LOCALAPP_OA_SECRET_KEY"))
    return [
        Warning(
            f"{app_id} is set and {secret} is not: every callback will be refused.",
            hint=f"Set {secret} to the value in the provider's console.",
            id="chatplatform.W005",
        )
        for app_id, secret in pairs
        if getattr(settings, app_id, "") and not getattr(settings, secret, "")
    ]


def static_files(**_: Any) -> list[CheckMessage]:
    """An error if this release's static files have not been collected."""
    # With DEBUG there is no such folder: static files are served from their sources.
    folder = settings.STATIC_ROOT
    return [_NO_STATIC_FILES] if folder and not (folder / "staticfiles.json").exists() else []


def field_keys(databases: Any = None, **_: Any) -> list[CheckMessage]:
    """An error if FIELD_KEYS lacks a key that is in use; only with `check --database default`."""
    if not databases or "default" not in databases:
        return []
    try:
        encryption_key_check.find_used("default")
    except encryption_key_check.KeysUnusable as exc:
        return [Error(str(exc), id="chatplatform.E005")]
    return []


def deployment(**_: Any) -> list[CheckMessage]:
    """Errors and warnings if DEBUG, SECRET_KEY, ALLOWED_HOSTS or EMAIL_URL are unsafe or unset."""
    hosts = settings.ALLOWED_HOSTS
    if settings.DEVELOPMENT:
        return [] if set(hosts) <= _LOCAL else [_DEBUG]
    messages = (
        (len(settings.SECRET_KEY) < _SECRET_KEY_CHARACTERS, _SHORT_KEY),
        (not hosts, _NO_HOSTS),
        ("*" in hosts, _ANY_HOST),
        (settings.EMAIL_BACKEND == settings.NO_EMAIL, _NO_EMAIL),
    )
    return [message for applies, message in messages if applies]


def require() -> None:
    """End this process, with a line for each error, if settings are readable but wrong. Web servers
    and workers call it; commands of `manage.py` run the same checks."""
    checks = (limits_in_order, payment_secret, push_key, egress_purposes, deployment)
    faults = [fault for check in checks for fault in check() if fault.level >= ERROR]
    if faults:
        environment.end("\n".join(f"{fault.msg} {fault.hint}" for fault in faults))
