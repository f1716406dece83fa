"""Stores static files compressed and named by the hash of their content."""

import re
from typing import Any

from django.core.files.base import ContentFile
from whitenoise.storage import CompressedManifestStaticFilesStorage

# Our own scripts; third-party scripts keep their comments, which may be licenses.
_OURS = ("chatplatform/", "common/", "desk/", "widget/")
_REMOVABLE = re.compile(
    r"^ */\*\*.*?\*/\n|^\s*//[^\n]*\n|(?<=[;,{}]) // [^\n]*$|^ +", re.MULTILINE | re.DOTALL
)


def minify(script: str) -> str:
    """Remove comments and indentation, a tenth of a download, from a script of ours."""
    return _REMOVABLE.sub("", script)


class HashedModules(CompressedManifestStaticFilesStorage):
    """Minifies our own scripts, and puts hashed names into imports, so that a browser never mixes
    cached scripts of different versions."""

    support_js_module_import_aggregation = True
    # The first pass hashes the scripts that import nothing, the next pass the scripts that import
    # those, and so on.
    max_post_process_passes = 12

    def save(self, name: Any, content: Any, max_length: int | None = None) -> str:
        """Store a collected file; files derived from it later do not pass through this method."""
        if name.endswith(".js") and name.startswith(_OURS):
            content = ContentFile(minify(content.read().decode()).encode())
        saved: str = super().save(name, content, max_length)
        return saved
