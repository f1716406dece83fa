"""The shape of a receipt: why a bot's message says what it says."""

import uuid
from collections.abc import Iterable
from typing import Self

from pydantic import BaseModel, Field, ValidationError

from bots.models import Chunk
from chatplatform.api.shapes import Shape
from chats import models
from chats.shapes.bot_preview import Usage


class StoredChunk(BaseModel):
    id: int
    score: float


class StoredUsage(BaseModel):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class StoredReceipt(BaseModel):
    """A receipt as it is stored with a message; unknown fields are left out."""

    decision: str | None = None
    handoff_reason: str | None = None
    confidence: float | None = None
    threshold: float | None = None
    chunks: list[StoredChunk] = []
    knowledge_version: int | None = None
    prompt_version: int | None = None
    engine: str | None = None
    model: str | None = None
    engine_error: str | None = None
    usage: StoredUsage | None = None
    credits: int | None = None
    calls: list[str] | None = None
    call_id: str | None = None
    answers: list[uuid.UUID] = []
    asks_for: str | None = None
    filled: list[str] = []
    passed_over: str | None = None
    asked_again: bool = False
    while_waiting: bool = False

    @classmethod
    def from_row(cls, row: models.Message) -> "StoredReceipt":
        """Empty if it has another form: a message may be imported with any."""
        try:
            return cls.model_validate(row.receipt)
        except ValidationError:
            return cls()


class Passage(Shape):
    """A passage that the search found. What it says is null if it was trained anew or deleted."""

    chunk_id: int = Field(description="Its number.")
    score: float = Field(description="How well it fits; comparable only within one receipt.")
    document_id: int | None = Field(description="The document that it is from.")
    title: str | None = Field(description="The document's title.")
    url: str | None = Field(description="The document's web address, if it has one.")
    page: int | None = Field(description="Page of the document, from 1, if it has pages.")
    text: str | None = Field(description="The passage as it is now.")

    @classmethod
    def from_chunk(cls, chunk_id: int, score: float, chunk: Chunk | None) -> "Passage":
        document = chunk.document if chunk else None
        return cls(
            chunk_id=chunk_id,
            score=score,
            document_id=document.pk if document else None,
            title=(document.title or document.file_name) if document else None,
            url=(document.url or None) if document else None,
            page=chunk.page if chunk else None,
            text=chunk.text if chunk else None,
        )


class ReplyReceipt(Shape):
    """How a message of the bot, or of the platform, came about. Null is what did not apply."""

    message_id: uuid.UUID = Field(description="The message.")
    answers: list[uuid.UUID] = Field(
        description="The customer's messages that it answers, several if they came in a burst."
    )
    decision: str | None = Field(
        description="What was decided: `answered`, `small_talk`, `below_gate` (nothing fits well"
        " enough), `nothing_to_quote`, `no_answer`, `model_refused`, `engine_failed`,"
        " `credits_used_up`, `approval_needed`, `customer_declined`, `agent_declined`,"
        " `handoff_not_wanted`, `info_given`, `info_declined`, `info_wrong` (what the customer said"
        " to a customer-info field)."
    )
    asks_for: str | None = Field(
        description="The customer-info field that the message asks the customer for."
    )
    filled: list[str] = Field(
        description="The customer-info fields that the customer's words have filled."
    )
    passed_over: str | None = Field(
        description="The customer-info field that the customer's words passed over: it is asked"
        " for once more, later."
    )
    asked_again: bool = Field(
        description="Whether it asks for other words, instead of handing the chat over."
    )
    while_waiting: bool = Field(description="Whether the chat waited for an agent meanwhile.")
    handoff_reason: str | None = Field(description="Why the chat was handed over, if it was.")
    confidence: float | None = Field(
        description="The probability, 0..1, that the passages hold the answer."
    )
    threshold: float | None = Field(
        description="The confidence from which the bot answered then, 0..1."
    )
    passages: list[Passage] = Field(description="What the search found, the best first.")
    knowledge_version: int | None = Field(description="State of the bot's training then.")
    prompt_version: int | None = Field(description="The prompt's version, if a model was asked.")
    engine: str | None = Field(
        description="`embedded`, `openai_compatible`, or `external` for your own assistant."
    )
    model: str | None = Field(description="The model.")
    engine_error: str | None = Field(description="Why the model failed, if it did.")
    call_ids: list[str] = Field(description="The function calls that were made or proposed.")
    usage: Usage = Field(description="Tokens, and the credits that were charged.")

    @classmethod
    def of(cls, message: models.Message, receipt: StoredReceipt, chunks: Iterable[Chunk]) -> Self:
        """The stored receipt, with the passages as they are now."""
        by_id = {chunk.pk: chunk for chunk in chunks}
        replied_to = [message.in_reply_to_id] if message.in_reply_to_id else []
        tokens = receipt.usage or StoredUsage()
        return cls.copy_from(
            receipt,
            message_id=message.pk,
            answers=receipt.answers or replied_to,
            passages=[
                Passage.from_chunk(found.id, found.score, by_id.get(found.id))
                for found in receipt.chunks
            ],
            call_ids=[*(receipt.calls or ()), *([receipt.call_id] if receipt.call_id else ())],
            usage=Usage(
                prompt_tokens=tokens.prompt_tokens,
                completion_tokens=tokens.completion_tokens,
                credits=receipt.credits or 0,
            ),
        )
