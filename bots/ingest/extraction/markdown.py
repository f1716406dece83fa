"""Renders Markdown to HTML and reads the HTML, so that hidden text is left out."""

import re
from pathlib import Path
from typing import Any

from bots.ingest.extraction import encodings, html
from bots.ingest.extraction.document import STRUCK, Content, clean

# Matches comments, struck-out text, and link definitions that serve as comments. It also matches
# code, as the group `code`, so that code is kept as it is. CommonMark would show some of the hidden
# text: comments inside a paragraph that have blank lines or no end, definitions right below a
# paragraph, and struck-out text between HTML tags.
_HIDDEN = re.compile(
    r"(?P<code>^(?P<fence>[ \t]*(?:```|~~~))[^\n]*\n(?s:.*?)(?:^(?P=fence)|\Z)"
    r"|^(?: {4}|\t)[^\n]*$|`[^`\n]+`|\\<)"
    r"|<!--(?s:.*?)(?:-->|\Z)|(?<!~)~~(?=\S)[^~\n]+~~"
    r"|^ {0,3}\[[^\]\n]{1,200}\]:[ \t]*(?:<>|\#)"
    r"""(?:[ \t]+(?:\([^()\n]*\)|"[^"\n]*"|'[^'\n]*'|[^\s("'][^\n]*))?[ \t]*$""",
    re.MULTILINE,
)
# Matches YAML between two `---` lines. Its lines are checked, since a text may also begin with a
# horizontal rule.
_FRONT_MATTER = re.compile(r"\A\s*---\n(?:(?!---\n)(?:[\w-]+:|[ \t#-]).*+\n)++---\n")
# The maximum nesting depth; a nested list counts as two levels. The greater the depth, the longer
# it takes to parse a bracket.
_MAX_NESTED = 30


def read_markdown(path: Path) -> Content:
    return read(clean(encodings.decode(path.read_bytes())))


def read(text: str) -> Content:
    text = _HIDDEN.sub(_replacement, text)
    page = _parser().render(_FRONT_MATTER.sub("", text))
    tree = html.visible_tree(f"<body>{page}")
    blocks = [block for block in html.blocks_of(tree) if block.text]
    # A single level-1 heading is the title; if there are several, none names the whole document.
    titles = [block.text for block in blocks if block.level == 1]
    title = titles[0] if len(titles) == 1 else ""
    return Content(title, html.sections(blocks, title))


def _replacement(hidden: re.Match[str]) -> str:
    return hidden["code"] or (STRUCK if hidden[0].startswith("~~") else "")


def _parser() -> Any:
    from markdown_it import MarkdownIt  # noqa: PLC0415  only the child process loads parsers

    options = {"html": True, "breaks": True, "maxNesting": _MAX_NESTED}
    parser = MarkdownIt("default", options)
    parser.core.ruler.push("words", _replace_images_with_alt_text)
    return parser


def _replace_images_with_alt_text(state: Any) -> None:
    """Replace images with their alt text.

    Images in a paragraph without other text are mostly badges, and are dropped.
    """
    for token in state.tokens:
        says = any(
            item.type in {"text", "code_inline"} and item.content.strip()
            for item in token.children or ()
        )
        for item in token.children or ():
            if item.type == "image":
                item.type, item.content = "text", item.content if says else ""
