"""The widget's pages as programs see them: who may frame it, what it loads, how large it is."""

import gzip
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command

from chatplatform.web.static_storage import minify
from identity.services import api_keys

LOADER, FRAME = "/widget/v1/loader.js", "/widget/v1/frame"
STATIC = settings.BASE_DIR / "chats" / "static" / "widget"


@pytest.fixture
def key(page):
    return page.headers["API-KEY"]


def policy(reply):
    parts = reply["Content-Security-Policy"].split("; ")
    return {name: sources.split() for name, _, sources in (part.partition(" ") for part in parts)}


def test_the_loader_is_small_and_asked_for_again_after_an_upgrade(nobody):
    reply = nobody.get(LOADER)
    assert reply["Content-Type"].startswith("text/javascript")
    assert len(reply.content) < 3_000
    assert "max-age=300" in reply["Cache-Control"]
    assert nobody.get(LOADER, **{"If-None-Match": reply["ETag"]}).status_code == 304


def test_templates_and_patterns_keep_their_spaces():
    script = r"""/** Says it. */
const a = (b) => b.match(/[ "`/{] \/ /) ? `  a, { ${b ? `<i> // ${{ c: b / 2 }}
    </i>` : " { "}` : null; // Not { more.
export { a };"""
    short = r"""const a=(b)=>b.match(/[ "`/{] \/ /)?`  a, { ${b?`<i> // ${{c:b / 2}}
</i>`:" { "}`:null;export{a};"""
    assert minify(script, "a.js") == short
    styles = "a:focus, b > c { /* d */\n  e: calc(1px + 2px) f;\n}\n"
    assert minify(styles, "a.css") == "a:focus,b > c{e:calc(1px + 2px) f;}"


def test_the_app_is_small():
    loaded, seen = [STATIC / "app.js", STATIC / "widget.css"], set()
    for path in loaded:
        seen.add(path)
        imports = re.findall(r'from ?"(\.[^"]+)"', path.read_text())
        found = {_found(path.parent / name) for name in imports}
        loaded.extend(found - set(loaded))
    assert len(seen) > 10
    translations = max(_bytes(path) for path in STATIC.glob("translations/*.js"))
    assert translations + sum(_bytes(path) for path in seen) <= 45_000


def _bytes(path: Path) -> int:
    """Of a file as a browser loads it."""
    return len(gzip.compress(minify(path.read_text(), path.name).encode()))


def _found(path: Path) -> Path:
    """Static files of several apps stand in one folder when they are served."""
    if path.exists():
        return path.resolve()
    return settings.BASE_DIR / "chatplatform" / "static" / path.parent.name / path.name


def test_only_the_bots_hosts_may_frame_it(nobody, bot, key):
    bot.allowed_domain = "shop.example,*.shop.example,localhost"
    bot.save()
    reply = nobody.get(FRAME, {"key": key})
    assert policy(reply)["frame-ancestors"] == [
        "'self'", "https://shop.example:*", "https://*.shop.example:*", "http://localhost:*",
    ]  # fmt: skip
    assert "X-Frame-Options" not in reply
    bot.allowed_domain = ""
    bot.save()
    assert policy(nobody.get(FRAME, {"key": key}))["frame-ancestors"] == ["'self'"]


def test_it_runs_no_script_of_the_page_and_sets_no_cookie(nobody, key):
    reply = nobody.get(FRAME, {"key": key})
    assert policy(reply)["script-src"] == policy(reply)["style-src"] == ["'self'"]
    assert policy(reply)["default-src"] == ["'none'"]
    assert not reply.cookies
    assert not re.search(r"<script(?![^>]*src=)|style=|\son\w+=", reply.content.decode())
    assert key.encode() not in reply.content


@pytest.mark.parametrize(
    ("named", "accepted", "loaded"),
    [
        ("vi", "en", "vi"), ("vi-VN", "en", "vi"), (None, "vi-VN,en;q=0.5", "vi"),
        (None, "sv", "en"), ("sv", "vi", "en"), ("de", "vi", "de"), ("", "vi", "en"),
        (None, "sv,zh-Hant-TW;q=0.8,en;q=0.5", "zh"), ("pt_BR", "vi", "pt"), ("AR", "vi", "ar"),
        ("\x00", "vi", "en"),
    ],
)  # fmt: skip
def test_it_loads_the_translations_of_one_language(nobody, key, named, accepted, loaded):
    query = {"key": key} if named is None else {"key": key, "language": named}
    text = nobody.get(FRAME, query, **{"Accept-Language": accepted}).content.decode()
    assert f'<html lang="{loaded}">' in text
    assert re.findall(r"translations/(\w+)", text) == ([] if loaded == "en" else [loaded])


def test_without_a_public_key_there_is_no_frame(nobody, server, page):
    secret = server.headers["API-KEY"]
    for wrong in ("", "x", "<script>", "\x00", secret):
        assert nobody.get(FRAME, {"key": wrong}).status_code == 404
    api_keys.revoke(page.client, api_key_id=page.key.pk, by=None)
    assert nobody.get(FRAME, {"key": page.headers["API-KEY"]}).status_code == 404


def test_the_widget_calls_from_the_platforms_own_address(page, bot):
    own = {"Origin": "http://testserver"}
    assert page.post("/ai/client/chat", {}, **own).status_code == 201
    for other in ("http://testserver.example", "http://testserver:81", "null"):
        assert page.post("/ai/client/chat", {}, Origin=other).status_code == 403


@pytest.mark.parametrize("is_development", [True, False])
def test_the_demos_shop_is_there_in_development_alone(
    nobody, settings, tmp_path, key, is_development
):
    settings.DATA_DIR, settings.DEVELOPMENT = tmp_path, is_development
    assert nobody.get("/demo").status_code == 404
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys" / "demo_page_key").write_text(key)
    shop = nobody.get("/demo")
    assert shop.status_code == (200 if is_development else 404)
    assert (key.encode() in shop.content) == is_development
    assert (b'href="/demo"' in nobody.get("/").content) == is_development


@pytest.mark.full
def test_in_service_every_script_names_the_others_by_their_hash(settings, tmp_path):
    """Else a browser could mix the scripts of two versions."""
    settings.STATIC_ROOT = tmp_path
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "chatplatform.web.static_storage.HashedModules"},
    }
    # The files of libraries have no part in it, and are most of what there is to compress.
    others = ["admin", "unfold", "rest_framework", "drf_spectacular_sidecar"]
    call_command("collectstatic", verbosity=0, interactive=False, ignore_patterns=others)
    (app,) = tmp_path.glob("widget/app.*.js")
    imports = re.findall(r'from ?"([^"]+)"', app.read_text())
    assert len(imports) > 5
    for name in imports:
        assert re.search(r"\.[0-9a-f]{12}\.js$", name)
        assert (app.parent / name).exists()
