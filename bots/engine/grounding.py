"""The check of an answer: it cites its sources, and neither adds to them nor contradicts them.

A citation in another form is read, and a missing one is added: they are a matter of form.
"""

import re
from collections.abc import Iterable, Sequence

from bots.engine.held_by_sources import CITATION, Evidence
from bots.engine.sentences import sentences
from bots.engine.types import NotGrounded, Question, Snippet, Usage

_BRACKETS = str.maketrans("【】［］", "[][]")
_SOURCE = r"(?:sources?|snippets?|quellen?|fuentes?|fontes?|nguồn|источник)\.?\s*+(?::\s*+)?"
_NUMBERS = rf"(?:{_SOURCE})?[#^]?\d{{1,4}}(?:\s*(?:[,;&]|and)\s*(?:{_SOURCE})?#?\d{{1,4}})*"
# "[Source 1]", "[1; 2]", "[^1]", "[1†source]"; "(Source 1)"; a bare "(1)" is a figure.
_CITED_OTHERWISE = re.compile(
    rf"\[({_NUMBERS})(?:†[^\[\]\n]{{0,80}})?\]|\(({_SOURCE}{_NUMBERS})\)", re.IGNORECASE
)
# A line of the request that the model repeats.
_FENCE = "<<<"


def with_usual_citations(text: str) -> str:
    """A text whose citations have the form `[1]` or `[1, 2]`, whatever form the model chose."""

    def usual(match: re.Match[str]) -> str:
        numbers = re.findall(r"\d+", next(filter(None, match.groups())))
        return f"[{', '.join(numbers)}]"

    return _CITED_OTHERWISE.sub(usual, text.translate(_BRACKETS))


# Each sentence takes some milliseconds, more if it is long. More is no answer for a customer.
MAX_SENTENCES, MAX_SENTENCE_CHARACTERS = 100, 2_000
_WORD = re.compile(r"\w")


class Check:
    """Follows an answer by sentence: what may be shown, and why it must not go on.

    A sentence rests on the snippets that it cites. One that cites none rests on those that were
    cited before it; if these do not hold it, or there are none, it waits for the next sentence that
    cites, and rests on that one's snippets too. If they do not hold it either, the one snippet that
    is most like it is cited, if that does. `results` is what functions returned: every
    sentence may rest on it, and an answer needs no snippet then. `asked` is what an answer may
    repeat without a source, and `question` the customer's message. `is_confirmed`: somebody looks
    at the answer afterwards, so figures may follow from those that it has named, and a sentence
    whose citation is missing may rest on all snippets together.
    """

    def __init__(
        self,
        snippets: Iterable[Snippet],
        results: str | None = None,
        *,
        asked: str = "",
        question: str = "",
        is_confirmed: bool = False,
    ) -> None:
        self._snippets = {snippet.number: snippet for snippet in snippets}
        self._results = results
        self._asked = asked
        self._question = question
        self._is_confirmed = is_confirmed
        self._evidence: dict[tuple[int, ...], Evidence] = {}
        self._text = ""
        self._sentences = 0
        # The sentences that wait, and what came before each.
        self._waiting: list[tuple[str, str]] = []
        self.cited: tuple[int, ...] = ()
        self.fault = ""
        # What may be shown so far, and whether a citation in it was added.
        self.text = ""
        self.has_added = False
        # Whether the answer cites anything of its own.
        self._cites = False

    def take(self, sentence: str) -> str:
        """Add the answer's next sentence; returns what may be shown now, without wrong citations.

        Nothing may be shown after a `fault`.
        """
        if self.fault:
            return ""
        self._sentences += bool(_WORD.search(sentence))
        if self._sentences > MAX_SENTENCES or len(sentence) > MAX_SENTENCE_CHARACTERS:
            self.fault = "The answer has too many sentences, or one that is too long."
            return ""
        earlier, own, told = self.cited, self._numbers(sentence), (sentence, self._text)
        self.cited = tuple(dict.fromkeys(earlier + own))
        self._text += sentence
        if own:
            self._cites = True
            self.fault = self._fault_of([told], own) or self._fault_of_waiting()
            may_show = not self.fault
        else:
            may_rest = bool(earlier) or self._results is not None
            may_show = may_rest and not self._waiting and not self._fault_of([told], earlier)
        self._waiting.append(told)
        return self._pass_on() if may_show else ""

    def end(self) -> str:
        """The answer is whole: what still waits has no source but those that were cited.

        Returns what of it may be shown.
        """
        if not _WORD.search(CITATION.sub("", self._text)):
            self.fault = "The answer says nothing."
        self.fault = self.fault or self._fault_of_waiting()
        if not self.fault and not self.cited and self._results is None:
            self.fault = "The answer cites no snippet that exists."
        return "" if self.fault else self._pass_on()

    def _fault_of_waiting(self) -> str:
        """What is wrong with the sentences that wait, once what they lack was added."""
        may_rest = bool(self.cited) or self._results is not None
        if may_rest and not self._fault_of(self._waiting, self.cited):
            return ""
        self._waiting = [self._with_citation(*told) for told in self._waiting]
        left = [told for told in self._waiting if not self._numbers(told[0])]
        return self._fault_of(left, self.cited)

    def _with_citation(self, sentence: str, before: str) -> tuple[str, str]:
        """A sentence with the snippet that is most like it, if that holds what it says."""
        told = [(sentence, before)]
        number = self._most_like(sentence)
        is_held = number is not None and not self._fault_of(told, (number,))
        if number is not None and not is_held and self._is_confirmed:
            is_held = not self._fault_of(told, tuple(self._snippets))
        if number is None or not is_held:
            return sentence, before
        self.cited = tuple(dict.fromkeys((*self.cited, number)))
        self.has_added = True
        said = sentence.rstrip()
        return f"{said} [{number}]{sentence[len(said) :]}", before

    def _most_like(self, sentence: str) -> int | None:
        """The snippet that has most of the words of a sentence; its figures do not count.

        So an invented figure finds no snippet of another thing that has it.
        """
        evidence = {number: self._evidence_for((number,)) for number in self._snippets}
        shared = {number: each.shared_words(sentence) for number, each in evidence.items()}
        most = max(shared.values(), default=0)
        best = [number for number, count in shared.items() if count == most]
        if len(best) < 2 and most:
            return best[0]
        nearest = max(best, key=lambda number: evidence[number].likeness(sentence), default=None)
        if most or nearest is None:
            return nearest
        # Only of an answer that never cites is a sentence without a word of theirs looked for.
        is_looked_for = not self._cites and evidence[nearest].may_rest(sentence)
        return nearest if is_looked_for else None

    def _numbers(self, sentence: str) -> tuple[int, ...]:
        mentioned = (int(n) for group in CITATION.findall(sentence) for n in group.split(","))
        return tuple(dict.fromkeys(number for number in mentioned if number in self._snippets))

    def _fault_of(self, told: Iterable[tuple[str, str]], numbers: tuple[int, ...]) -> str:
        """What is wrong with sentences that rest on these snippets; empty if nothing is."""
        evidence = self._evidence_for(numbers)
        for sentence, before in told:
            if _FENCE in sentence:
                return "The answer repeats what the model was told."
            if not _WORD.search(sentence):
                continue
            if not evidence.holds_facts_of(sentence, before=before):
                return "The answer states what its snippets do not hold."
            if evidence.is_promise(sentence):
                return "The answer promises what no snippet speaks of."
            if evidence.invents(sentence):
                return "The answer has a sentence that no snippet speaks of."
            if evidence.contradicts(sentence):
                return "The answer contradicts its snippets."
        return ""

    def _evidence_for(self, numbers: tuple[int, ...]) -> Evidence:
        """What these snippets say, and what functions returned."""
        if numbers not in self._evidence:
            self._evidence[numbers] = self._read(numbers)
        return self._evidence[numbers]

    def _read(self, numbers: Sequence[int]) -> Evidence:
        cited = map(self._snippets.__getitem__, numbers)
        texts = (f"{s.title}\n{s.heading}\n{s.url or ''}\n{s.text}" for s in cited)
        return Evidence(
            (*texts, self._results or ""),
            asked=self._asked,
            question=self._question,
            is_prose=not self._results,
            may_compute=self._is_confirmed,
        )

    def _pass_on(self) -> str:
        text = "".join(sentence for sentence, _ in self._waiting)
        self._waiting.clear()
        shown = self.without_wrong_citations(text)
        self.text += shown
        return shown

    def without_wrong_citations(self, text: str) -> str:
        """A text that cites only snippets that there are."""

        def corrected(match: re.Match[str]) -> str:
            numbers = [int(one) for one in match[1].split(",") if int(one) in self._snippets]
            return f"[{', '.join(map(str, numbers))}]" if numbers else ""

        return CITATION.sub(corrected, text)


def check_of(question: Question, results: str | None) -> Check:
    """The check of an answer to a question; `results` is what functions returned."""
    # What the answer may repeat without a source: the chat, and what the model is told.
    lines = (line.text for line in question.history)
    asked = "\n".join((question.text, question.instructions, question.setting, *lines))
    return Check(
        question.snippets,
        results,
        asked=asked,
        question=question.text,
        is_confirmed=question.must_be_confirmed,
    )


def checked(text: str, check: Check, usage: Usage) -> Check:
    """The check when it has seen the whole answer; raises NotGrounded if that is at fault.

    `check` has seen nothing yet. `usage` is what the answer has cost, if it is refused.
    """
    for sentence in sentences(with_usual_citations(text)):
        check.take(sentence)
    check.end()
    if check.fault:
        raise NotGrounded(check.fault, usage=usage)
    return check
