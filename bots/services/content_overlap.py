"""Checks whether a bot's other documents answer what one of its documents answers."""

from bots.language.normalization import tokens
from bots.models import Chunk, Document, DocumentSource
from bots.search.hybrid_index import IndexedPassage
from bots.services import answer_preview, chat_hooks, retrieval

# A passage that contains at least this share of an answer's words counts as saying the same.
_SAME_SHARE = 0.8
# The maximum number of a document's latest questions that are checked.
_MAX_QUESTIONS = 10
# A passage with a smaller share of the question's words may be about something else.
_QUESTION_SHARE = 0.5
# Two files are versions of one list if they share this many of their words but not their figures.
_VERSION_SHARE = 0.8
# The maximum number of files, and of each file's passages, that are compared.
_MAX_FILES, _MAX_COMPARED = 20, 5
# The maximum number of written answers that are compared with a file.
_MAX_ANSWERS = 20


def find_conflicting_passage(document: Document) -> IndexedPassage | None:
    """The passage that answers the same question as a written answer, but differently.

    None if no file, page or text certainly answers the question, or if the best passage says the
    same with the same figures.
    """
    request = answer_preview.standalone(document.bot, document.title)
    result = retrieval.search(
        document.bot, request.text, language=request.language, limit=1,
        leave_out=lambda passage: bool(passage.answers),
    )  # fmt: skip
    if not result.reaches(request.threshold) or result.hits[0].coverage < _QUESTION_SHARE:
        return None
    passage = result.hits[0].passage
    answer_words = set(tokens(document.content, language=request.language))
    shared = answer_words.intersection(tokens(passage.text, language=request.language))
    is_same = len(shared) >= _SAME_SHARE * len(answer_words)
    return None if is_same and not _have_other_figures(document, passage) else passage


def find_other_version(document: Document) -> Document | None:
    """Another uploaded file that the bot uses with nearly the same words but other figures, such as
    an earlier price list."""
    words, figures = _words_and_figures(document)
    count = document.chunk_count
    rows = Document.objects.filter(
        bot=document.bot_id, source=DocumentSource.FILE, web_url=None,
        chunk_count__range=(max(1, count // 2), count * 2),
    ).exclude(pk=document.pk)  # fmt: skip
    for other in rows.order_by("-pk")[:_MAX_FILES]:
        if not other.is_answering:
            continue
        other_words, other_figures = _words_and_figures(other)
        is_same = len(words & other_words) >= _VERSION_SHARE * max(len(words), len(other_words))
        if words and is_same and figures - other_figures and other_figures - figures:
            return other
    return None


def find_outdated_answers(document: Document) -> list[Document]:
    """The written answers that state other figures than a file, such as the prices of an earlier
    price list."""
    rows = Document.objects.filter(
        bot=document.bot_id, source=DocumentSource.QUESTION_ANSWER, content__regex=r"\d"
    )
    found: list[Document] = []
    for answer in rows.select_related("bot").order_by("-pk")[:_MAX_ANSWERS]:
        passage = find_conflicting_passage(answer) if answer.is_answering else None
        is_here = passage is not None and passage.document_id == document.pk
        if passage and is_here and _have_other_figures(answer, passage):
            found.append(answer)
    return found


def _have_other_figures(answer: Document, passage: IndexedPassage) -> bool:
    """Whether a written answer and a passage each state a figure that the other does not."""
    stated = _split(answer.content, language=answer.language)[1]
    figures = _split(passage.text, language=passage.language)[1]
    return bool(stated - figures and figures - stated)


def _words_and_figures(document: Document) -> tuple[set[str], set[str]]:
    """The words of a file's first passages, and the numbers in them."""
    passages = Chunk.objects.filter(document=document, is_draft=False).order_by("position")
    text = "\n".join(passages.values_list("text", flat=True)[:_MAX_COMPARED])
    return _split(text, language=document.language)


def _split(text: str, *, language: str) -> tuple[set[str], set[str]]:
    """The words of a text, and the numbers in it."""
    found = set(tokens(text, language=language))
    figures = {word for word in found if any(map(str.isdigit, word))}
    return found - figures, figures


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
