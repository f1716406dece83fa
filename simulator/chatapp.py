"""chatapp: business accounts, numbers, templates, media; its sends are in `chatapp_send`."""

import re
from typing import Any

from simulator import graph_reads, oauth
from simulator.call_subject import bearer
from simulator.defaults import BUSINESS_ID
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


def business_accounts(sim: Simulator, request: Request, token: Token, edge: str) -> Response:
    need(token, "business_management", "whatsapp_business_management")
    if edge.startswith("client_") or BUSINESS_ID not in request.path:
        return ok({"data": []})
    rows = [each for each in sim.world.of_kind("waba") if each.id in token.targets]
    return graph_reads.listed(sim, request, rows, node)


def node(account: Account) -> Json:
    if account.kind == "waba":
        return {"id": account.id, "name": account.name, "currency": "VND", "timezone_id": "132"}
    return {
        "id": account.id,
        "display_phone_number": f"+{account.username}",
        "verified_name": account.name,
        "quality_rating": "GREEN",
        "code_verification_status": "VERIFIED" if account.is_registered else "NOT_VERIFIED",
        "platform_type": "CLOUD_API" if account.is_registered else "NOT_APPLICABLE",
        "throughput": {"level": "STANDARD"},
        "name_status": "APPROVED",
        "status": "CONNECTED" if account.is_registered else "PENDING",
        "whatsapp_business_manager_messaging_limit": "TIER_2K",
    }


def numbers(sim: Simulator, request: Request, token: Token, waba: Account) -> Response:
    need(token, "whatsapp_business_management")
    fields = graph_reads.wanted(request, "id,display_phone_number,verified_name,quality_rating")
    rows = sim.world.of_kind("number", waba.id)
    return graph_reads.listed(sim, request, rows, lambda each: graph_reads.pick(node(each), fields))


def register(sim: Simulator, request: Request, token: Token, number: Account) -> Response:
    need(token, "whatsapp_business_management")
    pin = request.text("pin") if isinstance(request.params.get("pin"), str) else ""
    if request.text("messaging_product") != "whatsapp" or not _PIN.fullmatch(pin):
        raise graph_error(100, "Param pin must be six digits", details="pin")
    if number.pin and pin != number.pin:
        number.wrong_pins += 1
        if number.wrong_pins > 3:
            raise graph_error(133016, "Account register deregister rate limit exceeded")
        raise graph_error(133005, "Two step verification PIN Mismatch")
    number.pin, number.is_registered, number.wrong_pins = pin, True, 0
    return ok({"success": True})


def deregister(sim: Simulator, request: Request, token: Token, number: Account) -> Response:
    need(token, "whatsapp_business_management")
    number.is_registered = False
    return ok({"success": True})


# Templates


def templates(sim: Simulator, request: Request, token: Token, waba: Account) -> Response:
    need(token, "whatsapp_business_management")
    rows = sim.world.templates_of(waba.id)
    if name := request.text("name"):
        rows = [row for row in rows if row["name"] == name]
    fields = graph_reads.wanted(request, "id,name,language,status,category,components")
    return graph_reads.listed(sim, request, rows, lambda row: graph_reads.pick(row, fields))


def create_template(sim: Simulator, request: Request, token: Token, waba: Account) -> Response:
    need(token, "whatsapp_business_management")
    name, language = request.text("name"), request.text("language")
    category = request.text("category")
    if not re.fullmatch(r"[a-z0-9_]{1,512}", name) or not language:
        raise graph_error(100, "Param name must be lower case letters, digits and underscores")
    if category not in {"UTILITY", "MARKETING", "AUTHENTICATION"}:
        raise graph_error(100, "Param category is not known")
    rows = sim.world.templates_of(waba.id)
    if any((row["name"], row["language"]) == (name, language) for row in rows):
        raise graph_error(100, "Content in this language already exists", 2388024)
    components = request.params.get("components", [])
    template = {
        "id": sim.world.random_digits(16), "name": name, "language": language,
        "status": "PENDING", "category": category, "components": components,
    }  # fmt: skip
    rows.append(template)
    return ok({name: template[name] for name in ("id", "status", "category")})


def delete_template(sim: Simulator, request: Request, token: Token, waba: Account) -> Response:
    need(token, "whatsapp_business_management")
    rows, name = sim.world.templates_of(waba.id), request.text("name")
    left = [row for row in rows if row["name"] != name]
    if len(left) == len(rows):
        raise graph_error(100, "Message Template Not Found", 2593002)
    rows[:] = left
    return ok({"success": True})


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
    """`/{media-id}`: an address that lives five minutes."""
    need(token, "whatsapp_business_messaging")
    stored = sim.world.files[media_id]
    if request.method == "DELETE":
        del sim.world.files[media_id]
        return ok({"success": True})
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
    """The address of a file: only with the bearer token, only for five minutes."""
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
    """The template that a send names."""
    language = value.get("language")
    wanted = value.get("name"), language.get("code") if isinstance(language, dict) else None
    rows = sim.world.templates_of(number.parent)
    return next((row for row in rows if (row["name"], row["language"]) == wanted), None)


def template_texts(template: Json) -> dict[str, str]:
    """The words of a template's header and body, by kind."""
    components: Any = template["components"]
    found = {
        str(component.get("type", "")).lower(): str(component.get("text", ""))
        for component in (components if isinstance(components, list) else [])
        if isinstance(component, dict)
    }
    return {kind: found[kind] for kind in ("header", "body") if kind in found}


def placeholders(text: str) -> list[str]:
    """The values that a text needs: numbers in their order, names as they come."""
    names = list(dict.fromkeys(_VARIABLE.findall(text)))
    return sorted(names, key=int) if all(name.isdecimal() for name in names) else names


def parameters(value: Json, kind: str) -> list[Json]:
    """The values that a send gives for the header or the body."""
    components: Any = value.get("components")
    found = [each for each in (components if isinstance(components, list) else [])
             if isinstance(each, dict) and each.get("type") == kind]  # fmt: skip
    given: Any = found[0].get("parameters") if found else []
    return [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []


def shown(template: Json, value: Json) -> str:
    """What the customer reads."""
    words = []
    for kind, text in template_texts(template).items():
        given = [str(each.get("text", "")) for each in parameters(value, kind)]
        words.append(_filled(text, dict(zip(placeholders(text), given, strict=False))))
    return "\n".join(words)


def _filled(text: str, values: dict[str, str]) -> str:
    return _VARIABLE.sub(lambda found: values.get(found[1], ""), text)
