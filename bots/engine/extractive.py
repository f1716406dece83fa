"""The extractive engine quotes the best sentences of the documents and needs no model server."""

from collections.abc import Callable
from functools import partial

from bots.engine import Capability
from bots.engine.text_tasks import Draft, Task, TranscriptDraft, Written
from bots.engine.tools import Toolbox
from bots.engine.types import Answer, EngineUnavailable, Question, Recording, Refused
from bots.search.answer_extraction import extract_all


class ExtractiveEngine:
    """Answers with quotations and their citations only; it calls no functions."""

    name = "extractive"
    capabilities: frozenset[Capability] = frozenset()
    price = 0  # it uses no tokens

    def answer(
        self,
        question: Question,
        *,
        on_delta: Callable[[str], None],
        deadline_seconds: float = 0,
        toolbox: Toolbox | None = None,
    ) -> Answer:
        """Quote the best sentences of the search results; raises Refused if there are none."""
        quoted = extract_all(
            question.found,
            language=question.language,
            threshold=question.threshold,
            unknown=partial(question.sentence, "part_unknown"),
        )
        if quoted is None:
            raise Refused("No document contains a sentence that answers the question.")
        lead = ""
        if quoted.is_foreign or question.is_doubted:
            lead = question.sentence("found_foreign" if quoted.is_foreign else "found")
        text = f"{lead}\n\n{quoted.text}" if lead else quoted.text
        on_delta(text)  # in one piece, since the text is complete
        return Answer(text, quoted.citations, model="extractive")

    def complete(self, task: Task[Draft], *, deadline_seconds: float) -> Written[Draft]:
        """Always raises EngineUnavailable: only a model can write texts."""
        raise EngineUnavailable("The extractive engine cannot write texts.")

    def transcribe(
        self, recording: Recording, *, deadline_seconds: float
    ) -> Written[TranscriptDraft]:
        """Always raises EngineUnavailable: only a model can transcribe."""
        raise EngineUnavailable("The extractive engine cannot transcribe recordings.")
