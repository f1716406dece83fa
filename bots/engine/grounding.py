"""The check of an answer: it cites its sources, and neither adds to them nor contradicts them."""

import re
from collections.abc import Iterable

from bots.engine.held_by_sources import CITATION, Evidence
from bots.engine.sentences import sentences
from bots.engine.types import NotGrounded, Snippet, Usage

# Each sentence takes some milliseconds, more if it is long. More is no answer for a customer.
MAX_SENTENCES, MAX_SENTENCE_CHARACTERS = 100, 2_000
_WORD = re.compile(r"\w")


class Check:
    """Follows an answer by sentence: what may be shown, and why it must not go on.

    A sentence rests on the snippets that it cites. One that cites none rests on those that were
    cited before it; if these do not hold it, or there are none, it waits for the next sentence that
    cites, and rests on that one's snippets too. `results` is what functions returned: every
    sentence may rest on it, and an answer needs no snippet then. `asked` is what an answer may
    repeat without a source, and `question` the customer's message. `may_compute`: figures may
    follow from those that the answer has named, for somebody looks at them afterwards.
    """

    def __init__(
        self,
        snippets: Iterable[Snippet],
        results: str | None = None,
        *,
        asked: str = "",
        question: str = "",
        may_compute: bool = False,
    ) -> None:
        self._snippets = {snippet.number: snippet for snippet in snippets}
        self._results = results
        self._asked = asked
        self._question = question
        self._may_compute = may_compute
        self._evidence: dict[tuple[int, ...], Evidence] = {}
        self._text = ""
        self._sentences = 0
        # The sentences that wait, and what came before each.
        self._waiting: list[tuple[str, str]] = []
        self.cited: tuple[int, ...] = ()
        self.fault = ""

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
            self.fault = self._fault_of(self._waiting, self.cited) or self._fault_of([told], own)
            may_show = not self.fault
        else:
            may_rest = bool(earlier) or self._results is not None
            may_show = may_rest and not self._waiting and not self._fault_of([told], earlier)
        self._waiting.append(told)
        return self._pass_on() if may_show else ""

    def end(self) -> None:
        """The answer is whole: what still waits has no source but those that were cited."""
        if not _WORD.search(CITATION.sub("", self._text)):
            self.fault = "The answer says nothing."
        elif not self.cited and self._results is None:
            self.fault = "The answer cites no snippet that exists."
        self.fault = self.fault or self._fault_of(self._waiting, self.cited)

    def _numbers(self, sentence: str) -> tuple[int, ...]:
        mentioned = (int(n) for group in CITATION.findall(sentence) for n in group.split(","))
        return tuple(dict.fromkeys(number for number in mentioned if number in self._snippets))

    def _fault_of(self, told: Iterable[tuple[str, str]], numbers: tuple[int, ...]) -> str:
        """What is wrong with sentences that rest on these snippets; empty if nothing is."""
        if numbers not in self._evidence:
            self._evidence[numbers] = self._evidence_of(numbers)
        evidence = self._evidence[numbers]
        for sentence, before in told:
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

    def _evidence_of(self, numbers: tuple[int, ...]) -> Evidence:
        """What these snippets say, and what functions returned."""
        cited = map(self._snippets.__getitem__, numbers)
        texts = (f"{s.title}\n{s.heading}\n{s.url or ''}\n{s.text}" for s in cited)
        return Evidence(
            (*texts, self._results or ""),
            asked=self._asked,
            question=self._question,
            is_prose=not self._results,
            may_compute=self._may_compute,
        )

    def _pass_on(self) -> str:
        text = "".join(sentence for sentence, _ in self._waiting)
        self._waiting.clear()
        return self.without_wrong_citations(text)

    def without_wrong_citations(self, text: str) -> str:
        """A text that cites only snippets that there are."""

        def corrected(match: re.Match[str]) -> str:
            numbers = [int(one) for one in match[1].split(",") if int(one) in self._snippets]
            return f"[{', '.join(map(str, numbers))}]" if numbers else ""

        return CITATION.sub(corrected, text)


def checked(text: str, check: Check, usage: Usage) -> tuple[str, tuple[int, ...]]:
    """The answer without wrong citations, and the numbers that it cites; raises NotGrounded.

    `check` has seen nothing yet. `usage` is what the answer has cost, if it is refused.
    """
    for sentence in sentences(text):
        check.take(sentence)
    check.end()
    if check.fault:
        raise NotGrounded(check.fault, usage=usage)
    return check.without_wrong_citations(text).strip(), check.cited
