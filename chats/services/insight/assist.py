"""Work on language: translations, summaries of any text, replies to suggest."""

from dataclasses import replace

from django.conf import settings
from django.db.models import OuterRef, QuerySet, Subquery

from bots.engine import digest, embedded, tagging
from bots.engine.masking import Mask
from bots.engine.types import Line, Snippet
from bots.engine.writer import Writer
from bots.knowledge import language as languages
from bots.knowledge.search import Found
from bots.models import Prompt
from bots.services import engines, retrieval
from chatplatform import jobs
from chats.models import Conversation, Message, SenderType
from chats.services.insight import transcripts
from chats.shapes.insight import (
    MAX_TRANSLATED_CHARS,
    ReplySuggestions,
    Suggestion,
    SuggestionRequest,
    SummarizeRequest,
    SummarizeResponse,
    TranslationRequest,
    TranslationResponse,
)
from chats.shapes.message import Citation
from identity.models import Client
from identity.services.credits import InsufficientCredits

# Replies of agents that are looked through for one that fits again, the latest.
PAST_REPLIES = 60
# A past reply was to a question at least so near to this one.
REPLY_FITS_FROM = 0.7
MAX_SUGGESTION_CHARS = 1_000
# An agent decides what to send, so less certain passages are shown than a bot would quote.
SHOWN_FROM = 0.3


def translate(client: Client, given: TranslationRequest) -> TranslationResponse:
    """A text in another language, by the model."""
    return TranslationResponse(
        text=_translated(client, given.text, to=given.out_lang_code, purpose="translation"),
        in_lang_code=languages.detect(given.text, default="und"),
        out_lang_code=given.out_lang_code,
        engine=Writer.name,
    )


def translate_message(message_id: str) -> None:
    """Put a message's translation into the client's language beside it; once."""
    message = Message.objects.select_related("client__config").filter(pk=message_id).first()
    if message is None or not settings.LLM_BASE_URL:
        return
    to = message.client.default_language
    if to in message.translations:
        return
    said = message.text[:MAX_TRANSLATED_CHARS]
    try:
        text = _translated(message.client, said, to=to, purpose=f"message:{message.pk}")
    except InsufficientCredits as exc:
        raise jobs.GiveUp("The credits are used up.") from exc
    with jobs.commit():
        locked = Message.objects.select_for_update().get(pk=message.pk)
        locked.translations = {**locked.translations, to: text}
        locked.save(update_fields=["translations"])


def summarise(client: Client, given: SummarizeRequest) -> SummarizeResponse:
    """A text or messages in few words: a model's, or the text's own."""
    lines = tuple(
        Line("customer" if one.role == "user" else "assistant", one.content)
        for one in given.messages or ()
        if one.role in {"user", "assistant"}
    )
    text = given.text or "\n\n".join(f"{one.role}: {one.content}" for one in given.messages or ())
    language = given.language or languages.detect(text, default=client.default_language)
    with engines.session(client.pk, purpose="summarize", characters=len(text)) as engine:
        if engine.writer is not None:
            mask = transcripts.mask_of(client)
            made = engine.pay(
                engine.writer.summarise(
                    mask.hide(text) if mask else text, max_words=given.max_words, language=language
                )
            )
            shown = mask.reveal if mask else str
            summary, points = shown(made.summary), [shown(point) for point in made.key_points]
        elif lines:
            found = digest.of_conversation(lines, language=language, tags=(), sentiment=None)
            summary, points = found.summary, found.key_points
        else:
            summary, points = digest.of_text(text, max_words=given.max_words)
        return SummarizeResponse(summary=summary, key_points=points, engine=engine.name)


def suggest(chat: Conversation, given: SuggestionRequest) -> ReplySuggestions:
    """Replies to what the customer said last."""
    transcript = transcripts.for_chat(chat)
    if not transcript.of_customer:
        return ReplySuggestions(suggestions=[])
    question = transcript.of_customer[-1]
    language = languages.detect(question, default=chat.language)
    with engines.session(
        chat.client_id, purpose=f"suggestions:{chat.pk}", characters=transcript.characters
    ) as engine:
        found = retrieval.search(chat.bot, question, language=language)
        suggestions = (
            _written(chat, transcript, found, given, engine, language)
            if engine.writer
            else [*_quotes(found, question, language), *_past_replies(chat, question)]
        )
        return ReplySuggestions(suggestions=suggestions[: given.count])


def _translated(client: Client, text: str, *, to: str, purpose: str) -> str:
    with engines.session(
        client.pk, purpose=purpose, characters=2 * len(text), needs_model=True
    ) as engine:
        assert engine.writer
        mask = transcripts.mask_of(client)
        made = engine.pay(engine.writer.translate(mask.hide(text) if mask else text, to=to))
        return mask.reveal(made.text) if mask else made.text


def _base(language: str) -> str:
    return language.split("-")[0].lower()


def _quotes(found: Found, question: str, language: str) -> list[Suggestion]:
    """What each of the best passages says, where they answer the question at all."""
    suggestions = []
    for hit in found.hits:
        # One passage at a time: the answer's own rule would quote the best alone.
        extract = embedded.answer(
            question, language=language, found=replace(found, hits=(hit,)),
            threshold=SHOWN_FROM,
        )  # fmt: skip
        if extract:
            cited = extract.citations[0]
            citation = Citation(
                document_id=cited.document_id, title=cited.title, url=cited.url,
                page=cited.page, quote=cited.quote,
            )  # fmt: skip
            suggestions.append(Suggestion(text=extract.text, citations=[citation]))
    return suggestions


def _past_replies(chat: Conversation, question: str) -> list[Suggestion]:
    """What agents answered to questions like this one, without other customers' data."""
    asked_before = Message.objects.filter(
        conversation=OuterRef("conversation"), seq__lt=OuterRef("seq"),
        sender_type=SenderType.CUSTOMER,
    ).order_by("-seq")  # fmt: skip
    rows: QuerySet[Message] = Message.objects.for_client(chat.client)
    replies = (
        rows.filter(conversation__bot=chat.bot_id, sender_type=SenderType.AGENT, is_note=False)
        .exclude(conversation=chat)
        .exclude(text="")
        .order_by("-id")
        .values_list("text", Subquery(asked_before.values("text")[:1]))
    )
    pairs = [(text, asked) for text, asked in replies[:PAST_REPLIES] if asked]
    fitting = tagging.nearest(question, [asked for _, asked in pairs])
    texts = [pairs[place][0] for place, nearness in fitting if nearness >= REPLY_FITS_FROM]
    return [
        Suggestion(text=Mask().hide(text)[:MAX_SUGGESTION_CHARS], citations=[])
        for text in dict.fromkeys(texts)
    ]


def _written(
    chat: Conversation,
    transcript: transcripts.Transcript,
    found: Found,
    given: SuggestionRequest,
    engine: engines.Session,
    language: str,
) -> list[Suggestion]:
    """A model's replies, each with those of its passages that exist."""
    assert engine.writer
    prompt = Prompt.objects.filter(bot=chat.bot_id, is_current=True).first()
    snippets = [
        Snippet(n, hit.chunk.id, hit.chunk.document_id, hit.chunk.title, hit.chunk.url,
                hit.chunk.text)
        for n, hit in enumerate(found.hits, 1)
    ]  # fmt: skip
    mask = transcripts.mask_of(chat.client)
    drafts = engine.pay(
        engine.writer.suggest(
            transcript.hidden_by(mask),
            snippets,
            count=given.count,
            tone=given.tone or "",
            language=language,
            instructions=prompt.content if prompt else "",
        )
    )
    shown = mask.reveal if mask else str
    return [
        Suggestion(
            text=shown(draft.text),
            citations=[_citation(one) for one in snippets if one.number in draft.snippets],
        )
        for draft in drafts.suggestions
        if draft.text
    ]


def _citation(snippet: Snippet) -> Citation:
    return Citation(
        document_id=snippet.document_id, title=snippet.title, url=snippet.url, page=None,
        quote=snippet.text[:500],
    )  # fmt: skip
