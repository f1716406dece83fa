"""Whether the clauses of a text are negated, in the languages whose negations are known."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from bots.engine.sentences import without_abbreviations

# By language: what negates a clause.
_NEGATIONS = {
    "en": r"\w+n['’]t not cannot no never none neither nor",
    "de": r"nicht kein\w* nie niemals niemand nichts",
    "fr": r"pas jamais aucune? rien ni non",
    "es": r"no nunca jamás ningun[oa]s? ningún nada nadie tampoco",
    "vi": r"không chưa chẳng đừng",
}
# What negates by another word, and the same with a negation.
_OPPOSITES = {
    "en": {
        r"not (?:forbidden|prohibited|banned)": "allowed",
        r"(?<=we )take": "accept",
        r"closed": "not open",
        r"(all|every)\b([^.,;!?]{0,80}?),? (?:except|apart from|but(?= the \w+[.,;]))": (
            r"\1\2, not"
        ),
        r"forbidden|prohibited|banned|off limits": "not allowed",
    },
    "de": {
        r"nicht (?:verboten|untersagt)": "erlaubt",
        r"(alle[nr]?)\b([^.,;!?]{0,80}?),? (?:außer|bis auf)": r"\1\2, nicht",
        r"geschlossen": "nicht geöffnet",
        r"verboten|untersagt|unzulässig": "nicht erlaubt",
    },
    "fr": {
        r"pas interdite?s?": "autorisé",
        r"(tou(?:te)?s)\b([^.,;!?]{0,80}?),? sauf": r"\1\2, pas",
        r"fermée?s?": "pas ouvert",
        r"interdite?s?": "pas autorisé",
    },
    "es": {
        r"no (?:est[áa]n? )?prohibid[oa]s?": "permitido",
        r"(tod[oa]s)\b([^.,;!?]{0,80}?),? (?:salvo|excepto|menos)": r"\1\2, no",
        r"cerrad[oa]s?": "no abierto",
        r"prohibid[oa]s?": "no permitido",
    },
    "vi": {
        r"không (?:bị )?cấm": "được",
        r"đóng cửa": "không mở cửa",
        r"(?:bị |nghiêm )?cấm": "không được",
    },
}
# What makes an exception, or negates in a way that is not understood.
_UNCLEAR = {
    "en": r"""only except unless otherwise without closes closing exclud\w+ refus\w+ impossible
        un\w+able optional extra instead""",
    "de": r"""nur außer ohne sonst schließt ausgeschlossen unmöglich
        optional statt""",
    "fr": r"""que qu seulement uniquement sauf sans ferme\w* impossible exclu\w*
        sinon""",
    "es": r"""que solo sólo solamente únicamente salvo excepto sin imposible excluid\w+ cierra\w*
        opcional\w*""",
    "vi": "chỉ trừ đóng ngoài",
}
# A condition leaves undecided what an answer says. One of a source does not: "if you cancel late,
# nothing is refunded" is denied by "your money is refunded" without a condition.
_CONDITIONS = {
    "en": "if when while",
    "de": "wenn falls sofern solange",
    "fr": "si quand",
    "es": "si cuando mientras",
    "vi": "nếu khi",
}
# What says nothing of the matter: of two clauses that differ in these words and a negation alone,
# one is wrong.
_FUNCTION = {
    "en": r"""the an of any ca wo and or please sorry yes unfortunately afraid also allowed
        permitted tolerated fine welcome possible your our their its his her my us them that this
        these those""",
    "de": r"""der die das den dem des ein eine einen einem einer eines ihr ihre ihren ihrem ihrer
        unser unsere dort hier auch ja nein jedoch leider bitte und oder erlaubt gestattet zulässig
        willkommen möglich""",
    "fr": r"""le la les un une des du de votre vos notre nos leur leurs son sa ses ce cette ces oui
        malheureusement désolé aussi ne et ou autorisée?s? permis possibles? admise?s?""",
    "es": r"""el la los las un una unos unas de del y o su sus le les lo nos nuestro nuestra
        nuestros nuestras este esta esto estos estas sí lamentablemente también permitid[oa]s?
        posibles?""",
    "vi": "và là của cho các một thì mà cũng phép ạ dạ vâng rất tiếc xin lỗi nhé",
}
# So do these; with one of them a clause goes on: "in the rooms and on the balconies".
_PREPOSITIONS = {
    "en": "in on at for to by with",
    "de": "im in an am auf zu zum zur für mit von vom bei",
    "fr": "au aux en dans sur pour avec par",
    "es": "al a en con por para",
    "vi": "với trong trên ở tại",
}
# So do these; but without one of them few words are no clause: "the garden room".
_SAYING = {
    "en": """is are am be been was were do does did can could may might must will would shall should
        have has had need needs you we they it he she there here""",
    "de": """ist sind war wird werden kann können darf dürfen muss müssen soll sollen hat haben sie
        wir es er man""",
    "fr": """est sont sera peut peuvent pouvez doit doivent devez faut ont avez avons vous nous ils
        elles il elle on""",
    "es": """es son está están fue será puede pueden puedes podrá debe deben hay ha han tiene tienen
        tener se usted ustedes ellos ellas""",
    "vi": "có được bị sẽ đã đang bạn chúng tôi mình thể cần phải nên",
}
_JOINING = {
    "en": "and but or so because though although however",
    "de": "und aber oder sondern denn weil obwohl dass",
    "fr": "et mais ou car donc cependant",
    "es": "y e pero sino o u porque aunque pues",
    "vi": "và nhưng hoặc vì nên tuy",
}


def _words(*listed: str) -> str:
    return rf"(?<!\w)(?:{'|'.join(' '.join(listed).split())})(?!\w)"


# What may stand between commas within a clause.
_ASIDE = re.compile(
    r",\s(?:unfortunately|however|of course|sadly|please|therefore|leider|jedoch|allerdings"
    r"|natürlich|malheureusement|cependant|toutefois|lamentablemente|sin embargo|tuy nhiên"
    r"|rất tiếc),",
    re.IGNORECASE,
)
# So much of what a sentence says before a clause is compared with it.
_REACH = 500
# So few words are no clause of their own.
_SHORT_PIECE = 2
_STANDING_FOR = {
    "en": "they it these this those he she",
    "de": "sie es er diese dieser dieses",
    "fr": "ils elles il elle ceux ce cela",
    "es": "ellos ellas él ella este esta esto estos estas eso",
    "vi": "nó chúng họ",
}
_OF_THE_SENTENCE_BEFORE = {
    code: re.compile(rf"\W*{_words(words)}", re.IGNORECASE) for code, words in _STANDING_FOR.items()
}
_SENTENCE = re.compile(r"(?:[^.!?。;\n]|[.](?=\d))+[.!?。]*")


def _patterns(*lists: dict[str, str]) -> dict[str, re.Pattern[str]]:
    return {
        code: re.compile(_words(*(each[code] for each in lists)), re.IGNORECASE)
        for code in lists[0]
    }


_NEGATED, _UNSURE = _patterns(_NEGATIONS), _patterns(_UNCLEAR)
_CONDITIONAL, _GOING_ON = _patterns(_CONDITIONS), _patterns(_PREPOSITIONS)
_EMPTY, _SAYS = _patterns(_NEGATIONS, _FUNCTION, _PREPOSITIONS, _SAYING), _patterns(_SAYING)
_ENDS = {
    code: re.compile(rf"[,:](?!\d)|[–—()]|{_words(listed)}", re.I)
    for code, listed in _JOINING.items()
}


# A word is enough to deny that there is something.
_THERE_IS = {
    "en": re.compile(r"\bthere(?:['’]s| is| are)\b|\bwe(?: do not| don['’]t)? have\b", re.I),
    "de": re.compile(r"\bes gibt\b|\bgibt es\b|\bwir haben\b|\bhaben wir\b", re.I),
    "fr": re.compile(r"\bil (?:n['’])?y a\b|\bnous (?:n['’])?avons\b", re.I),
    "es": re.compile(r"\b(?:hay|tenemos)\b", re.I),
}


class Clause(NamedTuple):
    text: str
    # What its sentence says before it, and the sentence before if "they" stands for its subject.
    before: str
    # None: an exception, two negations or a question makes it unclear.
    is_negated: bool | None
    is_conditional: bool
    # "There is a pool", "we have no pool".
    says_there_is: bool
    # Whether it has a word such as "is" or "you": "the garden room" has none.
    is_whole: bool


class Told(NamedTuple):
    """A clause with its words in the forms in which they are compared, and its figures."""

    # But for words of grammar.
    words: set[str]
    # All of them, in every form, and those of what its sentence says before it.
    stems: set[str]
    before: set[str]
    clause: Clause
    # So many words say something.
    least: int

    @property
    def says_enough(self) -> bool:
        """Whether it can be compared: two words, or one of which there is something."""
        if len(self.words) < self.least:
            return self.clause.says_there_is and bool(self.words)
        return self.clause.is_whole or len(self.words) > self.least

    def is_alike(self, source: "Told") -> bool:
        """Whether a clause of a source has its words; or it has those of one that is negated."""
        words, denied = self.words, source.words
        if source.clause.is_negated and denied and denied <= words:
            return (
                len(denied) >= self.least
                or words <= denied | source.before
                or (source.clause.says_there_is and self.clause.says_there_is)
            )
        figures = set(filter(str.isdigit, words))
        is_before = figures <= source.stems and words <= source.stems | source.before
        return len(words) >= self.least and (
            words <= source.stems
            or (is_before and len(words & source.stems) >= max(2, len(words) / 2))
        )

    def is_nearly_in(self, source: "Told") -> bool:
        """Whether a clause of a source has all its words but one, and many."""
        shared = len(self.words & source.stems)
        return shared >= max(2 * self.least, len(self.words) - 1)


def clauses(text: str, language: str) -> list[Clause]:
    """The clauses of a text; none in a language whose negations are not known."""
    if language not in _NEGATED:
        return []
    for word, negated in _OPPOSITES[language].items():
        text = re.sub(rf"(?<!\w)(?:{word})(?!\w)", negated, text, flags=re.IGNORECASE)
    text = _ASIDE.sub(" ", text)
    found = []
    earlier = ""
    for sentence in _SENTENCE.findall(without_abbreviations(text)):
        is_unclear = sentence.endswith("?") or _UNSURE[language].search(sentence)
        is_conditional = bool(_CONDITIONAL[language].search(sentence))
        before = earlier if _OF_THE_SENTENCE_BEFORE[language].match(sentence) else ""
        for clause, listed in _whole_clauses(_ENDS[language].split(sentence), language):
            negations = len(_NEGATED[language].findall(clause))
            is_negated = None if is_unclear or negations > 1 else bool(negations)
            there_is = language in _THERE_IS and bool(_THERE_IS[language].search(clause))
            is_whole = _is_whole(clause, language)
            # What is told of a list is told of its first as well.
            for told in (clause + listed, clause) if listed else (clause,):
                found.append(Clause(told, before, is_negated, is_conditional, there_is, is_whole))
            before = (before + clause + listed)[-_REACH:]
        earlier = sentence
    return found


def _whole_clauses(pieces: Iterable[str], language: str) -> list[tuple[str, str]]:
    """The pieces of a sentence; a short one belongs to the one before: "in May", "and in a room".

    So do those of a list, which come apart from it: "or changed". Not if it is negated: "but not
    dogs". The first belongs to the one behind: "cats and dogs are".
    """
    whole: list[tuple[str, str]] = []
    is_begun = False
    for piece in pieces:
        goes_on = bool(_GOING_ON[language].match(piece.strip()))
        is_short = (goes_on and not _is_whole(piece, language)) or (
            len(piece.split()) <= _SHORT_PIECE and not _NEGATED[language].search(piece)
        )
        begins = is_short and (is_begun or not whole)
        if whole and (is_short or is_begun):
            clause, listed = whole[-1]
            if goes_on or is_begun:
                whole[-1] = (f"{clause}{listed} {piece}", "")
            else:
                whole[-1] = (clause, f"{listed} {piece}")
        else:
            whole.append((piece, ""))
        is_begun = begins
    return whole


def _is_whole(text: str, language: str) -> bool:
    return bool(_SAYS[language].search(text))


def without_function_words(text: str, language: str) -> str:
    """What a clause is about: neither its negations nor its words of grammar."""
    return _EMPTY[language].sub(" ", text)
