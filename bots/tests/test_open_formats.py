"""Reading OpenDocument texts, e-books and mails: good ones, hidden parts, and damaged ones."""

import io
import zipfile
from email.message import EmailMessage
from pathlib import Path

import pytest

from bots.ingest import extraction
from bots.ingest.extraction import file_types, office
from bots.ingest.extraction.document import ExtractedText, ExtractError

NAMES = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"'
    ' xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
    ' xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"'
    ' xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"'
    ' xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"'
)
STYLES = """<office:automatic-styles>
<style:style style:name="H"><style:text-properties text:display="none"/></style:style>
<style:style style:name="I" style:parent-style-name="H"/>
<style:style style:name="S"><style:text-properties style:text-line-through-style="solid"/>
</style:style>
<style:style style:name="W"><style:text-properties fo:color="#FFFFFF"/></style:style>
<style:style style:name="V" style:parent-style-name="W"><style:text-properties fo:font-size="9pt"/>
</style:style>
<style:style style:name="B"><style:text-properties fo:color="#000000"/></style:style>
<style:style style:name="T"><style:text-properties fo:font-size="1pt"/></style:style>
<style:style style:name="G"><style:paragraph-properties fo:background-color="#000080"/>
<style:text-properties fo:color="#ffffff"/></style:style>
<style:style style:name="D"><style:section-properties fo:background-color="#000080"/></style:style>
</office:automatic-styles>"""
DARK_PAGE = """<office:document-styles><style:page-layout>
<style:page-layout-properties fo:background-color="#000080"/></style:page-layout>
</office:document-styles>""".replace("-styles>", f"-styles {NAMES}>", 1)


def packed(mime_type: str, parts: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", mime_type, zipfile.ZIP_STORED)
        for name, text in parts.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def odt(body: str, before: str = "", parts: dict[str, str] | None = None) -> bytes:
    content = (
        f"{before}<office:document-content {NAMES}>{STYLES}<office:body><office:text>{body}"
        "</office:text></office:body></office:document-content>"
    )
    return packed(file_types.ODT, {"content.xml": content, **(parts or {})})


CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
)


def epub(*chapters: str, spine: str = "", way: str = "") -> bytes:
    numbers = range(len(chapters))
    items = "".join(f'<item id="c{n}" href="{way}c{n}.xhtml"/>' for n in numbers)
    listed = spine or "".join(f'<itemref idref="c{n}"/>' for n in numbers)
    book = (
        '<package xmlns="http://www.idpf.org/2007/opf"><metadata'
        ' xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Harbour guide</dc:title></metadata>'
        f"<manifest>{items}</manifest><spine>{listed}</spine></package>"
    )
    texts = {f"OEBPS/c{n}.xhtml": chapters[n] for n in numbers}
    return packed(
        file_types.EPUB, {"META-INF/container.xml": CONTAINER, "OEBPS/book.opf": book, **texts}
    )


def page(body: str) -> str:
    return f'<html xmlns="http://www.w3.org/1999/xhtml"><body>{body}</body></html>'


def mail(text: str = "", html: str = "", attached: int = 0) -> bytes:
    message = EmailMessage()
    message["From"], message["To"] = "ann@harbour.example", "zoe@harbour.example"
    message["Subject"] = "Öffnungszeiten im Sommer"
    message.set_content(text or "Plain words.")
    if html:
        message.add_alternative(html, subtype="html")
    for number in range(attached):
        message.add_attachment(b"SECRET", maintype="image", subtype="png", filename=f"{number}.png")
    return message.as_bytes()


def extracted(tmp_path: Path, name: str, data: bytes) -> ExtractedText:
    path = tmp_path / name
    path.write_bytes(data)
    return extraction.extract(path, file_name=name)


def read(tmp_path: Path, name: str, data: bytes) -> str:
    parts = extracted(tmp_path, name, data).sections
    return "\n".join(f"[{part.heading}] {part.text}" for part in parts)


def test_an_open_document(tmp_path: Path) -> None:
    def cell(text: str) -> str:
        return f"<table:table-cell><text:p>{text}</text:p></table:table-cell>"

    rows = "".join(
        f"<table:table-row>{''.join(map(cell, row))}</table:table-row>"
        for row in (("Room", "Summer", "Winter"), ("Lake", "90", "70"))
    )
    body = (
        '<text:h text:outline-level="1">Harbour</text:h>'
        "<text:p>We open at<text:s/>nine<text:note><text:note-body><text:p>ten on Sundays"
        "</text:p></text:note-body></text:note>.</text:p>"
        "<text:list><text:list-item><text:p>Dogs may come.</text:p></text:list-item></text:list>"
        f"<table:table>{rows}</table:table>"
    )
    assert read(tmp_path, "a.odt", odt(body)) == (
        "[Harbour] We open at nine (ten on Sundays).\n- Dogs may come.\n\n"
        "- Room: Lake, Summer: 90, Winter: 70"
    )


@pytest.mark.parametrize(
    "hidden",
    [
        '<text:p text:style-name="H">SECRET</text:p>',
        '<text:p text:style-name="I">SECRET</text:p>',
        '<text:p>Now <text:span text:style-name="S">SECRET</text:span></text:p>',
        '<text:section text:display="none"><text:p>SECRET</text:p></text:section>',
        '<text:p>Now <text:span text:style-name="W">SECRET</text:span></text:p>',
        '<text:p text:style-name="V">SECRET <text:span>SECRET</text:span> SECRET</text:p>',
        '<text:p>Now <text:span text:style-name="T">SECRET</text:span></text:p>',
        "<text:tracked-changes><text:p>SECRET</text:p></text:tracked-changes>",
        "<text:p>Now<office:annotation><text:p>SECRET</text:p></office:annotation></text:p>",
    ],
)
def test_hidden_parts_of_an_open_document(tmp_path: Path, hidden: str) -> None:
    shown = read(tmp_path, "a.odt", odt(f"{hidden}<text:p>We open at nine.</text:p>"))
    assert "SECRET" not in shown
    assert "We open at nine." in shown


WHITE = '<text:p text:style-name="W">SEEN</text:p>'


@pytest.mark.parametrize(
    ("body", "parts"),
    [
        ('<text:p text:style-name="G">SEEN</text:p>', {}),
        (
            '<text:p text:style-name="W"><text:span text:style-name="B">SEEN</text:span></text:p>',
            {},
        ),
        (
            '<text:p text:style-name="G"><text:span text:style-name="W">SEEN</text:span></text:p>',
            {},
        ),
        (f'<text:section text:style-name="D">{WHITE}</text:section>', {}),
        (
            "<table:table><table:table-row><table:table-cell>"
            f"{WHITE}</table:table-cell></table:table-row></table:table>",
            {},
        ),
        (WHITE, {"styles.xml": DARK_PAGE}),
    ],
)
def test_white_words_of_an_open_document_on_a_dark_ground(
    tmp_path: Path, body: str, parts: dict[str, str]
) -> None:
    assert "SEEN" in read(tmp_path, "a.odt", odt(body, parts=parts))


def test_an_e_book(tmp_path: Path) -> None:
    first = page("<h1>Arrival</h1><p>The ferry lands at noon.</p><p hidden='hidden'>SECRET</p>")
    second = page("<h1>Food</h1><ol><li>Order.</li><li>Pay.</li></ol>")
    text = extracted(tmp_path, "a.epub", epub(first, second))
    assert (text.title, text.mime_type) == ("Harbour guide", file_types.EPUB)
    assert [(part.heading, part.text) for part in text.sections] == [
        ("Arrival", "The ferry lands at noon."),
        ("Food", "1. Order.\n2. Pay."),
    ]
    spine = '<itemref idref="c1"/><itemref idref="c0" linear="no"/><itemref idref="gone"/>'
    assert "Arrival" not in read(tmp_path, "a.epub", epub(first, second, spine=spine))
    assert "Pay." in read(tmp_path, "a.epub", epub(first, second, way="../OEBPS/"))


def test_a_mail(tmp_path: Path) -> None:
    text = extracted(tmp_path, "a.eml", mail("Wir öffnen um neun.", attached=2))
    assert (text.title, text.mime_type) == ("Öffnungszeiten im Sommer", file_types.MAIL)
    assert [part.text for part in text.sections] == ["Wir öffnen um neun."]
    assert text.warning.endswith(": 2.")
    html = "<p style='font-size:0'>SECRET</p><h2>Hours</h2><p>We open at nine.</p>"
    assert read(tmp_path, "a.eml", mail(html=html)) == "[Hours] We open at nine."


ENTITIES = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
LAUGHS = f'<!DOCTYPE d [<!ENTITY l0 "lol">{ENTITIES}]>'


@pytest.mark.parametrize(
    ("name", "data", "codes"),
    [
        ("a.odt", odt(""), {"empty"}),
        ("a.odt", odt("<text:p>Tea</text:p>")[:-150], {"malformed"}),
        ("a.odt", odt("<text:p>&l9;</text:p>", LAUGHS), {"malformed", "empty", "too_large"}),
        ("a.odt", odt("<text:p/>" * (office.MAX_XML_BYTES // 8)), {"too_large"}),
        ("a.odt", epub(page("<p>Tea</p>")), {"unsupported_type"}),
        ("a.odt", packed(file_types.ODT, {"other.xml": "<a/>"}), {"unsupported_type"}),
        ("a.epub", epub(), {"empty"}),
        ("a.epub", epub(page("<p>Tea</p>"))[:-150], {"malformed"}),
        ("a.epub", epub("\0" * 99), {"encrypted"}),
        ("a.epub", epub("<p>" * (office.MAX_XML_BYTES // 3 + 1)), {"too_large"}),
        ("a.eml", b"Just words, no header.", {"unsupported_type"}),
        ("a.eml", b"Subject: Tea\n\n", {"empty"}),
        ("a.eml", b"MZ\x90\x00" + bytes(99), {"unsupported_type"}),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, name: str, data: bytes, codes: set[str]) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(ExtractError) as caught:
        extraction.extract_in_child(path, file_name=name)
    assert caught.value.code in codes
