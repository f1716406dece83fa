"""Call providers' APIs, and download files from the providers' own hosts only."""

import secrets
from collections.abc import Collection, Iterable, Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import orjson
from django.conf import settings

from channels_app.providers.errors import ChannelNotConfigured, Kind, ProviderError
from channels_app.providers.types import OutgoingFile
from chatplatform import egress

# The timeout of a download, in seconds; a customer's file may be large.
FILE_SECONDS = 30
# The minimum length of a credential, in characters.
_MIN_CREDENTIAL = 12


def setting(name: str) -> str:
    """A setting of the platform; raises a 503 `channel_not_configured` if it is empty."""
    value: str = getattr(settings, name)
    if not value:
        raise ChannelNotConfigured(name)
    return value


def call(
    method: str,
    url: str,
    *,
    channel: str,
    headers: Mapping[str, str] | None = None,
    json: Any = None,
    content: bytes | None = None,
    is_send: bool = False,
) -> egress.Reply:
    """Call a provider's API, and return the response, whatever its status. The host of `url` gets
    our credentials, so it must come from a setting.

    A broken connection raises a `temporary` error, or `uncertain` if the call is a send that the
    provider may have received. A stored credential that is not a valid header raises a `token`
    error.
    """
    try:
        return egress.request(
            method, url, headers=headers, json=json, content=content,
            timeout_seconds=settings.CHANNEL_TIMEOUT_SECONDS, purpose=channel,
        )  # fmt: skip
    except egress.InvalidHeader as error:
        raise ProviderError(Kind.TOKEN, str(error)) from error
    except egress.EgressError as error:
        is_safe = error.nothing_sent or not is_send
        kind = Kind.TEMPORARY if is_safe else Kind.UNCERTAIN
        raise ProviderError(kind, f"The provider could not be reached: {error}") from error


def parse(reply: egress.Reply, *, without: Iterable[Any] = ()) -> Any:
    """The JSON of a response; None if it is not JSON. Masks the credentials in `without`."""
    body = reply.body
    for secret in without:
        # A shorter value is not a credential, and might be part of the response's text.
        if len(str(secret)) >= _MIN_CREDENTIAL:
            body = body.replace(str(secret).encode(), b"...")
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return None


def download(
    url: str, *, channel: str, hosts: Collection[str], headers: Mapping[str, str] | None = None
) -> bytes:
    """Download a customer's file from the provider's file hosts; `.domain` matches all subdomains.

    Pass `headers` with a credential only if the URL came from the provider's API.
    """
    names = [host.partition(":")[0] for host in hosts]
    try:
        reply = egress.request(
            "GET", url, headers=headers, timeout_seconds=FILE_SECONDS,
            max_bytes=settings.MAX_UPLOAD_BYTES, purpose=channel,
            only_hosts=names,
        )  # fmt: skip
    except egress.Blocked as error:
        # Its message is written for whoever entered the address; here, the provider sent it.
        raise ProviderError(Kind.REQUEST, "The file's host can't be reached.") from error
    except egress.TooLarge as error:
        raise ProviderError(Kind.REQUEST, str(error)) from error
    except egress.EgressError as error:
        raise ProviderError(Kind.TEMPORARY, str(error)) from error
    if reply.status >= 500 or reply.status == 429:
        raise ProviderError(Kind.TEMPORARY, f"The file's host answered {reply.status}.")
    if reply.status != 200:
        raise ProviderError(Kind.REQUEST, f"The file's host answered {reply.status}.")
    return reply.body


def retry_after(headers: Mapping[str, str]) -> timedelta | None:
    """The wait in a Retry-After header, at most an hour; None unless it is in seconds."""
    value = headers.get("retry-after", "")
    return timedelta(seconds=min(int(value), 3600)) if value.isascii() and value.isdigit() else None


def multipart(fields: Mapping[str, Any], name: str, file: OutgoingFile) -> tuple[str, bytes]:
    """The content type and the body of a form with one file from our store. Values that are not
    strings are encoded as JSON."""
    assert file.open
    boundary = secrets.token_hex(16)
    lines = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n'
        f"{value if isinstance(value, str) else orjson.dumps(value).decode()}\r\n"
        for key, value in fields.items()
    ]
    safe = "".join(char if char.isalnum() or char in "._- " else "_" for char in file.file_name)
    lines.append(
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"; filename="{safe}"\r\n'
        f"Content-Type: {file.mime_type}\r\n\r\n"
    )
    with file.open() as opened:
        body = "".join(lines).encode() + opened.read() + f"\r\n--{boundary}--\r\n".encode()
    return f"multipart/form-data; boundary={boundary}", body


def path_segment(value: str) -> str:
    """An id, quoted so that it cannot change the path."""
    return quote(value, safe="")
