"""The widget's loader script, its frame, and a demo shop to try it in."""

import hashlib
import re
from functools import cache
from urllib.parse import urlsplit

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.translation.trans_real import parse_accept_lang_header
from django.views.decorators.http import condition, require_safe

from bots.services import bots, website_keys
from chatplatform.web.reader_locale import in_reader_language
from chatplatform.web.static_storage import minify
from identity.auth import LOOPBACK, origin_host, origin_matches
from identity.models import KeyScope
from identity.services import api_keys

# How many seconds browsers cache the loader. All other files have a hash of their content in the
# name.
_LOADER_SECONDS = 300
# `{framers}`: the websites that may embed the frame. Pictures of the bot, the agents and the
# conversation may come from any host; recordings and films are the platform's own.
_FRAME_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
    " img-src 'self' data: blob: https: http:; media-src 'self'; base-uri 'none';"
    " form-action 'none'; frame-ancestors 'self' {framers}"
)
_SHOP_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; frame-src 'self';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


_REPLACEMENTS = (
    (r"[;,]}", "}"), (r"\((\w+)\)=>", r"\1=>"), (r"\bconst\b", "let"),
    # Variables whose names occur nowhere else in the script.
    (r"\bisReady\b", "r"), (r"\bisHidden\b", "h"), (r"\bisMoved\b", "m"), (r"\bwanted\b", "w"),
    (r"\bhooks\b", "k"), (r"\bgreet\b", "g"), (r"\bcalls\b", "c"),
)  # fmt: skip


@cache
def _loader() -> bytes:
    """The loader's script, minified, because every page of a website loads it."""
    source = settings.BASE_DIR / "chats" / "static" / "widget" / "loader.js"
    script = minify(source.read_text(), source.name)
    for pattern, replacement in _REPLACEMENTS:
        script = re.sub(pattern, replacement, script)
    return script.strip().encode()


@require_safe
@condition(etag_func=lambda request: f'"{hashlib.sha256(_loader()).hexdigest()[:32]}"')
def loader(request: HttpRequest) -> HttpResponse:
    """The script that adds the widget to a website. Its URL never changes."""
    return HttpResponse(
        _loader(),
        content_type="text/javascript; charset=utf-8",
        headers={
            "Cache-Control": f"public, max-age={_LOADER_SECONDS}",
            "Cross-Origin-Resource-Policy": "cross-origin",
        },
    )


@require_safe
def frame(request: HttpRequest) -> HttpResponse:
    """The widget's frame, which only the bot's allowed hosts may embed."""
    key = api_keys.get_valid(request.GET.get("key", ""))
    if key is None or key.scope != KeyScope.PUBLIC or key.bot_id is None:
        raise Http404
    with translation.override(_language(request)):
        page = render(request, "chats/widget.html")
    hosts = [host.strip().lower() for host in bots.allowed_hosts(key.bot_id)]
    if not key.client.frozen_at:
        _note_website(request, key.bot_id, hosts)
    # The hosts may use any port, and plain http only on this machine.
    framers = " ".join(
        f"{'http' if host in LOOPBACK else 'https'}://{host}:*" for host in hosts if host
    )
    page["Content-Security-Policy"] = _FRAME_POLICY.format(framers=framers).strip()
    page["Cache-Control"] = "no-store"
    page["Cross-Origin-Resource-Policy"] = "cross-origin"
    page["Referrer-Policy"] = "no-referrer"
    return page


def _note_website(request: HttpRequest, bot_id: int, hosts: list[str]) -> None:
    """Record which allowed website shows the frame, from the `Referer` that the browser sends."""
    try:
        parts = urlsplit(request.headers.get("Referer", ""))
    except ValueError:
        return
    origin = f"{parts.scheme}://{parts.netloc}"
    host = origin_host(origin)
    if host and origin_matches(origin, hosts):
        website_keys.note_website(bot_id, host=host)


def _language(request: HttpRequest) -> str:
    """The language of the widget's texts: the language that the website requests or, if it requests
    none, the first of the browser's languages that the widget has; else English."""
    requested = request.GET.get("language")
    header = request.headers.get("Accept-Language", "")
    codes = (
        [code for code, _ in parse_accept_lang_header(header)] if requested is None else [requested]
    )
    for code in codes:
        base = re.split("[-_]", code.lower())[0]
        if base in _translated_languages():
            return base
    return "en"


@cache
def _translated_languages() -> frozenset[str]:
    """The languages in which the widget has its texts."""
    folder = settings.BASE_DIR / "chats" / "static" / "widget" / "translations"
    return frozenset({"en"} | {path.stem for path in folder.glob("*.js")})


@require_safe
def shop(request: HttpRequest) -> HttpResponse:
    """The demo shop with the demo bot's widget."""
    key_file = settings.DATA_DIR / "keys" / "demo_page_key"
    if not (settings.DEVELOPMENT and key_file.exists()):
        raise Http404
    with in_reader_language(request):
        page = render(request, "chats/shop.html", {"key": key_file.read_text()})
    page["Content-Security-Policy"] = _SHOP_POLICY
    page["Cache-Control"] = "no-store"
    patch_vary_headers(page, ["Accept-Language"])
    return page
