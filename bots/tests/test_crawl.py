"""The crawler: which pages it visits, stores and refuses."""

import gzip
import hashlib
import socket

import pytest

from bots.ingest import crawler, page_links
from bots.ingest.crawler import KnownPage, Limits, Outcome
from bots.tests.web_site import html, serving

QUICK = Limits(delay_seconds=0, page_seconds=0.5)
ROBOTS = "/robots.txt"


@pytest.fixture
def site(settings):
    with serving() as site:
        settings.EGRESS_ALLOW = [site.host_port]
        yield site


@pytest.fixture
def elsewhere():
    with serving() as other:
        yield other


@pytest.fixture(autouse=True)
def _parsed_here(request, monkeypatch):
    """Parse in this process, which is faster; tests with `in_children` use child processes."""
    if "in_children" not in request.fixturenames:
        monkeypatch.setattr(page_links, "read_page", page_links._page)
        monkeypatch.setattr(page_links, "read_sitemap", page_links._sitemap)


@pytest.fixture
def in_children():
    """Parse markup in child processes."""


def walk(site, path="/", depth=3, limits=QUICK, **options):
    pages = crawler.crawl(site.at(path), depth=depth, limits=limits, **options)
    return {page.url.removeprefix(site.at("")): page for page in pages}


def reasons(pages):
    return {path: page.reason for path, page in pages.items() if page.reason}


def stored(pages):
    return {path for path, page in pages.items() if not page.reason}


def test_breadth_first_to_a_depth(site):
    site.pages = {
        "/": html("Root", "/a", "/b#part", "b?utm_source=x"),
        "/a": html("A", "/", "/deep"),
        "/b": html("B", "/a"),
        "/deep": html("Deep", "/deeper"),
        "/deeper": html("Deeper"),
    }
    assert list(walk(site, depth=0)) == ["/"]
    assert list(walk(site, depth=1)) == ["/", "/a", "/b"]
    assert list(walk(site, depth=2)) == ["/", "/a", "/b", "/deep"]
    assert walk(site, depth=2)["/deep"].depth == 2


def test_one_request_a_page(site):
    site.pages = {"/": html("Root", "/", "/a", "/./a", "/x/../a"), "/a": html("A", "/", "/a#b")}
    assert stored(walk(site)) == {"/", "/a"}
    assert sorted(site.paths()) == ["/", "/a", ROBOTS]
    assert {headers["user-agent"] for _, headers in site.requests} == {"chatplatform-crawler/1.0"}


def test_other_hosts_are_left_alone(site, elsewhere):
    site.pages = {"/": html("Root", elsewhere.at("/"), "//blog.example/", "mailto:a@b.example")}
    assert list(walk(site)) == ["/"]
    assert elsewhere.connections == 0


def test_no_redirect_leaves_the_site(site, elsewhere):
    site.pages = {"/": html("Root", "/in", "/out", "/odd", "/ok"), "/fine": html("Fine")}
    for path, target in (
        ("/in", elsewhere.at("/secret")),
        ("/out", "http://93.184.215.14/"),
        ("/odd", "file:///etc/passwd"),
        ("/ok", "/fine"),
    ):
        site.pages[path] = (302, {"Location": target}, b"")
    pages = walk(site)
    assert reasons(pages) == {"/in": "blocked", "/out": "other_host", "/odd": "blocked"}
    assert stored(pages) == {"/", "/fine"}
    assert elsewhere.connections == 0


def test_a_name_that_moves_to_loopback_is_refused(site, monkeypatch):
    site.pages = {"/": html("Root")}
    place = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", site.server_port))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [place])
    (page,) = crawler.crawl("http://moved.example/", depth=0, limits=QUICK)
    assert (page.outcome, page.reason) == (Outcome.REFUSED, "blocked")
    assert site.connections == 0


def test_redirects_end(site):
    site.pages = {
        "/": html("Root", "/hop/0", "/self", "/three"),
        "/self": (301, {"Location": "/self"}, b""),
        "/three": (301, {"Location": "/two"}, b""),
        "/two": (307, {"Location": "/one"}, b""),
        "/one": (308, {"Location": "/there"}, b""),
        "/there": html("There"),
    }
    pages = walk(site)
    assert reasons(pages) == {"/hop/0": "too_many_redirects", "/self": "too_many_redirects"}
    assert stored(pages) == {"/", "/there"}
    assert sum(path.startswith("/hop/") for path in site.paths()) == 4


def test_hostile_pages_stay_within_the_limits(site):
    site.pages = {
        "/": html("Root", "/drip", "/endless", "/bomb", "/gone", "/broken", "/fine"),
        "/gone": (410, {}, b""),
        "/broken": (503, {}, b""),
        "/fine": html("Fine"),
    }
    pages = walk(site)
    assert reasons(pages) == {
        "/drip": "timeout",
        "/endless": "too_large",
        "/bomb": "too_large",
        "/gone": "not_found",
        "/broken": "http_error",
    }
    assert stored(pages) == {"/", "/fine"}
    assert pages["/broken"].http_status == 503


def test_robots_txt(site):
    site.pages = {
        ROBOTS: "User-agent: *\nDisallow: /\n\nUser-agent: chatplatform-crawler\n"
        "Disallow: /private\nDisallow: /*.cgi$\nAllow: /private/open\nCrawl-delay: 60\n",
        "/": html("Root", "/private/a", "/private/open", "/x.cgi", "/x.cgi/y", "/moved"),
        "/private/open": html("Open"),
        "/x.cgi/y": html("Y"),
        "/moved": (302, {"Location": "/private/b"}, b""),
    }
    pauses: list[float] = []
    pages = walk(site, pause=pauses.append)
    assert reasons(pages) == {"/private/a": "robots", "/x.cgi": "robots", "/moved": "robots"}
    assert stored(pages) == {"/", "/private/open", "/x.cgi/y"}
    assert not [path for path in site.paths() if path in ("/private/a", "/private/b", "/x.cgi")]
    # The pause that the site asks for, up to our limit.
    assert set(pauses) == {QUICK.max_delay_seconds}
    assert len(pauses) == 3


@pytest.mark.parametrize(
    ("robots", "reason"),
    [
        ((404, {}, b""), ""),
        ((403, {}, b""), ""),
        ((500, {}, b""), "robots_unreachable"),
        ((302, {"Location": "/drip"}, b""), "robots_unreachable"),
        ((302, {"Location": "http://127.0.0.1:1/robots.txt"}, b""), "robots_unreachable"),
        ((302, {"Location": "/elsewhere.txt"}, b""), "robots"),
        ((200, {}, b"User-agent: *\nDisallow: /"), "robots"),
        ((200, {}, b"\xff\x00 no robots at all <html>"), ""),
        ((200, {}, b"\xef\xbb\xbfUser-agent: *\nDisallow: /"), "robots"),
        ((200, {}, "\ufeffUser-agent: *\nDisallow: /".encode("utf-16-le")), "robots"),
        ((200, {}, b"USER-AGENT: *\rDISALLOW: /\r"), "robots"),
        ((200, {}, b"<html>\nUser-agent: ChatPlatform-Crawler/1.0\nDisallow: /"), "robots"),
        ((429, {}, b""), "robots_unreachable"),
    ],
)
def test_responses_for_robots_txt(site, robots, reason):
    site.pages = {
        ROBOTS: robots,
        "/elsewhere.txt": (200, {}, b"User-agent: *\nDisallow: /"),
        "/": html("Root"),
    }
    (page,) = walk(site).values()
    assert page.reason == reason


def test_robots_directives_of_pages(site):
    site.pages = {
        "/": html("Root", "/noindex", "/nofollow", "/header", "/others"),
        "/noindex": html("A", "/below-a", head='<meta name="robots" content="NOINDEX">'),
        "/nofollow": html("B", "/below-b", head='<meta name="robots" content="index, nofollow">'),
        "/header": (200, {"Content-Type": "text/html", "X-Robots-Tag": "none"}, b"<p>C</p>"),
        "/others": (
            200,
            {"Content-Type": "text/html", "X-Robots-Tag": "otherbot: noindex"},
            b'<p>D</p><a rel="nofollow" href="/below-d">no</a>',
        ),
        "/below-a": html("Below A"),
    }
    pages = walk(site)
    assert reasons(pages) == {"/noindex": "noindex", "/header": "noindex"}
    assert stored(pages) == {"/", "/nofollow", "/others", "/below-a"}


@pytest.mark.parametrize(
    ("value", "is_forbidden"),
    [
        ("max-image-preview:large, noindex", True),
        ("max-video-preview: 10, none", True),
        ("unavailable_after: Wed, 25 Jun 2031 15:00:00 GMT, noindex", True),
        ("chatplatform-crawler: max-snippet:50, noindex", True),
        ("noindex, otherbot: nofollow", True),
        ("otherbot: max-snippet:-1, noindex", False),
        ("max-image-preview:large, max-snippet:-1", False),
    ],
)
def test_a_header_that_forbids_to_store_a_page(site, value, is_forbidden):
    site.pages = {
        "/": html("Root", "/page"),
        "/page": (200, {"Content-Type": "text/html", "X-Robots-Tag": value}, b"<p>A</p>"),
    }
    assert reasons(walk(site)) == ({"/page": "noindex"} if is_forbidden else {})


def test_the_same_content_is_stored_once(site):
    site.pages = {
        "/": html("Root", "/one", "/two", "/list?sort=a", "/circle-a"),
        "/one": html("Same"),
        "/two": html("Same"),
        "/list?sort=a": html("List, sorted", head='<link rel="canonical" href="/list">'),
        "/list": html("List"),
        "/circle-a": html("Circle A", head='<link rel="canonical" href="/circle-b">'),
        "/circle-b": html("Circle B", head='<link rel="canonical" href="/circle-a">'),
    }
    pages = walk(site)
    assert reasons(pages) == {
        "/two": "duplicate", "/list?sort=a": "duplicate", "/circle-a": "duplicate",
    }  # fmt: skip
    assert stored(pages) == {"/", "/one", "/list", "/circle-b"}


def test_types(site):
    plain = {"Content-Type": "text/plain; charset=iso-8859-1"}
    site.pages = {
        "/": html("Root", "/text", "/picture", "/script", "/paper.pdf", "/feed", "/nothing"),
        "/text": (200, plain, "Größe".encode("latin-1")),
        "/picture": (200, {"Content-Type": "image/png"}, b"\x89PNG...."),
        "/script": (200, {"Content-Type": "application/javascript"}, b"let a = 1"),
        "/paper.pdf": (200, {"Content-Type": "application/pdf"}, b"%PDF-1.4 ..."),
        "/feed": (200, {"Content-Type": "application/xml"}, b"<?xml version='1.0'?><rss/>"),
        "/nothing": (200, {"Content-Type": "text/html"}, b""),
    }
    pages = walk(site)
    assert pages["/text"].body.decode() == "Größe"
    assert pages["/paper.pdf"].mime_type == "application/pdf"
    assert reasons(pages) == {
        "/picture": "unsupported_type", "/script": "unsupported_type",
        "/feed": "unsupported_type", "/nothing": "empty",
    }  # fmt: skip


def test_a_legacy_encoding_that_the_page_declares(site):
    text = '<html><meta charset="windows-1258"><p>đồ cổ</p></html>'
    body = '<html><meta charset="shift_jis"><p>日本語</p></html>'.encode("shift_jis")
    site.pages = {"/": (200, {"Content-Type": "text/html"}, body)}
    assert "日本語" in walk(site)["/"].body.decode()
    site.pages = {"/": (200, {"Content-Type": "text/html; charset=punycode"}, text.encode())}
    assert "đồ cổ" in walk(site)["/"].body.decode()


def sitemap(site, *paths, kind="url"):
    root = {"url": "urlset", "sitemap": "sitemapindex"}[kind]
    inner = "".join(f"<{kind}><loc>{site.at(path)}</loc></{kind}>" for path in paths)
    space = "http://www.sitemaps.org/schemas/sitemap/0.9"
    return f'<?xml version="1.0"?><{root} xmlns="{space}">{inner}</{root}>'.encode()


def test_a_sitemap_listed_in_robots_txt(site):
    site.pages = {
        ROBOTS: f"Sitemap: {site.at('/map.xml')}",
        "/map.xml": (200, {"Content-Type": "application/xml"}, sitemap(site, "/hidden")),
        "/": html("Root"),
        "/hidden": html("Hidden"),
    }
    assert stored(walk(site, depth=1)) == {"/", "/hidden"}
    assert stored(walk(site, depth=0)) == {"/"}


def test_an_address_that_is_a_sitemap(site):
    inner = gzip.compress(sitemap(site, "/a", "/b"))
    index = sitemap(site, "/inner.xml.gz", "/no.xml", "/map.xml", kind="sitemap")
    site.pages = {
        "/map.xml": (200, {}, index),
        "/inner.xml.gz": (200, {"Content-Type": "application/gzip"}, inner),
        "/a": html("A", "/c"),
        "/b": html("B"),
        "/c": html("C"),
    }  # fmt: skip
    pages = walk(site, "/map.xml", depth=0)
    assert stored(pages) == {"/a", "/b"}
    assert reasons(pages) == {"/no.xml": "not_found"}


@pytest.mark.parametrize(
    "body",
    [
        b"<!DOCTYPE urlset [<!ENTITY a 'aaaa'>]><urlset><url><loc>&a;</loc></url></urlset>",
        b"<urlset><url>",
        gzip.compress(b"<feed><url><loc>/a</loc></url></feed>", mtime=0),
        b"<urlset>" + b"<a>" * 20 + b"</a>" * 20 + b"</urlset>",
        gzip.compress(b"<urlset>" + b" " * 20_000_000, mtime=0),
        b"\x1f\x8bno gzip",
    ],
)
@pytest.mark.usefixtures("in_children")
def test_a_bad_sitemap(site, body):
    site.pages = {"/": (200, {"Content-Type": "application/xml"}, body)}
    (page,) = walk(site).values()
    assert page.reason in ("malformed", "unsupported_type")


@pytest.mark.full
@pytest.mark.usefixtures("in_children")
def test_a_child_process_reads_the_markup(site, monkeypatch):
    monkeypatch.setattr(page_links, "TIMEOUT_SECONDS", 1)
    site.pages = {
        "/": html("Root", "/a", head='<base href="/x/">') + '<a href="y">y</a>',
        "/a": html("A", head='<meta name="robots" content="noindex">'),
        "/x/y": "<!doctype html>" + "<a <" * 20_000,
    }
    pages = walk(site)
    # The parser would take minutes for the last one; its child process is killed before.
    assert reasons(pages) == {"/a": "noindex", "/x/y": "malformed"}
    assert stored(pages) == {"/"}


def test_the_limits_of_a_crawl(site):
    site.pages = {"/": html("Root", *(f"/{number}" for number in range(20)))}
    site.pages |= {f"/{number}": html(f"Page {number}") for number in range(20)}
    pages = walk(site, limits=Limits(delay_seconds=0, pages=5))
    assert len(stored(pages)) == 5
    assert set(reasons(pages).values()) == {"page_limit"}
    assert len(pages) == 21
    assert len(walk(site, limits=Limits(delay_seconds=0, results=7))) == 7
    pages = walk(site, limits=Limits(delay_seconds=0, total_bytes=1))
    assert set(reasons(pages).values()) == {"byte_limit"}
    pages = walk(site, limits=Limits(delay_seconds=0, total_seconds=0))
    assert reasons(pages) == {"/": "time_limit"}


@pytest.mark.parametrize("tag", ['"é"', '"\x93a"', '"' + "a" * 300 + '"'])
def test_a_validator_that_no_header_can_carry_is_not_sent_back(site, tag):
    site.pages = {"/": (200, {"ETag": tag, "Content-Type": "text/html"}, html("Root").encode())}
    page = walk(site)["/"]
    known = KnownPage(page.sha256, page.mime_type, page.etag, "", lambda: page.body)
    site.requests.clear()
    assert walk(site, known_page=lambda _: known)["/"].outcome == Outcome.UNCHANGED
    assert "if-none-match" not in dict(site.requests)["/"]


def test_unchanged_pages_are_not_sent_again(site):
    headers = {"ETag": '"1"', "Content-Type": "text/html", "Last-Modified": "yesterday"}
    body = html("Root", "/a").encode()
    site.pages = {"/": (200, headers, body), "/a": html("A")}
    first = walk(site)

    def known_page(url):
        page = first[url.removeprefix(site.at(""))]
        return KnownPage(
            page.sha256, page.mime_type, page.etag, page.last_modified, lambda: page.body
        )

    site.requests.clear()
    second = walk(site, known_page=known_page)
    assert {page.outcome for page in second.values()} == {Outcome.UNCHANGED}
    assert second["/"].http_status == 304
    assert dict(site.requests)["/"]["if-none-match"] == '"1"'
    assert dict(site.requests)["/"]["if-modified-since"] == "yesterday"
    site.pages["/"] = (200, {**headers, "ETag": '"2"'}, html("New", "/a").encode())
    third = walk(site, known_page=known_page)
    assert [page.outcome for page in third.values()] == [Outcome.NEW, Outcome.UNCHANGED]
    assert third["/"].sha256 == hashlib.sha256(third["/"].body).hexdigest()
