"""Detection of a text's language, among the twenty that customers are likely to write."""

import importlib
import re
from typing import Any

from chatplatform.call_once import call_once

LANGUAGES = [
    "en", "vi", "es", "de", "fr", "pt", "it", "nl", "pl", "ru", "uk", "tr", "ar", "hi",
    "th", "id", "ms", "ja", "ko", "zh",
]  # fmt: skip
MIN_WORDS = 3
# More text does not improve the guess and costs time.
MAX_CHARACTERS = 4_000

# Letters that only Vietnamese has among the twenty languages.
_VIETNAMESE = re.compile(r"[ăđơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ]", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
# A few characters of these scripts decide.
_SCRIPTS = (
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("ko", re.compile(r"[\uac00-\ud7af]")),
    ("zh", re.compile(r"[\u4e00-\u9fff]")),
    ("th", re.compile(r"[\u0e00-\u0e7f]")),
)


@call_once
def _identifier() -> Any:
    # Takes half a second and 30 MB, so it is loaded on first use. The package has no types.
    langid = importlib.import_module("py3langid.langid")
    identifier = langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE)
    identifier.set_languages(LANGUAGES)
    return identifier


def detect(text: str, *, default: str) -> str:
    """ISO 639-1 code of `text`; `default` if fewer than three words give no hint."""
    text = text[:MAX_CHARACTERS]
    words = _WORD.findall(text)
    letters = sum(map(len, words))
    if not letters:
        return default
    for code, script in _SCRIPTS:
        if len(script.findall(text)) * 5 >= letters:
            return code
    marked = sum(1 for word in words if _VIETNAMESE.search(word))
    if marked * 4 >= len(words):
        return "vi"
    if len(words) < MIN_WORDS:
        return default
    return str(_identifier().classify(text.encode("utf-8", "ignore").decode())[0])
