"""chatapp: business accounts, numbers, templates and media. Its sends are in `chatapp_send`."""

import re
from typing import Any

from simulator import graph_reads, oauth
from simulator.call_subject import bearer
from simulator.graph_reads import need
from simulator.http import Request, Response, graph_error, html, ok
from simulator.state import Simulator
from simulator.world import DAY, Account, Json, Token

URL_SECS = 300
UPLOAD_DAYS, INBOUND_DAYS = 30, 7
MEGABYTE = 1_000_000
SIZES = {
    "image/jpeg": 5, "image/png": 5, "image/webp": 0.5, "audio/aac": 16, "audio/amr": 16,
    "audio/mpeg": 16, "audio/mp4": 16, "audio/ogg": 16, "video/mp4": 16, "video/3gpp": 16,
}  # fmt: skip
DOCUMENT_SIZE = 100
_PIN = re.compile(r"\d{6}")


def node(account: Account) -> Json:
    if account.kind == "waba":
        return {"id": account.id, "name": account.name, "currency": "VND", "timezone_id": "132"}
    return {
        "id": account.id,
        "display_phone_number": f"+{account.username}",
        "verified_name": account.name,
        "code_verification_status": "VERIFIED" if account.is_registered else "NOT_VERIFIED",
        "platform_type": "CLOUD_API" if account.is_registered else "NOT_APPLICABLE",
        "quality_rating": "GREEN",
        "whatsapp_business_manager_messaging_limit": "TIER_2K",
    }


def numbers(sim: Simulator, request: Request, token: Token, waba: Account) -> Response:
    need(token, "whatsapp_business_management")
    return graph_reads.listed(request, sim.world.of_kind("number", waba.id), node)


def register(sim: Simulator, request: Request, token: Token, number: Account) -> Response:
    need(token, "whatsapp_business_management")
    pin = request.text("pin") if isinstance(request.params.get("pin"), str) else ""
    if request.text("messaging_product") != "whatsapp" or not _PIN.fullmatch(pin):
        raise graph_error(100, "Param pin must be six digits", details="pin")
    if number.pin and pin != number.pin:
        raise graph_error(133005, "Two step verification PIN Mismatch")
    number.pin, number.is_registered = pin, True
    return ok({"success": True})


# Templates


def templates(sim: Simulator, request: Request, token: Token, waba: Account) -> Response:
    need(token, "whatsapp_business_management")
    rows = sim.world.templates_of(waba.id)
    if name := request.text("name"):
        rows = [row for row in rows if row["name"] == name]
    return graph_reads.listed(request, rows, dict)


# Media


def upload(sim: Simulator, request: Request, token: Token, number: Account) -> Response:
    need(token, "whatsapp_business_messaging")
    file = request.files.get("file")
    if request.text("messaging_product") != "whatsapp" or file is None:
        raise graph_error(100, "Params messaging_product and file are required")
    mime = (request.text("type") or file.mime).partition(";")[0]
    check_size(mime, len(file.data))
    stored = sim.world.store(file.data, mime, name=file.name, lifetime=UPLOAD_DAYS * DAY)
    return ok({"id": stored.id})


def check_size(mime: str, size: int, code: int = 131053) -> None:
    is_document = not mime.startswith(("image/", "audio/", "video/"))
    limit = DOCUMENT_SIZE if is_document else SIZES.get(mime)
    if limit is None:
        raise graph_error(100, f"Param file must be a file with one of the types, not {mime}")
    if size > limit * MEGABYTE:
        raise graph_error(code, "Media upload error", details=f"larger than {limit} MB")


def media(sim: Simulator, request: Request, token: Token, media_id: str) -> Response:
    """`/{media-id}`: a URL for downloading the file, valid for five minutes."""
    need(token, "whatsapp_business_messaging")
    stored = sim.world.files[media_id]
    if request.method != "GET" or stored.expires_at < sim.world.now:
        raise graph_reads.unknown(media_id)
    stored.url_expires_at = sim.world.now + URL_SECS
    base = f"{sim.origin}{sim.settings.bases.lookaside}"
    url = f"{base}/whatsapp_business/attachments/?mid={media_id}&ext={int(stored.url_expires_at)}"
    return ok({
        "id": media_id, "url": url, "mime_type": stored.mime, "sha256": stored.sha256,
        "file_size": len(stored.data), "messaging_product": "whatsapp",
    })  # fmt: skip


def download(sim: Simulator, request: Request) -> Response:
    """Download a file, which needs a bearer token and a URL less than five minutes old."""
    token = sim.world.tokens.get(bearer(request)) if "authorization" in request.headers else None
    if token is None:
        return html("<h1>401 Unauthorized</h1>", 401)
    oauth.live(sim, token.value)
    stored = sim.world.files.get(request.query.get("mid", ""))
    ends_at = request.query.get("ext", "")
    if stored is None or not ends_at.isdigit() or int(ends_at) < int(sim.world.now):
        return html("<h1>404 Not Found</h1>", 404)
    return Response(stored.data, content_type=stored.mime)


_VARIABLE = re.compile(r"\{\{\s*(\w+)\s*\}\}")


def template_of(sim: Simulator, number: Account, value: Json) -> Json | None:
    """The template with the name and language of a send; None if there is none."""
    language = value.get("language")
    wanted = value.get("name"), language.get("code") if isinstance(language, dict) else None
    rows = sim.world.templates_of(number.parent)
    return next((row for row in rows if (row["name"], row["language"]) == wanted), None)


def template_texts(template: Json) -> dict[str, str]:
    """The texts of a template's header and body, by kind."""
    components: Any = template["components"]
    found = {
        str(component.get("type", "")).lower(): str(component.get("text", ""))
        for component in _dicts(components)
    }
    return {kind: found[kind] for kind in ("header", "body") if found.get(kind)}


def header_file(template: Json) -> str:
    """The kind of file in a template's header: image, video or document; empty if it has none."""
    formats = [str(row.get("format", "TEXT")) for row in _dicts(template["components"])]
    return next((name.lower() for name in formats if name in {"IMAGE", "VIDEO", "DOCUMENT"}), "")


def asking_buttons(template: Json) -> dict[str, str]:
    """For each button that needs a value, by its index: the `sub_type` that a send must give."""
    buttons = [
        button for row in _dicts(template["components"]) for button in _dicts(row.get("buttons"))
    ]
    found = {}
    for place, button in enumerate(buttons):
        if button.get("type") == "COPY_CODE":
            found[str(place)] = "copy_code"
        elif button.get("type") == "OTP" or placeholders(str(button.get("url", ""))):
            found[str(place)] = "url"
    return found


def _dicts(value: Any) -> list[Json]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def placeholders(text: str) -> list[str]:
    """The variables of a text, each once: numbers sorted, names in order of appearance."""
    names = list(dict.fromkeys(_VARIABLE.findall(text)))
    return sorted(names, key=int) if all(name.isdecimal() for name in names) else names


def parameters(value: Json, kind: str) -> list[Json]:
    """The values that a send gives for the header or the body."""
    found = [row for row in _dicts(value.get("components")) if row.get("type") == kind]
    return _dicts(found[0].get("parameters")) if found else []


def button_parameters(value: Json) -> dict[str, tuple[str, list[Json]]]:
    """For each button in a send, by its index: the `sub_type` and the values."""
    return {
        str(row.get("index")): (str(row.get("sub_type")), _dicts(row.get("parameters")))
        for row in _dicts(value.get("components"))
        if row.get("type") == "button"
    }


def shown(template: Json, value: Json) -> str:
    """The text that the customer reads: the template with the values of a send."""
    words = []
    for kind, text in template_texts(template).items():
        given = [str(parameter.get("text", "")) for parameter in parameters(value, kind)]
        words.append(_filled(text, dict(zip(placeholders(text), given, strict=False))))
    return "\n".join(words)


def _filled(text: str, values: dict[str, str]) -> str:
    return _VARIABLE.sub(lambda found: values.get(found[1], ""), text)
