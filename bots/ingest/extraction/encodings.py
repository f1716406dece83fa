"""Detects the encodings of text files and web pages, as browsers do or by their letters."""

import re
from collections import Counter

import webencodings

from bots.ingest.extraction.document import ExtractError

_META_CHARSET = re.compile(
    rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([\w.:-]{1,40})"
    rb"|\A\s*<\?xml[^>]{0,200}encoding\s*=\s*[\"']([\w.:-]{1,40})",
    re.IGNORECASE,
)
_META_BYTES = 1_024
# Encodings that browsers decode as a larger encoding, with the Python codec of that encoding.
_SUPERSETS = {"gbk": "gb18030", "shift_jis": "cp932", "euc-kr": "cp949", "big5": "big5hkscs"}
# For each single-byte encoding, the non-ASCII letters of the languages that use it.
_ALPHABETS = {
    "cp1252": (
        "àâæçéèêëîïôœùûüÿ", "áéíñóúüªº", "áâãàçéêíóôõúü", "äöüßé", "åäöé", "æøåéòô", "àèéìíîòóùú",
        "áéíóúàèëïöü", "áðéíóúýþæö", "àçèéíïòóúü",
    ),
    "cp1250": (
        "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "ąćęłńóśźż", "áéíóöőúüű", "ăâîşţ", "čćđšž",
    ),
    "cp1254": ("çğıöşüâîû",),
    "cp1257": ("ąčęėįšųūž", "āčēģīķļņšūž", "äõöüšž"),
}  # fmt: skip
# The minimum share of non-ASCII letters that must belong to one of these languages.
_LIKELY = 0.9
# Encodings that are tried if none of the encodings above is likely.
_OTHERS = [
    "cp1251", "cp1253", "cp1255", "cp1256", "cp1258", "cp874", "koi8_r", "cp932", "gb18030",
    "big5", "cp949", "euc_jp",
]  # fmt: skip
_SAMPLE_BYTES = 65_536
_MAX_UNREADABLE = 0.01
# Half-width kana, which fill a text that is wrongly decoded as Japanese.
_HALF_WIDTH = re.compile("[\uff61-\uff9f]")


def decode(data: bytes, label: str = "") -> str:
    """Decode a file or web page; raises ExtractError if no encoding fits.

    The first of these that applies decides:
    - a byte order mark
    - the zero bytes of UTF-16
    - the escapes of ISO-2022-JP
    - valid UTF-8
    - the declared encoding `label`
    - UTF-8 that is cut off or slightly damaged
    - the language that the letters fit
    """
    named = _named(label)
    codec = _codec(data, named)
    text = data.decode(codec, "replace") if codec else ""
    sample = text[:_SAMPLE_BYTES]
    strange = sample.count("\ufffd") + len(_HALF_WIDTH.findall(sample))
    is_strange = strange > _MAX_UNREADABLE * len(sample) + 4 and not named
    if not codec or is_strange:
        raise ExtractError("unknown_encoding", "The text can't be decoded. Save it as UTF-8.")
    return text


def declared(data: bytes) -> str:
    """The encoding that a web page declares in its markup; "" if it declares none."""
    match = _META_CHARSET.search(data[:_META_BYTES])
    return (match[1] or match[2]).decode("ascii", "replace") if match else ""


def rough(head: bytes) -> str:
    """Decode the beginning of a text; only its ASCII characters are reliable."""
    codec = _marked(head) or "utf-8"
    return head.decode(codec, "replace")


def utf16_without_mark(data: bytes) -> str | None:
    """The codec of UTF-16 text without a byte order mark, by its zero bytes.

    None if the data is anything else.
    """
    sample = data[:8_192]
    half = len(sample) // 2
    for codec, zeros, letters in (
        ("utf-16-le", sample[1::2], sample[::2]),
        ("utf-16-be", sample[::2], sample[1::2]),
    ):
        if zeros.count(0) * 2 > half and letters.count(0) == 0:
            return codec
    return None


def _marked(data: bytes) -> str | None:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if data.startswith(b"\xef\xbb\xbf"):
        return "utf-8-sig"
    return utf16_without_mark(data) if b"\x00" in data[:8_192] else None


def _codec(data: bytes, named: str | None) -> str | None:
    marked = _marked(data)
    if marked:
        return marked
    if b"\x1b$" in data[:_SAMPLE_BYTES]:
        return "iso2022_jp"
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        # A declared encoding is preferred. Otherwise the data is UTF-8 if only its last letter is
        # cut off, or if few letters are damaged.
        is_cut = error.start >= len(data) - 4
        return named or ("utf-8" if is_cut or _is_damaged_utf8(data) else _guessed(data))
    return "utf-8"


def _is_damaged_utf8(data: bytes) -> bool:
    text = data.decode("utf-8", "replace")
    high = sum(letter > "\x7f" for letter in text)
    return text.count("\ufffd") * 20 < high


def _named(label: str) -> str | None:
    """The codec of a label that browsers know (WHATWG Encoding Standard); None for any other."""
    encoding = webencodings.lookup(label)
    if encoding is None or encoding.name == "x-user-defined":
        return None
    return _SUPERSETS.get(encoding.name) or str(encoding.codec_info.name)


def _guessed(data: bytes) -> str | None:
    """The encoding in which the letters fit a language; None if no encoding is found."""
    first = next(at for at, byte in enumerate(data) if byte > 0x7F)
    sample = data[max(0, first - 1_000) :][:_SAMPLE_BYTES]
    shares = {codec: _share(sample.decode(codec, "replace"), codec) for codec in _ALPHABETS}
    best = max(shares, key=lambda codec: shares[codec])
    if shares[best] >= _LIKELY:
        return best
    from charset_normalizer import from_bytes  # noqa: PLC0415  loads slowly

    found = from_bytes(sample, cp_isolation=_OTHERS).best()
    return found.encoding if found else None


def _share(text: str, codec: str) -> float:
    """The share of the non-ASCII letters that belong to the best-fitting language."""
    counts = Counter(
        letter for letter in text.lower() if letter > "\x7f" and _may_be_letter(letter)
    )
    total = counts.total()
    fitting = (sum(counts[letter] for letter in letters) for letters in _ALPHABETS[codec])
    return max(fitting) / total if total else 1.0


def _may_be_letter(letter: str) -> bool:
    # These characters are letters in other encodings, so they count as letters.
    return letter.isalpha() or letter in "¹³¿¾¼¥£¡¯·¸ª\ufffd"
