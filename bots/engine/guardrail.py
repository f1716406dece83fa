"""Decides, while a model writes its answer, what may be shown and whether a judge must check it.

Citations of snippets that do not exist are removed. Doubts are raised by links, addresses,
telephone numbers and figures that occur in no source, by reports of actions although no function
returned a result, and by an answer without a citation. A doubt does not fail the answer: it calls
for the judge. Other inventions can only be found by the judge.
"""

import re

from bots.engine.groundedness import SourceCheck
from bots.engine.prompting import NO_ANSWER, head_of
from bots.engine.sentences import sentences
from bots.engine.types import Question
from bots.language import detection, language_data, phrasebook

MAX_ANSWER_CHARS = 4_000
CITATION = re.compile(r"\[(\d{1,4}(?:\s*,\s*\d{1,4})*)\]")
_BRACKETS = str.maketrans("【】［］", "[][]")
_SOURCE = rf"{language_data.pattern('citations', 'source')}\.?\s*+(?::\s*+)?"
_AND = language_data.pattern("citations", "conjunctions")
_NUMBERS = rf"(?:{_SOURCE})?[#^]?\d{{1,4}}(?:\s*(?:[,;&]|{_AND})\s*(?:{_SOURCE})?#?\d{{1,4}})*"
# "[Source 1]", "[1; 2]", "[^1]", "[1†source]"; "(Source 1)"; a bare "(1)" is a figure.
_CITED_OTHERWISE = re.compile(
    rf"\[({_NUMBERS})(?:†[^\[\]\n]{{0,80}})?\]|\(({_SOURCE}{_NUMBERS})\)", re.IGNORECASE
)
_WORD = re.compile(r"\w")
_FENCE = "<<<"
_SAYS_NOTHING = "The answer says nothing."
# Enough characters to tell whether a sentence has ended: its punctuation, its citations and the
# beginning of the next sentence.
_END_CHARS = 200
# The first character of what may be a new sentence, with the character before it.
_BEGINNING = re.compile(r"[\s。！？”’」』\])】］]\S")
# The end of a heading or question, which needs no citation.
_NO_STATEMENT = (":", "?", "？", "*")


class StreamingGuardrail:
    """Checks one answer as it streams in; `results` is what functions returned.

    A sentence is shown once it is complete, the answer has cited a snippet or a function has
    returned something, and there is no doubt so far. If the answer must be verified, nothing is
    shown before the verdict.
    """

    def __init__(self, question: Question, results: str | None = None) -> None:
        self._snippets = {snippet.number: snippet for snippet in question.snippets}
        self.results = results
        self._question = question
        self._checks: dict[tuple[int, ...], SourceCheck] = {}
        self._taken = 0
        # The sentence that may not be complete yet, and complete ones that are not shown yet.
        self._rest = ""
        self._waiting: list[str] = []
        # The complete sentences as the customer reads them, and the snippets that they cite.
        self.text = ""
        self.cited: tuple[int, ...] = ()
        # What the judge must decide.
        self.doubts: list[str] = []
        self._has_own_citation = self.has_added_citation = False
        self.is_refusal = False
        # Why the answer so far must be rejected without asking the judge; empty if it need not be.
        self.fault = _SAYS_NOTHING

    @property
    def lacks_citation(self) -> bool:
        """Whether the answer needs a citation and has none."""
        return not self.cited and self.results is None

    @property
    def never_cites(self) -> bool:
        """Whether the model itself cited nothing although it had to. If so, nothing was shown."""
        return not self._has_own_citation and self.results is None

    @property
    def is_foreign(self) -> bool:
        """Whether the answer is in another language than the customer's, and not shown yet."""
        if self.text != "".join(self._waiting):
            return False
        language = phrasebook.base_of(self._question.language)
        return detection.is_surely_other(CITATION.sub(" ", self.text), language)

    @property
    def is_full(self) -> bool:
        """Whether the rest is ignored, because the answer is a refusal or too long."""
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
        """Finish an answer that has ended or was cut off; returns what may be shown now.

        An answer that was cut off loses its unfinished last sentence, unless it is the only one.
        """
        if not (is_cut and self.text and not self._rest.rstrip().endswith(tuple(".!?。！？]"))):
            self._add(self._rest)
        if self.never_cites:
            self._cite_holders()
        return self._pass_on().rstrip()

    def approve(self) -> str:
        """Accept the answer; returns what was not shown yet.

        An answer without a citation cites the snippet that shares most words with it, and of equal
        ones the first, since the best snippets come first.
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
        statement = CITATION.sub(" ", sentence)
        if self.results is None and phrasebook.reports_action(statement):
            self.doubts.append(statement.strip())
        if self.fault == _SAYS_NOTHING and _WORD.search(statement):
            self.fault = ""
        self.text += sentence
        if self._repeats(sentence):
            self.fault = "The answer repeats what the model was told."
        self._waiting.append(sentence)

    def _repeats(self, sentence: str) -> bool:
        """Whether the answer repeats a delimiter or a snippet's header line from the request."""
        marks = filter(None, (_FENCE, self._question.fence))
        heads = (head_of(snippet) for snippet in self._snippets.values())
        return any(mark in sentence for mark in marks) or any(f"{h}\n" in self.text for h in heads)

    def _cite_holders(self) -> None:
        """After each sentence, cite a snippet that supports it, since the model cited none.

        A sentence that no snippet supports raises a doubt.
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
        statement = CITATION.sub(" ", sentence)
        # "12." is a list number only at the beginning of a line.
        is_line = not self.text or self.text.rstrip(" ").endswith("\n")
        return self._check(numbers).unsupported_facts(statement if is_line else f", {statement}")

    def _holder(self, sentence: str) -> int | None:
        """The number of the first snippet that has all words and facts of a sentence."""
        numbers = (n for n in self._snippets if self._check((n,)).supports(sentence))
        return next(numbers, None)

    def _with_citation(self, sentence: str, number: int) -> str:
        self.cited = tuple(dict.fromkeys((*self.cited, number)))
        self.has_added_citation = True
        text = sentence.rstrip()
        return f"{text} [{number}]{sentence[len(text) :]}"

    def _check(self, numbers: tuple[int, ...]) -> SourceCheck:
        """Checks against these snippets, the customer's message and the functions' results."""
        if numbers not in self._checks:
            self._checks[numbers] = SourceCheck.of_snippets(
                map(self._snippets.__getitem__, numbers), self._question.text, self.results or ""
            )
        return self._checks[numbers]

    def _with_existing_citations(self, text: str) -> str:
        def existing(match: re.Match[str]) -> str:
            numbers = [n for n in map(int, match[1].split(",")) if n in self._snippets]
            return f"[{', '.join(map(str, numbers))}]" if numbers else ""

        return CITATION.sub(existing, text)

    def _pass_on(self) -> str:
        must_wait = self._question.verify_answer or self.doubts or self.fault or self.lacks_citation
        return "" if must_wait or self.is_foreign else self._release()

    def _release(self) -> str:
        shown = "".join(self._waiting)
        self._waiting.clear()
        return shown


def with_usual_citations(text: str) -> str:
    """Rewrite citations in any form that models use as `[1]` or `[1, 2]`."""

    def usual(match: re.Match[str]) -> str:
        numbers = re.findall(r"\d+", next(filter(None, match.groups())))
        return f"[{', '.join(numbers)}]"

    return _CITED_OTHERWISE.sub(usual, text.translate(_BRACKETS))


def _numbers(sentence: str) -> tuple[int, ...]:
    return tuple(int(n) for group in CITATION.findall(sentence) for n in group.split(","))
