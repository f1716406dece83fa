"""Follows a model's answer while it is written: what may be shown, and what a judge must see.

Citations of snippets that do not exist are removed. Links, addresses, telephone numbers and figures
that stand in no source, deeds that nobody did and an answer without a citation are doubts: a doubt
fails no answer, it asks the judge. What else a model invents only the judge can find.
"""

import re

from bots.engine.groundedness import SourceCheck
from bots.engine.prompting import NO_ANSWER
from bots.engine.sentences import sentences
from bots.engine.types import Question, Snippet
from bots.knowledge import phrasebook

MAX_ANSWER_CHARS = 4_000
CITATION = re.compile(r"\[(\d{1,4}(?:\s*,\s*\d{1,4})*)\]")
_BRACKETS = str.maketrans("【】［］", "[][]")
_SOURCE = r"(?:sources?|snippets?|quellen?|fuentes?|fontes?|nguồn|источник)\.?\s*+(?::\s*+)?"
_NUMBERS = rf"(?:{_SOURCE})?[#^]?\d{{1,4}}(?:\s*(?:[,;&]|and)\s*(?:{_SOURCE})?#?\d{{1,4}})*"
# "[Source 1]", "[1; 2]", "[^1]", "[1†source]"; "(Source 1)"; a bare "(1)" is a figure.
_CITED_OTHERWISE = re.compile(
    rf"\[({_NUMBERS})(?:†[^\[\]\n]{{0,80}})?\]|\(({_SOURCE}{_NUMBERS})\)", re.IGNORECASE
)
_WORD = re.compile(r"\w")
_FENCE = "<<<"
_SAYS_NOTHING = "The answer says nothing."
# So many characters tell whether a sentence has ended: its mark, its citations and what follows.
_END_CHARS = 200
# What may begin a sentence, with the sign before it.
_BEGINNING = re.compile(r"[\s。！？”’」』\])】］]\S")
# The end of a heading or question, which needs no citation.
_NO_STATEMENT = (":", "?", "？", "*")


class StreamingGuardrail:
    """The state of one answer; `results` is what functions returned.

    A sentence may be shown when it is whole, the answer has cited a passage or functions returned
    something, and nothing up to it is in doubt. If the answer must be verified, all of it waits.
    """

    def __init__(self, question: Question, results: str | None = None) -> None:
        self._snippets = {snippet.number: snippet for snippet in question.snippets}
        self.results = results
        self._question = question
        self._checks: dict[tuple[int, ...], SourceCheck] = {}
        self._taken = 0
        # The sentence that may go on, and those that are not shown yet.
        self._rest = ""
        self._waiting: list[str] = []
        # The whole sentences as a customer reads them, and the snippets that they cite.
        self.text = ""
        self.cited: tuple[int, ...] = ()
        # What only a judge can decide.
        self.doubts: list[str] = []
        self._has_own_citation = self.has_added_citation = False
        self.is_refusal = False
        # Why the answer is none so far, whatever a judge says.
        self.fault = _SAYS_NOTHING

    @property
    def lacks_citation(self) -> bool:
        """Whether the answer names no source though it needs one."""
        return not self.cited and self.results is None

    @property
    def never_cites(self) -> bool:
        """Whether the model itself named no source though it had to; nothing was shown then."""
        return not self._has_own_citation and self.results is None

    @property
    def is_full(self) -> bool:
        """Whether no more of the answer is read."""
        return self.is_refusal or self._taken >= MAX_ANSWER_CHARS

    def feed(self, piece: str) -> str:
        """Add a piece of the answer; returns what may be shown now."""
        piece = piece[: MAX_ANSWER_CHARS - self._taken]
        self._taken += len(piece)
        start, last = max(0, len(self._rest) - _END_CHARS), self._rest[-1:]
        self._rest += piece
        self.is_refusal = self.is_refusal or NO_ANSWER in self._rest[start:]
        if self.is_refusal or not _BEGINNING.search(last + piece):
            return ""
        *whole, self._rest = sentences(self._rest, start)
        shown = ""
        for sentence in whole:
            self._add(sentence)
            shown += self._pass_on()
        return shown

    def end(self, *, is_cut: bool) -> str:
        """The answer has come to its end, or was cut off; returns what may be shown now.

        The last sentence of an answer that was cut off is left out, unless it is the only one.
        """
        if not (is_cut and self.text and not self._rest.rstrip().endswith(tuple(".!?。！？]"))):
            self._add(self._rest)
        if self.never_cites:
            self._cite_holders()
        return self._pass_on().rstrip()

    def approve(self) -> str:
        """A judge holds the answer to be true; returns what was not shown yet.

        An answer without a citation gets that of the snippet that has most of its words: those come
        first that answer the question best.
        """
        if self.lacks_citation and self._snippets:
            alone = ((self._check((number,)), number) for number in self._snippets)
            _, number = max(alone, key=lambda item: item[0].shared_words(self.text))
            self._waiting[-1] = self._with_citation(self._waiting[-1], number)
            self.text = "".join(self._waiting)
        return self._release().rstrip()

    def _add(self, sentence: str) -> None:
        sentence = self._with_existing_citations(with_usual_citations(sentence))
        numbers = _numbers(sentence)
        self._has_own_citation = self._has_own_citation or bool(numbers)
        self.cited = tuple(dict.fromkeys(self.cited + numbers))
        missing = self._unsupported(sentence, numbers or self.cited or tuple(self._snippets))
        if missing and not numbers and self.cited and (number := self._holder(sentence)):
            sentence = self._with_citation(sentence, number)
        else:
            self.doubts += missing
        told = CITATION.sub(" ", sentence)
        if self.results is None and phrasebook.reports_deed(told):
            self.doubts.append(told.strip())
        if self.fault == _SAYS_NOTHING and _WORD.search(told):
            self.fault = ""
        if _FENCE in sentence:
            self.fault = "The answer repeats what the model was told."
        self.text += sentence
        self._waiting.append(sentence)

    def _cite_holders(self) -> None:
        """Add to each sentence of an answer that never cites the snippet that holds it.

        A sentence that says something and has none is in doubt.
        """
        for place, sentence in enumerate(self._waiting):
            if sentence.strip().endswith(_NO_STATEMENT):
                continue
            if number := self._holder(sentence):
                self._waiting[place] = self._with_citation(sentence, number)
            elif _WORD.search(sentence):
                self.doubts.append(sentence.strip())
        self.text = "".join(self._waiting)

    def _unsupported(self, sentence: str, numbers: tuple[int, ...]) -> list[str]:
        told = CITATION.sub(" ", sentence)
        # "12." is the number of a list at the beginning of a line alone.
        is_line = not self.text or self.text.rstrip(" ").endswith("\n")
        return self._check(numbers).unsupported_facts(told if is_line else f", {told}")

    def _holder(self, sentence: str) -> int | None:
        """The first snippet that has all that a sentence says."""
        numbers = (n for n in self._snippets if self._check((n,)).holds(sentence))
        return next(numbers, None)

    def _with_citation(self, sentence: str, number: int) -> str:
        self.cited = tuple(dict.fromkeys((*self.cited, number)))
        self.has_added_citation = True
        said = sentence.rstrip()
        return f"{said} [{number}]{sentence[len(said) :]}"

    def _check(self, numbers: tuple[int, ...]) -> SourceCheck:
        """The check against these snippets, the customer's message and functions' results."""
        if numbers not in self._checks:
            texts = [_told_by(self._snippets[number]) for number in numbers]
            self._checks[numbers] = SourceCheck([*texts, self._question.text, self.results or ""])
        return self._checks[numbers]

    def _with_existing_citations(self, text: str) -> str:
        def existing(match: re.Match[str]) -> str:
            numbers = [n for n in map(int, match[1].split(",")) if n in self._snippets]
            return f"[{', '.join(map(str, numbers))}]" if numbers else ""

        return CITATION.sub(existing, text)

    def _pass_on(self) -> str:
        must_wait = self._question.verify_answer or self.doubts or self.fault or self.lacks_citation
        return "" if must_wait else self._release()

    def _release(self) -> str:
        shown = "".join(self._waiting)
        self._waiting.clear()
        return shown


def with_usual_citations(text: str) -> str:
    """A text whose citations have the form `[1]` or `[1, 2]`, whatever form the model chose."""

    def usual(match: re.Match[str]) -> str:
        numbers = re.findall(r"\d+", next(filter(None, match.groups())))
        return f"[{', '.join(numbers)}]"

    return _CITED_OTHERWISE.sub(usual, text.translate(_BRACKETS))


def _numbers(sentence: str) -> tuple[int, ...]:
    return tuple(int(n) for group in CITATION.findall(sentence) for n in group.split(","))


def _told_by(snippet: Snippet) -> str:
    return f"{snippet.title}\n{snippet.heading}\n{snippet.url or ''}\n{snippet.text}"
