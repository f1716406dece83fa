"""The callbacks of telegram; each contains one update of a bot."""

from typing import Any

from pydantic import Field

from channels_app.schemas.graph_callback import Tolerant
from chatplatform.api.schemas import MAX_ID, example


class TelegramUpdate(Tolerant):
    """One update of a bot; it has one of the fields after `update_id`."""

    model_config = example(
        update_id=9,
        message={"message_id": 7, "from": {"id": 5}, "chat": {"id": 5}, "text": "hello"},
    )

    update_id: int | None = Field(
        None, ge=0, le=MAX_ID, description="The provider's number of the update."
    )
    message: dict[str, Any] | None = Field(None, description="A customer's message.")
    edited_message: dict[str, Any] | None = Field(
        None, description="A message that the customer edited."
    )
    callback_query: dict[str, Any] | None = Field(None, description="A tapped button.")
    my_chat_member: dict[str, Any] | None = Field(
        None, description="The customer blocked or unblocked the bot."
    )
    message_reaction: dict[str, Any] | None = Field(None, description="A customer's reaction.")
