"""The schemas of previews, in which the team tries out a bot."""

import uuid
from typing import Any, Literal

from pydantic import Field, model_validator

from chatplatform.api.schemas import NOT_BLANK, Language, Schema
from chats.schemas.message import Citation, Message, MessageText, TurnStatus

MAX_MESSAGES = 50


class PreviewMessage(Schema):
    """A message of a test conversation (preview), in the format of chat models."""

    role: Literal["user", "assistant"] = Field(
        description="Who wrote the message: the customer (`user`) or the bot (`assistant`). The"
        " bot has its own instructions, so there is no `system`."
    )
    content: MessageText = Field(
        description="The text, 1 to 8,000 characters, not blank.", pattern=NOT_BLANK
    )


class GenerateChatRequest(Schema):
    """Messages of a test conversation (preview), and how to return the reply."""

    messages: list[PreviewMessage] = Field(
        default_factory=list,
        max_length=MAX_MESSAGES,
        description="At most 50 messages, the last one from `user`: the whole dialogue for a new"
        " test conversation (preview), only the new messages for an existing one.",
        examples=[[{"role": "user", "content": "How long do I have to return an order?"}]],
    )
    language: Language | None = Field(
        None,
        description="The dialogue's language as a BCP 47 code; detected if left out.",
    )
    stream: bool = Field(
        False,
        description="Whether the response is a stream of server-sent events, which the operation's"
        " description lists, instead of JSON.",
    )

    @model_validator(mode="after")
    def _is_a_dialogue(self) -> "GenerateChatRequest":
        if self.messages and self.messages[-1].role != "user":
            raise ValueError("the last message must have the role user")
        return self

    @property
    def reply(self) -> Literal["wait", "stream"]:
        """How to return the reply, as a value of `ConvMessage.reply`."""
        return "stream" if self.stream else "wait"


class Usage(Schema):
    """The tokens and credits of a reply."""

    prompt_tokens: int = Field(description="Tokens that the model read; 0 without a model.")
    completion_tokens: int = Field(description="Tokens that the model wrote; 0 without a model.")
    credits: int = Field(description="Credits charged for the reply.")


class GeneratedChat(Schema):
    """A generated reply, or why there is none (`status`)."""

    chat_id: uuid.UUID = Field(
        description="The conversation that the reply is in; continue a test conversation with this"
        " id.",
    )
    message: Message | None = Field(
        description="The reply, or the message that announces a handover; null if there is no such"
        " message."
    )
    status: TurnStatus = Field(
        description="`answered`: the bot answered. `asked_again`: the bot has no answer and asked"
        " the customer to rephrase. `pending`: the reply comes later, as a message of the"
        " conversation. `handed_off`: an agent will answer. `not_expected`: the bot will not"
        " answer, for example because an agent has the conversation."
    )
    handoff_reason: str | None = Field(
        description="Why the bot handed over; null if it did not. Test conversations notify nobody."
    )
    usage: Usage = Field(description="The tokens and credits that the reply used.")
    engine: str | None = Field(
        description="The engine that replied: `extractive` (quotes content) or `openai_compatible`"
        " (a language model); null if none did."
    )
    model: str | None = Field(
        description="The model that wrote the reply, or `extractive`; null if no engine replied."
    )
    citations: list[Citation] = Field(description="The passages that support the reply.")

    @classmethod
    def from_turn(cls, turn: dict[str, Any], receipt: dict[str, Any]) -> dict[str, Any]:
        """The fields of a `ChatTurn`, with engine, tokens and credits from the reply's receipt."""
        reply = turn["reply"]
        tokens = receipt.get("usage") or {}
        return {
            "chat_id": turn["message"]["conversation_id"],
            "message": reply,
            "status": turn["status"],
            "handoff_reason": turn["handoff_reason"],
            "usage": {
                "prompt_tokens": tokens.get("prompt_tokens", 0),
                "completion_tokens": tokens.get("completion_tokens", 0),
                "credits": receipt.get("credits", 0),
            },
            "engine": receipt.get("engine"),
            "model": receipt.get("model"),
            "citations": reply["citations"] if reply else [],
        }
