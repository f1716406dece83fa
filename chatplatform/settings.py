"""All settings, read from the environment. Comments give units, and defaults that are computed.

Comments that begin with `#:` are the text of docs/settings.md (`make openapi` writes it). All
settings that are read directly below such a comment belong to its entry.
"""

import base64
import gc
import hashlib
import json
import os
import re
import secrets
import socket
import sys
from datetime import timedelta
from email.utils import parseaddr
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from django.conf.locale import LANG_INFO
from django.http.request import validate_host
from django.utils.translation import to_language

from chatplatform.environment import env
from chatplatform.settings_channels import *  # noqa: F403
from chatplatform.settings_observing import *  # noqa: F403
from chatplatform.settings_outgoing import *  # noqa: F403
from chatplatform.settings_theme import *  # noqa: F403

# Objects created while loading are never freed: collecting garbage among them takes a fifth of a
# process's start. `chatplatform.apps` enables it again once the apps are loaded.
gc.disable()

BASE_DIR = Path(__file__).resolve().parent.parent
#: ## Basics
#: The folder for databases, uploads, keys and logs. Default: `var`.
DATA_DIR = Path(env.text("DATA_DIR", default=str(BASE_DIR / "var"))).resolve()
#: For your own machine, never for a real site: demo data, simulated channels, generated secrets.
#: `make` sets it to `true`.
# Off by default: a forgotten variable must expose nothing.
DEVELOPMENT = env.flag("DEBUG", default=False)
# Django's own debug mode is always off: its error pages show code, and it stores every statement.
DEBUG = False


def stored_secret(name: str, new_value: str) -> str:
    """A secret in DATA_DIR/keys (mode 0600); `new_value` is stored if there is none yet."""
    path = DATA_DIR / "keys" / name
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        new = path.with_name(f"{name}.{secrets.token_hex(4)}")
        new.touch(mode=0o600)
        new.write_text(new_value)
        try:
            # link() does not overwrite: if two processes start at once, one secret wins.
            path.hardlink_to(new)
        except FileExistsError:
            print(f"{path} was created by another process meanwhile", file=sys.stderr)  # noqa: T201
        new.unlink()
    return path.read_text().strip()


#: The key that signs tokens and hashes secrets. Required unless `DEBUG` is on. Default: generated
#: once and stored in `DATA_DIR/keys`.
SECRET_KEY = env.text("SECRET_KEY", default="")
if not SECRET_KEY and DEVELOPMENT:
    SECRET_KEY = stored_secret("secret_key", secrets.token_urlsafe(48))
elif not SECRET_KEY:
    env.fault(
        "SECRET_KEY",
        "it must be set. Write 50 random characters, as `make env` does; on your own machine set"
        " DEBUG=true instead.",
    )


def _field_keys(entries: list[str]) -> list[tuple[str, bytes]]:
    """The keys of FIELD_KEYS, each with its id; the id is empty if the entry has none.

    An entry is the Base64 of 32 bytes, or `id:base64`. The entry `SECRET_KEY` means a key that is
    derived from that setting.
    """
    keys = []
    for entry in entries:
        if entry.strip() == "SECRET_KEY":
            keys.append(("s1", hashlib.sha256(b"field-key:" + SECRET_KEY.encode()).digest()))
            continue
        name, _, text = entry.strip().rpartition(":")
        try:
            key = base64.b64decode(text, validate=True)
        except ValueError:
            key = b""
        if len(key) != 32:
            hint = "Write what `openssl rand -base64 32` prints."
            env.fault("FIELD_KEYS", f"a key is not the Base64 of 32 bytes. {hint}")
        keys.append((name, key))
    return keys


#: Keys that encrypt stored secrets: the Base64 of 32 bytes each, newest first, separated by commas
#: ([renewal](operations.md#renew-the-secrets)). Default: derived from `SECRET_KEY`.
FIELD_KEYS = _field_keys(env.entries("FIELD_KEYS", default=["SECRET_KEY"]))
#: Signs push notifications to agents' browsers: a private key for P-256, its 32 bytes in URL-safe
#: Base64. After a change, a browser gets notifications again once its inbox has been opened.
#: Default: derived from `SECRET_KEY`.
VAPID_PRIVATE_KEY = env.text("VAPID_PRIVATE_KEY", default="")
# In development only this machine's names: otherwise another site could rebind its host name to
# this machine and read what is shown here (DNS rebinding).
_OWN_NAMES = ["localhost", "127.0.0.1", "[::1]"]
#: The host names that are served, separated by commas. Default: none; if `DEBUG` is on, the names
#: of this machine.
ALLOWED_HOSTS = env.entries("ALLOWED_HOSTS", default=_OWN_NAMES if DEVELOPMENT else [])
#: The port of the site.
_port = env.integer("PORT", default=8000, least=1, most=65535)
#: The URL of the site as users type it, with https. Default: `http://127.0.0.1:PORT`.
PUBLIC_URL = env.url("PUBLIC_URL", default=f"http://127.0.0.1:{_port}").rstrip("/")
_public = urlsplit(PUBLIC_URL)


def _check_site_url() -> None:
    """Record an error if the site is not served at the URL that its mails and pages contain."""
    for host in ALLOWED_HOSTS:
        if "/" in host or (":" in host and not host.startswith("[")):
            env.fault(
                "ALLOWED_HOSTS", f"{host!r} is not a host name. Write it without scheme and port."
            )
    if _public.path or _public.query:
        env.fault("PUBLIC_URL", "it has a path. Write only https:// and the host name.")
    is_known_fault = any(line.startswith(("ALLOWED_HOSTS", "PUBLIC_URL")) for line in env.faults)
    if DEVELOPMENT or is_known_fault or not ALLOWED_HOSTS:
        return
    host = f"[{_public.hostname}]" if ":" in (_public.hostname or "") else _public.hostname or ""
    served = ALLOWED_HOSTS + (_OWN_NAMES if set(ALLOWED_HOSTS) & set(_OWN_NAMES) else [])
    if _public.scheme != "https" and host not in _OWN_NAMES:
        env.fault("PUBLIC_URL", "nobody can sign in without TLS. Write https://.")
    elif f"http://127.0.0.1:{_port}" == PUBLIC_URL and host not in served:
        env.fault("PUBLIC_URL", "it must be set. Write https:// and a name of ALLOWED_HOSTS.")
    elif not validate_host(host, served):
        env.fault(
            "PUBLIC_URL", f"ALLOWED_HOSTS does not serve {host}. Write one of its names here."
        )


_check_site_url()
#: Addresses and networks of the proxies in front, whose `X-Forwarded-*` headers are trusted
#: ([behind a proxy](operations.md#behind-a-proxy)). Default: none.
TRUSTED_PROXIES = env.networks("TRUSTED_PROXIES")

# The apps that have operations in their `urls`.
API_APPS = ["identity", "webhooks", "bots", "chats", "channels_app", "reports", "mcp_server"]
INSTALLED_APPS = [
    "unfold.apps.BasicAppConfig",
    "identity.apps.SiteConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "chatplatform",
    *API_APPS,
    "commands",
]
# API requests pass only the first entry, which serves the paths of all operations. The others serve
# the pages of the site.
MIDDLEWARE = [
    "chatplatform.api.middleware.ApiEntryMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "chatplatform.web.content_policy.ContentPolicy",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "chatplatform.api.middleware.AdminMiddleware",
    "chatplatform.api.middleware.PageRateLimit",
]
# Sessions, CSRF and messages serve only the admin site; the API authenticates by header.
ADMIN_MIDDLEWARE = [
    "chatplatform.api.middleware.ReadStatementTimeout",
    # Safe from BREACH: responses have a random length, and forms have a token that changes with
    # each page, so the compressed size reveals nothing.
    "django.middleware.gzip.GZipMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "identity.pages.impersonation.ImpersonationMiddleware",
    "chatplatform.web.reader_locale.ReadersLanguage",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "chatplatform.urls"
APPEND_SLASH = False
CSRF_FAILURE_VIEW = "chatplatform.api.errors.csrf_failure"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "reports.views.failures_page.bell",
            ]
        },
    }
]


_PARTS = ("HOST", "PORT", "USER", "PASSWORD", "NAME")


def _url_of_parts(name: str, scheme: str, port: int, path: str, *, role: str = "") -> str:
    """The URL built from DATABASE_HOST, _PORT, _USER, …; a password may contain any character."""
    host = env.text(f"{name}_HOST", default="127.0.0.1")
    port = env.integer(f"{name}_PORT", default=port, least=1, most=65535)
    user = env.text(f"{role or name}_USER", default="" if name == "REDIS" else "chatplatform")
    password = env.text(f"{role or name}_PASSWORD", default="")
    login = quote(user, safe="") + (f":{quote(password, safe='')}" if password else "")
    path = quote(env.text(f"{name}_NAME", default=path), safe="")
    return f"{scheme}://{login}{'@' if login else ''}{host}:{port}/{path}"


def _default_url(setting: str, *parts: Any) -> str:
    """The URL built from its parts; empty, without reading the parts, if `setting` has a URL."""
    return "" if env.text(setting, default="") else _url_of_parts(*parts)


_POSTGRES = ("DATABASE", "postgres", 5432, "chatplatform")
#: ## Database and broker
#: The URL of your own PostgreSQL, 15 or newer, with the application's role. It may end in options
#: of libpq, such as `?sslmode=verify-full&sslrootcert=/etc/ssl/ca.pem`. Or set the URL's parts,
#: where a password may contain any character: `DATABASE_HOST`, `_PORT`, `_USER`, `_PASSWORD`,
#: `_NAME`.
#: Default: the embedded server.
DATABASES: dict[str, Any] = {
    "default": env.database("DATABASE_URL", default=_default_url("DATABASE_URL", *_POSTGRES))
}
#: The same database with the role that owns the tables; only `migrate` needs it
#: ([two roles](operations.md#two-roles-of-the-database)). Or set `DATABASE_OWNER_USER` and
#: `DATABASE_OWNER_PASSWORD`. Default: one role does both.
if env.text("DATABASE_OWNER_URL", default="") or env.text("DATABASE_OWNER_PASSWORD", default=""):
    DATABASES["owner"] = env.database(
        "DATABASE_OWNER_URL", default=_url_of_parts(*_POSTGRES, role="DATABASE_OWNER")
    )
#: A [replica](operations.md#a-replica-for-reports) from which reports and their exports are read.
_replica = env.text("DATABASE_REPLICA_URL", default="")
if _replica:
    DATABASES["replica"] = env.database("DATABASE_REPLICA_URL", default="")
#: How many seconds the replica may be behind; if it is further behind, the primary is read.
REPLICA_MAX_LAG_SECONDS = env.decimal("REPLICA_MAX_LAG_SECONDS", default=30)
# A host that fails does not close its connections. With keepalives, the other end notices after 20
# seconds: no thread of ours waits forever, and the database keeps no lock of a crashed host.
_IDLE, _INTERVAL, _COUNT = 10, 5, 2
_NAMES = {"TCP_KEEPIDLE": _IDLE, "TCP_KEEPINTVL": _INTERVAL, "TCP_KEEPCNT": _COUNT}
TCP_KEEPALIVE = {
    getattr(socket, name): value for name, value in _NAMES.items() if hasattr(socket, name)
}
for _database in DATABASES.values():
    _database.update(
        ENGINE="chatplatform.postgres",
        CONN_MAX_AGE=None,
        CONN_HEALTH_CHECKS=True,
        OPTIONS=_database.get("OPTIONS", {})
        | {
            "connect_timeout": 5,
            "server_side_binding": True,
            "prepare_threshold": 3,
            "keepalives_idle": _IDLE,
            "keepalives_interval": _INTERVAL,
            "keepalives_count": _COUNT,
            "tcp_user_timeout": 20000,
            # In milliseconds. The database cancels a statement that takes longer.
            "options": "-c statement_timeout=30000 -c lock_timeout=10000"
            " -c idle_in_transaction_session_timeout=60000 -c tcp_user_timeout=20000"
            f" -c tcp_keepalives_idle={_IDLE} -c tcp_keepalives_interval={_INTERVAL}"
            f" -c tcp_keepalives_count={_COUNT}",
        },
    )
if _replica:  # A failed host is noticed within seconds. tcp_user_timeout is in milliseconds.
    DATABASES["replica"]["OPTIONS"] |= {"tcp_user_timeout": 5000, "keepalives_idle": 5}
    DATABASES["replica"]["OPTIONS"] |= {"keepalives_interval": 2, "keepalives_count": 2}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
#: The URL of your own Valkey or Redis, 7 or newer. Or set the URL's parts: `REDIS_HOST`, `_PORT`,
#: `_PASSWORD`, `_NAME`. Default: the embedded server.
REDIS_URL = env.broker("REDIS_URL", default=_default_url("REDIS_URL", "REDIS", "redis", 6379, "0"))

AUTH_USER_MODEL = "identity.User"
AUTHENTICATION_BACKENDS = ["identity.auth.SiteBackend"]
LOGIN_URL, LOGIN_REDIRECT_URL = "admin:login", "admin:index"
SESSION_ENGINE = "identity.services.site_sessions"
#: ## People and mail
#: Seconds without a request after which a person is signed out of the site.
SESSION_COOKIE_AGE = env.integer("SITE_IDLE_SECONDS", default=28_800)
SESSION_SAVE_EVERY_REQUEST = True
#: Whether anybody may register a company. If not, the platform's staff add companies on the site.
#: Default: on if `DEBUG` is on.
REGISTRATION_OPEN = env.flag("REGISTRATION_OPEN", default=DEVELOPMENT)
#: Whether the platform's staff must have a second factor. Default: on unless `DEBUG` is on.
STAFF_SECOND_FACTOR = env.flag("STAFF_SECOND_FACTOR", default=not DEVELOPMENT)
PASSWORD_HASHERS = ["identity.auth.Argon2"]
_VALIDATORS = "django.contrib.auth.password_validation"
# The minimum length of a password.
MIN_PASSWORD = 10
AUTH_PASSWORD_VALIDATORS: list[dict[str, Any]] = [
    {"NAME": f"{_VALIDATORS}.MinimumLengthValidator", "OPTIONS": {"min_length": MIN_PASSWORD}},
    {"NAME": f"{_VALIDATORS}.CommonPasswordValidator"},
    {"NAME": f"{_VALIDATORS}.NumericPasswordValidator"},
]
ACCESS_TOKEN_LIFETIME = timedelta(minutes=30)
REFRESH_TOKEN_LIFETIME = timedelta(days=14)
SIMPLE_JWT = {
    "ACCESS_TOKEN_LIFETIME": ACCESS_TOKEN_LIFETIME,
    "ALGORITHM": "HS256",
    "ISSUER": "chatplatform",
    "AUDIENCE": "chatplatform-api",
    "LEEWAY": 60,  # seconds by which the clocks of two hosts may differ
}
# Outside of development, cookies travel only over TLS.
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = not DEVELOPMENT
# Behind a proxy that terminates TLS, a form's origin is https, but the request arrives as http.
CSRF_TRUSTED_ORIGINS = [f"{_public.scheme}://{_public.netloc}"]
#: Seconds for which browsers insist on TLS after a visit over TLS. Default: a year if `PUBLIC_URL`
#: is https, else 0.
SECURE_HSTS_SECONDS = env.integer(
    "HSTS_SECONDS", default=0 if DEVELOPMENT or _public.scheme != "https" else 365 * 86400
)
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"

# Mails are printed only in development: a log must not contain reset links.
NO_EMAIL = "django.core.mail.backends.dummy.EmailBackend"
#: The mail server: `smtp+tls://user:password@host:587`. Default: no mail is sent; if `DEBUG` is on,
#: mails are printed.
_email = env.mail("EMAIL_URL", default="consolemail://" if DEVELOPMENT else "dummymail://")
EMAIL_BACKEND = _email["EMAIL_BACKEND"]
EMAIL_HOST, EMAIL_PORT = _email["EMAIL_HOST"], _email["EMAIL_PORT"]
EMAIL_HOST_USER = _email["EMAIL_HOST_USER"]
EMAIL_HOST_PASSWORD = _email["EMAIL_HOST_PASSWORD"]
EMAIL_USE_TLS, EMAIL_USE_SSL = _email["EMAIL_USE_TLS"], _email["EMAIL_USE_SSL"]
EMAIL_TIMEOUT = 10  # seconds for each step of a delivery
EMAIL_SUBJECT_PREFIX = ""
#: The sender of all mails. Default: `no-reply@` the host of `PUBLIC_URL`.
DEFAULT_FROM_EMAIL = env.text(
    "EMAIL_FROM", default=f"Chatbot Platform <no-reply@{_public.hostname}>"
)
if "@" not in parseaddr(DEFAULT_FROM_EMAIL)[1]:
    env.fault("EMAIL_FROM", "it has no email address. Write Acme chat <no-reply@chat.example>.")
#: The page that mailed links for choosing a password open; `#token=…` is appended.
#: Default: `PUBLIC_URL/admin/choose-password/`.
PASSWORD_RESET_URL = env.url("PASSWORD_RESET_URL", default=f"{PUBLIC_URL}/admin/choose-password/")

LANGUAGE_CODE = "en"
# The languages of pages and desk, which have a `django.mo` in locale/; the widget has more.
LOCALE_PATHS = [BASE_DIR / "locale"]
LANGUAGES = [
    (code, LANG_INFO[code]["name_local"])
    for code in sorted(
        to_language(path.parents[1].name)
        for path in LOCALE_PATHS[0].glob("*/LC_MESSAGES/django.mo")
    )
]
# For languages whose grouping Django does not know, such as Vietnamese.
NUMBER_GROUPING = 3
TIME_ZONE = "UTC"
USE_TZ = True
FORMAT_MODULE_PATH = "chatplatform.web.formats"
STATIC_URL = "/static/"
# In the release's folder, not in the data folder that all releases share: each release needs its
# own files, which `collectstatic` puts here once.
STATIC_ROOT: Path | None = BASE_DIR / "staticfiles"
MEDIA_ROOT = DATA_DIR / "media"
#: ## Files and limits
#: A bucket of an S3-compatible store for all [files](operations.md#files-in-a-bucket); its URL
#: and credentials are in AWS's own variables (`AWS_ENDPOINT_URL_S3`, …). Default: the folder
#: `DATA_DIR/media`.
MEDIA_BUCKET = env.text("MEDIA_BUCKET", default="")
_AWS = [name for name in os.environ if name.startswith("AWS_") and os.environ[name]]
if MEDIA_BUCKET and not re.search("REGION|ENDPOINT_URL|PROFILE|CONFIG_FILE", " ".join(_AWS)):
    env.fault(
        "MEDIA_BUCKET", "its region or URL is missing. Write AWS_REGION or AWS_ENDPOINT_URL_S3."
    )
if ("AWS_ACCESS_KEY_ID" in _AWS) != ("AWS_SECRET_ACCESS_KEY" in _AWS):
    env.fault("AWS_ACCESS_KEY_ID", "it needs AWS_SECRET_ACCESS_KEY. Write both, or neither.")
#: Seconds to wait for each part of the store's response.
MEDIA_TIMEOUT_SECONDS = env.decimal("MEDIA_TIMEOUT_SECONDS", default=10)
_FILES = "bucket.Bucket" if MEDIA_BUCKET else "folder.Folder"
STORAGES = {
    "default": {"BACKEND": f"chatplatform.media_stores.{_FILES}"},
    "staticfiles": {"BACKEND": "chatplatform.web.static_storage.HashedModules"},
}
WHITENOISE_KEEP_ONLY_HASHED_FILES = False
if DEVELOPMENT:
    # Static files are served from their sources, so that a first start need not collect them.
    STATIC_ROOT = None
    STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    WHITENOISE_USE_FINDERS = True
# These checks do not find the middleware inside chatplatform.api.middleware.AdminMiddleware.
SILENCED_SYSTEM_CHECKS = ["admin.E408", "admin.E409", "admin.E410"]

# The maximum number of bytes in a body or file, and of files in an upload or message.
MAX_JSON_BYTES = 1_000_000
MAX_UPLOAD_BYTES = 25_000_000
MAX_UPLOAD_FILES = 20
MAX_CALLBACK_BYTES = 5_000_000
MAX_MESSAGE_FILES = 10
#: Bytes of files that visitors may send with one public key per day.
PUBLIC_KEY_UPLOAD_BYTES_PER_DAY = env.integer(
    "PUBLIC_KEY_UPLOAD_BYTES_PER_DAY", default=5_000_000_000
)
DATA_UPLOAD_MAX_MEMORY_SIZE = MAX_JSON_BYTES
DATA_UPLOAD_MAX_NUMBER_FILES = MAX_UPLOAD_FILES
FILE_UPLOAD_HANDLERS = ["chatplatform.web.uploads.UnnamedFileHandler"]
# The maximum number of bytes in a whole multipart body.
MAX_REQUEST_BYTES = MAX_UPLOAD_BYTES * 4

REST_FRAMEWORK = {
    "EXCEPTION_HANDLER": "chatplatform.api.errors.exception_handler",
    "DEFAULT_SCHEMA_CLASS": "chatplatform.api.openapi.OperationSchema",
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "UNAUTHENTICATED_USER": None,
}
# The groups of operations in the OpenAPI document, in the order in which they are shown.
API_GROUPS = {
    "bot": "Bots: their appearance, languages, language model and sample questions.",
    "AI / train": "What a bot knows and how it behaves: documents, texts, websites, instructions.",
    "AI / client": "Conversations of your customers, for your server (secret key) or website"
    " (public key).",
    "AI / chat": "Conversations in the inbox, for the people of your team.",
    "messaging": "Conversations as plain messages, to connect another messaging system.",
    "function-calling": "Functions of your systems that a bot may call.",
    "report": "Reports: the overview, custom reports, exports and warnings.",
    "Webhook": "Events that are sent to your endpoints, and their log.",
    "identity": "Your company, people, sign-ins, API keys, credits and audit log.",
    "config": "Settings of conversations, emails and platform messages.",
    "socialnet-services": "The channel socialnet: pages and their messages.",
    "photoapp-services": "The channel photoapp: accounts and their messages.",
    "chatapp-services": "The channel chatapp: numbers, their messages and templates.",
    "localapp-services": "The channel localapp: accounts and their messages.",
    "telegram-services": "The channel telegram: bots and their messages.",
    "MCP": "Tools for language models, over the Model Context Protocol.",
    "Check Health": "Whether the platform works, for monitoring.",
}
# One group at a time: with all operations, the browser needs seconds.
_SWAGGER_UI = {
    "deepLinking": True,
    "docExpansion": "list",
    "filter": True,
    "defaultModelsExpandDepth": -1,
    "layout": "StandaloneLayout",
    "urls": [{"name": name, "url": f"openapi.json?group={quote(name)}"} for name in API_GROUPS],
}
# JavaScript, since presets are variables. Without it, Swagger UI does not open links to operations
# whose tag has a slash, changes the page's URL, and forgets the credential when a group is chosen.
_SWAGGER_UI_CODE = """
presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
plugins: [{
  statePlugins: {auth: {wrapActions: {restoreAuthorization: () => () => {}}}},
}],
onComplete: ((link) => () => {
  const [, tag, ...operation] = link.split("/").map(decodeURIComponent);
  if (!tag) return;
  ui.layoutActions.show(["operations-tag", tag], true);
  const place = ["operations", tag, ...operation];
  ui.layoutActions.show(place, true);
  ui.layoutActions.scrollTo(place);
})(location.hash),
"""
_API_INTRODUCTION = """\
Bots trained on a company's own documents answer its customers, with citations, or hand over to its
agents.

**Credentials.** People send the access token of *Login For Access Token2* as
`Authorization: Bearer …`. Servers send a secret API key and websites a public one, both from
*Create Api Key*, as `API-KEY`. The last line of each description says who may call the operation:
people by role (owner, admin, agent, viewer), or keys. A request without such a credential is a 401,
even if it has one of another kind.

**Requests.** The platform sets the fields marked `readOnly`, and ignores them in requests. Only if
one is an id that the path has too, another value than the path's is a 422.

**Values.** Times are RFC 3339: in responses in UTC with milliseconds, `2026-11-21T03:00:00.123Z`;
requests may use any offset, but must have one. Languages are BCP 47 codes, such as `en` or `pt-BR`;
texts by language are an object with these codes as keys. Requests may spell a code in any case and
with `_`; it is stored and returned as BCP 47 spells it: `pt_br` as `pt-BR`, not as `pt`. Time zones
are IANA names, such as `Europe/Berlin`. A field that may be null says what null means.

**Lists.** They come in pages. Send `next_cursor` as `cursor`, with the same filters, for the next
page; it is null on the last page.

**Errors.** The body has `detail`, a sentence; a stable `code`; `request_id`; and beside them the
fields of its code, such as `job_id`. In a 422 for invalid fields, it has only `detail`: a list of
what is wrong (`msg`) and where (`loc`). A malformed id in a path is a 404. Every operation can also
fail with 500 `internal_error`, and a path called with a wrong method with 405 `method_not_allowed`.
Clients must expect new codes, new fields in responses, and new values of fields that the platform
sets.

**Credits.** What the bot and other AI functions do costs credits: as the descriptions say, 1 credit
or, if a language model works, its *tokens*: 1 credit for each started 1,000 tokens or, for your own
model, its `credits_per_1000_tokens`.

**Words.** *Titles in italics* are operations.

- *Conversation*, or chat: a customer's messages with a bot or agents on one channel. A *preview* is
  a test conversation of your team with a bot.
- *Customer*: a person who writes to you; on a website also called visitor.
- *Part*: a piece of a message's `content`, such as a text or a file.
- *Note*: a message of your team in a conversation, which the customer never sees.
- *Inbox*, or desk: the page on which your team answers conversations.
- *Queue*: the conversations that wait for an agent. A *handover* puts one there, or assigns it.
- *Widget*: the chat window on a website.
- *Document*, or *source*: a file, web page, text or answer that a bot is trained on. It is split
  into *passages*. A *citation* names a passage that supports an answer.
- *Instructions*, or prompt: what you tell a bot's language model about how to answer.
- *Procedure*: steps that a bot follows when a customer wants something; see *Update Procedures*.
- *Customer-info field*: a value that a bot asks customers for; see *Update Customer Info Field*.
- *Engine*: a language model or, without one, `extractive`, which quotes sentences of the documents.
- *Encoder*: a model that makes texts comparable by meaning, for the search in documents.
- *Golden question*: a question with what a right answer contains. A *golden run* asks a bot all of
  its golden questions. With `hold_back_worse`, it tests changes before they go live; a change that
  waits for it, or did not pass, is *held back*, and the bot answers as before.
- *Replay*: a bot answers questions of customers again, and nothing is sent; for webhooks, events
  are sent again.
- *Receipt* of a reply: how the bot came to it; see *Get Reply Receipt*. A *read receipt* tells a
  sender that a message was read.
- *Gate*, `below_gate`: the confidence below which a bot has no answer; see `answer_threshold`.
- *Reply window*: how long after a customer's last message a messaging channel accepts any text.
- *Template*: a message text that the provider of `chatapp` approved, for use after that.
- *Event*: what happened, such as `message.created`; sent to your *webhook endpoints* and kept in
  the event log.
- *Worker*: a process of the platform that does slow work in the background.
- `can_train`: a right of a person, whatever their role, to change what bots know and say.
- *Channels*: `web` is the widget, `api` your server; `socialnet` (a page and its messenger),
  `photoapp`, `chatapp`, `localapp` and `telegram` are apps of messaging providers.
"""
SPECTACULAR_SETTINGS = {
    "TITLE": "Chatbot Platform",
    "DESCRIPTION": _API_INTRODUCTION,
    "VERSION": "1.0.0",
    "CONTACT": {"name": "The operator of this platform"},
    "LICENSE": {"name": "All rights reserved", "identifier": "LicenseRef-All-Rights-Reserved"},
    "TAGS": [{"name": name, "description": words} for name, words in API_GROUPS.items()],
    "SERVERS": [{"url": "/", "description": "This server"}],
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "",
    "SORT_OPERATIONS": False,
    "PREPROCESSING_HOOKS": ["chatplatform.api.openapi.only_operations"],
    "POSTPROCESSING_HOOKS": [
        "chatplatform.api.openapi_postprocessing.finish",
        "webhooks.catalogue.add_webhooks",
    ],
    "SWAGGER_UI_SETTINGS": f"{{...{json.dumps(_SWAGGER_UI)}, {_SWAGGER_UI_CODE}}}",
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    "APPEND_COMPONENTS": {
        "securitySchemes": {
            "bearer": {
                "type": "oauth2",
                "flows": {
                    "password": {
                        "tokenUrl": "identity/token2",
                        "refreshUrl": "identity/token2",
                        "scopes": {},
                    }
                },
                "description": "A person's access token, from `POST /identity/token2`; sent as"
                " `Authorization: Bearer …`.",
            },
            "api_key": {
                "type": "apiKey",
                "in": "header",
                "name": "API-KEY",
                "description": "A server's or web page's key, from `POST /identity/api-keys`.",
            },
        }
    },
}

# PostgreSQL stores all jobs; the broker only carries messages (docs/decisions/0002).
CELERY_BROKER_URL = REDIS_URL
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # no limit: webhooks do not need the broker
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = {
    # Twice the hard time limit of a job: a message may wait behind one whole job in its worker, and
    # must not be delivered again while it waits. Leases show which jobs a crashed worker had.
    "visibility_timeout": 1260,
    "unacked_restore_interval": 30,
    "unacked_restore_throttle": 1,
    "socket_timeout": 2,
    "socket_connect_timeout": 1,
    "socket_keepalive": True,
    "socket_keepalive_options": TCP_KEEPALIVE,
    "retry_on_timeout": False,
    # Seconds after which a waiting worker polls again; a message wakes it at once.
    "polling_interval": 10,
}
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
# A thread keeps its database connection for this many jobs. Celery would open a connection for each
# job, which takes longer than most jobs; chatplatform/celery.py closes broken connections.
CELERY_DB_REUSE_MAX = 1_000_000
CELERY_WORKER_MAX_TASKS_PER_CHILD = 500
CELERY_WORKER_MAX_MEMORY_PER_CHILD = 700_000  # KiB; a child above it is replaced after its job
# Seconds that running jobs have to end when a worker stops; then they are returned to the queue.
# The launcher waits longer (12) before it kills the worker.
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 8
CELERY_WORKER_CONSUMER = "chatplatform.jobs.worker_process:Consumer"
CELERY_BEAT_SCHEDULER = "chatplatform.jobs.scheduler:Scheduler"
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TASK_SOFT_TIME_LIMIT = 600  # seconds, prefork only; a running job's lease is renewed
CELERY_TASK_TIME_LIMIT = 630
# For each queue, the loop that its workers run besides jobs, until the event passed to it is set.
WORKER_LOOPS = {"webhook": "webhooks.services.dispatcher.run"}
# For each queue, the function that its workers call before they take jobs.
WORKER_WARM_UPS = {"reply": "bots.services.warm_up.load"}
# The function that a web process calls in a thread once it has started.
WEB_WARM_UP = "bots.services.warm_up.load_languages"
#: ## Jobs
#: A file that workers, beat and relay touch every five seconds while they work, for health checks.
HEARTBEAT_FILE = env.text("HEARTBEAT_FILE", default="")
# The seconds between two runs of each periodic task; a task may run twice without harm.
_PERIODIC = {
    "chatplatform.clean_up_jobs": 3600,
    "chats.run_timers": 10,
    "chats.clean_up": 3600,
    "bots.crawl_due": 300,
    "bots.backfill_large_bots": 300,
    "identity.clean_up": 3600,
    "identity.clean_up_credits": 300,
    "bots.expire_function_calls": 600,
    "chatplatform.clean_up_files": 3600,
    "chatplatform.create_partitions": 21600,
    "webhooks.number_events": 30,
    "webhooks.clean_up": 3600,
    "channels_app.refresh_tokens": 600,
    "channels_app.enqueue_forgotten": 60,
    "channels_app.clean_up": 3600,
    "reports.clean_up": 3600,
    "reports.keep_figures": 300,
}
CELERY_BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    task: {"task": task, "schedule": seconds, "options": {"queue": "insight"}}
    for task, seconds in _PERIODIC.items()
}
# A run that waits too long for a worker is dropped: the next run does the same work.
CELERY_BEAT_SCHEDULE["chats.run_timers"]["options"]["expires"] = 10
# Only the workers of this queue have access to the media store. A run may wait behind a long
# training.
CELERY_BEAT_SCHEDULE["chatplatform.clean_up_files"]["options"] = {"queue": "train", "expires": 3600}
#: How many workers on all hosts serve the queues `reply`, `channel` and `insight`. The relay and
#: these workers need it to limit each client: to eight reply jobs at once per worker, and to all
#: workers but one while other clients' jobs run.
REPLY_WORKERS = env.integer("REPLY_WORKERS", default=1, least=1)
#: Seconds until a job that its worker no longer renews goes to another worker, if the worker's
#: process is gone ([a worker is killed](operations.md#stop-kill-start)). A process that hangs keeps
#: the job for ten more minutes.
JOB_LEASE_SECONDS = env.integer("JOB_LEASE_SECONDS", default=15, least=2)

#: ## Retention
#: How many months of the [audit log](operations.md#two-roles-of-the-database) are kept besides the
#: current one; 0 keeps all.
AUDIT_RETENTION_MONTHS = env.integer("AUDIT_RETENTION_MONTHS", default=24)
#: How many months of [events](operations.md#what-is-kept-and-how-it-goes) are kept besides the
#: current one; 0 keeps them as long as their conversations.
EVENT_MONTHS = env.integer("EVENT_MONTHS", default=0)

#: ## API and site
#: The name of this installation, if several share one `SECRET_KEY` ([cells](scale.md#cells)).
INSTANCE_ID = env.text("INSTANCE_ID", default="")
#: Where to report vulnerabilities: an email address or an https page, published in
#: `/.well-known/security.txt`. Default: there is no such file.
SECURITY_CONTACT = env.text("SECURITY_CONTACT", default="")
if SECURITY_CONTACT and not re.match(r"https://\S+$|[^\s@:]+@[^\s@]+$", SECURITY_CONTACT):
    env.fault("SECURITY_CONTACT", "it is not an email address or URL. Write security@name.example.")
#: Whether `/docs`, `/redoc` and `/openapi.json` are served.
API_DOCS = env.flag("API_DOCS", default=True)
#: Multiplies the [limits of requests](api.md#limits).
RATE_LIMIT_SCALE = env.decimal("RATE_LIMIT_SCALE", default=1, least=0.001)
#: Seconds within which a live feed ends after its reader has lost access.
SSE_REAUTH_SECONDS = env.decimal("SSE_REAUTH_SECONDS", default=30)
#: Seconds that a request with `reply: wait` stays open before it is answered with 202.
REPLY_WAIT_SECONDS = env.decimal("REPLY_WAIT_SECONDS", default=60)
#: A report with more rows is exported by a worker rather than in the response.
EXPORT_INLINE_LIMIT = env.integer("EXPORT_INLINE_LIMIT", default=10_000)
#: The secret (`whsec_…`) with which a payment provider signs its callbacks. Default: callbacks are
#: refused; the platform's staff mark orders as paid.
PAYMENT_WEBHOOK_SECRET = env.text("PAYMENT_WEBHOOK_SECRET", default="")
#: Packs of credits that companies may order, with their prices, as `5000=45 EUR,20000=150 EUR`.
#: Default: companies enter an amount, and learn the price elsewhere.
CREDIT_PACKS = env.pairs("CREDIT_PACKS", default={})
#: The privacy page to which feedback surveys link. Default: `PUBLIC_URL`.
PRIVACY_URL = env.url("PRIVACY_URL", default=PUBLIC_URL)

if not DEVELOPMENT:
    # Variables that other programs read, or that are read only if a URL is set in parts.
    env.find_unknown(
        ["HOST", "METRICS", "METRICS_BEAT", "METRICS_BULK", "METRICS_RELAY"]
        + [f"{name}_{part}" for name in ("DATABASE", "REDIS") for part in _PARTS]
        + ["DATABASE_OWNER_USER"]
    )
env.end_if_wrong()

# This makes our Celery application the current one wherever Django is set up. The package does not
# import it, because a child process that reads untrusted files needs neither Celery nor Django.
import chatplatform.celery  # noqa: E402, F401
