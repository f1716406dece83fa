"""Translates and summarizes texts, suggests replies, and rewrites agents' texts."""

from collections.abc import Sequence
from dataclasses import asdict, replace

from bots.engine import Capability, rule_based_summary, text_tasks
from bots.engine.groundedness import SourceCheck
from bots.engine.openai_compatible import OpenAICompatible
from bots.engine.types import Line, Snippet
from bots.ingest import chunking
from bots.language import detection, embedding, phrasebook
from bots.language.normalization import QUESTION_MARKS
from bots.models import Bot
from bots.search import answer_extraction
from bots.search.question_splitting import Part
from bots.services import engines, prompt_versions, retrieval
from chatplatform import jobs
from chatplatform.api.schemas import LANGUAGE_PATTERN, canonical_language
from chats.models import Conversation, Message, SenderType
from chats.schemas.agent_assist import (
    MAX_TRANSLATED_CHARS,
    ReplySuggestions,
    RewriteRequest,
    RewrittenText,
    Suggestion,
    SuggestionRequest,
    SummarizeRequest,
    SummarizeResponse,
    TranslationRequest,
    TranslationResponse,
)
from chats.schemas.message import Citation
from chats.services.core import message_status
from chats.services.insight import public_key_credit_cap, transcripts
from identity.models import Client

# The BCP 47 code for an undetermined language.
UNDETERMINED = "und"
# A suggestion at least this similar to a customer's message counts as a repetition. Replies that
# agents write are less similar.
_REPETITION_SIMILARITY = 0.94
MAX_SUGGESTION_CHARS = 3_000
# The minimum score of suggested passages. It is lower than for a bot's quotes, because an agent
# decides what is sent.
_MIN_SUGGESTION_SCORE = 0.3


def translate(client: Client, body: TranslationRequest) -> TranslationResponse:
    """Translate a text with the model. The response names the source language that the platform
    recognizes or, failing that, the model names."""
    draft = _translate_text(client, body.text, to=body.out_lang_code, purpose="translation")
    named_by_model = canonical_language(draft.source_language)
    is_code = LANGUAGE_PATTERN.fullmatch(named_by_model)
    return TranslationResponse(
        text=draft.text,
        in_lang_code=detection.recognize(body.text)
        or (named_by_model if is_code else UNDETERMINED),
        out_lang_code=body.out_lang_code,
        engine=OpenAICompatible.name,
    )


def translate_message(message_id: str, *, to: str) -> None:
    """Translate a message and store the translation with it, unless there is one in this language,
    or the bot has no model."""
    rows = Message.objects.select_related("client__config", "conversation__bot")
    message = rows.filter(pk=message_id).first()
    if message is None or not message.text or to in message.translations:
        return
    bot = message.conversation.bot
    if Capability.WRITE not in engines.engine_for(message.client, bot).capabilities:
        return
    with public_key_credit_cap.paid_work(message.conversation) as key_id:
        draft = _translate_text(
            message.client,
            message.text[:MAX_TRANSLATED_CHARS],
            to=to,
            purpose=f"message:{message.pk}",
            bot=bot,
            # The cap limits costs that visitors cause, so it does not apply to agents' messages.
            key_id=key_id if message.sender_type == SenderType.CUSTOMER else None,
        )
        _store_translation(message, draft.text, to=to)


def _store_translation(message: Message, text: str, *, to: str) -> None:
    """Store a translation, unless the text has changed meanwhile; the new text has its own job."""
    with jobs.commit():
        chat, row = message_status.lock(message)
        if row.text != message.text:
            return
        message_status.write(row, translations={**row.translations, to: text})
        message_status.record_translated(row)
        if not chat.is_preview:
            message_status.announce_message(chat, "message.updated", row)


def summarize(client: Client, body: SummarizeRequest) -> SummarizeResponse:
    """Summarize a text or messages: in a model's words or, without a model, by quoting them."""
    lines = tuple(
        Line("customer" if message.role == "user" else "assistant", message.content)
        for message in body.messages or ()
        if message.role in {"user", "assistant"}
    )
    text = body.text or "\n\n".join(
        f"{message.role}: {message.content}" for message in body.messages or ()
    )
    language = body.language or detection.detect(text, default=client.default_language)
    with engines.paid_work(client, purpose="summarize", characters=len(text)) as work:
        if work.uses_model:
            mask = transcripts.mask_for(client)
            draft = work.complete(
                text_tasks.summarize_text(
                    mask.hide(text), max_words=body.max_words, language=language
                )
            )
            summary = mask.reveal(draft.summary)
            points = [mask.reveal(point) for point in draft.key_points]
        elif lines:
            parts = rule_based_summary.of_conversation(
                lines, language=language, tags=(), sentiment=None
            )
            summary, points = parts.summary, parts.key_points
        else:
            summary, points = rule_based_summary.of_text(text, max_words=body.max_words)
        return SummarizeResponse(summary=summary, key_points=points, engine=work.engine.name)


def suggest(chat: Conversation, body: SuggestionRequest) -> ReplySuggestions:
    """Suggest replies to the customer's open question, if there is one."""
    transcript = transcripts.for_chat(chat)
    if not transcript.customer_texts:
        return ReplySuggestions(suggestions=[])
    language = detection.detect(transcript.customer_texts[-1], default=chat.language)
    question, topics = rule_based_summary.open_request(transcript.lines, language=language)
    if not question:
        return ReplySuggestions(suggestions=[])
    with engines.paid_work(
        chat.client,
        bot=chat.bot,
        purpose=f"suggestions:{chat.pk}",
        characters=transcript.characters,
    ) as work:
        parts = retrieval.find(
            chat.bot, question, language=language, topics=topics, threshold=_MIN_SUGGESTION_SCORE
        )
        suggestions = (
            _suggest_by_model(chat, transcript, parts, body, work, language=language)
            if work.uses_model
            else _suggest_quotes(parts, language)
        )
        return ReplySuggestions(suggestions=suggestions[: body.count])


def rewrite(chat: Conversation, body: RewriteRequest) -> RewrittenText:
    """Rewrite an agent's text with the model, which must keep the text's figures, links and
    addresses."""
    with engines.paid_work(
        chat.client,
        bot=chat.bot,
        purpose=f"rewrite:{chat.pk}",
        characters=2 * len(body.text),
        needs_model=True,
    ) as work:
        mask = transcripts.mask_for(chat.client)
        task = text_tasks.rewrite(mask.hide(body.text), style=body.style, to=chat.language)
        return RewrittenText(text=mask.reveal(work.complete(task).text))


def _translate_text(
    client: Client,
    text: str,
    *,
    to: str,
    purpose: str,
    bot: Bot | None = None,
    key_id: int | None = None,
) -> text_tasks.TranslationDraft:
    with engines.paid_work(
        client,
        bot=bot,
        purpose=purpose,
        characters=2 * len(text),
        needs_model=True,
        key_id=key_id,
    ) as work:
        mask = transcripts.mask_for(client)
        draft = work.complete(text_tasks.translate(mask.hide(text), to=to))
        return draft.model_copy(update={"text": mask.reveal(draft.text)})


def _suggest_quotes(parts: Sequence[Part], language: str) -> list[Suggestion]:
    """Suggestions without a model: what the bot would quote, then a quote from each other
    passage."""
    whole = answer_extraction.extract_all(parts, language=language, threshold=_MIN_SUGGESTION_SCORE)
    extracts = [whole] if whole else []
    for part in parts:
        for hit in part.result.hits:
            single = replace(part.result, hits=(hit,))
            extract = answer_extraction.extract(
                part.text, language=language, result=single, threshold=_MIN_SUGGESTION_SCORE
            )
            if extract and not any(extract.text in earlier.text for earlier in extracts):
                extracts.append(extract)
    return [
        Suggestion(
            text=extract.text[:MAX_SUGGESTION_CHARS],
            citations=[Citation(**asdict(citation)) for citation in extract.citations],
        )
        for extract in extracts
        if _has_statement(extract.text)
    ]


def _suggest_by_model(
    chat: Conversation,
    transcript: transcripts.Transcript,
    parts: Sequence[Part],
    body: SuggestionRequest,
    work: engines.MeteredWork,
    *,
    language: str,
) -> list[Suggestion]:
    """The replies that a model suggests, each with the passages that it cites.

    A reply is dropped if it:
    - cites no passage, or only asks questions
    - is not grounded in its passages (see `_is_grounded`)
    - contains a figure, link or address that neither its passages nor the chat contain
    - reports that something was done
    - repeats the customer
    - is not confirmed by the model, asked as a judge
    """
    snippets = retrieval.snippets(part.result for part in parts)
    if not snippets:
        work.waive_charge()
        return []
    prompt = prompt_versions.find_current(chat.bot_id)
    mask = transcripts.mask_for(chat.client)
    lines = transcript.masked(mask)
    drafts = work.complete(
        text_tasks.suggest_replies(
            lines,
            snippets,
            count=body.count,
            language=language,
            instructions=prompt_versions.instructions_of(prompt, tone=body.tone),
        )
    )
    suggested: dict[str, Suggestion] = {}
    for draft in drafts.suggestions:
        text = mask.reveal(draft.text)
        cited = [snippet for snippet in snippets if snippet.number in draft.snippets]
        sources = SourceCheck.of_snippets(cited, *(line.text for line in transcript.lines))
        is_good = (
            cited
            and _has_statement(text)
            and sources.facts_supported(text)
            and not phrasebook.reports_action(text)
            and not _repeats_customer(text, transcript)
            and _is_grounded(cited, text, transcript, language=language)
        )
        if is_good:
            citations = [Citation(**asdict(snippet.citation)) for snippet in cited]
            suggested.setdefault(draft.text, Suggestion(text=text, citations=citations))
    confirmed = work.confirmed([*suggested], lines=lines, snippets=snippets)
    return [suggested[text] for text in confirmed]


def _has_statement(text: str) -> bool:
    """Whether a reply has a sentence that is not a question."""
    sentences = (sentence.strip() for sentence in chunking.split_sentences(text))
    return any(sentence and not sentence.endswith(QUESTION_MARKS) for sentence in sentences)


def _is_grounded(
    cited: Sequence[Snippet], text: str, transcript: transcripts.Transcript, *, language: str
) -> bool:
    """Whether a reply is based on its passages and not on the customer's words.

    Most of its words are in the passages, or its meaning is nearer to one of their sentences than
    to the customer's latest two messages and to questions that customers ask any business.
    """
    if SourceCheck.of_snippets(cited).mostly_supports(text):
        return True
    passages = (
        (sentence, detection.detect(snippet.text, default=language))
        for snippet in cited
        for sentence in chunking.split_sentences(snippet.text)
    )
    asked = [*transcript.customer_texts[-2:], *embedding.GENERIC.get(language, ())]
    return embedding.is_nearer(text, passages, asked, language=language)


def _repeats_customer(text: str, transcript: transcripts.Transcript) -> bool:
    """Whether a reply repeats one of the customer's latest two messages."""
    latest = transcript.customer_texts[-2:]
    is_near = embedding.available() and embedding.is_near(text, latest, _REPETITION_SIMILARITY)
    return text in latest or is_near
