"""The shapes of the overview: a client's or a bot's figures, now and in the period before."""

from pydantic import Field

from chatplatform.api.shapes import Shape


class Times(Shape):
    """How long something took, in seconds; null if it did not happen."""

    p50: float | None = Field(description="The median.")
    p90: float | None = Field(description="Nine of ten took no longer.")
    mean: float | None = Field(description="The mean.")


class Sentiments(Shape):
    """How many chats sound how."""

    positive: int = Field(description="Positive ones.")
    neutral: int = Field(description="Neutral ones.")
    negative: int = Field(description="Negative ones.")


class Figures(Shape):
    """The figures of one period: of the chats that were created in it."""

    date_from: str = Field(description="Its first day.")
    date_to: str = Field(description="Its last day.")
    chats: int = Field(description="Chats.")
    messages: int = Field(description="What customers, bots and agents said.")
    customers: int = Field(description="Different customers.")
    bot_resolved: int = Field(description="Ended, without a person's answer and a handover.")
    handed_off: int = Field(description="Ever handed over.")
    ended: int = Field(description="Ended by now.")
    open: int = Field(description="Not ended by now.")
    first_response_seconds: Times = Field(description="Until whoever answered first.")
    bot_response_seconds: Times = Field(description="Until the bot's first answer.")
    person_response_seconds: Times = Field(
        description="From the handover, or else the beginning, until a person's first answer."
    )
    resolution_seconds: Times = Field(description="Until the end, of ended chats.")
    rating_mean: float | None = Field(description="Stars, 1..5; null if nobody rated.")
    rating_count: int = Field(description="Chats that were rated in stars.")
    sentiment: Sentiments = Field(description="By sentiment.")
    credits_used: int = Field(description="For the bot's replies.")


class PartFigures(Shape):
    """The figures of a part of the period's chats."""

    chats: int = Field(description="Chats.")
    messages: int = Field(description="What customers, bots and agents said.")
    bot_resolved: int = Field(description="Ended, without a person's answer and a handover.")
    handed_off: int = Field(description="Ever handed over.")
    rating_mean: float | None = Field(description="Stars, 1..5; null if nobody rated.")


class DayFigures(PartFigures):
    """The figures of a day."""

    day: str = Field(description="The day.")


class ChannelFigures(PartFigures):
    """The figures of a channel."""

    channel: str = Field(description="The channel.")


class BotFigures(PartFigures):
    """The figures of a bot."""

    bot_id: int = Field(description="The bot.")
    name: str = Field(description="Its name.")


class AgentFigures(PartFigures):
    """The figures of the chats that an agent has or had last."""

    agent_id: int | None = Field(description="The agent; null: nobody has them.")
    name: str | None = Field(description="The agent's name.")


class HourFigures(PartFigures):
    """The figures of an hour of the day."""

    hour: int = Field(description="The hour in which chats began, 0..23.")


class TagFigures(PartFigures):
    """The figures of a tag; a chat with two tags counts for both."""

    tag: str | None = Field(description="The tag; null: chats without one.")


class LanguageFigures(PartFigures):
    """The figures of a language."""

    language: str = Field(description="The language.")


class HandoverFigures(PartFigures):
    """The figures of the chats that were handed over for a reason."""

    handoff_reason: str | None = Field(description="Why, such as `no_answer`; null: not known.")


class ChatOverview(Shape):
    """A period, the one before it, and the parts of the period."""

    current: Figures = Field(description="The period.")
    previous: Figures = Field(description="As many days before it.")
    series: list[DayFigures] = Field(description="Each day of the period, also without chats.")
    by_hour: list[HourFigures] = Field(
        description="By hour of the day: all 24, also without chats."
    )
    by_channel: list[ChannelFigures] = Field(description="By channel, the most chats first.")
    by_bot: list[BotFigures] = Field(description="By bot, the most chats first.")
    by_agent: list[AgentFigures] = Field(
        description="By agent, the most chats first; the 200 with the most."
    )
    by_tag: list[TagFigures] = Field(description="By tag, the 200 with the most chats.")
    by_language: list[LanguageFigures] = Field(description="By language, the most chats first.")
    by_handoff_reason: list[HandoverFigures] = Field(
        description="Of the chats that were handed over: by the reason, the most first."
    )
