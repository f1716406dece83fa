"""The shapes of the staff's preview of a bot."""

import uuid
from typing import Any, Literal

from pydantic import Field, model_validator

from chatplatform.api.shapes import Language, Shape
from chats.shapes.insight import ChatGptMessage
from chats.shapes.message import Citation, Message, TurnStatus

MAX_MESSAGES = 50


class GenerateChatRequest(Shape):
    """What was said so far, and how the reply is wanted."""

    messages: list[ChatGptMessage] = Field(
        default_factory=list,
        max_length=MAX_MESSAGES,
        description="What was said, at most 50 messages of `user` and `assistant`; the last is of"
        " the `user`. The bot's own instructions are its prompt: `system` and `tool` are refused.",
        examples=[[{"role": "user", "content": "How long do I have to return an order?"}]],
    )
    language: Language | None = Field(
        None, description="Language of the messages; left out: recognised."
    )
    stream: bool = Field(
        False, description="Server-sent events, as with Accept: text/event-stream."
    )

    @model_validator(mode="after")
    def _is_a_dialogue(self) -> "GenerateChatRequest":
        if any(message.role not in {"user", "assistant"} for message in self.messages):
            raise ValueError("messages are of the user and the assistant only")
        texts = [message.content for message in self.messages]
        if any(not text.strip() or len(text) > 8000 for text in texts):
            raise ValueError("each message has 1 to 8,000 characters")
        if self.messages and self.messages[-1].role != "user":
            raise ValueError("the last message is the user's")
        return self

    @property
    def reply(self) -> Literal["wait", "stream"]:
        """How the reply is wanted, in the words of a customer's message."""
        return "stream" if self.stream else "wait"


class Usage(Shape):
    """What a reply took."""

    prompt_tokens: int = Field(description="Tokens read; 0 if no model was asked.")
    completion_tokens: int = Field(description="Tokens written; 0 if no model was asked.")
    credits: int = Field(description="Credits charged.")


class GeneratedChat(Shape):
    """A generated reply."""

    chat_id: uuid.UUID = Field(description="The chat that it stands in; go on there.")
    message: Message | None = Field(
        description="The reply, or what the customer is told at a handover; null while pending."
    )
    status: TurnStatus = Field(description="What became of it, as with a customer's message.")
    handoff_reason: str | None = Field(
        description="Why the bot handed over, if it did. Nobody is notified: it is a preview."
    )
    usage: Usage = Field(description="What it took.")
    engine: str | None = Field(description="`embedded`, `openai_compatible`; null without one.")
    model: str | None = Field(description="The model that wrote it; null without one.")
    citations: list[Citation] = Field(description="What it rests on.")

    @classmethod
    def from_turn(cls, turn: dict[str, Any], receipt: dict[str, Any]) -> dict[str, Any]:
        """A turn, with what the reply's receipt tells of its making."""
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
