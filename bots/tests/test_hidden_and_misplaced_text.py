"""What an author hid is not read; what stands in a file is read in its place."""

import re
from pathlib import Path

import pytest

from bots.ingest import extraction
from bots.ingest.extraction import encodings, number_formats, style_sheets
from bots.ingest.extraction.document import ExtractError
from bots.ingest.extraction.missing_spaces import is_glued, language_of
from bots.tests.test_extract import WORD, docx_with_part, page, pdf_bytes
from bots.tests.test_office_files import pptx_bytes, shape, slide, words, xlsx_bytes
from bots.tests.test_open_formats import odt

PLAIN = "The bakery opens at seven. The bread of the day is made from rye, and it keeps for a week."
TEXT_BOX = (
    "<w:r><w:pict><w:txbxContent><w:p><w:r><w:t>Parking is free.</w:t></w:r></w:p></w:txbxContent>"
    "</w:pict></w:r>"
)
NOT_HIDDEN = '<w:vanish w:val="0"/>'
NOT_STRUCK = '<w:strike w:val="0"/>'
NAMESPACE = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
SPANS_TWO = '<w:gridSpan w:val="2"/>'


def control(inner: str, properties: str = "") -> str:
    return f"<w:sdt><w:sdtPr>{properties}</w:sdtPr><w:sdtContent>{inner}</w:sdtContent></w:sdt>"


def read(tmp_path: Path, name: str, data: bytes) -> str:
    path = tmp_path / name
    path.write_bytes(data)
    parts = extraction.extract(path, file_name=name).sections
    return "\n".join(f"[{part.heading}] {part.text}" for part in parts)


def word(tmp_path: Path, body: str) -> str:
    return read(
        tmp_path, "a.docx", docx_with_part(WORD + body.encode() + b"</w:body></w:document>")
    )


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def cell(text: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr><w:p>{run(text)}</w:p></w:tc>"


@pytest.mark.parametrize(
    "hidden",
    [
        run("SECRET", "<w:vanish/>"),
        run("SECRET", "<w:strike/>"),
        run("SECRET", '<w:color w:val="ffffff"/>'),
        run("SECRET", '<w:sz w:val="2"/>'),
        f"<w:del>{run('SECRET')}</w:del>",
        f"<w:moveFrom>{run('SECRET')}</w:moveFrom>",
        control(run("SECRET"), "<w:showingPlcHdr/>"),
    ],
)
def test_hidden_words_of_a_word_file(tmp_path: Path, hidden: str) -> None:
    seen = run(" Seen.", NOT_HIDDEN)
    body = f"<w:p>{run('Tea costs two euros.')}{hidden}{seen}</w:p>"
    assert word(tmp_path, body) == "[] Tea costs two euros. Seen."


STRUCK = [
    ("Old price: ~40~, new price: 30", "Old price: […], new price: 30"),
    ("Old price: ~40~ new price: 30", "Old price: […] new price: 30"),
    ("Tickets cost ~40 euros~.", "Tickets cost […]."),
    ("Tickets cost 30 euros ~40 euros~", "Tickets cost 30 euros […]"),
    ("Tickets cost ~40~ 30 euros.", "Tickets cost 30 euros."),
    ("~Tickets cost 40 euros.~ Dogs are free.", "Dogs are free."),
    ("Dogs are free. ~Tickets cost 40 euros.~", "Dogs are free."),
    ("~40~, now 30 euros", "[…], now 30 euros"),
]


def struck_pdf(tmp_path: Path, before: str, struck: str, after: str) -> str:
    """The first line of a page in Courier with a rule through its struck-out letters."""
    start, width = 60 + 6.6 * len(before), 6.6 * len(struck.rstrip())
    lines = drawn((60, 700, before + struck + after), (60, 640, SPACED[0]), (60, 620, SPACED[1]))
    data = pdf_bytes(lines + f"\n{start} 703.2 {width} .6 re f".encode())
    text = read(tmp_path, "a.pdf", data.replace(b"/Helvetica", b"/Courier"))
    return text.partition(SPACED[0])[0].strip()


@pytest.mark.parametrize(("written", "shown"), STRUCK)
def test_struck_out_words_leave_no_torn_sentence(tmp_path: Path, written: str, shown: str) -> None:
    before, struck, after = written.split("~")
    page = f"<!doctype html><body><p>{before}<s>{struck}</s>{after}</p><p><s>40</s></p>"
    styled = re.sub("<s>(.*?)</s>", r"<u style='text-decoration: line-through'>\1</u>", page)
    gone = f"<w:p>{run('40', '<w:strike/>')}</w:p>"
    body = f"<w:p>{run(before)}{run(struck, '<w:strike/>')}{run(after)}</w:p>"
    cells = f"<r><t>{before}</t></r><r><rPr><strike/></rPr><t>{struck}</t></r><r><t>{after}</t></r>"
    box = f"{before}</a:t></a:r><a:r><a:rPr strike='sngStrike'/><a:t>{struck}</a:t></a:r><a:r><a:t>"
    span = f'<text:span text:style-name="S">{struck}</text:span>'
    texts = [
        read(tmp_path, "a.html", page.encode()),
        read(tmp_path, "b.html", styled.encode()),
        read(tmp_path, "a.md", f"{before}~~{struck}~~{after}\n\n~~40~~\n".encode()),
        word(tmp_path, body + gone),
        read(tmp_path, "a.xlsx", xlsx_bytes(f'<row><c t="inlineStr"><is>{cells}</is></c></row>')),
        read(tmp_path, "a.pptx", pptx_bytes(slide(shape(box + after)))),
        read(tmp_path, "a.odt", odt(f"<text:p>{before}{span}{after}</text:p>")),
        struck_pdf(tmp_path, before, struck, after),
    ]
    assert [text.partition("] ")[2] for text in texts] == [shown] * len(texts)


@pytest.mark.parametrize("look", ["3 Tr", "1 1 1 rg"])
def test_a_rule_through_a_hidden_line_does_not_show_it(tmp_path: Path, look: str) -> None:
    hidden = f"{look} {drawn((60, 660, 'SECRET: tickets cost 40 euros.')).decode()} 0 Tr 0 g"
    rules = "0 G 60 663 m 99 663 l S 60 703.5 m 99 703.5 l S 60 639 m 300 639 l S"
    seen = drawn((60, 700, "Ferry: tickets cost 30 euros."), (60, 640, SPACED[0]))
    data = pdf_bytes(f"{hidden} {rules} {seen.decode()}".encode())
    text = read(tmp_path, "a.pdf", data.replace(b"/Helvetica", b"/Courier"))
    assert "tickets cost 30 euros." in text
    assert SPACED[0] in text
    assert "40 euros" not in text


@pytest.mark.parametrize("back", ['<w:shd w:fill="0000FF"/>', '<w:highlight w:val="red"/>'])
def test_white_words_on_a_dark_ground(tmp_path: Path, back: str) -> None:
    white = '<w:color w:val="FFFFFF"/>'
    body = f"<w:p>{run('Tea costs two euros.', white + back)}</w:p>"
    assert word(tmp_path, body) == "[] Tea costs two euros."
    head = f"<w:tc><w:p>{run('Price', white)}</w:p></w:tc>"
    table = f"<w:tbl><w:tr>{head}{head}</w:tr></w:tbl>"
    assert word(tmp_path, table) == "[] - Price | Price"


STYLES = "word/styles.xml"
USUAL = '<w:style w:type="paragraph" w:default="1" w:styleId="N">'


@pytest.mark.parametrize(
    "styles",
    [
        "<w:docDefaults><w:rPrDefault><w:rPr><w:vanish/></w:rPr></w:rPrDefault></w:docDefaults>",
        "<w:docDefaults><w:rPrDefault><w:rPr><w:strike/></w:rPr></w:rPrDefault></w:docDefaults>",
        f"{USUAL}<w:rPr><w:vanish/></w:rPr></w:style>",
        f'{USUAL}<w:basedOn w:val="B"/></w:style>'
        '<w:style w:type="paragraph" w:styleId="B"><w:rPr><w:vanish/></w:rPr></w:style>',
    ],
)
def test_words_of_a_word_file_that_its_defaults_hide(tmp_path: Path, styles: str) -> None:
    body = f"<w:p>{run('Tea costs two euros.', NOT_HIDDEN + NOT_STRUCK)}{run(' SECRET')}</w:p>"
    table = f"<w:tbl><w:tr>{cell('SECRET')}{cell('SECRET')}</w:tr></w:tbl>"
    whole = docx_with_part(WORD + (body + table).encode() + b"</w:body></w:document>")
    sheet = f'<w:styles xmlns:w="{NAMESPACE}">{styles}</w:styles>'
    data = docx_with_part(sheet.encode(), STYLES, whole)
    assert read(tmp_path, "a.docx", data) == "[] Tea costs two euros."


def test_styles_that_show_what_the_defaults_hide(tmp_path: Path) -> None:
    sheet = (
        f'<w:styles xmlns:w="{NAMESPACE}"><w:docDefaults><w:rPrDefault><w:rPr><w:vanish/></w:rPr>'
        f"</w:rPrDefault></w:docDefaults>{USUAL}<w:rPr>{NOT_HIDDEN}</w:rPr></w:style></w:styles>"
    )
    body = f"<w:p>{run('Tea costs two euros.')}</w:p>"
    whole = docx_with_part(WORD + body.encode() + b"</w:body></w:document>")
    data = docx_with_part(sheet.encode(), STYLES, whole)
    assert read(tmp_path, "a.docx", data) == "[] Tea costs two euros."


def test_a_hidden_run_that_is_not_struck_out_stays_hidden(tmp_path: Path) -> None:
    hidden = '<w:style w:type="character" w:styleId="H"><w:rPr><w:vanish/></w:rPr></w:style>'
    secret = run(" SECRET", f'<w:rStyle w:val="H"/>{NOT_STRUCK}')
    body = f"<w:p>{run('Seen.')}{secret}</w:p>"
    whole = docx_with_part(WORD + body.encode() + b"</w:body></w:document>")
    sheet = f'<w:styles xmlns:w="{NAMESPACE}">{hidden}</w:styles>'
    data = docx_with_part(sheet.encode(), STYLES, whole)
    assert read(tmp_path, "a.docx", data) == "[] Seen."


def test_parts_of_a_word_file_stand_in_their_place(tmp_path: Path) -> None:
    body = (
        f"<w:p>{run('We close at ')}{control(run('six'))}{run(' on ')}"
        f"<w:ins>{run('Monday')}</w:ins>"
        f"<w:smartTag>{run('.')}</w:smartTag>{TEXT_BOX}</w:p>"
        "<w:tbl>"
        f"<w:tr>{cell('Room')}{cell('Summer')}{cell('Winter')}</w:tr>"
        f"<w:tr>{cell('Suite')}{cell('200')}{cell('200')}</w:tr>"
        + control(f"<w:tr>{cell('Attic')}{cell('')}{cell('90')}</w:tr>")
        + f"<w:tr>{cell('Cabin')}{cell('70', SPANS_TWO)}</w:tr>"
        "</w:tbl>"
    )
    assert word(tmp_path, body) == (
        "[] We close at six on Monday.\n\nParking is free.\n\n"
        "- Room: Suite, Summer: 200, Winter: 200\n- Room: Attic, Winter: 90\n"
        "- Room: Cabin, Summer: 70, Winter: 70"
    )


@pytest.mark.parametrize("column", ['hidden="1"', 'width="0"'])
@pytest.mark.parametrize("row", ['hidden="1"', 'ht="0"', 'ht="0" customHeight="1"'])
def test_hidden_rows_and_columns_of_a_sheet(tmp_path: Path, column: str, row: str) -> None:
    table = words("Item", "SECRET", "Price") + words("Tea", "SECRET", "2")
    hidden = words("SECRET", "3", "4").replace("<row>", f"<row {row}>")
    columns = f'<cols><col min="2" max="2" {column}/></cols>'
    data = xlsx_bytes(f"</sheetData>{columns}<sheetData>{table}{hidden}")
    assert read(tmp_path, "a.xlsx", data) == "[Sheet 0 > Tea] Item: Tea\nPrice: 2"


SHEET = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'


def test_white_cells_of_a_sheet(tmp_path: Path) -> None:
    styles = (
        f'<styleSheet {SHEET}><fonts><font/><font><color rgb="FFFFFFFF"/></font></fonts>'
        '<fills><fill><patternFill patternType="none"/></fill>'
        '<fill><patternFill patternType="solid"/></fill></fills>'
        '<cellXfs><xf/><xf fontId="1" fillId="0"/><xf fontId="1" fillId="1"/></cellXfs>'
        "</styleSheet>"
    )
    cells = "".join(
        f'<c t="inlineStr" s="{style}"><is><t>{text}</t></is></c>'
        for style, text in enumerate(("Tea", "SECRET", "Green"))
    )
    data = xlsx_bytes(f"<row>{cells}</row><row>{numbers(1, 2, 3)}</row>", styles=styles)
    assert read(tmp_path, "a.xlsx", data) == "[Sheet 0] Tea: 1\n2\nGreen: 3"


def numbers(*values: int) -> str:
    return "".join(f"<c><v>{value}</v></c>" for value in values)


def test_titles_years_and_groups_above_a_table(tmp_path: Path) -> None:
    """Titles are no names; years are, and the names of groups belong to those below them."""
    titled = words("Prices", "May 1") + words("Item", "Size", "Price") + words("Tea", "cup", "2")
    years = '<row><c t="inlineStr"><is><t>Fee</t></is></c>' + numbers(2025, 2026) + "</row>"
    fees = '<row><c t="inlineStr"><is><t>Tent</t></is></c>' + numbers(40, 45) + "</row>"
    groups = (
        '<row><c r="B1" t="inlineStr"><is><t>Summer</t></is></c>'
        '<c r="D1" t="inlineStr"><is><t>Winter</t></is></c></row>'
    )
    seasons = groups + words("Room", "Adult", "Child", "Adult", "Child")
    rooms = '<row><c t="inlineStr"><is><t>Lake</t></is></c>' + numbers(90, 45, 70, 35) + "</row>"
    text = read(tmp_path, "a.xlsx", xlsx_bytes(titled, years + fees, seasons + rooms))
    assert text.split("\n[") == [
        "[Sheet 0] Prices\nMay 1",
        "Sheet 0 > Tea] Item: Tea\nSize: cup\nPrice: 2",
        "Sheet 1 > Tent] Fee: Tent\n2025: 40\n2026: 45",
        "Sheet 2 > Lake] Room: Lake\nSummer Adult: 90\nSummer Child: 45\n"
        "Winter Adult: 70\nWinter Child: 35",
    ]


def test_csv_tables_by_the_rules_of_sheets(tmp_path: Path) -> None:
    assert read(tmp_path, "a.csv", b"Cards\nVisa\nMaestro\n") == "[Cards] - Visa\n- Maestro"
    assert read(tmp_path, "a.csv", b"Tea;2\nMilk;3\n") == "[] Tea\n2\n[] Milk\n3"
    data = "Prices of the bakery\n;;\nItem;Size;Price\nTea;cup;2\nMilk;jug;3\n"
    assert read(tmp_path, "a.csv", data.encode()) == (
        "[] Prices of the bakery\n[Tea] Item: Tea\nSize: cup\nPrice: 2\n"
        "[Milk] Item: Milk\nSize: jug\nPrice: 3"
    )


def warning(tmp_path: Path, name: str, data: bytes) -> str:
    path = tmp_path / name
    path.write_bytes(data)
    return extraction.extract(path, file_name=name).warning


def test_what_is_left_out_is_named(tmp_path: Path) -> None:
    table = words("Item", "Price") + words("Tea", "2")
    whole = xlsx_bytes(table, words("SECRET", "3"), hidden=1)
    assert "(1/2)." in warning(tmp_path, "a.xlsx", whole)
    assert warning(tmp_path, "a.xlsx", xlsx_bytes(table)) == ""
    damaged = f"{PLAIN} ééé ".encode() * 9 + b"\xff" + PLAIN.encode()
    assert warning(tmp_path, "a.txt", damaged).endswith(": 1.")
    scans = [drawn((60, 700, PLAIN)), *[b""] * 9]
    assert ": 2-10 (9/10)." in warning(tmp_path, "a.pdf", pdf_bytes(*scans))


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        ("1067", "00000", "01067"),
        ("901234567", "000\\ 000\\ 0000", "090 123 4567"),
        ("42", '"N"0000', "N0042"),
        ("1250000", '#,##0,"k"', "1250k"),
        ("1.5", "[h]:mm", "36:00"),
        ("0.075", "0.0%", "7.5%"),
        ("0", '0;-0;"free"', "free"),
        ("5", ";;;", ""),
        ("1500", '[>=1000]0.0,"k";0', "1.5k"),
        ("12", 'General" km"', "12 km"),
        ("-0.4", "General", "-0.4"),
        ("12.5", "0." + 30 * "#", "12.5"),
    ],
)
def test_numbers_as_they_are_shown(value: str, code: str, shown: str) -> None:
    assert number_formats.format_number(value, code, number_formats.EPOCH) == shown


def drawn(*lines: tuple[int, int, str]) -> bytes:
    shown = (f"BT /F1 11 Tf {x} {y} Td ({text}) Tj ET" for x, y, text in lines)
    return "\n".join(shown).encode()


def test_rows_of_a_pdf_stay_together(tmp_path: Path) -> None:
    names = [(60, 700 - 18 * n, name) for n, name in enumerate(("Route", "Kiel", "Riga"))]
    prices = [(220, 700 - 18 * n, price) for n, price in enumerate(("Adult", "89", "75"))]
    cars = [(330, 700, "Car"), (330, 664, "110")]
    assert read(tmp_path, "a.pdf", pdf_bytes(drawn(*names, *prices, *cars))) == (
        "[] - Route: Kiel, Adult: 89\n- Route: Riga, Adult: 75, Car: 110"
    )
    labels = drawn((60, 700, "Rent"), (60, 682, "Floor"), (300, 700, "900"), (300, 682, "fourth"))
    assert read(tmp_path, "b.pdf", pdf_bytes(labels)) == "[] - Rent | 900\n- Floor | fourth"


def test_a_column_of_a_pdf_that_is_empty_keeps_its_place(tmp_path: Path) -> None:
    table = [["To", "Adult", "Child", "Car"], ["Kiel", "89", "", "110"], ["Riga", "75", "", "90"]]
    cells = [(n, at, cell) for n, row in enumerate(table) for at, cell in enumerate(row)]
    placed = drawn(*((60 + 120 * at, 700 - 18 * n, cell) for n, at, cell in cells))
    typed = page(*("".join(cell.ljust(12) for cell in row) for row in table))
    for text in (pdf_bytes(placed), pdf_bytes(typed).replace(b"/Helvetica", b"/Courier")):
        assert read(tmp_path, "a.pdf", text) == (
            "[] - To: Kiel, Adult: 89, Car: 110\n- To: Riga, Adult: 75, Car: 90"
        )


def test_words_of_a_pdf_without_spaces(tmp_path: Path) -> None:
    by_gaps = b"BT /F1 11 Tf 60 700 Td [(The) -300 (name) -300 (of) -300 (the) -300 (bird)] TJ ET"
    assert read(tmp_path, "a.pdf", pdf_bytes(by_gaps)) == "[] The name of the bird"
    glued = drawn((60, 700, "Theprojectnameispronouncedlikethebird" * 2))
    with pytest.raises(ExtractError) as caught:
        read(tmp_path, "b.pdf", pdf_bytes(glued))
    assert caught.value.code == "unreadable"
    path = tmp_path / "c.pdf"
    path.write_bytes(pdf_bytes(by_gaps, b"", glued))
    text = extraction.extract(path, file_name="c.pdf")
    assert [part.page for part in text.sections] == [1]
    assert "(1/3)." in text.warning


def placed_words(line: str, *, y: int, space: float, glyphs: bool = False) -> bytes:
    """A line in Courier whose words, or letters, are each placed by a matrix of their own."""
    width, x, shown = 0.6 * 11, 60.0, ""
    for word in line.split():
        parts = list(word) if glyphs else [word]
        for number, part in enumerate(parts):
            shown += f"1 0 0 1 {x + width * number:.2f} {y} Tm ({part}) Tj "
        x += width * len(word) + space * 11
    return f"BT /F1 11 Tf {shown}ET".encode()


@pytest.mark.parametrize("space", [0.14, 0.2, 0.278, 0.35])
@pytest.mark.parametrize("glyphs", [False, True])
def test_words_of_a_pdf_that_are_placed_one_by_one(
    tmp_path: Path, *, space: float, glyphs: bool
) -> None:
    lines = SPACED[:8]
    shown = b"\n".join(
        placed_words(line, y=760 - 18 * n, space=space, glyphs=glyphs)
        for n, line in enumerate(lines)
    )
    data = pdf_bytes(shown).replace(b"/Helvetica", b"/Courier")
    assert read(tmp_path, "a.pdf", data) == "[] " + "\n".join(lines)


def placed_letters(line: str, *, y: int, space: float, decimals: int) -> bytes:
    """A line in Helvetica whose letters are each placed as a text of their own."""
    widths = {"f": 278, "i": 222, "k": 500, "l": 222, "m": 833, "r": 333, "s": 500, "t": 278}
    widths |= {"c": 500, "v": 500, "w": 722, "y": 500, "A": 667, "T": 611, ".": 278}
    x, shown = 60.0, ""
    for letter in line:
        if letter != " ":
            shown += f"BT /F1 11 Tf 1 0 0 1 {x:.{decimals}f} {y} Tm ({letter}) Tj ET "
        x += 11 * (space if letter == " " else widths.get(letter, 556) / 1000)
    return shown.encode()


@pytest.mark.parametrize("decimals", [1, 2, 4])
@pytest.mark.parametrize("space", [0.25, 0.278, 0.333])
def test_letters_of_a_pdf_that_are_placed_one_by_one(
    tmp_path: Path, *, space: float, decimals: int
) -> None:
    lines = ["The tower was built on the hill in the year 1931.", "A 2 hour tour costs 8 euros."]
    shown = b"\n".join(
        placed_letters(line, y=700 - 18 * n, space=space, decimals=decimals)
        for n, line in enumerate(lines)
    )
    assert read(tmp_path, "a.pdf", pdf_bytes(shown)) == "[] " + "\n".join(lines)


def test_letters_of_a_pdf_that_are_spaced_evenly_stay_a_word(tmp_path: Path) -> None:
    letters = placed_words("D O N A T I O N S", y=742, space=0.16, glyphs=True)
    shown = b"\n".join([drawn((60, 760, SPACED[0])), letters, drawn((60, 724, SPACED[1]))])
    data = pdf_bytes(shown).replace(b"/Helvetica", b"/Courier")
    assert "DONATIONS" in read(tmp_path, "a.pdf", data)


GLUED = (
    "nineintheevening.Ticketscost12eurosforadultsand6eurosforchildren",
    "reservation,whichyoucanmakebyphone0301234567orattheharbour,on",
    "weekdaysonly.Thecrewspeaks4languages;dogstravelfreeofcharge.",
)
SPACED = [f"Ferry {n} leaves the northern harbour and returns in the evening." for n in range(30)]


def test_a_paragraph_of_a_pdf_without_spaces(tmp_path: Path) -> None:
    """Figures and marks between the letters hide no glued words, nor do good lines around them."""
    lines = [*SPACED[:15], *GLUED, *SPACED[15:]]
    for texts in (GLUED, lines, [line[:30] for line in GLUED] * 2):
        shown = drawn(*((60, 760 - 18 * n, text) for n, text in enumerate(texts)))
        with pytest.raises(ExtractError) as caught:
            read(tmp_path, "a.pdf", pdf_bytes(shown))
        assert caught.value.code == "unreadable", texts


@pytest.mark.parametrize(
    "glued",
    [
        GLUED[0],
        "Theferryleavesthenorthernharbouratseveninthemorning",
        "Room12costs89euros,breakfast12euros",
    ],
)
def test_a_single_line_of_a_pdf_without_spaces(tmp_path: Path, glued: str) -> None:
    lines = [*SPACED[:4], glued, *SPACED[4:7]]
    path = tmp_path / "a.pdf"
    path.write_bytes(pdf_bytes(drawn(*((60, 760 - 18 * n, line) for n, line in enumerate(lines)))))
    text = extraction.extract(path, file_name="a.pdf")
    shown = "\n".join(section.text for section in text.sections)
    assert glued not in shown
    assert all(line in shown for line in SPACED[:7])
    assert ": 1 (1/1)." in text.warning


@pytest.mark.parametrize(
    "glued",
    [
        "A guided tour of the dome takesninetyminutesandcostseighteuros.",
        "Aguidedtourofthedometakesninety minutes and costs eight euros.",
        "Aguidedtourofthedome takesninetyminutes andcostseighteuros.",
        "A guided tour of takesninetyminutesandcostseighteurosforadultsandchildren today.",
    ],
)
def test_a_line_of_a_pdf_that_is_partly_glued(tmp_path: Path, glued: str) -> None:
    lines = [*SPACED[:4], glued, *SPACED[4:7]]
    path = tmp_path / "a.pdf"
    path.write_bytes(pdf_bytes(drawn(*((60, 760 - 18 * n, line) for n, line in enumerate(lines)))))
    text = extraction.extract(path, file_name="a.pdf")
    shown = "\n".join(section.text for section in text.sections)
    assert glued not in shown
    assert all(line in shown for line in SPACED[:7])
    assert ": 1 (1/1)." in text.warning


@pytest.mark.parametrize(
    "text",
    [
        "The company handles the internationalization of the dichlorodifluoromethane market.",
        "The office of the Rechtsschutzversicherungsgesellschaft in Berlin opens at nine.",
        "Die Donaudampfschifffahrtsgesellschaft verkauft die Jahreskarten am Hafen.",
    ],
)
def test_a_long_word_in_a_line_is_not_glued(text: str) -> None:
    assert not is_glued(text, language_of(text))


@pytest.mark.parametrize(
    "line",
    [
        "A guided tour of the dome ~takes ninety minutes and costs~ eight euros.",
        "Die Führung ~findet jeden Tag um zehn Uhr~ in der Halle statt.",
        "Le tarif de ~la séance dure une heure et coûte~ dix euros.",
        "El horario dice que ~el museo abre a las nueve~ de la mañana.",
        "Il cartello dice che ~la visita dura un'ora e costa~ dieci euro.",
        "O cartaz diz que ~o museu abre às nove horas~ da manhã.",
        "De kaart zegt dat ~het museum is elke dag open~ van tien tot vijf.",
        "Giá vé cho người lớn ~là mười hai nghìn đồng~ và trẻ em được miễn phí.",
    ],
)
def test_glued_words_of_each_language(line: str) -> None:
    before, words, after = line.split("~")
    language = language_of(line)
    assert not is_glued(before + words + after, language)
    assert is_glued(before + words.replace(" ", "") + after, language)


def test_a_line_with_a_very_long_word() -> None:
    law = "Das Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz ist nicht in Kraft."
    assert not is_glued(law, language_of(law))
    glued = "Der Aushang sagt: diestundedauertneunzigminutenundkostetachteurodazu und mehr."
    assert is_glued(glued, language_of(glued))
    unknown = "Plakat mówi że godzinatrwadziewięćdziesiątminutikosztujeosiemeuro dla grup."
    assert is_glued(unknown, language_of(unknown))


@pytest.mark.parametrize(
    "line",
    [
        "createConversationSummary",
        "Montag,Dienstag,Mittwoch,Donnerstag,Freitag",
        "Rechtsschutzversicherungsgesellschaften",
        "d36e42af04338f4687adc851a8820b252f355aef6cee5da66fd68d892c0123cd",
        "https://www.ferry.example/timetables/northern-harbour/evening-and-morning-timetables",
    ],
)
def test_a_line_of_one_long_word_is_not_glued(line: str) -> None:
    assert not any(is_glued(line, language) for language in ("", "de", "en"))


@pytest.mark.parametrize(
    "text",
    [
        "Kraftfahrzeughaftpflichtversicherung\nBerufsunfähigkeitsversicherung\n"
        "Rechtsschutzversicherung\nTierhalterhaftpflichtversicherung\nWohngebäudeversicherung",
        "Jeder Versicherungsnehmer:in einer Kraftfahrzeug-Haftpflichtversicherung steht nach dem "
        "Minderjährigenhaftungsbeschränkungsgesetz ein Zurückbehaltungsrecht zu, der anderen aus "
        "Berufsgenossenschaftsmitgliedschaften nicht.",
        "Keskinäinen eläkevakuutusyhtiö, työntekijäneläkevakuutusmaksu ja lisäeläkevakuutus",
        "https://www.ferry.example/timetables/northern-harbour/evening "
        "reservations.northern.harbour@tickets.ferry.example " * 4,
        "渡轮早上七点离开北港，晚上九点返回。成人票价为十二欧元，儿童票价为六欧元。" * 5,
        "フェリーは朝七時に北の港を出て、夜の九時に戻ります。大人は十二ユーロです。" * 5,
        "เรือเฟอร์รี่ออกจากท่าเรือทางเหนือเวลาเจ็ดโมงเช้าและกลับเวลาสามทุ่ม" * 5,
        "សាឡាងចាកចេញពីកំពង់ផែភាគខាងជើងនៅម៉ោងប្រាំពីរព្រឹក" * 5,
        "ເຮືອອອກຈາກທ່າເຮືອທາງເໜືອເວລາເຈັດໂມງເຊົ້າ" * 5,
        "ကူးတို့သင်္ဘောသည်မြောက်ပိုင်းဆိပ်ကမ်းမှနံနက်ခုနစ်နာရီတွင်ထွက်ခွာသည်" * 5,
        "Contents" + "." * 60 + "1\nIntroduction" + "." * 60 + "2\nAbbreviations" + "." * 60 + "3",
    ],
)
def test_long_words_are_not_glued_ones(text: str) -> None:
    assert not is_glued(text, language_of(text))


def html(tmp_path: Path, body: str, head: str = "") -> str:
    page = f"<!doctype html><html><head>{head}</head><body>{body}</body></html>"
    return read(tmp_path, "a.html", page.encode())


@pytest.mark.parametrize(
    "hidden",
    [
        '<p style="display: none">SECRET</p>',
        '<p style="visibility:hidden">SECRET</p>',
        '<p style="visibility:collapse">SECRET</p>',
        '<p style="color: red; text-decoration: line-through">SECRET</p>',
        '<p class="plain" style="display: none !important">SECRET</p>',
        "<p hidden>SECRET</p>",
        '<p class="staff">SECRET</p>',
        "<template><p>SECRET</p></template>",
        "<!-- SECRET -->",
        "<p>Now <del>SECRET</del> five.</p>",
        '<div class="cookie-banner"><h2>SECRET</h2><p>We use cookies. SECRET</p></div>',
        "<div><p>SECRET: we use cookies.</p><button>Accept</button></div>",
    ],
)
def test_hidden_parts_of_a_page(tmp_path: Path, hidden: str) -> None:
    style = "<style>.staff, .other { display:none }</style>"
    text = html(tmp_path, f"{hidden}<main><h1>Bakery</h1><p>{PLAIN}</p></main>", style)
    assert "SECRET" not in text
    assert PLAIN in text


SEEN = '<p class="note in" id="one" data-cost="9">SEEN</p>'
B = "<b class=b></b>"


HIDING_STYLES = [
    "main .in { display: none }",
    "main > p.note { display: none }",
    ".note.in { display: none }",
    "[data-cost] { display: none }",
    "p[data-cost^='9'] { DISPLAY: NONE }",
    ".note:not(.out) { display: none }",
    "h1 ~ p:last-child { display: none }",
    "p:nth-of-type(2) { visibility: hidden }",
    ":is(.in, .out) { visibility: collapse }",
    ".in { content-visibility: hidden }",
    ".in { text-decoration: line-through }",
    "@media screen { .in { display: none } }",
    "@media all and (min-width: 40em), print { .in { display: none } }",
    "@media (width >= 600px) { @supports (display: grid) { .in { display: none } } }",
    "@layer base { .in { display: none } }",
    "main { & > .in { display: none } }",
    ".in { @media screen { display: none } }",
    ".in { display: none !important } #one { display: block }",
    "p { display: block } .in { display: none } p { display: block }",
    "/* .in { */ .out, .in /* } */ { color: red; display /**/: none }",
    ".in { display: none } .no::such { display: block }",
    "p { color: black } .in { color: white; background: white }",
    ".in { display: none } p:hover { text-decoration: none } main .show { display: block }",
]
SHOWING_STYLES = [
    ".in { display: none } .in { display: block }",
    ".note.in { display: block } .in { display: none }",
    ".in { display: block !important } #one { display: none }",
    ".note { visibility: hidden } .in { visibility: visible }",
    "@media print { .in { display: none } }",
    "@media screen and (max-width: 600px) { .in { display: none } }",
    "@media not screen { .in { display: none } }",
    ".out .in, .note.out, .note:not(.in) { display: none }",
    ".in:hover, .in::before { display: none }",
    "/* .in { display: none } */",
    ".in { display: none } .in.is-open { display: block }",
    ".in:not(.open) { display: none }",
    ".in { display: none } .open > .in { display: block }",
    ".in { display: none } .in[aria-expanded=true] { display: block }",
    ".in { display: none } h1:hover ~ .in { display: block }",
    "body { visibility: hidden }",
    ".in { color: black; background: black } .in:hover { color: white }",
    ".in { color: white; background: white } #one { color: black }",
]
HIDING_LOOKS = [
    "font-size: 0",
    "font-size: 0px !important",
    "opacity: 0",
    "opacity: .0%",
    "position: absolute; clip: rect(0, 0, 0, 0)",
    "clip: rect(1px 1px 1px 1px)",
    "clip-path: inset(50%)",
    "clip-path: circle(0)",
    "position: absolute; left: -9999px",
    "position: fixed; top: -999em",
    "text-indent: -9999px",
    "margin-left: -5000px",
    "color: #fff; background: white",
    "background-color: rgb(255, 255, 255); color: hsl(0, 0%, 100%) !important",
    "color: #123456; background: #123456",
    "height: 0; overflow: hidden",
    "max-height: 0px; overflow-y: clip",
    "display: block; width: 0; overflow: hidden",
]
SHOWING_LOOKS = [
    "font-size: small",
    "font-size: 12px",
    "opacity: .4",
    "opacity: 0; transition: opacity 1s",
    "clip: auto",
    "color: #fff",
    "background: white",
    "color: white; background: #eee",
    "color: white; background: white url(night.jpg)",
    "color: white; background-color: white; background-image: url(night.jpg)",
    "color: white; background: white; text-shadow: 0 0 2px black",
    "color: #ffffff80; background: #ffffff80",
    "color: white; background: var(--ground)",
    "clip-path: inset(5%)",
    "clip-path: polygon(0 0, 100% 0, 100% 100%)",
    "left: -20px",
    "text-indent: -1em",
    "height: 0",
    "height: 0; overflow: hidden; padding: 9px",
    "height: 0; overflow: hidden; padding: 0 var(--room)",
    "display: inline; height: 0; overflow: hidden",
    "max-height: 0; overflow: hidden; transition: max-height 1s",
]


@pytest.mark.parametrize(
    ("head", "seen"),
    [
        *((f"<style>{style}</style>", "") for style in HIDING_STYLES),
        *((f"<style>{style}</style>", "\n\nSEEN") for style in SHOWING_STYLES),
        ("<style media=print>.in { display: none }</style>", "\n\nSEEN"),
        ("<noscript><style>.in { display: none }</style></noscript>", "\n\nSEEN"),
    ],
)
def test_what_a_style_sheet_hides_and_shows(tmp_path: Path, head: str, seen: str) -> None:
    body = f"<main><h1>Bakery</h1><p>{PLAIN}</p>{SEEN}</main>"
    assert html(tmp_path, body, head) == f"[Bakery] {PLAIN}{seen}"


@pytest.mark.parametrize(
    ("look", "seen"),
    [*((look, "") for look in HIDING_LOOKS), *((look, "\n\nSEEN") for look in SHOWING_LOOKS)],
)
def test_looks_that_hide_and_show(tmp_path: Path, look: str, seen: str) -> None:
    main = f"<main><h1>Bakery</h1><p>{PLAIN}</p>{{}}</main>"
    by_sheet = html(tmp_path, main.format(SEEN), f"<style>.in {{ {look} }}</style>")
    own = html(tmp_path, main.format(f'<p style="{look}"><b>SEEN</b></p>'))
    assert by_sheet == own == f"[Bakery] {PLAIN}{seen}"


def test_a_part_outside_of_a_box_without_a_size(tmp_path: Path) -> None:
    part = '<p style="position: absolute">SEEN</p>'
    box = f'<div style="height: 0; overflow: hidden">{part}</div>'
    assert "SEEN" in html(tmp_path, f"<main><h1>Bakery</h1><p>{PLAIN}</p>{box}</main>")


@pytest.mark.parametrize(
    "inner", ["<b>SECRET</b>", '<b style="color: black">SEEN</b>', "<a href='/a'>SEEN</a>"]
)
def test_parts_of_a_box_whose_letters_have_the_color_of_its_background(
    tmp_path: Path, inner: str
) -> None:
    box = f'<div style="color: white; background: white">SECRET <p>SECRET {inner}</p></div>'
    text = html(tmp_path, f"<main><h1>Bakery</h1><p>{PLAIN}</p>{box}</main>")
    assert ("SEEN" in text, "SECRET" in text) == ("SEEN" in inner, False)


def test_letters_between_items_without_a_size(tmp_path: Path) -> None:
    style = "<style>ul { font-size: 0 } li { font-size: 16px }</style>"
    text = html(tmp_path, f"<main><ul>SECRET<li>{PLAIN}</li></ul></main>", style)
    assert text == f"[] - {PLAIN}"


@pytest.mark.parametrize(
    "box",
    [
        '<div class="modal newsletter"><h2>Stay</h2><p>SECRET: get our news each month.</p></div>',
        '<section id="newsletter-signup"><p>SECRET</p><input type="email"></section>',
        '<div class="mc_embed_signup"><form><label>SECRET</label><input name="EMAIL"></form></div>',
        '<div id="onetrust-banner-sdk"><p>SECRET</p><button>Accept</button></div>',
        '<div role="dialog" aria-label="Cookies"><p>SECRET</p><button>OK</button></div>',
    ],
)
def test_boxes_that_ask_for_consent_or_an_address(tmp_path: Path, box: str) -> None:
    main = f"<main><h1>Bakery</h1><p>{PLAIN}</p></main>"
    assert html(tmp_path, main + box) == html(tmp_path, box + main) == f"[Bakery] {PLAIN}"


def test_what_a_page_says_about_its_newsletter(tmp_path: Path) -> None:
    body = f'<main><h1>News</h1><p>{PLAIN}</p><p class="newsletter">It comes in May.</p></main>'
    assert html(tmp_path, body) == f"[News] {PLAIN}\n\nIt comes in May."


def test_numbers_of_steps(tmp_path: Path) -> None:
    steps = "<ol start=3><li>Open it.</li><li><p>Repeat step 3.</p></li></ol>"
    assert html(tmp_path, f"<main><p>{PLAIN}</p>{steps}</main>") == (
        f"[] {PLAIN}\n\n3. Open it.\n4. Repeat step 3."
    )
    kinds = "".join(
        f'<w:abstractNum w:abstractNumId="{n}"><w:lvl w:ilvl="0"><w:start w:val="1"/>'
        f'<w:numFmt w:val="{kind}"/></w:lvl></w:abstractNum>'
        for n, kind in enumerate(("decimal", "bullet"))
    )
    lists = "".join(
        f'<w:num w:numId="{n + 1}"><w:abstractNumId w:val="{n}"/></w:num>' for n in (0, 1)
    )
    part = f'<w:numbering xmlns:w="{NAMESPACE}">{kinds}{lists}</w:numbering>'

    def item(words: str, list_id: int) -> str:
        return (
            f'<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="{list_id}"/></w:numPr>'
            f"</w:pPr>{run(words)}</w:p>"
        )

    body = item("Drink.", 1) + item("Water", 2) + item("Back to step 1.", 1)
    whole = docx_with_part(WORD + body.encode() + b"</w:body></w:document>")
    data = docx_with_part(part.encode(), "word/numbering.xml", whole)
    assert read(tmp_path, "a.docx", data) == "[] 1. Drink.\n- Water\n2. Back to step 1."


def test_visible_parts_of_invisible_ones(tmp_path: Path) -> None:
    style = "<style>.box { visibility: hidden } .box .in { visibility: visible }</style>"
    body = f"<main><p>{PLAIN}</p><div class=box>SECRET <b>SECRET</b>{SEEN} SECRET</div></main>"
    assert html(tmp_path, body, style) == f"[] {PLAIN}\n\nSEEN"


@pytest.mark.full
@pytest.mark.parametrize(
    ("style", "body"),
    [
        (".b .a .a .a .a { display: none }", B + "<i class=a>" * 99 + "<p class=a>Tea</p>" * 99),
        ("p:nth-of-type(3n) { display: none }", "<p>Tea</p>" * 9_000),
        (".b ~ p ~ p ~ p { display: none }", B + "<p>Tea</p>" * 9_000),
        (":has(:has(:has(.b))) { display: none }", B + "<i>" * 99 + "<p>Tea</p>" * 999),
        ("[x] { display: none }" * 4_900, "<p>Tea</p>" * 9_000),
        ("p { display: none }" * 60_000, "<p>Tea</p>"),
    ],
)
@pytest.mark.parametrize(
    "max_steps",
    [400_000, pytest.param(style_sheets.MAX_STEPS, marks=pytest.mark.drill)],
    ids=["fewer", "all"],
)
def test_styles_that_take_too_long_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, style: str, body: str, max_steps: int
) -> None:
    monkeypatch.setattr(style_sheets, "MAX_STEPS", max_steps)
    with pytest.raises(ExtractError) as caught:
        html(tmp_path, body, f"<style>{style}</style>")
    assert caught.value.code == "too_large"


def test_questions_in_buttons_head_their_answers(tmp_path: Path) -> None:
    text = html(
        tmp_path,
        "<main><h1>Help</h1>"
        '<h2><button aria-expanded="true">How long is a repair?</button></h2>'
        '<div class="collapse">Two days.</div>'
        '<button aria-controls="dogs">Are dogs allowed?</button>'
        '<div id="dogs" hidden style="display:none"><p>On a lead.</p></div></main>',
    )
    first = "How long is a repair?"
    assert text == f"[{first}] Two days.\n[{first} > Are dogs allowed?] On a lead."


GRID = "Ticket Adults Children Single 18 9 Day 31 _ Night _ 8.50".split()  # noqa: SIM905 - readable


@pytest.mark.parametrize(
    ("part", "shown"),
    [
        ("<p>Single visit</p><p>18</p>", "Single visit: 18"),
        ("<div>Single visit:</div><div>18 €</div><div>9</div>", "Single visit: 18 €, 9"),
        ("<div><p>Single visit</p></div><div><p>150.50</p></div>", "Single visit: 150.50"),
        ("<p>Single visit</p><p>EUR 18</p><p>Open all year.</p>", "Single visit: EUR 18"),
        ("<div>120</div><div>guests</div><div>8</div><div>rooms</div>", "120 guests\n\n8 rooms"),
        ("<h2>Single visit</h2><p>18</p>", "[Single visit] 18"),
        ("<dl><dt>Cot</dt><dd>12</dd></dl>", "[Cot] 12"),
        ("<p>We charge a fee.</p><p>18</p><p>It is due.</p>", "a fee.\n\n18\n\nIt is due."),
        ("<ul><li><span>Suite</span><span>310 €</span></li></ul>", "- Suite 310 €"),
        ("<p><span>Suite <b>A</b>x</span><span>€310</span></p>", "Suite Ax €310"),
        (
            "".join(f"<div>{cell.strip('_')}</div>" for cell in GRID),
            "- Ticket: Single, Adults: 18, Children: 9\n- Ticket: Day, Adults: 31\n"
            "- Ticket: Night, Children: 8.50",
        ),
    ],
)
def test_figures_stand_by_their_labels(tmp_path: Path, part: str, shown: str) -> None:
    body = f"<main><h1>Bakery</h1><p>{PLAIN}</p><div>{part}</div></main>"
    assert shown in html(tmp_path, body)


def test_numbers_of_headings_and_words_in_pieces(tmp_path: Path) -> None:
    pieces = (
        "<p><span>COVID-</span><span>19</span>, <span>Ha</span><span>ll</span>, H<sub>2</sub></p>"
    )
    body = f"<main><p>{PLAIN}</p><div>2.1</div><h2>Rules</h2>{pieces}<div>•</div></main>"
    assert html(tmp_path, body) == f"[] {PLAIN}\n[Rules] COVID-19, Hall, H2"


def test_cells_that_cover_several(tmp_path: Path) -> None:
    text = html(
        tmp_path,
        "<table><tr><th>Room</th><th colspan=2>Price</th></tr>"
        "<tr><th></th><th>Summer</th><th>Winter</th></tr>"
        "<tr><td rowspan=2>Lake</td><td>90</td><td>70</td></tr>"
        "<tr><td>95</td><td>75</td></tr></table>",
    )
    assert "- Room: Lake, Price Summer: 90, Price Winter: 70" in text
    assert "- Room: Lake, Price Summer: 95, Price Winter: 75" in text


def test_markdown_without_comments_and_with_underlined_headings(tmp_path: Path) -> None:
    text = (
        "<!-- SECRET\n\nSECRET -->\nCamp\n====\n\nDogs\n----\n\nNow ~~SECRET~~ five `<!-- x -->`.\n"
        "```\nname\n---\n```\n"
    )
    shown = "[Dogs] Now five <!-- x -->.\n\nname\u2028---"
    assert read(tmp_path, "a.md", text.encode()) == shown


@pytest.mark.parametrize(
    "part",
    [
        '<div style="display:none">SECRET</div>',
        '<div style="display:none">\n\nSECRET **again**\n\n- SECRET\n\n</div>',
        "<p hidden>SECRET</p>",
        "Now <span hidden>SECRET\nSECRET</span> five.",
        "<details hidden><summary>SECRET</summary>SECRET</details>",
        "<style>.staff { display: none }</style>\n\n<p class=staff>SECRET</p>",
        "<template>SECRET</template>",
        "Now <template>SECRET</template> five.",
        "<script>SECRET</script>",
        "<style>SECRET</style>",
        "| Tea | Price |\n|--|--|\n| Green | 5 <s>SECRET</s> |",
        "# Tea <strike>SECRET</strike>",
        "[comment]: <> (SECRET)",
        '[comment]: # "SECRET"',
        "[//]: # SECRET and more",
        "[note]: <> (SECRET\nSECRET)",
        "A line.\n[comment]: <> (SECRET)",
        "> [comment]: <> (SECRET)",
        "A line <!-- SECRET\n\nSECRET --> that goes on.",
        "1. First\n    <!-- SECRET -->",
        "<div>\nOld: ~~SECRET~~\n</div>",
        "```html\n<div hidden>SEEN</div>\n```",
        "~~~\n[comment]: <> (SEEN)\n~~~",
        "    <p hidden>SEEN</p>\n    <!-- SEEN -->",
        "Write `<p hidden>SEEN</p>`.",
        "Write `` <!-- SEEN --> ``.",
        "Write \\<!-- SEEN.",
        "&lt;p hidden&gt;SEEN&lt;/p&gt;",
        "2 < 3 SEEN > 1",
        "Mail <SEEN@example.com>.",
        "<name>SEEN</name>",
        '<div align="center">\n\n**SEEN**\n\n</div>',
        "<details><summary>More</summary>\n\nSEEN\n\n</details>",
        "[note]: SEEN and more",
        "[Write us](#SEEN) or ![SEEN](a.png)",
        "112 SEEN",
    ],
)
def test_hidden_and_shown_parts_of_markdown(tmp_path: Path, part: str) -> None:
    text = read(tmp_path, "a.md", f"Intro.\n\n{part}\n\n{PLAIN}\n".encode())
    assert "SECRET" not in text
    assert ("SEEN" in text) == ("SEEN" in part)
    assert "Intro." in text
    assert PLAIN in text


def test_lines_and_numbers_of_markdown_stay(tmp_path: Path) -> None:
    text = "Q: Far?\nNo.\n\n3. Open it.\n4. Tap\n   *twice*.\n\n- Tea ![cup](a)\n\n![badge](b)\n"
    shown = "[Far?] No.\n\n3. Open it.\n4. Tap\ntwice.\n- Tea cup"
    assert read(tmp_path, "a.md", text.encode()) == shown


def test_the_separator_that_a_table_names(tmp_path: Path) -> None:
    text = read(tmp_path, "a.csv", b"sep=;\nItem;Weight\nChair;4 kg, light\n")
    assert text == "[Chair] Item: Chair\nWeight: 4 kg, light"


RUSSIAN = "Магазин открыт ежедневно с девяти утра до шести вечера, кроме воскресенья."


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        (
            "Prodejna je otevřená od devíti hodin ráno do šesti večer, v neděli je zavřeno.",
            "cp1250",
        ),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8-r"),
        (
            "El mercado abre a las nueve de la mañana; el año próximo costará más, señores.",
            "cp1252",
        ),
        ("Affären är öppen från nio på morgonen, leveransen är gratis för stamgäster.", "cp1252"),
        ("店は毎日午前九時から午後六時まで営業しています。日曜日は休みです。", "cp932"),
        ("商店每天上午九点到下午六点营业，星期日休息。朱镕基先生也来过。", "gbk"),
    ],
)
def test_encodings_are_told_apart(tmp_path: Path, text: str, codec: str) -> None:
    assert read(tmp_path, "a.txt", text.encode(codec)) == f"[] {text}"


def test_the_encoding_that_a_page_names(tmp_path: Path) -> None:
    page = f'<html><meta charset="gb2312"><p>商店每天营业，朱镕基。{"休息。" * 9}</p></html>'
    assert "朱镕基" in read(tmp_path, "a.html", page.encode("gbk"))
    page = '<html><meta charset="iso-8859-1"><p>It’s 49 € – “with tax”.</p></html>'
    assert "It’s 49 € – “with tax”." in read(tmp_path, "b.html", page.encode("cp1252"))


@pytest.mark.parametrize(
    ("label", "codec", "words"),
    [
        ("latin1", "cp1252", "€ – “tax”"),
        ("iso-8859-9", "cp1254", "ğ € ş"),
        ("ks_c_5601-1987", "cp949", "똠방각하"),
        ("x-sjis", "cp932", "①髙"),
        ("windows-31j", "cp932", "①髙"),
        ("gb_2312-80", "gb18030", "朱镕基"),
        ("x-cp1251", "cp1251", "Цена"),
        ("koi8-ru", "koi8-u", "Ціна"),
        ("csbig5", "big5hkscs", "價錢"),
        ("tis-620", "cp874", "ราคา"),
        ("macintosh", "mac-roman", "é ü"),
        ("logical", "iso-8859-8", "מחיר"),
    ],
)
def test_labels_mean_what_they_mean_to_browsers(label: str, codec: str, words: str) -> None:
    data = f"{words} {PLAIN}".encode(codec)
    assert encodings.decode(data, label) == f"{words} {PLAIN}"
    assert encodings.decode(data, f" {label.upper()}\n") == f"{words} {PLAIN}"


def test_letters_of_no_encoding_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ExtractError) as caught:
        read(tmp_path, "a.txt", bytes(range(0x80, 0x100)) * 20)
    assert caught.value.code == "unknown_encoding"
    with pytest.raises(ExtractError) as caught:
        encodings.decode(bytes(range(0x80, 0x100)) * 20, "no-such-name")
    assert caught.value.code == "unknown_encoding"
