"""What a sentence says that the bot or its people did or will do: "we will call you back"."""

import re
from collections.abc import Iterator
from typing import NamedTuple

# By language, as that of polarity: deeds, by the beginnings of their words.
_DEEDS = {
    "en": r"""(?:call|phon|contact|e-?mail|writ|notif|inform|remind|send|sent|ship|refund|pay|paid
        |reimburs|credit|book|reserv|order|cancel|chang|updat|forward|transfer|escalat|schedul
        |arrang|extend|renew|register|delet|process|upgrad|get back|got back)\w*""",
    "de": r"""(?:(?:zurück|an)?(?:ge)?ruf|kontaktier|benachrichtig|(?:ge)?schick|schreib|(?:ge)?send
        |gesandt|überw[ei]+s|erstatt|(?:ge)?buch|reservier|stornier|bestell|(?:ge)?änder
        |weitergeleitet|weiterleit|verlänger|(?:ge)?lösch|(?:ge)?meld|veranlass)\w*""",
    "fr": r"""(?:r?appel|contact|envo|enverr|écri|rembours|réserv|annul|command|modifi|transm
        |prolong|renouvel|supprim|avert|prévien)\w*""",
    "vi": r"gọi|liên hệ (?:lại|với)|gửi|hủy|huỷ|đặt|hoàn|đổi|chuyển|gia hạn|nhắn lại|báo lại",
}
# Who does it: the bot itself, or the people for whom it speaks.
_OF_BOT = {
    "en": r"\bi(?:['’]ll|['’]ve| will| have|['’]m going to| am going to)",
    "de": r"\b(?:ich (?:habe|werde)|(?:habe|werde) ich)\b[^.!?,;]*?"
    r"|\bich(?= \w+ (?:sie|ihnen|di[rc]h?|euch)\b)",
    "fr": r"\b(?:j['’]ai|je vais(?: vous)?|je vous)",
    "vi": r"(?<!chúng )\b(?:tôi|em|mình) (?:sẽ|đã)",
}
_OF_PEOPLE = {
    "en": r"\b(?:we|team|colleague|someone)"
    r"(?:['’]ll|['’]ve| will| have|['’]re going to| are going to)",
    "de": r"\b(?:wir (?:haben|werden)|(?:haben|werden) wir)\b[^.!?,;]*?"
    r"|\bwir(?= \w+ (?:sie|ihnen|uns|di[rc]h?|euch)\b)",
    "fr": r"\b(?:nous avons|nous allons(?: vous)?|nous vous)",
    "vi": r"\b(?:chúng tôi|bên \w+|nhân viên) (?:sẽ|đã)",
}
_BETWEEN = {
    "en": r"(?: just| now| already| also| gladly)?",
    "de": "",
    "fr": "(?: déjà| bien)?",
    "vi": r"(?: \w+){0,3}?",
}


def _pattern(code: str, who: str) -> re.Pattern[str]:
    deeds = re.sub(r"\n\s*", "", _DEEDS[code])
    return re.compile(rf"(?:{who}){_BETWEEN[code]} (?P<deed>{deeds})\b", re.IGNORECASE)


_BOTS = {code: _pattern(code, who) for code, who in _OF_BOT.items()}
_PEOPLES = {code: _pattern(code, who) for code, who in _OF_PEOPLE.items()}


class Promise(NamedTuple):
    # The words from who does it to what is done.
    text: str
    deed: str
    is_bots: bool


def promises(text: str, language: str) -> Iterator[Promise]:
    """The deeds that a text tells of the bot and its people; none in other languages.

    A question promises nothing: "shall I send it?".
    """
    if language in _DEEDS and not text.rstrip().endswith("?"):
        for is_bots, patterns in ((True, _BOTS), (False, _PEOPLES)):
            for match in patterns[language].finditer(text):
                yield Promise(match[0].lower(), match["deed"].lower(), is_bots)
