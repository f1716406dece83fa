"""What a message wants besides an answer, by tables of words (en, vi): small talk, a person."""

import re

from bots.knowledge import search

_SMALL_TALK = (
    (
        "greeting",
        r"(?:hi|hello|hey|hiya|howdy|greetings|good (?:morning|afternoon|evening|day)"
        r"|(?:xin )?chao|alo|a lo|chao buoi (?:sang|trua|chieu|toi))",
    ),
    (
        "thanks",
        r"(?:(?:many )?thanks|thank (?:you|u)|thankyou|thx|ty|cheers|much appreciated"
        r"|(?:xin |toi |minh |em )?cam on|da cam on|tks)",
    ),
    ("goodbye", r"(?:good ?bye|bye|bye bye|see (?:you|ya)|good ?night|tam biet|hen gap lai)"),
)
# What may follow without turning small talk into a question.
_TAIL = (
    r"(?: (?:there|all|team|everyone|again|so much|very much|a lot|for (?:your|the) help|later"
    r"|soon|friend|ban|shop|shop oi|anh|chi|em|moi nguoi|ad|admin|nhieu|rat nhieu|nhe|nha|a|cac ban"
    r"|you|and|ok|okay))*"
)
_SMALL = tuple(
    (kind, re.compile(rf"(?:ok |okay |da |great |oh )?{opening}{_TAIL}"))
    for kind, opening in _SMALL_TALK
)
_PERSON_EN = (
    r"(?:a |an |the |some |your |real |live |actual |human |support |customer |service )*"
    r"(?:human|person|people|agent|representative|operator|someone|somebody|staff|employee|manager"
    r"|being)"
)
_PERSON_VI = (
    r"(?:mot |ban |anh |chi |voi |cho |ben )*(?:nhan vien|nguoi that|tu van vien|nguoi ho tro"
    r"|tong dai vien|con nguoi|quan ly|nguoi tu van)"
)
_PERSON = re.compile(
    rf"\b(?:(?:talk|speak|chat|connect(?: me)?|transfer(?: me)?|put me through) (?:to|with)"
    rf"|get me|i (?:want|need|would like)|give me|contact) {_PERSON_EN}\b"
    rf"|^(?:{_PERSON_EN})(?: please)?$"
    r"|\b(?:real|live|human) (?:person|human|agent|being|operator|support)\b"
    rf"|\b(?:gap|noi chuyen(?: voi)?|trao doi(?: voi)?|lien he(?: voi)?|ket noi(?: toi)?(?: voi)?"
    rf"|chuyen(?: toi)?(?: sang| cho| den)?|can|muon|goi) {_PERSON_VI}\b"
    rf"|^{_PERSON_VI}$"
)
# "Not" in front reverses the wish; "are you a real person" asks about the bot.
_NO_PERSON = re.compile(
    r"\b(?:don'?t|do not|not|no|without|khong|dung) (?:\w+ ){0,6}(?:human|person|agent|nhan vien"
    r"|nguoi that)\b|\bare you\b|\bban la\b"
)
_MAX_WISH_CHARACTERS = 300


def _plain(text: str) -> str:
    """Folded words with single spaces, for the tables above."""
    words = re.sub(r"[^\w' ]+", " ", search.fold(text[:_MAX_WISH_CHARACTERS]))
    return " ".join(words.split())


def small_talk(text: str) -> str | None:
    """'greeting', 'thanks' or 'goodbye' if the message is nothing more (en, vi)."""
    plain = _plain(text)
    return next((kind for kind, pattern in _SMALL if pattern.fullmatch(plain)), None)


def asks_for_person(text: str) -> bool:
    """Whether the message asks to be handed to a human being (en, vi)."""
    plain = _plain(text)
    return bool(_PERSON.search(plain)) and not _NO_PERSON.search(plain)
