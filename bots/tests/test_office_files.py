"""Reading workbooks and slides: good ones, empty, cut, encrypted, and those that unpack too far."""

import io
import zipfile
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from bots.ingest import extraction
from bots.ingest.extraction import file_types, office
from bots.ingest.extraction.document import ExtractedText, ExtractError
from bots.models import Chunk, Document
from bots.tests.test_extract import docx_bytes
from chatplatform.testing import run_jobs

SHEET_NAMES = (
    'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    ' xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
)
SLIDE_NAMES = (
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    ' xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
    ' xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
    ' xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
)
STYLES = f"""<styleSheet {SHEET_NAMES}>
<numFmts><numFmt numFmtId="164" formatCode="#,##0.00\\ &quot;€&quot;;[Red]0"/>
<numFmt numFmtId="165" formatCode="[$$-409]#,##0"/>
<numFmt numFmtId="166" formatCode="yyyy\\-mm\\-dd hh:mm"/></numFmts>
<cellXfs><xf/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="166"/><xf numFmtId="9"/>
<xf numFmtId="14"/><xf numFmtId="20"/></cellXfs></styleSheet>"""


def packed(parts: dict[str, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        for name, text in parts.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def relations(*targets: str) -> str:
    listed = (f'<Relationship Id="r{n}" Target="{target}"/>' for n, target in enumerate(targets))
    return f"<Relationships>{''.join(listed)}</Relationships>"


def xlsx_bytes(*sheets: str, hidden: int = -1, **more: str) -> bytes:
    """A workbook; each sheet is the XML of its rows."""
    numbers = range(len(sheets))
    listed = "".join(
        f'<sheet name="Sheet {n}" sheetId="{n + 1}" r:id="r{n}"'
        f' state="{"hidden" if n == hidden else "visible"}"/>'
        for n in numbers
    )
    parts: dict[str, str | bytes] = {
        "xl/workbook.xml": f"<workbook {SHEET_NAMES}>{more.pop('properties', '')}"
        f"<sheets>{listed}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": relations(*(f"worksheets/{n}.xml" for n in numbers)),
        "xl/styles.xml": STYLES,
    }
    for n, rows in enumerate(sheets):
        parts[f"xl/worksheets/{n}.xml"] = (
            f"<worksheet {SHEET_NAMES}><sheetData>{rows}</sheetData></worksheet>"
        )
    for name, text in more.items():
        parts[f"xl/{name}.xml"] = text
    return packed(parts)


def words(*texts: str) -> str:
    cells = (f'<c t="inlineStr"><is><t>{text}</t></is></c>' for text in texts)
    return f"<row>{''.join(cells)}</row>"


def shape(*lines: str, kind: str = "") -> str:
    place = f'<p:ph type="{kind}"/>' if kind else ""
    text = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in lines)
    return f"<p:sp><p:nvSpPr><p:nvPr>{place}</p:nvPr></p:nvSpPr><p:txBody>{text}</p:txBody></p:sp>"


def slide(*shapes: str, attributes: str = "") -> str:
    return (
        f"<p:sld {SLIDE_NAMES} {attributes}><p:cSld><p:spTree>{''.join(shapes)}</p:spTree>"
        "</p:cSld></p:sld>"
    )


def pptx_bytes(*slides: str | bytes, order: list[int] | None = None) -> bytes:
    numbers = order or list(range(len(slides)))
    listed = "".join(f'<p:sldId id="{256 + n}" r:id="r{n}"/>' for n in numbers)
    parts: dict[str, str | bytes] = {
        "ppt/presentation.xml": f"<p:presentation {SLIDE_NAMES}><p:sldIdLst>{listed}</p:sldIdLst>"
        "</p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(
            *(f"/ppt/slides/{n}.xml" for n in range(len(slides)))
        ),
        "docProps/core.xml": '<c xmlns:d="http://purl.org/dc/elements/1.1/"><d:title>Hotel'
        "</d:title></c>",
    }
    return packed(parts | {f"ppt/slides/{n}.xml": text for n, text in enumerate(slides)})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "upload"


def read(file: Path, data: bytes, name: str) -> ExtractedText:
    file.write_bytes(data)
    return extraction.extract(file, file_name=name)


def refused(file: Path, data: bytes, name: str) -> str:
    file.write_bytes(data)
    with pytest.raises(ExtractError) as caught:
        extraction.extract_in_child(file, file_name=name)
    return caught.value.code


def test_rows_are_labeled_under_their_sheet(file: Path) -> None:
    data = xlsx_bytes(
        words("All prices") + "<row/>" + words("Item", "Price") + words("Tea", "2") +
        '<row><c r="B9" t="inlineStr"><is><t>3</t></is></c></row>',
        words("Dogs?", "Welcome") + words("Cats?", "Welcome too"),
        words("internal", "notes") + words("secret", "words"),
        hidden=2,
    )  # fmt: skip
    text = read(file, data, "prices.xlsx")
    assert (text.title, text.mime_type) == ("prices", file_types.XLSX)
    assert [(section.heading, section.text) for section in text.sections] == [
        ("Sheet 0", "All prices"),
        ("Sheet 0 > Tea", "Item: Tea\nPrice: 2"),
        ("Sheet 0", "Price: 3"),
        ("Sheet 1 > Cats?", "Dogs?: Cats?\nWelcome: Welcome too"),
    ]


def test_cells_are_read_as_they_are_shown(file: Path) -> None:
    cells = [
        '<c t="s"><v>1</v></c>', '<c s="1"><v>19.989999999999998</v></c>',
        '<c s="2"><v>2000</v></c>', '<c s="3"><v>46347.604166666664</v></c>',
        '<c s="4"><v>7.0000000000000007E-2</v></c>', '<c s="5"><v>46347</v></c>',
        '<c s="6"><v>0.5</v></c>', '<c t="b"><v>1</v></c>', '<c t="e"><v>#REF!</v></c>',
        '<c t="str"><f>A1</f><v>made</v></c>', "<c><v>1234567890123</v></c>", "<c><v>9E+99</v></c>",
        '<c s="5"><v>9999999</v></c>', '<c s="99"><v>5</v></c>', "<c/>",
        '<c s="1"><v>29.9</v></c>',
    ]  # fmt: skip
    strings = (
        f"<sst {SHEET_NAMES}><si><t>no</t></si>"
        "<si><r><t>So</t></r><r><t>uth</t></r><rPh><t>x</t></rPh></si></sst>"
    )
    text = read(file, xlsx_bytes(f"<row>{''.join(cells)}</row>", sharedStrings=strings), "a.xlsx")
    assert text.sections[0].text.split("\n") == [
        "South", "19.99 €", "$2000", "2026-11-21 14:30", "7%", "2026-11-21", "12:00", "TRUE",
        "made", "1234567890123", "9E+99", "9999999", "5", "29.90 €",
    ]  # fmt: skip
    old = xlsx_bytes('<row><c s="5"><v>1</v></c></row>', properties='<workbookPr date1904="1"/>')
    assert read(file, old, "a.xlsx").sections[0].text == "1904-01-02"


def test_slides_keep_their_order_and_number(file: Path) -> None:
    table = "<p:graphicFrame><a:tbl>" + "".join(
        f"<a:tr><a:tc><p:txBody><a:p><a:r><a:t>{name}</a:t></a:r></a:p></p:txBody></a:tc>"
        f"<a:tc><p:txBody><a:p><a:r><a:t>{price}</a:t></a:r></a:p></p:txBody></a:tc></a:tr>"
        for name, price in (("Single", "80 euros"), ("Double", "120 euros"))
    ) + "</a:tbl></p:graphicFrame>"  # fmt: skip
    twice = (
        f"<mc:AlternateContent><mc:Choice>{shape('Parking is free')}</mc:Choice>"
        f"<mc:Fallback>{shape('Parking is free')}</mc:Fallback></mc:AlternateContent>"
    )
    data = pptx_bytes(
        slide(shape("Breakfast", kind="title"), shape("From seven", "Free for children")),
        slide(shape("Hotel", kind="ctrTitle")),
        slide(shape("Hidden"), attributes='show="0"'),
        slide(shape("Rooms", kind="title"), table, twice, shape("7", kind="sldNum")),
        order=[1, 0, 2, 3],
    )
    text = read(file, data, "hotel.pptx")
    assert (text.title, text.mime_type) == ("Hotel", file_types.PPTX)
    assert [(section.page, section.heading, section.text) for section in text.sections] == [
        (1, "", "Hotel"),
        (2, "Breakfast", "- From seven\n- Free for children"),
        (4, "Rooms", "- Single | 80 euros\n- Double | 120 euros\n\nParking is free"),
    ]


def test_the_child_process_reads_the_same(file: Path) -> None:
    for data, name in (
        (xlsx_bytes(words("Item", "Price") + words("Tea", "2")), "a.xlsx"),
        (pptx_bytes(slide(shape("Breakfast is served from seven."))), "a.pptx"),
    ):
        assert read(file, data, name) == extraction.extract_in_child(file, file_name=name)


@pytest.mark.parametrize(
    ("data", "name", "code"),
    [
        (xlsx_bytes(), "a.xlsx", "empty"),
        (xlsx_bytes("<row/><row><c/></row>"), "a.xlsx", "empty"),
        (pptx_bytes(), "a.pptx", "empty"),
        (pptx_bytes(slide(shape(""))), "a.pptx", "empty"),
        (xlsx_bytes(words("Tea", "2"))[:-200], "a.xlsx", "malformed"),
        (pptx_bytes(slide(shape("Tea")))[:-200], "a.pptx", "malformed"),
        (xlsx_bytes("<row><c><v>1</v></row>"), "a.xlsx", "malformed"),
        (xlsx_bytes('<row><c t="s"><v>7</v></c></row>'), "a.xlsx", "malformed"),
        (pptx_bytes("<p:sld"), "a.pptx", "malformed"),
        (packed({"other.xml": "<a/>"}), "a.xlsx", "unsupported_type"),
        (packed({"other.xml": "<a/>"}), "a.pptx", "unsupported_type"),
        (docx_bytes(), "a.xlsx", "unsupported_type"),
        (xlsx_bytes(words("Tea", "2")), "a.pptx", "unsupported_type"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "a.xlsx", "encrypted"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "a.docx", "encrypted"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "a.pdf", "unsupported_type"),
    ],
)  # fmt: skip
def test_what_cannot_be_read(file: Path, data: bytes, name: str, code: str) -> None:
    with pytest.raises(ExtractError) as caught:
        read(file, data, name)
    assert caught.value.code == code


@pytest.mark.parametrize("name", ["a.xlsx", "a.pptx"])
def test_an_encrypted_archive(file: Path, name: str) -> None:
    whole = xlsx_bytes(words("Tea")) if name == "a.xlsx" else pptx_bytes(slide(shape("Tea")))
    data = bytearray(whole)
    start = data.find(b"PK\x01\x02")
    while start >= 0:  # the flag of each entry in the archive's directory
        data[start + 8] |= 1
        start = data.find(b"PK\x01\x02", start + 4)
    assert refused(file, bytes(data), name) == "encrypted"


@pytest.mark.full
def test_a_sheet_that_unpacks_to_too_much(file: Path) -> None:
    rows = "<row/>" * (office.MAX_STREAMED_BYTES // 6)
    assert refused(file, xlsx_bytes(rows), "a.xlsx") == "too_large"


def test_a_slide_that_unpacks_to_too_much(file: Path) -> None:
    bomb = slide("<p:sp/>" * (office.MAX_XML_BYTES // 7))
    assert refused(file, pptx_bytes(bomb), "a.pptx") == "too_large"


def test_a_small_sheet_of_endless_text(file: Path) -> None:
    strings = f"<sst {SHEET_NAMES}><si><t>{'word ' * 6_000}</t></si></sst>"
    rows = '<row><c t="s"><v>0</v></c></row>' * 10_000
    assert refused(file, xlsx_bytes(rows, sharedStrings=strings), "a.xlsx") == "too_large"


def test_too_many_rows(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(office, "MAX_ROWS", 3)
    with pytest.raises(ExtractError) as caught:
        read(file, xlsx_bytes(words("Tea") * 2, words("Tea") * 2), "a.xlsx")
    assert caught.value.code == "too_large"
    assert len(read(file, xlsx_bytes(words("Tea") * 3), "a.xlsx").sections) == 3


@pytest.mark.parametrize("name", ["a.xlsx", "a.pptx"])
def test_billion_laughs(file: Path, name: str) -> None:
    levels = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    laughs = f'<!DOCTYPE d [<!ENTITY l0 "lol">{levels}]>'
    if name == "a.xlsx":
        strings = f"{laughs}<sst {SHEET_NAMES}><si><t>&l9;</t></si></sst>"
        data = xlsx_bytes('<row><c t="s"><v>0</v></c></row>', sharedStrings=strings)
    else:
        data = pptx_bytes(laughs + slide(shape("&l9;")))
    assert refused(file, data, name) in {"malformed", "empty", "too_large"}


def test_no_file_of_the_machine_is_read(file: Path) -> None:
    outside = '<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/hostname">]>'
    data = pptx_bytes(outside + slide(shape("&x;")))
    assert refused(file, data, "a.pptx") in {"malformed", "empty"}


@pytest.mark.django_db(transaction=True)
def test_an_upload_is_trained_with_its_slides(ann, bot, tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path
    files = [
        SimpleUploadedFile("prices.xlsx", xlsx_bytes(words("Item", "Price") + words("Tea", "2"))),
        SimpleUploadedFile("hotel.pptx", pptx_bytes(slide(shape("Breakfast from seven.")))),
    ]
    reply = ann.upload(f"/ai/{bot.pk}/train/document", files=files)
    assert [item["mime_type"] for item in reply.json()["items"]] == [
        file_types.XLSX,
        file_types.PPTX,
    ]
    run_jobs()
    assert set(Document.objects.values_list("status", flat=True)) == {"trained"}
    assert sorted(Chunk.objects.values_list("text", "page")) == [
        ("Breakfast from seven.", 1), ("Item: Tea\nPrice: 2", None),
    ]  # fmt: skip
    locked = SimpleUploadedFile("a.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    refusal = ann.upload(f"/ai/{bot.pk}/train/document", files=[locked])
    assert refusal.status_code == 422
    assert refusal.json()["detail"][0]["type"] == "encrypted"
