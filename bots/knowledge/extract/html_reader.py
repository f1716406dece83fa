"""Text out of HTML pages."""

import importlib
import re
from pathlib import Path
from typing import Any

from bots.knowledge.extract.detection import decode
from bots.knowledge.extract.document import TitleAndSections, clean
from bots.knowledge.extract.markdown_reader import markdown_sections
from bots.knowledge.extract.text_reader import plain_sections


def read(path: Path) -> TitleAndSections:
    import trafilatura  # noqa: PLC0415  parsers are loaded in the child only

    html: Any = importlib.import_module("lxml.html")  # has no types

    text = clean(decode(path.read_bytes()))
    # lxml refuses a str that declares an encoding.
    data = re.sub(r"^\s*<\?xml[^>]*>", "", text).encode()
    tree = html.document_fromstring(data, parser=html.HTMLParser(encoding="utf-8"))
    title = " ".join((tree.findtext(".//title") or "").split())
    whole = _visible_text(tree)
    main = (
        trafilatura.extract(
            data.decode(),
            output_format="markdown",
            include_comments=False,
            include_tables=True,
            include_links=False,
            include_images=False,
            favor_recall=True,
        )
        or ""
    )
    # On short pages and unusual layouts trafilatura drops too much.
    sections = markdown_sections(main) if len(main) * 4 >= len(whole) else []
    return title, sections or plain_sections(whole)


def _visible_text(tree: Any) -> str:
    for element in list(tree.iter("script", "style", "noscript", "template", "nav", "head", "svg")):
        if element.getparent() is not None:
            element.drop_tree()
    for element in tree.iter("p", "div", "li", "tr", "h1", "h2", "h3", "h4", "section", "td", "br"):
        element.tail = "\n" + (element.tail or "")
        if element.tag in ("p", "h1", "h2", "h3", "h4", "tr"):
            element.tail = "\n" + element.tail
    text = "".join(tree.itertext())
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return clean("\n".join(lines))
