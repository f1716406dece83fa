"""Stores a bot's procedures, and finds the one that a customer's message starts."""

import hashlib
import re
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext

from bots.engine import procedures
from bots.engine.procedures import Step, WrongProcedure
from bots.engine.tools import Tool
from bots.language import embedding
from bots.language.normalization import fold
from bots.models import Bot, Function
from bots.schemas.procedure import Procedures
from bots.services import bots
from chatplatform.api.errors import Invalid
from identity.models import User

# The minimum cosine similarity of a message to an example that starts a procedure without asking a
# model. A message that differs from the example in a few words reaches it.
MIN_SIMILARITY = 0.945


@dataclass(frozen=True)
class ParsedProcedure:
    """A procedure that may be run; `version` changes with its steps."""

    name: str
    starts_with: tuple[str, ...]
    steps: tuple[Step, ...]
    version: str

    @property
    def tool_name(self) -> str:
        """The name by which a model starts the procedure, as if it were a function."""
        plain = re.sub(r"[^a-zA-Z0-9]+", "_", self.name).strip("_").lower()
        return f"start_{plain[:30]}_{self.version[:6]}"

    @property
    def tool(self) -> Tool:
        """The description that a model reads."""
        examples = "; ".join(self.starts_with)
        description = (
            f"Starts the procedure “{self.name}”, which asks the customer for all that it needs."
            f" Call it when the customer wants what these say: {examples}"
        )
        return Tool(self.tool_name, description[:1_000], {"type": "object", "properties": {}})


def update(bot: Bot, *, body: Procedures, by: User) -> Procedures:
    """Replace the bot's procedures; the 422 for a wrong step names its line."""
    functions = set(Function.objects.filter(bot=bot).values_list("name", flat=True))
    for position, procedure in enumerate(body.procedures):
        try:
            steps = procedures.parse(procedure.steps)
            for step in procedures.called(steps):
                if step.name not in functions:
                    text = gettext("The bot has no function named %(name)s.") % {"name": step.name}
                    if functions:
                        known = gettext("It can call: %(names)s")
                        text += " " + known % {"names": ", ".join(sorted(functions))}
                    raise WrongProcedure(step.line, text)
        except WrongProcedure as error:
            raise Invalid.field("body", "procedures", position, "steps", msg=str(error)) from error
    stored = body.model_dump(mode="json")["procedures"]
    return Procedures.from_bot(bots.update_columns(bot, by=by, procedures=stored))


def enabled(bot: Bot) -> list[ParsedProcedure]:
    """The procedures that customers' messages may start."""
    return [_parse(stored) for stored in bot.procedures if stored["is_enabled"]]


def find(bot: Bot, name: str, version: str) -> ParsedProcedure | None:
    """The procedure that a run began with; None if it was changed, removed or switched off."""
    same = (row for row in enabled(bot) if (row.name, row.version) == (name, version))
    return next(same, None)


def match(bot: Bot, text: str) -> ParsedProcedure | None:
    """The procedure with an example that says nearly the same as a message; None if none does."""
    if not bot.procedures or not text:
        return None
    vector = embedding.embed_query(text)
    nearest: ParsedProcedure | None = None
    best = MIN_SIMILARITY
    for procedure in enabled(bot):
        for example in procedure.starts_with:
            if _plain(example) == _plain(text):
                return procedure
            other = embedding.embed_query(example)
            if vector is None or other is None:
                continue
            if float(vector @ other) >= best:
                best, nearest = float(vector @ other), procedure
    return nearest


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", fold(text)))


def _parse(stored: dict[str, Any]) -> ParsedProcedure:
    version = hashlib.sha256(stored["steps"].encode()).hexdigest()[:12]
    steps = procedures.parse(stored["steps"])
    return ParsedProcedure(stored["name"], tuple(stored["starts_with"]), steps, version)
