"""PDF pages are read as people see them: no hidden text, and the rows of tables stay together."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from bots.ingest import extraction
from bots.ingest.extraction.document import ExtractError

TEA = "Tea costs two euros today, as it has for years."


def pdf(
    *contents: str, resources: str = "", catalog: str = "", page: str = "", more: Sequence[str] = ()
) -> bytes:
    """A PDF with one content stream a page; the objects `more` follow from number 100."""
    pages = [f"{5 + 2 * number} 0 R" for number in range(len(contents))]
    objects = {
        1: f"<< /Type /Catalog /Pages 2 0 R {catalog} >>",
        2: f"<< /Type /Pages /Kids [{' '.join(pages)}] /Count {len(pages)} >>",
        3: "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        4: "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >>",
    }
    for number, content in enumerate(contents):
        objects[5 + 2 * number] = (
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] "
            f"/Resources << /Font << /F1 3 0 R /F2 4 0 R >> {resources} >> "
            f"/Contents {6 + 2 * number} 0 R {page} >>"
        )
        objects[6 + 2 * number] = stream(content)
    objects |= dict(enumerate(more, 100))
    out, places = b"%PDF-1.6\n", {}
    for number, body in objects.items():
        places[number] = len(out)
        out += f"{number} 0 obj\n{body}\nendobj\n".encode("cp1252")
    table = "".join(f"{number} 1\n{place:010d} 00000 n \n" for number, place in places.items())
    return (
        out
        + (
            f"xref\n{table}trailer << /Size {max(objects) + 1} /Root 1 0 R >>\n"
            f"startxref\n{len(out)}\n%%EOF"
        ).encode()
    )


def stream(content: str, entries: str = "") -> str:
    length = len(content.encode("cp1252"))
    return f"<< {entries} /Length {length} >>\nstream\n{content}\nendstream"


def form(content: str, entries: str = "") -> str:
    fonts = "/Font << /F1 3 0 R >> /Properties << /L 100 0 R >>"
    return stream(
        content,
        "/Type /XObject /Subtype /Form /BBox [0 0 595 842] "
        f"{'' if '/Resources' in entries else f'/Resources << {fonts} >>'} {entries}",
    )


def text(x: float, y: float, words: str, size: float = 11, before: str = "") -> str:
    escaped = words.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
    return f"BT {before} /F1 {size} Tf {x} {y} Td ({escaped}) Tj ET"


def read(tmp_path: Path, data: bytes) -> str:
    path = tmp_path / "a.pdf"
    path.write_bytes(data)
    parts = extraction.extract(path, file_name="a.pdf").sections
    return "\n".join(filter(None, (line for part in parts for line in part.text.split("\n"))))


LAYER = "<< /Type /OCG /Name (Prices) >>"
OFF = "/OCProperties << /OCGs [100 0 R] /D << /OFF [100 0 R] >> >>"
ON = "/OCProperties << /OCGs [100 0 R] /D << /ON [100 0 R] >> >>"
VIEW = "<< /Type /OCG /Name (Prices) /Usage << /View << /ViewState /OFF >> >> >>"
BY_VIEW = (
    "/OCProperties << /OCGs [100 0 R] /D << /AS [<< /Event /View /Category [/View]"
    " /OCGs [100 0 R] >>] >> >>"
)
LAYERS = "/Properties << /L 100 0 R >>"
FORM = "/XObject << /X 101 0 R >> " + LAYERS
SECRET = text(60, 700, "SECRET words")
BAR = "50 690 200 30 re f"
CLEAR = "/ExtGState << /G << /ca 0 >> >>"


@pytest.mark.parametrize(
    ("hidden", "more"),
    [
        (f"1 1 1 rg {SECRET}", {}),
        (f"1 g {SECRET}", {}),
        (f"1 g {SECRET}".replace("/F1", "/F2"), {}),
        (f"0 0 0 0 k {SECRET}", {}),
        (f"0.99 g {SECRET}", {}),
        (f"0 0 .6 rg {BAR} {SECRET}", {}),
        (f"{SECRET} 1 1 1 rg {BAR}", {}),
        (f"{SECRET} {BAR}", {}),
        (f"{SECRET} 60 697.6 82 11.4 re f", {}),
        (f"{SECRET} 1 g 59 697 84 11 re f", {}),
        (f"0 0 10 10 re W n {SECRET}", {}),
        (f"/G gs {SECRET}", {"resources": CLEAR}),
        (text(60, 700, "SECRET words", 0.5), {}),
        (text(60, 700, "SECRET words", 0), {}),
        (f".01 0 0 .01 0 0 cm {text(0, 70_000, 'SECRET words')}", {}),
        (text(60, 700, "SECRET words", before="3 Tr"), {}),
        (text(60, 1_000, "SECRET words") + text(-900, 700, "SECRET words"), {}),
        (text(60, 30, "SECRET words"), {"page": "/CropBox [0 100 595 842]"}),
        (f"/OC /L BDC {SECRET} EMC", {"resources": LAYERS, "catalog": OFF, "more": [LAYER]}),
        (f"/OC /L BDC {SECRET} EMC", {"resources": LAYERS, "catalog": BY_VIEW, "more": [VIEW]}),
        ("/OC /L BDC /X Do EMC", {"resources": FORM, "catalog": OFF,
                                  "more": [LAYER, form(SECRET)]}),
        ("/X Do", {"resources": FORM, "catalog": OFF,
                   "more": [LAYER, form(SECRET, "/OC 100 0 R")]}),
        ("/X Do", {"resources": FORM, "catalog": OFF,
                   "more": [LAYER, form(f"/OC /L BDC {SECRET} EMC")]}),
        ("/X Do", {"resources": FORM, "more": [LAYER, form(SECRET.replace("BT", "BT 3 Tr"))]}),
        (f"{SECRET} .8 w 58 703.5 m 140 703.5 l S", {}),
        (f"{SECRET} 58 703.5 80 .6 re f", {}),
    ],
)  # fmt: skip
def test_text_that_nobody_sees(tmp_path: Path, hidden: str, more: dict[str, Any]) -> None:
    page = f"{text(60, 780, TEA)} q {hidden} Q {text(60, 600, 'It is served at noon.')}"
    assert read(tmp_path, pdf(page, **more)) == f"{TEA}\nIt is served at noon."


@pytest.mark.parametrize(
    "bar", ["0 g 125 697 47 12 re f", "1 g 125.5 697.5 46 11 re f", "12 w 125 703 m 172 703 l S"]
)
def test_covered_words_in_a_line(tmp_path: Path, bar: str) -> None:
    line = text(60, 700, "The owner is SECRET, and he pays.")
    page = f"{text(60, 780, TEA)} q {line} {bar} Q"
    shown = read(tmp_path, pdf(page))
    assert "SECRET" not in shown
    assert shown.startswith(f"{TEA}\nThe owner is ")
    assert shown.endswith(" and he pays.")


def test_a_name_with_a_gap_is_not_covered(tmp_path: Path) -> None:
    line = text(60, 700, "Name                    Anton Berg                   (owner)")
    assert "Anton Berg" in read(tmp_path, pdf(f"{text(60, 780, TEA)} {line}"))


SEEN = text(60, 700, "SEEN words of the page")
MULTIPLY = "/ExtGState << /G << /BM /Multiply >> >>"
HALF = "/ExtGState << /G << /ca .4 >> >>"
# A layer of colour that shines through: its own state says that it is opaque inside.
GROUP = form(f"/O gs 0 .6 0 rg {BAR}", "/Group << /S /Transparency >> "
             "/Resources << /ExtGState << /O << /ca 1 >> >> >>")  # fmt: skip


@pytest.mark.parametrize(
    ("seen", "more"),
    [
        (f"0 0 .6 rg {BAR} 1 1 1 rg {SEEN}", {}),
        (f".8 g {SEEN}", {}),
        (f"{SEEN} /G gs 1 1 0 rg {BAR}", {"resources": MULTIPLY}),
        (f"{SEEN} /G gs 1 1 0 rg {BAR}", {"resources": HALF}),
        (SEEN.replace("BT", "BT 1 Tr"), {}),
        (f"/OC /L BDC {SEEN} EMC", {"resources": LAYERS, "catalog": ON, "more": [LAYER]}),
        (f"{SEEN} .8 w 58 698 m 200 698 l S", {}),
        (f"{SEEN} /G gs /X Do", {"resources": f"{FORM} {HALF}", "more": [LAYER, GROUP]}),
        (f"0 .6 0 rg {SEEN} /G gs /X Do", {"resources": f"{FORM} {HALF}", "more": [LAYER, GROUP]}),
        (
            f"/G gs /X Do Q q 0 .6 0 rg {SEEN}",
            {"resources": f"{FORM} {HALF}", "more": [LAYER, GROUP]},
        ),
        (f"0 1 -1 0 800 0 cm {SEEN}", {}),
        (SEEN, {"page": "/Rotate 90"}),
        (SEEN, {"page": "/CropBox [50 50 500 800]"}),
    ],
)
def test_text_that_is_seen(tmp_path: Path, seen: str, more: dict[str, Any]) -> None:
    page = f"q {seen} Q {text(60, 600, TEA)}"
    shown = read(tmp_path, pdf(page, **more))
    assert "SEEN words of the page" in shown
    assert TEA in shown


def test_two_layers_of_one_name(tmp_path: Path) -> None:
    page = f"{text(60, 780, TEA)} /OC /L BDC {SECRET} EMC /OC /M BDC {text(60, 650, TEA)} EMC"
    data = pdf(
        page,
        resources="/Properties << /L 100 0 R /M 101 0 R >>",
        catalog="/OCProperties << /OCGs [100 0 R 101 0 R] /D << /OFF [100 0 R] >> >>",
        more=[LAYER, LAYER],
    )
    assert read(tmp_path, data) == f"{TEA}\n{TEA}"


@pytest.mark.parametrize(("width", "grey"), [(4, "\\356"), (1_200, "\\377")])
def test_invisible_text_on_a_scan_is_the_text_of_the_scan(
    tmp_path: Path, width: int, grey: str
) -> None:
    """A large picture is not unpacked: it may be a scan whatever it shows."""
    dots = "7f80" * (width * width // 4) + "7fff" * (width * width // 4) + ">"
    picture = stream(
        dots,
        f"/Type /XObject /Subtype /Image /Width {width} /Height {width} /BitsPerComponent 8"
        " /ColorSpace /DeviceGray /Filter /ASCIIHexDecode",
    )
    page = f"q 595 0 0 842 0 0 cm /I Do Q {text(200, 418, TEA, before='3 Tr')}"
    data = pdf(page, resources="/XObject << /I 100 0 R >>", more=[picture])
    assert read(tmp_path, data) == TEA


def test_letters_that_cannot_be_drawn_here_are_kept(tmp_path: Path) -> None:
    """Without the fonts of a language, its letters leave no mark on the page."""
    font = (
        "<< /Type /Font /Subtype /Type0 /BaseFont /Ryumin-Light /Encoding /UniJIS-UCS2-H"
        " /DescendantFonts [<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Ryumin-Light"
        " /CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 2 >> >>] >>"
    )
    shop = "店は毎日午前九時から午後六時まで営業しています。".encode("utf-16-be").hex()
    page = f"BT /F3 12 Tf 60 700 Td <{shop}> Tj ET"
    data = pdf(page, resources="/Font << /F3 100 0 R >>", more=[font]).replace(
        b"/Font << /F1 3 0 R /F2 4 0 R >> ", b""
    )
    assert "午前九時" in read(tmp_path, data)


@pytest.mark.full
def test_a_page_of_many_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(
        pdf(f"{text(60, 780, TEA)} {SECRET.replace('BT', '1 g BT')}" + " 9 9 m 99 9 l S" * 60_000)
    )
    (section,) = extraction.extract_in_child(path, file_name="a.pdf").sections
    assert section.text == TEA


def test_values_of_form_fields(tmp_path: Path) -> None:
    field = (
        "<< /Type /Annot /Subtype /Widget /FT /Tx /T (fee) /V (49 euros) /Rect [140 752 260 770]"
        " /DA (/F1 11 Tf 0 g) /F {} /AP << /N 101 0 R >> >>"
    )
    look = stream(
        text(2, 5, "49 euros"),
        "/Type /XObject /Subtype /Form /BBox [0 0 120 18] /Resources << /Font << /F1 3 0 R >> >>",
    )
    for flags, shown in ((4, "Monthly fee:   49 euros"), (2, "Monthly fee:")):
        data = pdf(
            f"{text(60, 800, TEA)} {text(60, 757, 'Monthly fee:')}",
            page="/Annots [100 0 R]",
            catalog="/AcroForm << /Fields [100 0 R] >>",
            more=[field.format(flags), look],
        )
        assert read(tmp_path, data) == f"{TEA}\n{shown}"


Table = Sequence[Sequence[str]]
SERVICES = [
    ["Service", "Price"],
    ["Small inspection\nwith oil change", "49 euros"],
    ["Large inspection\nwith oil and all of\nthe filters", "89 euros"],
    ["Tyres", "40 euros"],
    ["Brakes, front\nand rear", "120 euros"],
]
READ = """- Service | Price
- Small inspection with oil change | 49 euros
- Large inspection with oil and all of the filters | 89 euros
- Tyres | 40 euros
- Brakes, front and rear | 120 euros"""
ROUTES = [
    ["Route", "Adult", "Child", "Car"],
    ["Kiel to Oslo", "89", "45", "120"],
    ["Turku to Kiel", "99", "50", "140"],
    ["Kiel to Riga", "75", "38", "110"],
]
ROUTES_READ = """- Route: Kiel to Oslo, Adult: 89, Child: 45, Car: 120
- Route: Turku to Kiel, Adult: 99, Child: 50, Car: 140
- Route: Kiel to Riga, Adult: 75, Child: 38, Car: 110"""


def drawn(
    table: Table,
    columns: Sequence[float],
    *,
    place: float = 0,
    padding: float = 6,
    rules: str = "",
    top: float = 740,
    heading: str = "",
) -> str:
    """A table; `place` is 0, 1/2 or 1: a cell of fewer lines is at the top, middle or bottom."""
    right = columns[-1] + 90
    shown = [text(60, top + 15, heading, 16)] if heading else [text(60, 780, TEA)]
    y, edges = top, [top]
    for row in table:
        most = max(cell.count("\n") for cell in row)
        for x, cell in zip(columns, row, strict=True):
            lines = cell.split("\n")
            first = y - padding - 10 - place * 13 * (most + 1 - len(lines))
            shown += [text(x, first - 13 * number, line) for number, line in enumerate(lines)]
        y -= 13 * (most + 1) + 2 * padding
        edges.append(y)
    return "\n".join([*shown, *_rules(rules, [x - 4 for x in columns] + [right], edges)])


def _rules(kind: str, xs: Sequence[float], ys: Sequence[float]) -> Iterable[str]:
    if kind == "lines":
        yield from (f".5 w {xs[0]} {y} m {xs[-1]} {y} l S" for y in ys)
        yield from (f".5 w {x} {ys[0]} m {x} {ys[-1]} l S" for x in xs)
    elif kind == "bars":
        yield from (f"{xs[0]} {y - 0.25} {xs[-1] - xs[0]} .5 re f" for y in ys)
    elif kind == "boxes":
        for left, right in zip(xs, xs[1:], strict=False):
            yield from (f"{left} {y} {right - left} {above - y} re S"
                        for above, y in zip(ys, ys[1:], strict=False))  # fmt: skip


@pytest.mark.parametrize("rules", ["", "lines", "bars", "boxes"])
@pytest.mark.parametrize("padding", [0, 2, 6])
@pytest.mark.parametrize("place", [0, 0.5, 1])
def test_cells_of_several_lines(tmp_path: Path, place: float, padding: float, rules: str) -> None:
    page = drawn(SERVICES, (60, 180), place=place, padding=padding, rules=rules)
    assert read(tmp_path, pdf(page)) == f"{TEA}\n{READ}"


@pytest.mark.parametrize("step", [70, 74, 80])
@pytest.mark.parametrize("rules", ["", "lines", "boxes"])
def test_columns_that_are_close_together(tmp_path: Path, step: int, rules: str) -> None:
    page = drawn(ROUTES, (60, 60 + step, 94 + step, 128 + step), padding=2, rules=rules)
    assert read(tmp_path, pdf(page)) == f"{TEA}\n{ROUTES_READ}"


def test_a_name_that_nearly_touches_its_price(tmp_path: Path) -> None:
    table = [
        ["Service", "Price"],
        ["Small inspection", "49 euros"],
        ["Large inspection", "89 euros"],
        ["Oil", "20 euros"],
    ]
    rows = "\n".join(f"- {' | '.join(row)}" for row in table)
    for rules in ("", "lines"):
        page = drawn(table, (60, 145), padding=2, rules=rules)
        assert read(tmp_path, pdf(page)) == f"{TEA}\n{rows}"


def test_three_columns_of_several_lines(tmp_path: Path) -> None:
    table = [
        ["Service", "Small car", "Large car"],
        ["Inspection", "49 euros\nwith oil", "89 euros\nwith oil"],
        ["Tyres, four", "40 euros", "60 euros"],
        ["Washing and\npolishing", "15 euros", "25 euros\nfor vans: 30"],
    ]
    for place in (0, 0.5):
        page = drawn(table, (60, 150, 230), place=place)
        assert read(tmp_path, pdf(page)) == (
            f"{TEA}\n- Service: Inspection, Small car: 49 euros with oil, "
            "Large car: 89 euros with oil\n"
            "- Service: Tyres, four, Small car: 40 euros, Large car: 60 euros\n"
            "- Service: Washing and polishing, Small car: 15 euros, "
            "Large car: 25 euros for vans: 30"
        )


PLANS = [
    ["Plan", "What is in it", "Price", "Notice"],
    ["Business plan", "Twenty users and answers\nwithin a working day", "29 euros", "two months"],
    [
        "Large\nbusiness plan\nwith telephone",
        "Two hundred users, a\nshared calendar, and\nanswers within four\nhours at night as well",
        "240 euros",
        "six\nmonths",
    ],
    ["School plan", "Any number of users of\none school", "12 euros", "one month"],
]


@pytest.mark.parametrize("rules", ["", "lines", "bars", "boxes"])
@pytest.mark.parametrize("place", [0, 0.5, 1])
def test_cells_of_different_lengths(tmp_path: Path, place: float, rules: str) -> None:
    names, *rows = [[cell.replace("\n", " ") for cell in row] for row in PLANS]
    shown = [
        "- " + ", ".join(f"{name}: {cell}" for name, cell in zip(names, row, strict=True))
        for row in rows
    ]
    page = drawn(PLANS, (60, 160, 310, 380), place=place, rules=rules)
    assert read(tmp_path, pdf(page)) == "\n".join([TEA, *shown])


SWIMS = [["Ticket", "Adults", "Children"], ["Single swim", "7", "4"], ["Ten swims", "60", "35"]]
HIRE = [["Towel", "3"], ["Locker", "2"]]
COURSES = [["Course", "Weeks", "Fee"], ["Diving", "6", "150"], ["Butterfly", "4", "90"]]


@pytest.mark.parametrize("headings", [("", ""), ("Hire", "Courses")])
@pytest.mark.parametrize("rules", ["", "lines", "boxes"])
@pytest.mark.parametrize("last", [(60, 150, 230), (60, 140, 205)])
def test_tables_below_each_other(
    tmp_path: Path, last: Sequence[float], rules: str, headings: tuple[str, str]
) -> None:
    page = [
        drawn(SWIMS, (60, 150, 230), rules=rules),
        drawn(HIRE, (60, 175), rules=rules, top=620, heading=headings[0]),
        drawn(COURSES, last, rules=rules, top=530, heading=headings[1]),
    ]
    assert read(tmp_path, pdf("\n".join(page))).removeprefix(TEA).split("\n") == [
        "",
        "- Ticket: Single swim, Adults: 7, Children: 4",
        "- Ticket: Ten swims, Adults: 60, Children: 35",
        "- Towel | 3",
        "- Locker | 2",
        "- Course: Diving, Weeks: 6, Fee: 150",
        "- Course: Butterfly, Weeks: 4, Fee: 90",
    ]


@pytest.mark.parametrize("rules", ["", "lines"])
def test_names_of_groups_of_columns(tmp_path: Path, rules: str) -> None:
    table = [
        ["Service", "Member", "Guest", "Member", "Guest"],
        ["Massage", "45", "55", "60", "70"],
        ["Mud bath", "", "80", "", "95"],
    ]
    columns = (60, 140, 220, 300, 380)
    groups = [text(140, 750, "Weekday"), text(300, 750, "Weekend")]
    if rules:
        groups += _rules("boxes", (56, 136, 296, 470), (765, 740))
    page = drawn(table, columns, rules=rules)
    shown = read(tmp_path, pdf("\n".join([page, *groups])))
    assert shown.split("\n")[-2:] == [
        "- Service: Massage, Weekday Member: 45, Weekday Guest: 55, "
        "Weekend Member: 60, Weekend Guest: 70",
        "- Service: Mud bath, Weekday Guest: 80, Weekend Guest: 95",
    ]


def test_ruled_cells_across_columns_and_rows(tmp_path: Path) -> None:
    xs = (56, 136, 216, 296)
    page = [
        *_rules("boxes", xs, (740, 720, 700)),
        *_rules("boxes", (56, 136), (700, 660)),
        *_rules("boxes", (136, 296), (700, 680)),
        *_rules("boxes", xs[1:], (680, 660)),
        *(text(x, 725, words) for x, words in zip(xs, ("Day", "Pool", "Sauna"), strict=False)),
        *(text(x, 705, words) for x, words in zip(xs, ("Monday", "9-12", "14-16"), strict=False)),
        text(60, 677, "Sunday"),
        text(190, 685, "closed"),
        text(140, 665, "by 8 am"),
        text(220, 665, "by 9 am"),
    ]
    assert read(tmp_path, pdf("\n".join(page))).split("\n") == [
        "- Day: Monday, Pool: 9-12, Sauna: 14-16",
        "- Day: Sunday, Pool: closed, Sauna: closed",
        "- Day: Sunday, Pool: by 8 am, Sauna: by 9 am",
    ]


def test_text_in_a_frame_is_no_table(tmp_path: Path) -> None:
    lines = ["Please bring your own towel", "and a padlock for the locker.", "We sell both."]
    page = [text(60, 725 - 14 * number, line) for number, line in enumerate(lines)]
    shown = read(tmp_path, pdf("\n".join([*_rules("boxes", (56, 296), (740, 690)), *page])))
    assert shown.split("\n") == lines


def test_a_title_between_ruled_rows_and_an_underlined_word(tmp_path: Path) -> None:
    xs = (56, 136, 216, 296)
    page = [
        *_rules("boxes", xs, (760, 740, 720)),
        *_rules("boxes", (56, 296), (720, 700)),
        *_rules("boxes", xs, (700, 680)),
        *(text(x + 6, 745, name) for x, name in zip(xs, SWIMS[0], strict=False)),
        *(text(x + 6, 725, cell) for x, cell in zip(xs, SWIMS[1], strict=False)),
        text(62, 705, "On weekends"),
        "62 703 m 120 703 l S",
        *(text(x + 6, 685, cell) for x, cell in zip(xs, SWIMS[2], strict=False)),
    ]
    assert read(tmp_path, pdf("\n".join(page))).split("\n") == [
        "- Ticket: Single swim, Adults: 7, Children: 4",
        "- Ticket: On weekends",
        "- Ticket: Ten swims, Adults: 60, Children: 35",
    ]


REPAIRS = [
    "The workshop repairs bicycles",
    "and scooters of all makes.",
    "and bring the key of the lock.",
]
HOURS = ["Opening hours are on Monday", "from ten to six, and on", "Saturday from ten to two."]


@pytest.mark.parametrize("shift", [0, 12])
@pytest.mark.parametrize("table", [HIRE, SWIMS])
def test_paragraphs_beside_each_other(tmp_path: Path, table: Table, shift: int) -> None:
    """The columns of text are read one after the other, though a table is above them."""
    page = [drawn(table, (60, 150, 230)[: len(table[0])])]
    page += [text(60, 640 - 13 * number, line) for number, line in enumerate(REPAIRS)]
    page += [text(290, 640 + shift - 13 * number, line) for number, line in enumerate(HOURS)]
    shown = read(tmp_path, pdf("\n".join(page))).split("\n")
    assert shown[-6:] == REPAIRS + HOURS


def test_a_word_in_parts_beside_a_line_of_other_height(tmp_path: Path) -> None:
    page = [
        text(60, 640, "Open to F"),
        text(104.6, 640, "riday at noon"),
        text(290, 645, "Closed on Sunday"),
    ]
    assert "Open to Friday at noon" in read(tmp_path, pdf("\n".join(page)))


FERRY = (
    "The ferry leaves the northern harbour at seven in the morning and returns at nine in the "
    "evening. Tickets cost twelve euros for adults and six euros for children, and dogs travel "
    "free of charge. Seats cannot be reserved by telephone."
)
FÄHRE = (
    "Die Fähre verlässt den nördlichen Hafen um sieben Uhr morgens und kehrt um neun Uhr abends "
    "zurück. Fahrkarten kosten zwölf Euro für Erwachsene und sechs Euro für Kinder."
)
FIGURES = "Open 9-18. Room 12 costs 89 euros, room 14 costs 99 euros, breakfast 12 euros."
SHORT = "Tea is two euros. We open at nine."


@pytest.mark.parametrize("gap", [0, 0.4, 0.8, 1.2, 1.6, 2, 2.5, 3])
@pytest.mark.parametrize("words", [FERRY, FÄHRE, FIGURES, SHORT])
@pytest.mark.parametrize("font", ["Helvetica", "Helvetica-Bold", "Times-Roman", "Courier"])
def test_gaps_instead_of_spaces(tmp_path: Path, font: str, words: str, gap: float) -> None:
    """Words that are drawn apart are read apart; if the gaps are too small, nothing is read."""
    lines, rest = [], words.split()
    while rest:
        lines.append(f" {-gap / 11 * 1_000} ".join(f"({word})" for word in rest[:10]))
        rest = rest[10:]
    shown = " ".join(f"[{line}] TJ T*" for line in lines)
    data = pdf(f"BT /F1 11 Tf 60 760 Td 14 TL {shown} ET")
    try:
        found = read(tmp_path, data.replace(b"/Helvetica ", f"/{font} ".encode()))
    except ExtractError as error:
        found = error.code
    is_refused = gap < 2 and found == "unreadable"
    assert is_refused or found.split() == words.split()
