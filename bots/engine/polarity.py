"""Whether the clauses of a text are negated, in the languages whose negations are known."""

import re
from typing import NamedTuple

# By language: what negates a clause.
_NEGATIONS = {
    "en": r"\w+n['’]t not cannot no never none neither nor",
    "de": r"nicht kein\w* nie niemals niemand nichts",
    "fr": r"pas jamais aucune? rien ni non",
    "vi": r"không chưa chẳng đừng",
}
# What negates by another word, or makes an exception or a condition: "the shop is closed" and "it
# is not open" are the same.
_UNCLEAR = {
    "en": r"""only except unless if when while otherwise without free clos\w+ forbidden prohibited
        banned exclud\w+ refus\w+ impossible un\w+able optional extra instead""",
    "de": r"""nur außer ohne wenn falls sofern solange sonst kostenlos\w* gratis frei\w* geschlossen
        schließt verboten untersagt ausgeschlossen unmöglich optional statt""",
    "fr": r"""que qu seulement uniquement sauf sans si quand gratuit\w* fermé\w* ferme\w*
        interdit\w* impossible exclu\w* sinon""",
    "vi": "chỉ trừ nếu miễn đóng cấm ngoài",
}
# What says nothing of the matter: of two clauses that differ in these words and a negation alone,
# one is wrong.
_FUNCTION = {
    "en": r"""the an of in on at for to by with is are am be been was were do does did can could may
        might must will would shall should have has had need needs you we they it he she your our
        their its his her my us them that this these those there here any ca wo and or please sorry
        yes unfortunately afraid also""",
    "de": r"""der die das den dem des ein eine einen einem einer eines im in an am auf zu zum zur
        für mit von vom bei ist sind war wird werden kann können darf dürfen muss müssen soll sollen
        hat haben sie wir ihr ihre ihren ihrem ihrer unser unsere es er man dort hier auch ja nein
        leider bitte und oder""",
    "fr": r"""le la les un une des du de au aux en dans sur pour avec par est sont sera peut peuvent
        pouvez doit doivent devez faut ont avez avons vous nous ils elles il elle on votre vos notre
        nos leur leurs son sa ses ce cette ces il oui malheureusement désolé aussi ne et ou""",
    "vi": r"""và là của có được cho các một với trong thì mà bị sẽ đã đang cũng ạ dạ vâng bạn chúng
        tôi mình ở tại thể cần phải nên rất tiếc xin lỗi nhé""",
}
_JOINING = {
    "en": "and but or so because though although however",
    "de": "und aber oder sondern denn weil obwohl jedoch dass",
    "fr": "et mais ou car donc cependant",
    "vi": "và nhưng hoặc vì nên tuy",
}
_SENTENCE = re.compile(r"(?:[^.!?。;\n]|[.](?=\d))+[.!?。]*")


def _words(*listed: str) -> str:
    return rf"(?<!\w)(?:{'|'.join(' '.join(listed).split())})(?!\w)"


def _patterns(*lists: dict[str, str]) -> dict[str, re.Pattern[str]]:
    return {
        code: re.compile(_words(*(each[code] for each in lists)), re.IGNORECASE)
        for code in lists[0]
    }


_NEGATED, _UNSURE = _patterns(_NEGATIONS), _patterns(_UNCLEAR)
_EMPTY = _patterns(_NEGATIONS, _FUNCTION)
_ENDS = {
    code: re.compile(rf"[,:](?!\d)|[–—()]|{_words(listed)}", re.I)
    for code, listed in _JOINING.items()
}


class Clause(NamedTuple):
    text: str
    # What the sentence says before it: perhaps its subject.
    before: str
    # None: an exception, a condition or a question makes it unclear.
    is_negated: bool | None


def clauses(text: str, language: str) -> list[Clause]:
    """The clauses of a text; none in a language whose negations are not known."""
    if language not in _NEGATED:
        return []
    found = []
    for sentence in _SENTENCE.findall(text):
        is_unclear = sentence.endswith("?") or _UNSURE[language].search(sentence)
        before = ""
        for clause in _ENDS[language].split(sentence):
            is_negated = bool(_NEGATED[language].search(clause))
            found.append(Clause(clause, before, None if is_unclear else is_negated))
            before += clause
    return found


def without_function_words(text: str, language: str) -> str:
    """What a clause is about: neither its negations nor its words of grammar."""
    return _EMPTY[language].sub(" ", text)
