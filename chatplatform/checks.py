"""System checks of a deployment's settings (`manage.py check`)."""

from itertools import pairwise
from typing import Any

from django.conf import settings
from django.core.checks import ERROR, CheckMessage, Error, Warning

from chatplatform import environment, key_check, web_push
from chatplatform.channel_names import MESSAGING_CHANNELS
from chatplatform.egress import PURPOSES, TIMEOUT_SECONDS
from chatplatform.signatures import is_secret

_LOCAL = {"localhost", "127.0.0.1", "[::1]"}
_SECRET_KEY_CHARACTERS = 32
_SHORT_KEY = Error(
    f"SECRET_KEY has fewer than {_SECRET_KEY_CHARACTERS} characters.",
    hint="Tokens and stored secrets are as safe as it: make it long and random.",
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
    "DEBUG is on, while ALLOWED_HOSTS admits more than this machine.",
    hint="Set DEBUG=off: with it, anybody may register, and nobody needs a second factor.",
    id="chatplatform.W003",
)
_NO_EMAIL = Warning(
    "EMAIL_URL is empty: reset links and notifications will not be sent.",
    hint="Set it to your mail server: smtp+tls://user:password@host:587.",
    id="chatplatform.W004",
)

_NO_STATIC_FILES = Error(
    "The files of pages and scripts are not in the folder staticfiles of this release.",
    hint="Run `make static` in the folder of this release, once; an image is built with them.",
    id="chatplatform.E006",
)
_BAD_PAYMENT_SECRET = Error(
    "PAYMENT_WEBHOOK_SECRET is no signing secret.",
    hint="Set it to `whsec_` and the Base64 of 24 bytes or more, as the payment provider has it.",
    id="chatplatform.E003",
)
_BAD_PUSH_KEY = Error(
    "VAPID_PRIVATE_KEY is no private key of P-256.",
    hint="Set it to 32 bytes in Base64 for URLs, or leave it out.",
    id="chatplatform.E007",
)


def limits() -> list[tuple[str, float]]:
    """Time limits in seconds; each must be above the one before."""
    broker: dict[str, Any] = settings.CELERY_BROKER_TRANSPORT_OPTIONS
    return [
        ("the timeout of an outbound request", TIMEOUT_SECONDS),
        ("LLM_DEADLINE_SECONDS", settings.LLM_DEADLINE_SECONDS),
        ("CELERY_TASK_SOFT_TIME_LIMIT", settings.CELERY_TASK_SOFT_TIME_LIMIT),
        ("CELERY_TASK_TIME_LIMIT", settings.CELERY_TASK_TIME_LIMIT),
        # Half, because a message may wait for one whole job before its own job begins.
        ("half of the broker's visibility_timeout", broker["visibility_timeout"] / 2 + 1),
    ]


def limits_in_order(**_: Any) -> list[CheckMessage]:
    """Whether each of the `limits` is below the next one."""
    hint = "Whoever waits must wait longer than what it waits for."
    return [
        Error(
            f"{inner} ({least:g} s) must be below {outer} ({most:g} s).",
            hint,
            id="chatplatform.E001",
        )
        for (inner, least), (outer, most) in pairwise(limits())
        if least >= most
    ]


def push_key(**_: Any) -> list[CheckMessage]:
    """Whether VAPID_PRIVATE_KEY, if set, can sign push notifications."""
    try:
        web_push.own_key()
    except ValueError:
        return [_BAD_PUSH_KEY]
    return []


def payment_secret(**_: Any) -> list[CheckMessage]:
    """Whether PAYMENT_WEBHOOK_SECRET, if set, can verify a payment provider's callbacks."""
    secret = settings.PAYMENT_WEBHOOK_SECRET
    return [_BAD_PAYMENT_SECRET] if secret and not is_secret(secret) else []


def egress_purposes(**_: Any) -> list[CheckMessage]:
    """Whether EGRESS_ALLOW names only known purposes: an entry with another one has no effect."""
    return [
        Error(
            f"EGRESS_ALLOW names a purpose that no call has: {entry!r}.",
            hint=f"The purposes are {', '.join(sorted(PURPOSES))}.",
            id="chatplatform.E004",
        )
        for entry in settings.EGRESS_ALLOW
        if "=" in entry and entry.strip().rpartition("=")[0] not in PURPOSES
    ]


def channels(**_: Any) -> list[CheckMessage]:
    """Whether every channel with an app id also has the app's secret."""
    names = sorted(name.upper() for name in MESSAGING_CHANNELS)
    pairs = [(f"{name}_APP_ID", f"{name}_APP_SECRET") for name in names]
    # This provider signs its callbacks with another key.
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
    """Whether this release's static files have been collected."""
    # With DEBUG there is no such folder: static files are served from their sources.
    folder = settings.STATIC_ROOT
    return [_NO_STATIC_FILES] if folder and not (folder / "staticfiles.json").exists() else []


def field_keys(databases: Any = None, **_: Any) -> list[CheckMessage]:
    """Whether FIELD_KEYS lacks a key that is in use; runs with `check --database default`."""
    if not databases or "default" not in databases:
        return []
    try:
        key_check.find_used("default")
    except key_check.KeysUnusable as exc:
        return [Error(str(exc), id="chatplatform.E005")]
    return []


def deployment(**_: Any) -> list[CheckMessage]:
    """Whether DEBUG, SECRET_KEY, ALLOWED_HOSTS and EMAIL_URL suit a deployment."""
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
    """End this process, with a line for each fault, if a setting is wrong that it could be read
    with. Commands of `manage.py` run the same checks."""
    found = (limits_in_order, payment_secret, push_key, egress_purposes, deployment)
    faults = [fault for check in found for fault in check() if fault.level >= ERROR]
    if faults:
        environment.end("\n".join(f"{fault.msg} {fault.hint}" for fault in faults))
