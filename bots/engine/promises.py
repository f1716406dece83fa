"""What a sentence says that the bot or its people did or will do: "we will call you back"."""

import re
from collections.abc import Iterator
from typing import NamedTuple

# By language, as that of polarity: deeds, by the beginnings of their words. In German their capital
# letters count: "Buchung" is no deed.
_DEEDS = {
    "en": r"""(?:(?:call|phon|contact|e-?mail|writ|notif|remind|send|sent|ship|refund|pay|paid
        |reimburs|credit|book|reserv|order|cancel|chang|updat|forward|transfer|escalat|schedul
        |arrang|extend|renew|register|delet|process|upgrad|get back|got back)\w*
        |(?:receiv|got)\w*(?: \w+)? (?:booking|cancellation|order|request|payment|reservation)
        |inform\w*(?! you that)|(?:tell|told|ask|asked)(?! you| me| us)|noted
        |let (?!you|me|us)(?:\w+ ){1,3}know|pass(?:ed)? (?:\w+ ){0,4}(?:on|along|to)
        |(?:keep|kept|hold|held|save|saved|set aside) (?:\w+ ){0,4}for you
        |ma[dk]e (?:\w+ ){1,2}(?:booking|reservation|appointment))""",
    "de": r"""(?-i:(?:(?:zurück|an)?(?:ge)?ruf|kontaktier|benachrichtig|informier|(?:ge)?schick
        |schreib|(?:ge)?send|gesandt|überw[ei]+s|erstatt|(?:ge)?buch|reservier|stornier|bestell
        |(?:ge)?änder|verlänger|(?:ge)?lösch|(?:ge)?meld|veranlass|weiter(?:ge)?[lg]|vorgemerkt
        |vormerk|notier|erledig|kümmer|erhalten|freigehalten|leite (?:\w+ ){1,4}weiter
        |(?:sag|geb)en? (?:\w+ ){1,3}Bescheid|Bescheid ge|trage (?:\w+ ){1,4}ein\b)\w*)""",
    "fr": r"""(?:r?appel|contact|envo|enverr|écri|rembours|réserv|annul|command|modifi|transm
        |prolong|renouvel|supprim|avert|prév[ei]n|prévien|signal|gard|(?:en )?occup|reçu
        |inform(?!\w* que))\w*""",
    "es": r"""(?:avis|reserv|cancel|anul|envi|llam|contact|inform|notific|reembols|dev[ou]|cambi
        |transmit|registr|guard|anot|comunic|recib)\w*""",
    "vi": r"gọi|liên hệ (?:lại|với)|gửi|hủy|huỷ|đặt|hoàn|đổi|chuyển|gia hạn|nhắn|báo|giữ"
    r"|thông báo|ghi nhận",
}
LANGUAGES = tuple(_DEEDS)
# Who does it: the bot itself, or the people for whom it speaks.
_OF_BOT = {
    "en": r"\bi(?:['’]ll|['’]ve| will| have| can| could|['’]m| am)?(?: (?:going|happy|glad) to)?"
    r"(?: (?:went|gone|go) ahead and)?(?<!\bi)|\bi went ahead and|\blet me"
    r"|\bi(?= (?:just |already )?(?:\w+ed|sent|told|kept|let|made)\b)|^\W*(?:happy|glad) to",
    "de": r"\b(?:ich|(?:habe|werde|kann) ich)\b"
    r"(?:(?!nicht|kein|nie\b|würde|empfehle|rate\b)[^.!?,;:]){0,100}?",
    "fr": r"\bj(?=['’])|\bj['’]ai|\bje(?: vais| peux)?(?: (?:vous|lui|leur|la|le|les))*"
    r"(?: l['’]ai| ai| [lm](?=['’]))?",
    "es": r"(?<!no )(?<!no l[aeo] )(?<!no se )\b(?:he|voy a|acabo de|puedo)|(?<!\bno)(?= \w+ré\b)",
    "vi": r"(?<!chúng )\b(?:tôi|em|mình) (?:sẽ|đã|vừa)|(?<!chúng )\b(?:tôi|em) có thể|"
    r"\bđể (?:tôi|em|mình)|^\W*(?:(?:dạ|vâng|rồi)\W+)*đã(?! bao gồm)",
}
_OF_PEOPLE = {
    "en": r"\b(?:we|team|colleague|someone)"
    r"(?:['’]ll|['’]ve| will| have|['’]re going to| are going to)",
    "de": r"\b(?:wir (?:haben|werden)|(?:haben|werden) wir)\b"
    r"(?:(?!nicht|kein|nie\b)[^.!?,;]){0,100}?|\bwir(?= \w+ (?:sie|ihnen|uns|di[rc]h?|euch)\b)",
    "fr": r"\bnous (?:avons|allons)(?: vous)?|\bnous vous(?: avons)?",
    "es": r"(?<!no )(?<!no l[aeo] )\b(?:hemos|vamos a)",
    "vi": r"\b(?:chúng tôi|bên \w+|nhân viên) (?:sẽ|đã)",
}
# Or it is done, and nobody is named: "the kitchen has been informed", "it is now cancelled".
_DONE_BY_NOBODY = {
    "en": r"(?:has|have|['’]s|['’]ve)(?: now| already| just| also)? been"
    r"|\b(?:is|are|['’]s|you['’]re) (?:now|already|hereby)|\byour(?: \w+){1,3}? (?:is|are)"
    r"(?= \w+\W*$)|\b(?:is|are|will be)(?= \w+ for you\b)",
    "de": r"\b(?:ist|sind)(?: nun| jetzt| hiermit| soeben| bereits| schon)+"
    r"|\bwurden?(?:(?!nicht)[^.!?,;]){0,100}?|\b(?:ist|sind)(?= \w+\W*$)",
    "fr": r"\b(?:a|ont)(?: bien| déjà)? été|\b(?:est|sont) (?:maintenant|désormais|bien|déjà)"
    r"|\b(?:votre|vos) \w+ (?:est|sont)(?= \w+\W*$)",
    "es": r"(?<!no )\b(?:han? sido|han? quedado|queda)|\bsu \w+ (?:ya )?está(?= \w+\W*$)"
    r"|\bya está",
    "vi": r"\bđã được",
}
_BETWEEN = {
    "en": r"(?: just| now| already| also| gladly)*",
    "de": "",
    "fr": "(?: déjà| bien)*",
    "es": "(?: ya)?",
    "vi": r"(?: \w+){0,3}?",
}
# A question promises nothing, unless it offers a deed of the bot, which it cannot do.
_OFFERS = {
    "en": r"(?:^\W*|[,:;] |\b(?:so|or|and) )(?:shall|should) (?:i|we)(?! send you more)"
    r"|\b(?:like|want) (?:me|us) to(?! send you more)|^\W*(?:can|may) i(?=.* for you\W*$)",
    "de": r"\b(?:soll|darf) ich\b[^.!?,;]{0,100}?|\bdass ich\b[^.!?,;]{0,100}?",
    "fr": r"\bque je(?: (?:vous|lui|leur|la|le|les))*(?: l(?=['’]))?"
    r"|\b(?:dois|puis)-je(?: vous| la| le| les)?",
    "es": r"\b(?:quiere|desea) que(?: (?:le|la|lo|se))*",
    "vi": r"\bmuốn (?:tôi|em|mình)|\b(?:tôi|em) (?:sẽ|có thể)",
}
# What was done for the customer is told by no source.
_DONE = re.compile(r"['’](?:ve|s)\b|\b(?:ha(?:ve|s|ben|n)?|hemos|avons|ont?|wurden?|đã|now|nun)\b")
# Behind "have" anything else is a noun: "we have changing rooms".
_PARTICIPLE = re.compile(r"\w+ed\b|\b(?:sent|paid|told|kept|held|made|written|got|let|set)\b")
_CUSTOMER = re.compile(
    r"\b(?i:you|your|vous|votre|vos|le(?= h[ae]\b| hemos\b)|su|sus|usted|bạn|anh|chị|quý khách|dir"
    r"|dich|dein\w*|euch)\b"
    r"|\b(?:Sie|Ihnen|Ihre?[nrms]?)\b"
)
_CONDITION = re.compile(
    r"\b(?:once|when|if|as soon as|after|until|before|sobald|wenn|falls|nachdem|bis|bevor|si|quand"
    r"|dès|après|lorsqu|cuando|después|khi|nếu|sau)\b",
    re.IGNORECASE,
)
# The whole sentence says that it is done.
_DONE_ALONE = re.compile(
    r"\W*(?:(?:ok(?:ay)?|great|perfect|alles|schon|das|voilà|dạ|vâng)\W+)*"
    r"(?:done|booked|cancelled|all (?:done|set|sorted)|(?:it|that)['’]s (?:all )?done"
    r"|you(?:['’]re| are) all set|consider it done|(?:ist )?erledigt|wird (?:gemacht|erledigt)"
    r"|gebucht|storniert|c['’]est (?:fait|noté)|hecho|listo|ya está|reservado|cancelado"
    r"|(?:đã )?xong(?: rồi)?)(?: ạ| for you)?\s*(?:[.!:,–—]|-(?!\w)|$)",
    re.IGNORECASE,
)
# What a source tells the customer to do, or that it can or must be done, is no deed of its people.
_OF_CUSTOMER = {
    "en": r"(?:(?:^|[.;:!?\n]\s{0,9})(?:then |please )?|\bplease )[\w-]+ "
    r"|\byou(?: (?:may|can|must|should|need to|have to|want to|do not|also|only))* \w+"
    r"|\b(?:must|can|may|should|cannot|need)(?: not| only| also)* be \w+",
    "de": r"(?:^|[.;:!?\n]\s{0,9}|\bbitte )\w+en Sie\b[^.;!?,]*"
    r"|\b(?:wenn|falls|bevor|sobald|damit) Sie\b[^.;!?,]*"
    r"|\b(?:müssen|muss|können|kann|sollten?|dürfen|darf)\b(?! wir)[^.;!?,]*",
    "fr": r"\b(?:vous )?\w+ez\b(?: \w+er)?|\b(?:doit|doivent|peut|peuvent) être \w+",
    "es": r"\b(?:puede|debe|pueden|deben)(?: \w+)? \w+",
    "vi": r"\b(?:vui lòng|hãy|khách(?: hàng)?|bạn|cần|phải|nên|có thể)"
    r"(?: (?:cần|phải|nên|có thể|được|muốn|tự))* \w+",
}  # fmt: skip
_OF_CUSTOMER_FOUND = {code: re.compile(told, re.IGNORECASE) for code, told in _OF_CUSTOMER.items()}


def _patterns(who: dict[str, str]) -> dict[str, re.Pattern[str]]:
    return {code: _pattern(code, each) for code, each in who.items()}


def _pattern(code: str, who: str) -> re.Pattern[str]:
    deed = rf"(?P<deed>{_deeds(code)})\b"
    return re.compile(rf"(?:{who}){_BETWEEN[code]}[ '’]{deed}", re.IGNORECASE)


def _deeds(code: str) -> str:
    return re.sub(r"\n\s*", "", _DEEDS[code])


_BOTS, _OFFERED = _patterns(_OF_BOT), _patterns(_OFFERS)
_PEOPLES, _NOBODYS = _patterns(_OF_PEOPLE), _patterns(_DONE_BY_NOBODY)


# So much of a sentence before and behind a deed says whose it is.
_REACH = 500


class Promise(NamedTuple):
    deed: str
    # Or of its people, for the customer: no source can tell that.
    is_bots: bool
    is_report: bool


def promises(text: str, language: str) -> Iterator[Promise]:
    """The deeds that a text tells of the bot and its people; few in other languages.

    A question promises nothing, but may offer a deed of the bot: "shall I send it?".
    """
    if _DONE_ALONE.match(text):
        yield Promise("", is_bots=True, is_report=True)
    if language not in _DEEDS:
        return
    text = f" {text}"
    is_question = text.rstrip(" \n*_\"'»”’)").endswith("?")
    for found in (_OFFERED if is_question else _BOTS)[language].finditer(text):
        yield Promise(found["deed"].lower(), is_bots=True, is_report=False)
    for pattern in () if is_question else (_PEOPLES[language], _NOBODYS[language]):
        for found in pattern.finditer(text):
            is_done = bool(_DONE.search(found[0].lower())) and (
                language != "en" or bool(_PARTICIPLE.search(found["deed"].lower()))
            )
            ahead = text[max(0, found.start() - _REACH) : found.start()]
            if not (is_done and _CONDITION.search(ahead)):
                # By its clause alone: "we have changed the menu; see your table" is none.
                behind = text[found.start() : found.end() + _REACH]
                clause = re.split("[,;:]", ahead)[-1] + re.split("[,;:]", behind)[0]
                is_bots = is_done and bool(_CUSTOMER.search(clause))
                is_report = is_done or pattern is _NOBODYS[language]
                yield Promise(found["deed"].lower(), is_bots, is_report)


def without_deeds_of_customers(text: str, language: str) -> str:
    """A source without what it tells the customer to do: "tell the kitchen", "must be sent"."""
    found = _OF_CUSTOMER_FOUND.get(language)
    return found.sub(" . ", text) if found else text
