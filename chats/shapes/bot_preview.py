"""The shapes of previews, in which the team tries a bot."""

import uuid
from typing import Any, Literal

from pydantic import Field, model_validator

from chatplatform.api.shapes import Language, Shape
from chats.shapes.insight import ChatGptMessage
from chats.shapes.message import Citation, Message, TurnStatus

MAX_MESSAGES = 50


class GenerateChatRequest(Shape):
    """The dialogue so far, and how to return the reply."""

    messages: list[ChatGptMessage] = Field(
        default_factory=list,
        max_length=MAX_MESSAGES,
        description="The dialogue: at most 50 messages with the role `user` or `assistant`, the"
        " last one `user`. `system` and `tool` are refused, because the bot has its own"
        " instructions.",
        examples=[[{"role": "user", "content": "How long do I have to return an order?"}]],
    )
    language: Language | None = Field(
        None,
        description="The dialogue's language as a BCP 47 code; detected if left out.",
    )
    stream: bool = Field(False, description="Whether to return server-sent events.")

    @model_validator(mode="after")
    def _is_a_dialogue(self) -> "GenerateChatRequest":
        if any(message.role not in {"user", "assistant"} for message in self.messages):
            raise ValueError("messages must have the role user or assistant")
        texts = [message.content for message in self.messages]
        if any(not text.strip() or len(text) > 8000 for text in texts):
            raise ValueError("each message must have 1 to 8,000 characters")
        if self.messages and self.messages[-1].role != "user":
            raise ValueError("the last message must have the role user")
        return self

    @property
    def reply(self) -> Literal["wait", "stream"]:
        """How to return the reply, as a value of `ConvMessage.reply`."""
        return "stream" if self.stream else "wait"


class Usage(Shape):
    """The tokens and credits of a reply."""

    prompt_tokens: int = Field(description="Tokens that the model read; 0 without a model.")
    completion_tokens: int = Field(description="Tokens that the model wrote; 0 without a model.")
    credits: int = Field(description="Credits charged for the reply.")


class GeneratedChat(Shape):
    """A generated reply."""

    chat_id: uuid.UUID = Field(
        description="The conversation that the reply is in; continue a preview with this id.",
    )
    message: Message | None = Field(
        description="The reply, or the message that announces a handover; null while pending."
    )
    status: TurnStatus
    handoff_reason: str | None = Field(
        description="Why the bot handed over; null if it did not. A preview notifies nobody."
    )
    usage: Usage = Field(description="The tokens and credits that the reply used.")
    engine: str | None = Field(
        description="The engine that replied: `extractive` (quotes, without a model) or"
        " `openai_compatible` (a language model); null if none did."
    )
    model: str | None = Field(description="The model that wrote the reply; null if none did.")
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
