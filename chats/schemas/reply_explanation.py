"""The schemas of a receipt, which explains a message of the bot or the platform."""

import uuid
from collections.abc import Iterable
from typing import Self

from pydantic import BaseModel, Field, ValidationError

from bots.models import Chunk
from bots.schemas.search import CONFIDENCE
from chatplatform.api.schemas import Schema
from chats import models
from chats.schemas.bot_preview import Usage


class StoredPassage(BaseModel):
    id: int
    score: float


class StoredUsage(BaseModel):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class StoredStep(BaseModel):
    line: int | None = None
    kind: str
    name: str | None = None
    result: str
    by: str | None = None
    call_id: str | None = None
    error: str | None = None


class StoredWaiting(BaseModel):
    asks: str


class StoredProcedure(BaseModel):
    name: str
    steps: list[StoredStep] = []
    waiting: StoredWaiting | None = None


class StoredReceipt(BaseModel):
    """A receipt as stored with a message; unknown fields are ignored."""

    decision: str | None = None
    handoff_reason: str | None = None
    confidence: float | None = None
    threshold: float | None = None
    chunks: list[StoredPassage] = []
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
    before_handoff: str | None = None
    passed_over: str | None = None
    asked_again: bool = False
    while_waiting: bool = False
    procedure: StoredProcedure | None = None

    @classmethod
    def from_row(cls, row: models.Message) -> "StoredReceipt":
        """The message's receipt; an empty one if the stored JSON does not fit the schema, since an
        imported message may have any JSON."""
        try:
            return cls.model_validate(row.receipt)
        except ValidationError:
            return cls()


class Passage(Schema):
    """A passage that the search found. If its document was retrained or deleted since, only the
    passage's id and score remain, and the other fields are null."""

    chunk_id: int = Field(description="The passage's id.")
    score: float = Field(
        description="How well the passage fits, as the search ranks it: higher is better;"
        " comparable only within one receipt."
    )
    document_id: int | None = Field(
        description="The id of the document that contains the passage, for *Get Document By Id*."
    )
    title: str | None = Field(description="The document's title, or its file name.")
    url: str | None = Field(description="The document's URL; null if it has none.")
    page: int | None = Field(
        description="The page number in the document, from 1; null if it has no pages."
    )
    text: str | None = Field(description="The passage's current text.")

    @classmethod
    def of(cls, chunk_id: int, score: float, row: Chunk | None) -> "Passage":
        document = row.document if row else None
        return cls(
            chunk_id=chunk_id,
            score=score,
            document_id=document.pk if document else None,
            title=(document.title or document.file_name) if document else None,
            url=(document.url or None) if document else None,
            page=row.page if row else None,
            text=row.text if row else None,
        )


class ProcedureStep(Schema):
    """A step of a procedure, with its result."""

    line: int | None = Field(description="The step's line in the procedure; null for `end`.")
    kind: str = Field(description="`ask`, `call`, `if`, `confirm`, `say` or `end`.")
    name: str | None = Field(
        description="The name of the value that the step asks for, or of the function that it"
        " calls; null for other steps."
    )
    result: str = Field(
        description="The result of an `ask`: `asked`, `given` (by the customer) or `known` (from"
        " before). Of a `confirm`: `asked` or `yes`. Of an `if`: `yes`, `no` or `unknown`. Of a"
        " `call`: the call's status, or `waiting` for an approval. Of the `end`: `done`,"
        " `declined`, `handed_over`, `failed`, `undecided` (a condition could not be decided) or"
        " `not_given` (the customer gave no usable value)."
    )
    by: str | None = Field(
        description="What decided an `if`: `rule` or `model`; null for other steps."
    )
    call_id: str | None = Field(
        description="The id of the function call in its log; null if none was made."
    )
    error: str | None = Field(
        description="What was wrong with the values for a call; null if nothing was."
    )


class ProcedureTrace(Schema):
    """What a procedure did for one message."""

    name: str = Field(description="The procedure's name at that time.")
    waits_for: str | None = Field(
        description="The kind of the step at which the procedure waits for the customer (`ask`,"
        " `confirm`) or for an approval (`call`); null at the procedure's end."
    )
    steps: list[ProcedureStep] = Field(description="The steps run for the message, in order.")

    @classmethod
    def of(cls, stored: StoredProcedure | None) -> "ProcedureTrace | None":
        if stored is None:
            return None
        steps = [ProcedureStep(**step.model_dump()) for step in stored.steps]
        waits_for = stored.waiting.asks if stored.waiting else None
        return cls(name=stored.name, waits_for=waits_for, steps=steps)


class ReplyReceipt(Schema):
    """How a message of the bot or the platform came about. Fields that do not apply are null."""

    message_id: uuid.UUID = Field(description="The message's id.")
    answers: list[uuid.UUID] = Field(
        description="The customer's messages that the reply answers; a burst of messages gets one"
        " reply."
    )
    decision: str | None = Field(
        description="What decided the message. `answered`: the bot had an answer. `small_talk`: it"
        " replied to a greeting, thanks or the like. No answer: `below_gate` (the confidence was"
        " below the threshold), `nothing_to_quote` (no sentence of the passages answers the"
        " question), `model_refused` (the model found no answer in the passages), `no_answer` (no"
        " passage supports the model's answer), `engine_failed`, `credits_used_up`. Function calls:"
        " `approval_needed`, `customer_declined`, `agent_declined`. `handoff_not_wanted`: a"
        " handover would be due, but your settings exclude it. `procedure`: a procedure ran."
        " `procedure_changed`: it was changed while it waited. Customer-info fields: `info_given`,"
        " `info_declined`, `info_wrong`. `feedback_asked`: the request for a rating."
    )
    asks_for: str | None = Field(
        description="The customer-info field that the message asks for; null if none."
    )
    before_handoff: str | None = Field(
        description="Why the bot will hand over once the customer has answered the question for"
        " `asks_for`; null if it will not."
    )
    filled: list[str] = Field(
        description="The customer-info fields that the customer's message filled in."
    )
    passed_over: str | None = Field(
        description="The customer-info field that the customer ignored, which the bot will ask for"
        " once more later; null if none."
    )
    asked_again: bool = Field(
        description="Whether the bot asks the customer to rephrase, instead of handing over.",
    )
    while_waiting: bool = Field(description="Whether the conversation was waiting for an agent.")
    handoff_reason: str | None = Field(
        description="Why the conversation was handed over; null if it was not.",
    )
    confidence: float | None = Field(description=f"{CONFIDENCE}; null if there was no search.")
    threshold: float | None = Field(
        description="The confidence that an answer needed at that time, 0..1."
    )
    passages: list[Passage] = Field(description="The passages that the search found, best first.")
    knowledge_version: int | None = Field(
        description="The version of the bot's content at that time."
    )
    prompt_version: int | None = Field(
        description="The version of the bot's instructions, if a model was asked."
    )
    engine: str | None = Field(
        description="`extractive`, `openai_compatible`, or `external` for your own assistant."
    )
    model: str | None = Field(
        description="The name of the model that was asked, as its server calls it."
    )
    engine_error: str | None = Field(description="Why the model failed; null if it did not.")
    call_ids: list[str] = Field(description="The ids of the function calls made or proposed.")
    usage: Usage = Field(description="The tokens used and the credits charged.")
    procedure: ProcedureTrace | None = Field(
        description="What a procedure did for the message; null if none was run."
    )

    @classmethod
    def of(cls, message: models.Message, receipt: StoredReceipt, passages: Iterable[Chunk]) -> Self:
        """The receipt of a message, with the passages' current text from `passages`."""
        by_id = {passage.pk: passage for passage in passages}
        replied_to = [message.in_reply_to_id] if message.in_reply_to_id else []
        tokens = receipt.usage or StoredUsage()
        return cls.copy_from(
            receipt,
            message_id=message.pk,
            procedure=ProcedureTrace.of(receipt.procedure),
            answers=receipt.answers or replied_to,
            passages=[
                Passage.of(found.id, found.score, by_id.get(found.id)) for found in receipt.chunks
            ],
            call_ids=[*(receipt.calls or ()), *([receipt.call_id] if receipt.call_id else ())],
            usage=Usage(
                prompt_tokens=tokens.prompt_tokens,
                completion_tokens=tokens.completion_tokens,
                credits=receipt.credits or 0,
            ),
        )
