"""Language tasks: translations, summaries, suggested replies, and agents' texts rewritten."""

from collections.abc import Sequence
from dataclasses import asdict, replace

from bots.engine import Capability, rule_based_summary, text_tasks
from bots.engine.groundedness import SourceCheck
from bots.engine.openai_compatible import OpenAICompatible
from bots.engine.types import Line
from bots.language import detection, embedding, phrasebook
from bots.language.normalization import QUESTION_MARKS
from bots.models import Bot
from bots.quoting import quotation
from bots.quoting.question_splitting import Part
from bots.services import engines, prompt_versions, retrieval
from chatplatform import jobs
from chatplatform.api.shapes import LANGUAGE_PATTERN, canonical_language
from chats.models import Conversation, Message, SenderType
from chats.services.core import message_status
from chats.services.insight import public_key_credit_cap, transcripts
from chats.shapes.insight import (
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
from chats.shapes.message import Citation
from identity.models import Client

# The code of BCP 47 for an undetermined language.
UNDETERMINED = "und"
# A suggestion at least this similar to the customer's own message repeats it; agents' replies are
# less similar.
_LIKE_THE_CUSTOMER = 0.94
MAX_SUGGESTION_CHARS = 3_000
# An agent decides what to send, so passages are shown that are too uncertain for a bot to quote.
SHOWN_FROM = 0.3


def translate(client: Client, body: TranslationRequest) -> TranslationResponse:
    """Translate a text with the model, which also names the source language if our own detection
    does not."""
    draft = _translated(client, body.text, to=body.out_lang_code, purpose="translation")
    named = canonical_language(draft.source_language)
    known = LANGUAGE_PATTERN.fullmatch(named)
    return TranslationResponse(
        text=draft.text,
        in_lang_code=detection.recognise(body.text) or (named if known else UNDETERMINED),
        out_lang_code=body.out_lang_code,
        engine=OpenAICompatible.name,
    )


def translate_message(message_id: str, *, to: str) -> None:
    """Translate a message and store the translation with it, unless it has one in this language."""
    rows = Message.objects.select_related("client__config", "conversation__bot")
    message = rows.filter(pk=message_id).first()
    if message is None or not message.text or to in message.translations:
        return
    bot = message.conversation.bot
    if Capability.WRITE not in engines.engine_for(message.client, bot).capabilities:
        return
    with public_key_credit_cap.paid_work(message.conversation) as key_id:
        draft = _translated(
            message.client,
            message.text[:MAX_TRANSLATED_CHARS],
            to=to,
            purpose=f"message:{message.pk}",
            bot=bot,
            # The cap is for costs that visitors cause, which agents' messages are not.
            key_id=key_id if message.sender_type == SenderType.CUSTOMER else None,
        )
        _store_translation(message, draft.text, to=to)


def _store_translation(message: Message, text: str, *, to: str) -> None:
    """Store a translation unless the text has changed; the new text then has a job of its own."""
    with jobs.commit():
        chat, row = message_status.lock(message)
        if row.text != message.text:
            return
        message_status.write(row, translations={**row.translations, to: text})
        message_status.record_translated(row)
        if not chat.is_preview:
            message_status.announce_message(chat, "message.updated", row)


def summarise(client: Client, body: SummarizeRequest) -> SummarizeResponse:
    """Summarise a text or messages: in a model's words, or by rules from the text's own."""
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
        if work.is_written:
            mask = transcripts.mask_for(client)
            draft = work.complete(
                text_tasks.summarise_text(
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
    """Suggest replies to the customer's question that is still open; none if there is none."""
    transcript = transcripts.for_chat(chat)
    if not transcript.of_customer:
        return ReplySuggestions(suggestions=[])
    language = detection.detect(transcript.of_customer[-1], default=chat.language)
    question, topics = rule_based_summary.open_request(transcript.lines, language=language)
    if not question:
        return ReplySuggestions(suggestions=[])
    with engines.paid_work(
        chat.client,
        bot=chat.bot,
        purpose=f"suggestions:{chat.pk}",
        characters=transcript.characters,
    ) as work:
        found = retrieval.find(
            chat.bot, question, language=language, topics=topics, threshold=SHOWN_FROM
        )
        suggestions = (
            _by_model(chat, transcript, found, body, work, language=language)
            if work.is_written
            else _quotes(found, language)
        )
        return ReplySuggestions(suggestions=suggestions[: body.count])


def rewrite(chat: Conversation, body: RewriteRequest) -> RewrittenText:
    """Rewrite an agent's text with the model; figures, links and addresses stay."""
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


def _translated(
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


def _quotes(found: Sequence[Part], language: str) -> list[Suggestion]:
    """What the bot itself would quote, then each further passage alone."""
    whole = quotation.extract_all(found, language=language, threshold=SHOWN_FROM)
    extracts = [whole] if whole else []
    for part in found:
        for hit in part.result.hits:
            single = replace(part.result, hits=(hit,))
            extract = quotation.extract(
                part.text, language=language, result=single, threshold=SHOWN_FROM
            )
            if extract and not any(extract.text in earlier.text for earlier in extracts):
                extracts.append(extract)
    return [
        Suggestion(
            text=extract.text[:MAX_SUGGESTION_CHARS],
            citations=[Citation(**asdict(citation)) for citation in extract.citations],
        )
        for extract in extracts
    ]


def _by_model(
    chat: Conversation,
    transcript: transcripts.Transcript,
    found: Sequence[Part],
    body: SuggestionRequest,
    work: engines.MeteredWork,
    *,
    language: str,
) -> list[Suggestion]:
    """A model's replies, each with the existing passages that it cites.

    A reply is dropped if it cites none and is not a question, if it has a figure, link or address
    that its passages and the chat lack, or if it reports that something was done.
    """
    prompt = prompt_versions.find_current(chat.bot_id)
    snippets = retrieval.snippets(part.result for part in found)
    mask = transcripts.mask_for(chat.client)
    drafts = work.complete(
        text_tasks.suggest_replies(
            transcript.hidden_by(mask),
            snippets,
            count=body.count,
            language=language,
            instructions=prompt_versions.instructions_of(prompt, tone=body.tone),
        )
    )
    suggestions = []
    for draft in drafts.suggestions:
        text = mask.reveal(draft.text)
        cited = [snippet for snippet in snippets if snippet.number in draft.snippets]
        sources = SourceCheck.of_snippets(cited, *(line.text for line in transcript.lines))
        is_good = (
            (cited or text.endswith(QUESTION_MARKS))
            and sources.facts_supported(text)
            and not phrasebook.reports_action(text)
            and not _speaks_as_customer(text, transcript)
        )
        if text and is_good:
            citations = [Citation(**asdict(snippet.citation)) for snippet in cited]
            suggestions.append(Suggestion(text=text, citations=citations))
    return suggestions


def _speaks_as_customer(text: str, transcript: transcripts.Transcript) -> bool:
    """Whether a reply repeats one of the customer's latest two messages."""
    lately = transcript.of_customer[-2:]
    is_near = embedding.available() and embedding.is_near(text, lately, _LIKE_THE_CUSTOMER)
    return text in lately or is_near
