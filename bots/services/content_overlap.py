"""Checks whether a bot's other documents answer what one of its documents answers."""

from bots.language.normalization import tokens
from bots.models import Document
from bots.search.hybrid_index import IndexedPassage
from bots.services import answer_preview, chat_hooks, retrieval

# A passage that contains at least this share of an answer's words counts as saying the same.
_SAME_SHARE = 0.8
# The maximum number of a document's latest questions that are checked.
_MAX_QUESTIONS = 10


def find_conflicting_passage(document: Document) -> IndexedPassage | None:
    """The passage that answers the same question as a written answer, but differently.

    None if no file, page or text answers the question, or if the best passage says the same.
    """
    request = answer_preview.standalone(document.bot, document.title)
    result = retrieval.search(
        document.bot, request.text, language=request.language, limit=1,
        leave_out=lambda passage: bool(passage.answers),
    )  # fmt: skip
    if not result.reaches(request.threshold):
        return None
    passage = result.hits[0].passage
    answer_words = set(tokens(document.content, language=request.language))
    shared = answer_words.intersection(tokens(passage.text, language=request.language))
    return None if len(shared) >= _SAME_SHARE * len(answer_words) else passage


def questions_of(document: Document) -> tuple[list[str], list[str]]:
    """The latest questions that a document answered, at most ten, in two lists: the questions that
    other documents would also answer, and the questions that no other document would answer."""
    answered: list[str] = []
    unanswered: list[str] = []
    for question in chat_hooks.document_usage().questions(document)[:_MAX_QUESTIONS]:
        (answered if _is_answered(document, question) else unanswered).append(question)
    return answered, unanswered


def _is_answered(document: Document, question: str) -> bool:
    request = answer_preview.standalone(document.bot, question)
    result = retrieval.search(
        document.bot, question, language=request.language, limit=1,
        leave_out=lambda passage: passage.document_id == document.pk,
    )  # fmt: skip
    return result.reaches(request.threshold)
