"""Addresses of web pages: normalized, joined with links, compared by site."""

from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots.ingest import url_normalization

pieces = st.text(st.sampled_from("ab./%2eE~?&=#;:@+ üẞ\\\t\n[]"), max_size=30)
urls = st.builds(
    lambda scheme, host, rest: f"{scheme}://{host}{rest}",
    st.sampled_from(["http", "https", "HTTP", "ftp"]),
    st.sampled_from(["a.example", "WWW.A.Example", "a.example:80", "[::1]", "bücher.example", ""]),
    pieces,
)


@pytest.mark.full
@given(urls | st.text(max_size=60))
def test_normalizing_is_idempotent(url):
    once = url_normalization.normalized(url)
    if once is not None:
        assert url_normalization.normalized(once) == once
        assert once.isascii()
        assert " " not in once
        assert "#" not in once


@given(urls)
def test_no_dot_segments_remain(url):
    once = url_normalization.normalized(url)
    if once is not None:
        assert not {".", ".."} & set(urlsplit(once).path.split("/"))


@given(pieces, st.text(max_size=60))
def test_a_joined_link_is_normalized_or_none(path, link):
    joined = url_normalization.joined(f"http://a.example/{path}", link)
    assert joined is None or url_normalization.normalized(joined) == joined


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("HTTP://Shop.Example", "http://shop.example/"),
        ("https://shop.example:443/a/./b/../c", "https://shop.example/a/c"),
        ("http://shop.example:443/", "http://shop.example:443/"),
        ("http://shop.example./?utm_source=x&b=2&a=1&fbclid=3#top", "http://shop.example/?b=2&a=1"),
        ("http://shop.example/?utm_campaign=x", "http://shop.example/"),
        ("http://shop.example/%7euser/%c3%bc/%zz", "http://shop.example/~user/%C3%BC/%25zz"),
        ("http://shop.example/a/%2e%2E/b", "http://shop.example/b"),
        ("http://bücher.example/ü", "http://xn--bcher-kva.example/%C3%BC"),
        ("http://[::1]:8080", "http://[::1]:8080/"),
        ("http://①②⑦.⓪.⓪.①/", "http://127.0.0.1/"),
        ("http://user@shop.example/", None),
        ("http://shop.example\\@evil.example/", None),
        ("http://shop.example:99999/", None),
        ("ftp://shop.example/", None),
        ("mailto:a@b.example", None),
        ("http:///a", None),
        ("http://a.example/" + "x" * 2_000, None),
    ],
)
def test_examples(url, normal):
    assert url_normalization.normalized(url) == normal


def test_the_same_site():
    def same(first, second):
        return url_normalization.same_site(first, second)

    assert same("http://shop.example/a", "https://www.shop.example/b")
    assert not same("http://shop.example/", "http://blog.shop.example/")
    assert not same("http://127.0.0.1:8000/", "http://127.0.0.1:8001/")
    assert not same("http://shop.example/", "http://shop.example.evil.example/")
