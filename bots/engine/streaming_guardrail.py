"""Decides, while a model writes its answer, what may be shown and whether a judge must check it.

Citations of snippets that do not exist are removed. These are doubtful:
- links, addresses, telephone numbers and figures that occur in no source
- reports of actions if no function returned a result
- sentences that no snippet supports, if the answer has no citations

The judge decides on an answer with doubts. Only the judge can find other inventions.
"""

import re

from bots.engine.groundedness import SourceCheck
from bots.engine.prompting import FENCE, NO_ANSWER, head_of
from bots.engine.sentences import sentences
from bots.engine.types import Question
from bots.language import detection, language_data, phrasebook

MAX_ANSWER_CHARS = 4_000
CITATION = re.compile(r"\[(\d{1,4}(?:\s*,\s*\d{1,4})*)\]")
_BRACKETS = str.maketrans("【】［］", "[][]")
_SOURCE = rf"{language_data.pattern('citations', 'source')}\.?\s*+(?::\s*+)?"
_AND = language_data.pattern("citations", "conjunctions")
_NUMBERS = rf"(?:{_SOURCE})?[#^]?\d{{1,4}}(?:\s*(?:[,;&]|{_AND})\s*(?:{_SOURCE})?#?\d{{1,4}})*"
# Matches "[Source 1]", "[1; 2]", "[^1]", "[1†source]" and "(Source 1)". A bare "(1)" is a figure.
_OTHER_CITATION = re.compile(
    rf"\[({_NUMBERS})(?:†[^\[\]\n]{{0,80}})?\]|\(({_SOURCE}{_NUMBERS})\)", re.IGNORECASE
)
_WORD = re.compile(r"\w")
_EMPTY_ANSWER = "The answer says nothing."
# This many characters tell whether a sentence has ended: they contain its punctuation and citations
# and the beginning of the next sentence.
_END_CHARS = 200
# The first character of what may be a new sentence, with the character before it.
_BEGINNING = re.compile(r"[\s。！？”’」』\])】］]\S")
# The last characters of headings and questions, which need no citation.
_NO_CITATION_ENDINGS = (":", "?", "？", "*")


class StreamingGuardrail:
    """Checks one answer as it streams in.

    `results`: what functions returned; None if no function returned anything.

    A complete sentence is shown if the answer has cited a snippet or a function has returned
    something, nothing is doubtful so far, and the answer is not in a wrong language. If the answer
    must be verified, nothing is shown before the verdict.
    """

    def __init__(self, question: Question, results: str | None = None) -> None:
        self._snippets = {snippet.number: snippet for snippet in question.snippets}
        self.results = results
        self._question = question
        self._checks: dict[tuple[int, ...], SourceCheck] = {}
        self._received_chars = 0
        # The sentence that may be incomplete, and the complete sentences that were not shown yet.
        self._unfinished = ""
        self._waiting: list[str] = []
        # The complete sentences as the customer reads them, and the snippets that they cite.
        self.text = ""
        self.cited: tuple[int, ...] = ()
        # The doubtful facts and sentences, on which the judge must decide.
        self.doubts: list[str] = []
        self._has_own_citation = self.has_added_citation = False
        self.is_refusal = False
        # Why the answer so far must be rejected without asking the judge; empty if it need not be.
        self.rejection_reason = _EMPTY_ANSWER

    @property
    def lacks_citation(self) -> bool:
        """Whether the answer needs a citation and has none."""
        return not self.cited and self.results is None

    @property
    def lacks_own_citation(self) -> bool:
        """Whether the answer needs a citation and the model has written none.

        Until it writes one, nothing is shown before `end`.
        """
        return not self._has_own_citation and self.results is None

    @property
    def is_foreign(self) -> bool:
        """Whether nothing was shown yet and the answer is surely not in the customer's language."""
        if self.text != "".join(self._waiting):
            return False
        language = phrasebook.base_of(self._question.language)
        return detection.is_certainly_other(CITATION.sub(" ", self.text), language)

    @property
    def is_full(self) -> bool:
        """Whether further text is ignored because the answer is a refusal or too long."""
        return self.is_refusal or self._received_chars >= MAX_ANSWER_CHARS

    def feed(self, piece: str) -> str:
        """Add a piece of the answer; returns what may be shown now."""
        piece = piece[: MAX_ANSWER_CHARS - self._received_chars]
        self._received_chars += len(piece)
        start, last = max(0, len(self._unfinished) - _END_CHARS), self._unfinished[-1:]
        self._unfinished += piece
        self.is_refusal = self.is_refusal or NO_ANSWER in self._unfinished[start:]
        if self.is_refusal or not _BEGINNING.search(last + piece):
            return ""
        *whole, self._unfinished = sentences(self._unfinished, start)
        shown = ""
        for sentence in whole:
            self._add(sentence)
            shown += self._release_if_certain()
        return shown

    def end(self, *, is_cut: bool) -> str:
        """Finish the answer; returns what may be shown now.

        If it was cut off, its unfinished last sentence is dropped, unless it is the only one.
        """
        if not (
            is_cut and self.text and not self._unfinished.rstrip().endswith(tuple(".!?。！？]"))
        ):
            self._add(self._unfinished)
        if self.lacks_own_citation:
            self._cite_supporting_snippets()
        return self._release_if_certain().rstrip()

    def approve(self) -> str:
        """Accept the answer; returns what was not shown yet.

        If it lacks a citation, the snippet that shares the most words with it is cited; of several
        such snippets the first, which is the best.
        """
        if self.lacks_citation and self._snippets:
            checks = ((self._check((number,)), number) for number in self._snippets)
            _, number = max(checks, key=lambda item: item[0].shared_words(self.text))
            self._waiting[-1] = self._with_citation(self._waiting[-1], number)
            self.text = "".join(self._waiting)
        return self._release().rstrip()

    def _add(self, sentence: str) -> None:
        sentence = self._without_unknown_citations(normalize_citations(sentence))
        numbers = _cited_numbers(sentence)
        self._has_own_citation = self._has_own_citation or bool(numbers)
        self.cited = tuple(dict.fromkeys(self.cited + numbers))
        missing = self._unsupported(sentence, numbers or self.cited or tuple(self._snippets))
        if (
            missing
            and not numbers
            and self.cited
            and (number := self._supporting_snippet(sentence))
        ):
            sentence = self._with_citation(sentence, number)
        else:
            self.doubts += missing
        statement = CITATION.sub(" ", sentence)
        if self.results is None and phrasebook.reports_action(statement):
            self.doubts.append(statement.strip())
        if self.rejection_reason == _EMPTY_ANSWER and _WORD.search(statement):
            self.rejection_reason = ""
        self.text += sentence
        if self._repeats(sentence):
            self.rejection_reason = "The answer repeats parts of the prompt."
        self._waiting.append(sentence)

    def _repeats(self, sentence: str) -> bool:
        """Whether the answer repeats a delimiter or a snippet's header line from the request."""
        fences = filter(None, (FENCE, self._question.fence))
        heads = (head_of(snippet) for snippet in self._snippets.values())
        return any(fence in sentence for fence in fences) or any(
            f"{h}\n" in self.text for h in heads
        )

    def _cite_supporting_snippets(self) -> None:
        """Add to each statement a citation of a snippet that supports it.

        A statement that no snippet supports is doubtful. Headings and questions are skipped.
        """
        for position, sentence in enumerate(self._waiting):
            if sentence.strip().endswith(_NO_CITATION_ENDINGS):
                continue
            if number := self._supporting_snippet(sentence):
                self._waiting[position] = self._with_citation(sentence, number)
            elif _WORD.search(sentence):
                self.doubts.append(sentence.strip())
        self.text = "".join(self._waiting)

    def _unsupported(self, sentence: str, numbers: tuple[int, ...]) -> list[str]:
        statement = CITATION.sub(" ", sentence)
        # "12." is a list number only at the beginning of a line.
        is_line = not self.text or self.text.rstrip(" ").endswith("\n")
        return self._check(numbers).unsupported_facts(statement if is_line else f", {statement}")

    def _supporting_snippet(self, sentence: str) -> int | None:
        """The number of the first snippet that supports a sentence; None if no snippet does."""
        numbers = (n for n in self._snippets if self._check((n,)).supports(sentence))
        return next(numbers, None)

    def _with_citation(self, sentence: str, number: int) -> str:
        self.cited = tuple(dict.fromkeys((*self.cited, number)))
        self.has_added_citation = True
        text = sentence.rstrip()
        return f"{text} [{number}]{sentence[len(text) :]}"

    def _check(self, numbers: tuple[int, ...]) -> SourceCheck:
        """A check against these snippets, the customer's message and the functions' results."""
        if numbers not in self._checks:
            self._checks[numbers] = SourceCheck.of_snippets(
                map(self._snippets.__getitem__, numbers), self._question.text, self.results or ""
            )
        return self._checks[numbers]

    def _without_unknown_citations(self, text: str) -> str:
        def known(match: re.Match[str]) -> str:
            numbers = [n for n in map(int, match[1].split(",")) if n in self._snippets]
            return f"[{', '.join(map(str, numbers))}]" if numbers else ""

        return CITATION.sub(known, text)

    def _release_if_certain(self) -> str:
        must_wait = (
            self._question.verify_answer
            or self.doubts
            or self.rejection_reason
            or self.lacks_citation
        )
        return "" if must_wait or self.is_foreign else self._release()

    def _release(self) -> str:
        shown = "".join(self._waiting)
        self._waiting.clear()
        return shown


def normalize_citations(text: str) -> str:
    """Rewrite citations in other notations as `[1]` or `[1, 2]`."""

    def normalized(match: re.Match[str]) -> str:
        numbers = re.findall(r"\d+", next(filter(None, match.groups())))
        return f"[{', '.join(numbers)}]"

    return _OTHER_CITATION.sub(normalized, text.translate(_BRACKETS))


def _cited_numbers(sentence: str) -> tuple[int, ...]:
    """The snippets that a sentence cites, each once, however often it cites them."""
    groups = CITATION.findall(sentence)
    return tuple(dict.fromkeys(int(n) for group in groups for n in group.split(",")))
