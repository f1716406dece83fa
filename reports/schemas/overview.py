"""The schemas of the overview: figures of a client or bot in a period and the one before."""

from pydantic import Field

from chatplatform.api.schemas import Schema


class Times(Schema):
    """Statistics of a duration, in seconds; null if no conversation has this duration."""

    p50: float | None = Field(description="The median in seconds; null if there is none.")
    p90: float | None = Field(description="The 90th percentile in seconds; null if there is none.")
    mean: float | None = Field(description="The mean in seconds; null if there is none.")


class Sentiments(Schema):
    """The number of conversations with each sentiment."""

    positive: int = Field(description="Conversations with a positive sentiment.")
    neutral: int = Field(description="Conversations with a neutral sentiment.")
    negative: int = Field(description="Conversations with a negative sentiment.")


class PartFigures(Schema):
    """The figures that a period and each of its parts have."""

    chats: int = Field(description="Conversations that began in the period.")
    messages: int = Field(
        description="Messages of customers, bots and agents in these conversations, whenever sent."
    )
    bot_resolved: int = Field(
        description="Conversations that ended without a handover and without an answer from a"
        " person."
    )
    handed_off: int = Field(description="Conversations that were ever handed over.")
    rating_mean: float | None = Field(
        description="The mean of the ratings in stars, 1..5; null if there are none."
    )


class Figures(PartFigures):
    """The figures of the conversations created in a period."""

    date_from: str = Field(description="The period's first day, such as 2026-11-01.")
    date_to: str = Field(description="The period's last day, such as 2026-11-30.")
    customers: int = Field(description="Customers of these conversations, each counted once.")
    ended: int = Field(description="Conversations that have ended by now.")
    open: int = Field(description="Conversations that are open or snoozed now.")
    first_response_seconds: Times = Field(
        description="From the conversation's start to the first message of the bot or an agent."
        " Here and below, welcome messages and notes do not count."
    )
    bot_response_seconds: Times = Field(
        description="From the conversation's start to the bot's first message."
    )
    person_response_seconds: Times = Field(
        description="From the handover to an agent's first message; from the conversation's start"
        " if there was no handover or the agent wrote before it."
    )
    resolution_seconds: Times = Field(
        description="From the start to the end of ended conversations."
    )
    rating_count: int = Field(description="Conversations rated in stars.")
    sentiment: Sentiments = Field(description="Conversations by sentiment.")
    credits_used: int = Field(
        description="Credits used for the bot's replies in these conversations."
    )


class DayFigures(PartFigures):
    """The figures of a day."""

    day: str = Field(description="The day, such as 2026-11-21.")


class ChannelFigures(PartFigures):
    """The figures of a channel."""

    channel: str = Field(description="The channel, such as `web`.")


class BotFigures(PartFigures):
    """The figures of a bot."""

    bot_id: int = Field(description="The bot's id.")
    name: str = Field(description="The bot's name.")


class AgentFigures(PartFigures):
    """The figures of the conversations with this current or last agent."""

    agent_id: int | None = Field(
        description="The agent's id; null for conversations without an agent."
    )
    name: str | None = Field(
        description="The agent's name; null for conversations without an agent."
    )


class HourFigures(PartFigures):
    """The figures of an hour of the day."""

    hour: int = Field(description="The hour in which the conversations began, 0..23.")


class TagFigures(PartFigures):
    """The figures of a tag; a conversation with two tags counts for both."""

    tag: str | None = Field(description="The tag; null for conversations without a tag.")


class LanguageFigures(PartFigures):
    """The figures of a language."""

    language: str = Field(description="The language, as a BCP 47 code.")


class HandoverFigures(PartFigures):
    """The figures of the conversations handed over for one reason."""

    handoff_reason: str | None = Field(
        description="The reason, as in the `handoff_reason` of a `Conversation`; null if unknown."
    )


class ChatOverview(Schema):
    """The figures of a period, of the one before, and of the period's parts."""

    current: Figures = Field(
        description="The period. All figures, here and below, are those of the conversations that"
        " began in it, as they are now."
    )
    previous: Figures = Field(
        description="The same number of days just before the period: for November, 2 to 31"
        " October.",
    )
    series: list[DayFigures] = Field(
        description="All days of the period, including days without conversations."
    )
    by_hour: list[HourFigures] = Field(
        description="All 24 hours of the day, including hours without conversations."
    )
    by_channel: list[ChannelFigures] = Field(description="By channel, most conversations first.")
    by_bot: list[BotFigures] = Field(
        description="The 200 bots with the most conversations, most first."
    )
    by_agent: list[AgentFigures] = Field(
        description="The 200 agents with the most conversations, most first."
    )
    by_tag: list[TagFigures] = Field(
        description="The 200 tags with the most conversations, most first."
    )
    by_language: list[LanguageFigures] = Field(description="By language, most conversations first.")
    by_handoff_reason: list[HandoverFigures] = Field(
        description="Handed-over conversations by reason, most first."
    )
