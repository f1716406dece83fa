"""Reads settings from environment variables, and reports wrong values.

Reading continues after an error, so that all errors are reported together, one per line.
"""

import difflib
import math
import multiprocessing
import os
import re
import signal
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any, NoReturn, TypeVar
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

T = TypeVar("T")
_ON, _OFF = {"true", "on", "yes", "y", "ok", "1"}, {"false", "off", "no", "n", "0"}
_HOST_AND_PORT = re.compile(r"(?P<host>\[[0-9A-Fa-f:.%]+\]|[^:\[\]]*)(?::(?P<port>\d{1,5}))?")
# The libpq options that a database URL may have after `?`.
_DATABASE_OPTIONS = {
    "application_name", "channel_binding", "gssencmode", "sslcert", "sslcrl", "sslkey", "sslmode",
    "sslnegotiation", "sslrootcert", "target_session_attrs",
}  # fmt: skip
_MAIL_BACKENDS = {
    "smtp": "smtp", "smtps": "smtp", "smtp+tls": "smtp", "smtp+ssl": "smtp",
    "consolemail": "console", "dummymail": "dummy",
}  # fmt: skip
# Common names of variables that the platform does not read, and the names that it reads instead.
_REPLACEMENTS = {
    "CELERY_BROKER_URL": "REDIS_URL",
    "CSRF_TRUSTED_ORIGINS": "PUBLIC_URL",
    "DEFAULT_FROM_EMAIL": "EMAIL_FROM",
    "DJANGO_ALLOWED_HOSTS": "ALLOWED_HOSTS",
    "DJANGO_DEBUG": "DEBUG",
    "DJANGO_SECRET_KEY": "SECRET_KEY",
    "EMAIL_HOST": "EMAIL_URL",
    "OPENAI_API_KEY": "LLM_API_KEY",
    "OPENAI_BASE_URL": "LLM_BASE_URL",
    "SECURE_HSTS_SECONDS": "HSTS_SECONDS",
}
# A name that is at least this similar (0 to 1) to a setting's name counts as a misspelling of it.
_MIN_SIMILARITY = 0.85


class Environment:
    """Environment variables as settings. `NAME_FILE` is the path of a file with `NAME`'s value.

    An empty variable counts as unset.
    """

    def __init__(self, variables: Mapping[str, str]) -> None:
        self.variables = variables
        self.faults: list[str] = []
        self.names = set[str]()

    def text(self, name: str, *, default: str) -> str:
        self.names.add(name)
        value = self.variables.get(name, "")
        value = value if value.strip() else ""
        path = self.variables.get(f"{name}_FILE", "").strip()
        if value and path:
            self.fault(name, f"{name}_FILE is set too: leave out one of them.")
        elif path:
            value = self._file(name, path)
        return value or default

    def choice(self, name: str, among: Sequence[str], *, default: str) -> str:
        value = self.text(name, default=default)
        if value not in among:
            self.fault(name, f"{value!r} is unknown. Write {_either(among)}.")
            return default
        return value

    def flag(self, name: str, *, default: bool) -> bool:
        value = self.text(name, default="").strip().lower()
        if value in _ON or value in _OFF:
            return value in _ON
        if value:
            self.fault(name, f"{value!r} is neither on nor off. Write true or false.")
        return default

    def integer(self, name: str, *, default: int, least: int = 0, most: float = math.inf) -> int:
        value = self.text(name, default="").strip()
        if value and re.fullmatch(r"-?[0-9]{1,18}", value) and least <= int(value) <= most:
            return int(value)
        if value:
            self.fault(name, f"{value!r} is not valid. Write a whole number{_span(least, most)}.")
        return default

    def decimal(
        self, name: str, *, default: float, least: float = 0, most: float = math.inf
    ) -> float:
        value = self.text(name, default="").strip()
        is_number = re.fullmatch(r"[0-9]{1,12}(\.[0-9]{1,9})?", value)
        if is_number and least <= float(value) <= most:
            return float(value)
        if value:
            self.fault(name, f"{value!r} is not valid. Write a number{_span(least, most)}.")
        return default

    def entries(self, name: str, *, default: Sequence[str] = ()) -> list[str]:
        """A list of entries separated by commas."""
        parts = [entry.strip() for entry in self.text(name, default="").split(",")]
        return [entry for entry in parts if entry] or list(default)

    def pairs(self, name: str, *, default: Mapping[str, str]) -> dict[str, str]:
        """Pairs `key=value` separated by commas."""
        split_entries = [entry.partition("=") for entry in self.entries(name)]
        if any(not key.strip() or not value.strip() for key, _, value in split_entries):
            self.fault(name, "an entry has no key or no value. Write KEY=VALUE,KEY=VALUE.")
            return dict(default)
        return {key.strip(): value.strip() for key, _, value in split_entries} or dict(default)

    def networks(self, name: str) -> list[IPv4Network | IPv6Network]:
        """IP addresses and networks (10.0.0.0/8), separated by commas."""
        try:
            return [ip_network(entry) for entry in self.entries(name)]
        except ValueError as exc:
            self.fault(name, f"{exc}. Write addresses and networks: 10.0.0.7,10.1.0.0/16.")
            return []

    def url(self, name: str, *, default: str) -> str:
        """A full HTTP or HTTPS URL without user and fragment."""
        value = self.text(name, default=default).strip()
        parts = _split(value)
        is_full = parts and parts.scheme in {"http", "https"} and _host_and_port(parts)
        if value and not (is_full and parts and not parts.fragment and "@" not in parts.netloc):
            self.fault(name, "this is not a full URL. Write it like https://name.example.")
            return default
        return value

    def broker(self, name: str, *, default: str) -> str:
        """The URL of a Valkey or Redis server."""
        like = "redis://:password@host:6379/0"
        return self._address(name, _broker, default, of="Valkey or Redis", like=like) or default

    def database(self, name: str, *, default: str) -> dict[str, Any]:
        """The parts of a PostgreSQL URL, under Django's names."""
        like = "postgres://user:password@host:5432/name"
        return self._address(name, _database, default, of="PostgreSQL", like=like) or {}

    def mail(self, name: str, *, default: str) -> dict[str, Any]:
        """Django's settings for the URL of a mail server."""
        like = "smtp+tls://user:password@host:587"
        return self._address(name, _mail, default, of="a mail server", like=like) or {}

    def _address(
        self, name: str, read: Callable[[str], T | None], default: str, *, of: str, like: str
    ) -> T | None:
        """What `read` returns for the setting's URL, or for the default if that URL is wrong."""
        parsed = read(self.text(name, default=default).strip())
        if not parsed:
            hint = f"Write it like {like}, with the password percent-encoded."
            self.fault(name, f"this is not a URL of {of}. {hint}")
        return parsed or read(default)

    def fault(self, name: str, what: str) -> None:
        """Record that a setting is wrong: what is wrong, and what to write instead."""
        self.faults.append(f"{name}: {what}")

    def find_unknown(self, also: Collection[str] = ()) -> None:
        """Record variables that nothing reads although they seem to be meant as settings: their
        names are misspelled, or are common names for settings that have another name here."""
        known = self.names | set(also)
        known |= {f"{name}_FILE" for name in known}
        candidates = [name for name in sorted(known) if len(name) > 4]
        for name in sorted(self.variables):
            # Test processes use numbered variables, such as DATABASE_URL_1.
            if name in known or re.sub(r"_\d+$", "", name) in known or len(name) < 5:
                continue
            meant = [_REPLACEMENTS[name]] if name in _REPLACEMENTS else []
            meant = meant or difflib.get_close_matches(name, candidates, 1, _MIN_SIMILARITY)
            if meant:
                self.fault(name, f"no setting has this name. Write {meant[0]}.")

    def end_if_wrong(self) -> None:
        """End the process if a setting is wrong, with one line per error."""
        if self.faults:
            sys.exit("\n".join(dict.fromkeys(self.faults)))

    def _file(self, name: str, path: str) -> str:
        try:
            return Path(path).read_text().rstrip("\r\n")
        except (OSError, UnicodeDecodeError) as exc:
            reason = exc.strerror if isinstance(exc, OSError) else "it is not text"
            self.fault(f"{name}_FILE", f"{path!r} cannot be read ({reason}). Write another path.")
            return ""


env = Environment(os.environ)


def end(reason: str) -> NoReturn:
    """End this process because it must not start, and write the reason to stderr."""
    sys.stderr.write(f"{reason}\n")
    sys.stderr.flush()
    server = multiprocessing.parent_process()
    if server and server.pid == os.getppid():
        # granian would restart this worker again and again, so stop granian (see `web.serve`).
        os.kill(server.pid, signal.SIGUSR1)
    os._exit(1)


def _either(among: Sequence[str]) -> str:
    return f"{', '.join(among[:-1])} or {among[-1]}"


def _span(least: float, most: float) -> str:
    return f" of at least {least:g}" if most == math.inf else f" from {least:g} to {most:g}"


def _split(value: str) -> SplitResult | None:
    try:
        return urlsplit(value)
    except ValueError:  # such as an unencoded [ in a password
        return None


def _host_and_port(parts: SplitResult) -> tuple[str, int | None] | None:
    """Host and port of a URL; None if there is no host or the port is invalid."""
    match = _HOST_AND_PORT.fullmatch(parts.netloc.rpartition("@")[2])
    if match is None or not match["host"]:
        return None
    port = int(match["port"]) if match["port"] else None
    return None if port is not None and port > 65535 else (unquote(match["host"]).strip("[]"), port)


def _login(parts: SplitResult) -> tuple[str, str]:
    user, _, password = parts.netloc.rpartition("@")[0].partition(":")
    return unquote(user), unquote(password)


def _broker(value: str) -> str | None:
    parts = _split(value)
    if parts is None or parts.scheme not in {"redis", "rediss", "unix"}:
        return None
    return value if parts.scheme == "unix" or _host_and_port(parts) else None


def _database(value: str) -> dict[str, Any] | None:
    parts = _split(value)
    if parts is None or parts.scheme not in {"postgres", "postgresql"} or parts.fragment:
        return None
    address, (user, password) = _host_and_port(parts), _login(parts)
    options = dict(parse_qsl(parts.query))
    name = unquote(parts.path.removeprefix("/"))
    if address is None or not name or not set(options) <= _DATABASE_OPTIONS:
        return None
    return {
        "NAME": name, "USER": user, "PASSWORD": password, "HOST": address[0],
        "PORT": address[1] or "", "OPTIONS": options,
    }  # fmt: skip


def _mail(value: str) -> dict[str, Any] | None:
    parts = _split(value)
    if parts is None or parts.scheme not in _MAIL_BACKENDS or parts.query or parts.fragment:
        return None
    address, (user, password) = _host_and_port(parts), _login(parts)
    is_sent = _MAIL_BACKENDS[parts.scheme] == "smtp"
    if is_sent and (address is None or parts.path.strip("/")):
        return None
    is_ssl = parts.scheme in {"smtps", "smtp+ssl"}
    host, port = address or ("", None)
    return {
        "EMAIL_BACKEND": f"django.core.mail.backends.{_MAIL_BACKENDS[parts.scheme]}.EmailBackend",
        "EMAIL_HOST": host,
        "EMAIL_PORT": port or (465 if is_ssl else 587 if parts.scheme == "smtp+tls" else 25),
        "EMAIL_HOST_USER": user,
        "EMAIL_HOST_PASSWORD": password,
        "EMAIL_USE_TLS": parts.scheme == "smtp+tls",
        "EMAIL_USE_SSL": is_ssl,
    }  # fmt: skip
