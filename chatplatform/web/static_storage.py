"""Stores static files compressed and named by the hash of their content."""

import re
from typing import Any

from django.core.files.base import ContentFile
from whitenoise.storage import CompressedManifestStaticFilesStorage

# Our own files; third-party ones keep their comments, which may be licenses.
_OURS = ("chatplatform/", "common/", "desk/", "widget/")
# Our scripts end each statement with a semicolon, and have spaces around a division's slash.
_SIGN = r"[{}()\[\]=<>?:;,&|!+*]"
_SCRIPT = re.compile(
    rf"""(?P<removed>/\*.*?\*/\s*|//[^\n]*\n\s*|(?<={_SIGN})\s+|\s+(?={_SIGN}))|(?P<space>\s+)"""
    r"""|"(?:[^"\\]|\\.)*"|/(?!\s)(?:[^/\\\[]|\\.|\[(?:[^]\\]|\\.)*\])+/|[\w$]+|.""",
    re.DOTALL,
)
_TEMPLATE = re.compile(r"(?:[^`\\$]|\\.|\$(?!\{))*(?:`|\$\{)", re.DOTALL)
_STYLES = re.compile(r"/\*.*?\*/\s*|(?<=[{};:,])\s+|\s+(?=[{}])", re.DOTALL)


def minify(file: str, name: str) -> str:
    """Remove comments and white space, a sixth of a download, from a script or styles of ours."""
    if name.endswith(".css"):
        return _STYLES.sub("", file)
    parts: list[str] = []
    opened: list[str] = []  # the braces and templates around the place
    at = 0
    while at < len(file):
        in_template = opened[-1:] == ["`"]
        found = (_TEMPLATE if in_template else _SCRIPT).match(file, at)
        if not found:
            raise ValueError(f"A template of {name} does not end.")
        at = found.end()
        part = re.sub(r"\n +", "\n", found[0])
        if not in_template and (found["removed"] or found["space"]):
            part = " " if found["space"] else ""
        parts.append(part)
        if part == "}" or (in_template and part.endswith("`")):
            opened.pop()
        elif part == "`" or part.endswith("{"):
            opened.append(part[-1])
    return "".join(parts)


class HashedModules(CompressedManifestStaticFilesStorage):
    """Minifies our own scripts and styles, and puts hashed names into imports, so that a browser
    never mixes cached scripts of different versions."""

    support_js_module_import_aggregation = True
    # The first pass hashes the scripts that import nothing, the next pass the scripts that import
    # those, and so on.
    max_post_process_passes = 12

    def save(self, name: Any, content: Any, max_length: int | None = None) -> str:
        """Store a collected file; files derived from it later do not pass through this method."""
        if name.endswith((".js", ".css")) and name.startswith(_OURS):
            content = ContentFile(minify(content.read().decode(), name).encode())
        saved: str = super().save(name, content, max_length)
        return saved
