"""Request and response schemas of a bot's procedures."""

from typing import Annotated

from django.utils.translation import gettext
from pydantic import Field, model_validator

from bots.models import Bot
from chatplatform.api.schemas import NOT_BLANK, Schema, Text, example

MAX_PROCEDURES = 10
MAX_CHARS = 5_000
Example = Annotated[Text, Field(min_length=1, max_length=200, pattern=NOT_BLANK)]


class Procedure(Schema):
    """The steps that the bot follows for one kind of request, such as a refund."""

    name: Text = Field(
        min_length=1,
        max_length=60,
        pattern=NOT_BLANK,
        description="The procedure's name; unique per bot.",
    )
    starts_with: list[Example] = Field(
        min_length=1,
        max_length=10,
        description="Examples of messages that start the procedure, at most 10. Messages that say"
        " nearly the same also start it, and so do others if a model decides that it fits.",
    )
    steps: Text = Field(
        min_length=1,
        max_length=MAX_CHARS,
        pattern=NOT_BLANK,
        description="The steps, one per line, at most 40. `ask NAME: question` asks the customer"
        " for a value, unless one of this name is known already; NAME has at most 40 letters,"
        " digits and `_`, a letter first. `ask NAME (TYPE): question` accepts only a `text`,"
        " `number`, `email`, `phone`, `date` or `one of: a, b`, which offers these choices."
        " `call FUNCTION` calls one of the bot's functions or an MCP server's tool; see"
        " *Get Function Calling Config*. A parameter with the same name as a value that was"
        " asked for gets this value; `call FUNCTION with name = value, name = {NAME}` sets other"
        " parameters. `if CONDITION:` runs the lines below it that are indented further, or the"
        " step after the colon, if the condition is true; `else:` can follow, indented like its"
        " `if`. A condition is `{NAME} > 30` (also `<`, `>=`, `<=`, `=`, `!=`, `is`, `is not`; for"
        " numbers, dates and texts), `{NAME} is older than 30 days` (a date), `FUNCTION failed`, or"
        " any other words, which the language model judges. A condition that cannot be decided,"
        " such as one in words without a model, hands the conversation over; so does a failed call,"
        " unless the next step is `if FUNCTION failed`. `confirm: question` continues if the"
        " customer says yes; a no ends the procedure. `say: text` sends a text. `hand over` hands"
        " the conversation over to a person. `end` ends the procedure, as the last line does."
        " `{NAME}` inserts a value that was asked for; `{FUNCTION}` and"
        " `{FUNCTION.items.0.price}` insert a function's result or a part of it. An earlier line"
        " must ask for or call what a line uses. Empty lines and lines that begin with `#` are"
        " skipped.",
    )
    is_enabled: bool = Field(
        True, description="Whether customers' messages can start the procedure."
    )


class Procedures(Schema):
    """The procedures of a bot."""

    model_config = example(
        procedures=[
            {
                "name": "Refund",
                "starts_with": ["I want my money back"],
                "steps": "ask order_number: What's your order number?\n"
                "ask reason (one of: broken, not needed): Why do you want to return it?\n"
                "if {reason} is broken:\n    say: I'm sorry to hear that.\n    hand over\n"
                "else:\n    confirm: Shall I ask a colleague to refund order {order_number}?\n"
                "    hand over",
            }
        ]
    )

    procedures: list[Procedure] = Field(
        max_length=MAX_PROCEDURES,
        description="All of the bot's procedures, at most 10; a PUT replaces them.",
    )

    @model_validator(mode="after")
    def _names_differ(self) -> "Procedures":
        names = {procedure.name.casefold() for procedure in self.procedures}
        if len(names) != len(self.procedures):
            raise ValueError(gettext("each procedure needs a unique name"))
        return self

    @classmethod
    def from_bot(cls, bot: Bot) -> "Procedures":
        return cls.model_construct(procedures=[Procedure(**stored) for stored in bot.procedures])
