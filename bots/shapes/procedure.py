"""Request and response shapes of a bot's procedures."""

from typing import Annotated

from pydantic import Field, model_validator

from bots.models import Bot
from chatplatform.api.shapes import NOT_BLANK, Shape, Text, example

MAX_PROCEDURES = 10
MAX_CHARS = 5_000
Example = Annotated[Text, Field(min_length=1, max_length=200, pattern=NOT_BLANK)]


class Procedure(Shape):
    """What the bot does step by step when a customer wants something."""

    name: Text = Field(
        min_length=1,
        max_length=60,
        pattern=NOT_BLANK,
        description="The procedure's name; unique per bot.",
    )
    starts_with: list[Example] = Field(
        min_length=1,
        max_length=10,
        description="What customers say to start the procedure, at most 10 examples. A message"
        " that says nearly the same, or that a model finds fitting, starts it.",
    )
    steps: Text = Field(
        min_length=1,
        max_length=MAX_CHARS,
        pattern=NOT_BLANK,
        description="The steps, a line each: `ask`, `call`, `confirm`, `say`, `if`, `else`, `hand"
        " over`, `end`. 422 names the line that is wrong.",
    )
    is_enabled: bool = Field(True, description="Whether customers' messages start the procedure.")


class Procedures(Shape):
    """The procedures of a bot."""

    model_config = example(
        procedures=[
            {
                "name": "Refund",
                "starts_with": ["I want my money back"],
                "steps": "ask order_number: What's your order number?\n"
                "confirm: Refund order {order_number}?\nhand over",
            }
        ]
    )

    procedures: list[Procedure] = Field(
        max_length=MAX_PROCEDURES, description="All of them, at most 10; a PUT replaces them."
    )

    @model_validator(mode="after")
    def _names_differ(self) -> "Procedures":
        names = {procedure.name.casefold() for procedure in self.procedures}
        if len(names) != len(self.procedures):
            raise ValueError("each procedure needs a name of its own")
        return self

    @classmethod
    def from_bot(cls, bot: Bot) -> "Procedures":
        return cls.model_construct(procedures=[Procedure(**stored) for stored in bot.procedures])
