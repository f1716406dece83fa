"""Reading files: every supported type, wrong names, and hostile files."""

import ast
import io
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path
from typing import Any

import docx
import pytest
from django.conf import settings

from bots.ingest import chunking, extraction
from bots.ingest.extraction import file_types, office
from bots.ingest.extraction.document import ExtractedText, ExtractError


def pdf_bytes(*contents: bytes, is_packed: bool = False) -> bytes:
    """A PDF with one content stream a page."""
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(contents)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(contents)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, content in enumerate(contents):
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R"
            b" >> >> /Contents %d 0 R >>" % (5 + 2 * number)
        )
        packed = b" /Filter /FlateDecode" if is_packed else b""
        objects.append(
            b"<< /Length %d%s >>\nstream\n%s\nendstream" % (len(content), packed, content)
        )
    out, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    return out + (
        b"xref\n0 %d\n0000000000 65535 f \n%strailer << /Size %d /Root 1 0 R >>\n"
        b"startxref\n%d\n%%%%EOF" % (size, table, size, len(out))
    )


def page(*lines: str) -> bytes:
    shown = " ".join(f"({line}) Tj T*" for line in lines)
    return f"BT /F1 12 Tf 14 TL 72 720 Td {shown} ET".encode()


def docx_bytes() -> bytes:
    document = docx.Document()
    document.add_heading("Returns", 1)
    document.add_paragraph("Goods come back within thirty days.")
    document.add_paragraph("Keep the receipt", style="List Bullet")
    cells = document.add_table(1, 2).rows[0].cells
    cells[0].text, cells[1].text = "Fee", "5 euros"
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def docx_with_part(
    part: bytes, place: str = "word/document.xml", whole: bytes | None = None
) -> bytes:
    """A DOCX with another part in the place of its own."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(whole or docx_bytes())) as source,
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        for name in source.namelist():
            target.writestr(name, part if name == place else source.read(name))
    return buffer.getvalue()


WORD = (
    b'<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>'
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "upload"


def read(file: Path, data: bytes, name: str) -> ExtractedText:
    file.write_bytes(data)
    return extraction.extract(file, file_name=name)


def refused(file: Path, data: bytes, name: str, **limits: Any) -> str:
    file.write_bytes(data)
    with pytest.raises(ExtractError) as caught:
        extraction.extract_in_child(file, file_name=name, **limits)
    return caught.value.code


def test_what_is_stored_of_a_failure_can_be_translated() -> None:
    """A value in it would keep it out of the catalogues."""
    calls = [
        node
        for path in (settings.BASE_DIR / "bots").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "ExtractError" and node.args
    ]
    assert len(calls) > 20
    assert [ast.unparse(call) for call in calls if not isinstance(call.args[1], ast.Constant)] == []


def test_pdf_keeps_its_pages(file: Path) -> None:
    text = read(file, pdf_bytes(page("Parcels arrive on Monday."), page("Dogs stay out.")), "a.pdf")
    assert text.mime_type == file_types.PDF
    assert [(s.page, s.text) for s in text.sections] == [
        (1, "Parcels arrive on Monday."),
        (2, "Dogs stay out."),
    ]


def test_docx_headings_lists_and_tables(file: Path) -> None:
    (section,) = read(file, docx_bytes(), "a.docx").sections
    assert section.heading == "Returns"
    assert section.text == (
        "Goods come back within thirty days.\n- Keep the receipt\n\n- Fee | 5 euros"
    )


def test_html_without_scripts(file: Path) -> None:
    body = "<p>Parcels arrive on Monday and on Thursday, in the morning.</p>" * 2
    text = read(
        file,
        f"<!doctype html><html><head><title>Shop</title><script>evil()</script></head><body>"
        f"<h2>Delivery</h2>{body}</body></html>".encode(),
        "a.html",
    )
    content = "\n".join(section.text for section in text.sections)
    assert text.title == "Shop"
    assert "Parcels arrive on Monday" in content
    assert "evil" not in content


def test_markdown_sections(file: Path) -> None:
    text = read(file, b"# Shop\n\nHi **you**.\n\n## Fees\n[Five](http://x) euros.\n", "a.md")
    assert [(s.heading, s.text) for s in text.sections] == [
        ("Shop", "Hi you."),
        ("Fees", "Five euros."),
    ]


def test_markdown_title_is_the_only_top_heading(file: Path) -> None:
    assert read(file, b"Intro.\n\n# Shop\n\nHi.\n\n## Fees\nFive.\n", "a.md").title == "Shop"
    assert read(file, b"# Returns\n\nSoon.\n\n# Fees\n\nFive.\n", "help.md").title == "help"


def test_markdown_link_targets_are_no_text(file: Path) -> None:
    text = read(file, b"# Shop\n\nAsk [us].\n\n[us]: https://example.com/ask\n", "a.md")
    assert [s.text for s in text.sections] == ["Ask us."]


def test_csv_rows_are_labeled(file: Path) -> None:
    text = read(file, b"name;price\nTea;2\nCoffee;3\n", "a.csv")
    assert [s.text for s in text.sections] == ["name: Tea\nprice: 2", "name: Coffee\nprice: 3"]


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
def test_encodings(file: Path, codec: str) -> None:
    text = "Café prices: 5 euros, naïve façade. Open daily for everybody."
    (section,) = read(file, text.encode(codec), "a.txt").sections
    assert section.text == text


def test_text_is_normalised(file: Path) -> None:
    (section,) = read(
        file, ("Ca\u0300 phe\u0302\x01 ngon. " + "Mot ngay moi. " * 9).encode(), "a.txt"
    ).sections
    assert section.text.startswith("Cà phê ngon. Mot")


@pytest.mark.parametrize(
    ("data", "name", "code"),
    [
        (b"", "a.txt", "empty"),
        (b" \n ", "a.txt", "empty"),
        (b"MZ\x90\x00" + b"\x00" * 99, "a.pdf", "unsupported_type"),
        (b"\x89PNG\r\n\x1a\n<html>", "a.html", "unsupported_type"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "a.svg", "unsupported_type"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "a.html", "unsupported_type"),
        (b"plain words", "a.pdf", "unsupported_type"),
        (b"%PDF-1.4 x", "a.txt", "unsupported_type"),
        (b"<!doctype html><p>x", "a.csv", "unsupported_type"),
        (b"words", "a.pdf.exe", "unsupported_type"),
        (bytes(range(256)) * 8, "a.txt", "unsupported_type"),
        (b"words\x01\x02" * 20, "a.txt", "unsupported_type"),
    ],
)
def test_sniff_refuses(data: bytes, name: str, code: str) -> None:
    with pytest.raises(ExtractError) as caught:
        file_types.sniff(data, name)
    assert caught.value.code == code


@pytest.mark.full
def test_the_child_process_reads_the_same(file: Path) -> None:
    data = docx_bytes()
    assert read(file, data, "a.docx") == extraction.extract_in_child(file, file_name="a.docx")
    file.write_bytes(pdf_bytes(page("Parcels arrive.")))
    assert extraction.extract_in_child(file, file_name="\x00../a.pdf").sections[0].page == 1
    file.write_text("<!doctype html><p>Parcels arrive on Monday.</p>")
    assert extraction.extract_in_child(file, file_name="a.html").sections


def test_a_table_of_names_and_figures_has_the_language_of_the_bot(file: Path) -> None:
    file.write_text("Ort;PLZ;Telefon\nLeipzig;04109;0341 123456\nDresden;01067;0351 987654\n")
    for code in ("de", "en"):
        text = extraction.extract_in_child(file, file_name="a.csv", default_language=code)
        assert text.language == code


def test_the_child_process_loads_nothing_of_the_platform_that_it_does_not_need() -> None:
    code = "import sys, bots.ingest.extraction.__main__; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
    assert b"bots.ingest.extraction.readers" in loaded.split()
    assert not {b"celery", b"django", b"numpy"} & set(loaded.split())


def test_the_child_process_is_killed_after_its_time(file: Path) -> None:
    file.write_bytes(docx_bytes())
    with pytest.raises(ExtractError) as caught:
        extraction.extract_in_child(file, file_name="a.docx", timeout_seconds=0.001)
    assert caught.value.code == "timeout"


@pytest.mark.full
def test_pdf_bomb(file: Path) -> None:
    packer = zlib.compressobj(1)
    block = b" " * 2**20
    packed = b"".join(packer.compress(block) for _ in range(1024)) + packer.flush()
    code = refused(file, pdf_bytes(packed, is_packed=True), "a.pdf")
    assert code in {"too_large", "empty", "malformed", "timeout"}


def test_docx_of_four_million_paragraphs(file: Path) -> None:
    body = WORD + b"<w:p/>" * 4_000_000 + b"</w:body></w:document>"
    assert refused(file, docx_with_part(body), "a.docx") == "too_large"


@pytest.mark.full
def test_docx_within_the_size_limits_but_not_the_memory(file: Path) -> None:
    body = WORD + b"<w:p/>" * 1_100_000 + b"</w:body></w:document>"
    assert len(body) < office.MAX_XML_BYTES
    data = docx_with_part(body)
    assert refused(file, data, "a.docx", memory_mb=128) in {"too_large", "malformed"}
    # With the default of 512 MB its time ends first.
    assert refused(file, data, "a.docx", timeout_seconds=1) == "timeout"


def test_billion_laughs(file: Path) -> None:
    levels = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    body = (
        f'<!DOCTYPE d [<!ENTITY l0 "lol">{levels}]>'.encode()
        + WORD
        + (b"<w:p><w:r><w:t>&l9;</w:t></w:r></w:p></w:body></w:document>")
    )
    assert refused(file, docx_with_part(body), "a.docx") in {"malformed", "empty", "too_large"}


@pytest.mark.full
def test_deeply_nested_html(file: Path) -> None:
    data = b"<!doctype html><html><body>" + b"<div>" * 200_000
    assert refused(file, data, "a.html") in {"empty", "malformed", "too_large", "timeout"}


def test_zip_with_lying_sizes(file: Path) -> None:
    data = bytearray(docx_with_part(WORD + b"<w:p/>" * 300_000 + b"</w:body></w:document>"))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        real = archive.getinfo("word/document.xml").file_size
    for start in range(len(data) - 4):
        if data[start : start + 4] == real.to_bytes(4, "little"):
            data[start : start + 4] = (100).to_bytes(4, "little")
    assert refused(file, bytes(data), "a.docx") == "malformed"


@pytest.mark.full
def test_broken_files(file: Path) -> None:
    whole = pdf_bytes(page("Parcels arrive on Monday."))
    assert refused(file, whole[: len(whole) // 3], "a.pdf") in {"malformed", "empty"}
    assert refused(file, docx_bytes()[:4000], "a.docx") == "malformed"
    assert refused(file, b"%PDF-1.7\n" + bytes(range(256)) * 40, "a.pdf") in {"malformed", "empty"}


def sections_of(tmp_path: Path, name: str, text: str) -> list[tuple[str, str]]:
    path = tmp_path / name
    path.write_text(text)
    read = extraction.extract(path, file_name=name)
    return [(section.heading, section.text) for section in read.sections]


def test_questions_head_their_answers_and_contents_are_dropped(tmp_path: Path) -> None:
    text = """Is it far?\n\nIs it dear?\n\n1. Is it far?\n\nNo, ten minutes on foot.

Which colours?\n- red\n- blue\n\nIs it dear?\nIt costs nothing."""
    assert sections_of(tmp_path, "faq.txt", text) == [
        ("1. Is it far?", "No, ten minutes on foot.\n\nWhich colours?\n- red\n- blue"),
        ("Is it dear?", "It costs nothing."),
    ]


def test_a_line_heads_the_text_that_is_indented_below_it(tmp_path: Path) -> None:
    text = """OPTIONS
       -a, --all
           Shows the hidden files as well as the others.

       Undoing the last change
           Take it back with the command undo.

           A second call brings it back.

       Options may stand in any order that you like."""
    assert sections_of(tmp_path, "page.txt", text) == [
        ("OPTIONS > -a, --all", "           Shows the hidden files as well as the others."),
        (
            "OPTIONS > Undoing the last change",
            "           Take it back with the command undo.\n\n"
            "           A second call brings it back.",
        ),
        ("OPTIONS", "       Options may stand in any order that you like."),
    ]


def test_a_page_keeps_its_headings_terms_lists_and_tables(tmp_path: Path) -> None:
    html = """<html><head><title>Shop</title></head><body><nav>Home</nav><h1>Shop</h1>
<ul><li><a href="#far">How we deliver</a></li><li><a href="#fees">What it costs</a></li></ul>
<h2 id="far"><b>Delivery</b></h2><p>We deliver to the whole of the country, except for:</p>
<ul><li>the islands,</li><li>the mountains above 2,000 metres.</li></ul>
<dl><dt>Express</dt><dd>Arrives on the next day if it is ordered before noon.</dd></dl>
<h2 id="fees">Fees</h2><table><tr><th>Weight</th><th>Price</th></tr>
<tr><td>up to 2 kg</td><td>4 euros</td></tr><tr><td>more</td><td>7 euros</td></tr></table>
<p><strong>Is it insured?</strong></p><p>Yes, up to five hundred euros for each of the parcels.</p>
</body></html>"""
    assert sections_of(tmp_path, "page.html", html) == [
        (
            "Delivery",
            "We deliver to the whole of the country, except for:\n\n"
            "- the islands,\n- the mountains above 2,000 metres.",
        ),
        ("Delivery > Express", "Arrives on the next day if it is ordered before noon."),
        ("Fees", "- Weight: up to 2 kg, Price: 4 euros\n- Weight: more, Price: 7 euros"),
        ("Fees > Is it insured?", "Yes, up to five hundred euros for each of the parcels."),
    ]


def test_paragraphs_deep_in_elements_of_a_pages_own_stay_apart(tmp_path: Path) -> None:
    inner = "<span><p>A parcel costs four euros.</p><p>A letter costs one euro.</p></span>"
    html = f"<html><body><h1>Fees</h1><shop-card>{inner}</shop-card></body></html>"
    assert sections_of(tmp_path, "page.html", html) == [
        ("Fees", "A parcel costs four euros.\n\nA letter costs one euro.")
    ]


def test_tables_of_markdown_name_their_columns(tmp_path: Path) -> None:
    text = "# Fees\n\nFor parcels:\n\n| Weight | Price |\n| --- | --- |\n| 2 kg | 4 euros |\n"
    assert sections_of(tmp_path, "fees.md", text) == [
        ("Fees", "For parcels:\n\n- Weight: 2 kg, Price: 4 euros")
    ]


def test_a_pdf_is_read_by_column_with_its_headings_and_paragraphs(tmp_path: Path) -> None:
    def column(x: int, y: int, *lines: str) -> str:
        shown = " ".join(f"({line}) Tj T*" for line in lines)
        return f"BT /F1 10 Tf 12 TL {x} {y} Td {shown} ET"

    left = [f"left line {n} of the text" for n in range(1, 7)]
    right = [f"right line {n} of the text" for n in range(1, 7)]
    content = [
        "BT /F1 16 Tf 72 720 Td (Rules of the house) Tj ET",
        # Drawn line by line, from the left to the right.
        *(
            column(x, 690 - 12 * n, text)
            for n, pair in enumerate(zip(left, right, strict=True))
            for x, text in zip((72, 320), pair, strict=True)
        ),
        column(72, 590, "Dogs sleep outside, as the neigh-", "bours ask."),
        column(72, 540, "Fees . . . . . . . . . . 1"),
    ]
    path = tmp_path / "rules.pdf"
    path.write_bytes(pdf_bytes("\n".join(content).encode()))
    (section,) = extraction.extract(path, file_name="rules.pdf").sections
    assert (section.heading, section.page) == ("Rules of the house", 1)
    paragraph = "Dogs sleep outside, as the neighbours ask."
    assert section.text == "\n".join(left) + f"\n\n{paragraph}\n" + "\n".join(right)


@pytest.mark.parametrize("element", ["main", "section", "article", "figure"])
def test_a_page_without_the_tags_of_head_and_body_is_read(tmp_path, element):
    html = f"<!doctype html><title>Hours</title><{element}><p>We open at nine.</p></{element}>"
    assert sections_of(tmp_path, "page.html", html) == [("", "We open at nine.")]


def test_headings_that_link_to_themselves_are_headings(tmp_path: Path) -> None:
    html = """<html><head><title>Help</title></head><body><h1>Help</h1>
<h3 id="offline"><a href="#offline">Does it work offline?</a></h3>
<p>Yes, as long as everything has been fetched before the connection was lost.</p>
<pre>$ tool fetch
$ tool build  --offline</pre></body></html>"""
    ((heading, text),) = sections_of(tmp_path, "help.html", html)
    assert heading == "Does it work offline?"
    assert text.endswith("$ tool fetch\u2028$ tool build  --offline")


def test_code_of_markdown_is_read_as_written(tmp_path: Path) -> None:
    text = """# Tool

[![Build][badge]][link] [![Version](https://a.example/v.svg)](https://a.example)

- [Use](#use)
- [More](#more)

## Use

Escape it as `\\\\` or `\\'`, see [the page][link]:

```python
load(**values)  # *all* of them
if ready:
    load()
```

[badge]: https://a.example/build.svg
[link]: https://a.example
"""
    assert sections_of(tmp_path, "README.md", text) == [
        (
            "Use",
            "Escape it as \\\\ or \\', see the page:\n\n"
            "load(**values)  # *all* of them\u2028if ready:\u2028    load()",
        )
    ]
    path = tmp_path / "README.md"
    (piece,) = chunking.chunk(extraction.extract(path, file_name=path.name))
    assert piece.text.endswith("\n\nload(**values)  # *all* of them\nif ready:\n    load()")
    assert piece.sentences[-1].count("\n") == 2


def test_a_pdf_in_one_size_has_the_headings_of_a_plain_text(tmp_path: Path) -> None:
    def sheet(page: int, *lines: str) -> bytes:
        shown = ["BT /F1 9 Tf 24 769 Td (11/24/26, 1:30 AM) Tj 300 0 Td (Tool) Tj ET"]
        shown += [
            f"BT /F1 9 Tf 33 {740 - 11 * number} Td ({line}) Tj ET"
            for number, line in enumerate(lines)
            if line
        ]
        shown += [f"BT /F1 9 Tf 24 17 Td (https://a.example/tool) Tj 500 0 Td ({page} / 2) Tj ET"]
        return "\n".join(shown).encode()

    pages = [
        sheet(
            1,
            "TOOL\\(1\\)      User Commands      TOOL\\(1\\)",
            "",
            "OPTIONS",
            "   Output",
            "       -q, --quiet",
            "              Writes nothing, however many lines it finds.",
            "",
            "       -s, --short",
            "              Writes the first line of each of the files.",
        ),
        sheet(2, "5. Leaving the House.", "", "The key lies below the", "mat beside", "the door."),
    ]
    path = tmp_path / "tool.pdf"
    path.write_bytes(pdf_bytes(*pages))
    read = extraction.extract(path, file_name="tool.pdf").sections
    assert [(part.heading, part.text.strip(), part.page) for part in read] == [
        ("OPTIONS > -q, --quiet", "Writes nothing, however many lines it finds.", 1),
        ("OPTIONS > -s, --short", "Writes the first line of each of the files.", 1),
        ("5. Leaving the House.", "The key lies below the\nmat beside\nthe door.", 2),
    ]


def test_a_paragraph_in_capitals_heads_nothing(tmp_path: Path) -> None:
    text = "THERE IS NO WARRANTY\nFOR ANY OF THE PARTS.\n\nIt is lent as it is."
    assert sections_of(tmp_path, "terms.txt", text) == [("", text)]


LAW = """Article 2. Definitions
1. Surface water means rivers and lakes.
2. Ground water means water below the surface, as in
Article 1 of the code.

Article 25.
The Ministry publishes a plan each year.
Article 26. The plan is valid for five years.

7. The Government shall set by decree:

8. Fees are paid within 30 days.

Điều 5. Quyền của người sử dụng
Người sử dụng được cấp nước hằng ngày.
"""


def test_articles_head_their_text_and_numbered_sentences_head_nothing(tmp_path: Path) -> None:
    (tmp_path / "law.txt").write_text(LAW, "utf-8")
    sections = extraction.extract(tmp_path / "law.txt", file_name="law.txt").sections
    assert [section.heading for section in sections] == [
        "Article 2. Definitions", "Article 25", "Article 26", "Điều 5. Quyền của người sử dụng",
    ]  # fmt: skip
    definitions, plan, valid, _ = (section.text for section in sections)
    assert definitions.endswith("as in\nArticle 1 of the code.")
    assert plan == "The Ministry publishes a plan each year."
    assert valid.startswith("The plan is valid for five years.\n\n7. The Government")
    assert valid.endswith("8. Fees are paid within 30 days.")


def test_a_question_that_points_back_heads_nothing(tmp_path: Path) -> None:
    text = "No version fits.\n\nHave you seen the line above?\n\nIt is common."
    markdown = f"# What is a conflict?\n\n{text}\n"
    assert sections_of(tmp_path, "faq.md", markdown) == [("What is a conflict?", text)]


def test_an_answer_with_a_hanging_indent_is_whole(tmp_path: Path) -> None:
    text = """Q:  Is it patented?

A:  Nobody here is aware of any patents that could affect it.
    However, that is no guarantee that there are none.
"""
    path = tmp_path / "faq.txt"
    path.write_text(text, "utf-8")
    (section,) = extraction.extract(path, file_name="faq.txt").sections
    assert section.heading == "Is it patented?"
    assert section.text.startswith("Nobody here is aware of any patents")
    assert section.text.endswith("no guarantee that there are none.")


def headings(tmp_path: Path, text: str) -> list[str]:
    path = tmp_path / "a.txt"
    path.write_text(text)
    return [part.heading for part in extraction.extract(path, file_name="a.txt").sections]


def test_numbered_questions_do_not_head_each_other(tmp_path: Path) -> None:
    text = """1. How can I pay?

    By card.

2. I have a question about the harbour.

    Ask the pilots, who know all of its rocks.

3. Why does my engine say "no oil"?

    If it says this

        E42: add a litre of oil and start again

    then look for a leak.
"""
    assert headings(tmp_path, text) == [
        "1. How can I pay?",
        "2. I have a question about the harbour.",
        '3. Why does my engine say "no oil"?',
    ]


def test_commands_and_sentences_above_a_rule_head_nothing(tmp_path: Path) -> None:
    text = f"""FERRIES

The ferry leaves at nine. Do not be late.
{"-" * 72}

It comes back at noon.

$ ferry book \\
        --seats=2 --name=Ann --from Kiel to Riga

FARES

Nine euros.
"""
    assert headings(tmp_path, text) == ["FERRIES", "FARES"]


def test_lines_with_the_number_of_the_page_are_no_text(tmp_path: Path) -> None:
    """Each chapter has a header of its own, with the number of the printed page."""
    words = ("harbour", "engine", "anchor", "rudder", "compass", "lantern")
    pages = [
        f"BT /F1 10 Tf 72 780 Td (Chapter {n // 2}: The {word}   {n + 3}) Tj 0 -80 Td "
        f"(Here the {word} is described.) Tj ET".encode()
        for n, word in enumerate(words)
    ]
    path = tmp_path / "a.pdf"
    path.write_bytes(pdf_bytes(*pages))
    sections = extraction.extract(path, file_name="a.pdf").sections
    assert [part.text for part in sections] == [f"Here the {word} is described." for word in words]
