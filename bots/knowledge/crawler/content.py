"""The content of a response: its type, its text in UTF-8 and its markup."""

import codecs
import re
from dataclasses import dataclass
from email.message import Message

from bots.knowledge import extract, markup
from bots.knowledge.crawler.pages import KnownPage, NotStored, Outcome
from bots.knowledge.extract import CSV, HTML, MARKDOWN, PLAIN, SNIFF_BYTES, ExtractError
from bots.knowledge.markup import Markup, MarkupError
from chatplatform import egress

_SITEMAP_OPENING = re.compile(
    rb"\A(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--.{0,2000}?-->\s*)*<(?:\w+:)?(?:urlset|sitemapindex)\b",
    re.DOTALL,
)
_GZIP = b"\x1f\x8b"
_META_CHARSET = re.compile(
    rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE
)
# Encodings that pages still use; Python knows others that are no text encodings.
_CHARSETS = re.compile(
    r"(?:cp125\d|iso8859-\d+|koi8-[ru]|shift_jis|euc_(?:jp|kr)|gb2312|gbk|gb18030|big5|cp874"
    r"|tis-620|utf-16(?:-[lb]e)?)"
)


@dataclass(frozen=True)
class Fetched:
    url: str
    reply: egress.Reply
    known: KnownPage | None

    @property
    def is_unchanged(self) -> bool:
        return self.reply.status == 304


def check_status(fetched: Fetched) -> None:
    status = fetched.reply.status
    if fetched.is_unchanged and fetched.known:
        return
    if status in (404, 410):
        raise NotStored("not_found", Outcome.FAILED, status)
    if not 200 <= status < 300:
        raise NotStored("http_error", Outcome.FAILED, status)


def is_sitemap(reply: egress.Reply) -> bool:
    return bool(_SITEMAP_OPENING.match(reply.body[:4_096])) or reply.body.startswith(_GZIP)


def content_of(fetched: Fetched) -> tuple[bytes, str]:
    """The body and its type: the content decides, the header only tells text formats apart."""
    check_status(fetched)
    if fetched.is_unchanged and fetched.known:
        return fetched.known.read(), fetched.known.mime_type
    header = Message()
    header["Content-Type"] = fetched.reply.headers.get("content-type", "")
    declared = header.get_content_type() if fetched.reply.headers.get("content-type") else ""
    charset = header.get_content_charset() or ""
    body = fetched.reply.body
    if declared.startswith(("text/", "application/xhtml")):
        body = _in_utf8(body, charset)
    elif declared.startswith(("image/", "audio/", "video/", "font/")):
        raise NotStored("unsupported_type", http_status=fetched.reply.status)
    try:
        detected = extract.sniff(body[:SNIFF_BYTES], "")
    except ExtractError as error:
        raise NotStored(error.code, http_status=fetched.reply.status) from None
    if detected == PLAIN and declared in (HTML, "application/xhtml+xml"):
        # A page that starts with text: the doctype tells the reader that it is HTML.
        return b"<!doctype html>\n" + body, HTML
    if detected == PLAIN and (declared or PLAIN) not in (PLAIN, MARKDOWN, CSV):
        # Scripts and data are text too, but not to be read.
        raise NotStored("unsupported_type", http_status=fetched.reply.status)
    return body, (declared or PLAIN) if detected == PLAIN else detected


def _in_utf8(body: bytes, charset: str) -> bytes:
    """The text in UTF-8, decoded by the charset of the header, else of the page itself."""
    declared = _META_CHARSET.search(body[:1_024])
    name = charset or (declared.group(1).decode("ascii", "replace") if declared else "")
    try:
        codec = codecs.lookup(name).name if name else "utf-8"
    except LookupError:
        return body
    return body.decode(codec, "replace").encode() if _CHARSETS.fullmatch(codec) else body


def read_markup(body: bytes, mime_type: str) -> Markup:
    if mime_type != HTML:
        return Markup()
    try:
        return markup.read_page(body)
    except MarkupError:
        raise NotStored("malformed", Outcome.FAILED) from None
