"""The shapes of the live feed."""

from pydantic import Field

from chatplatform.api.shapes import Shape, Text, example


class FeedQuery(Shape):
    """Where a live feed goes on, and for whom."""

    last_event_id: Text | None = Field(
        None,
        max_length=60,
        description="The last event seen, `evt_…`; as the header Last-Event-ID, for callers that"
        " cannot send one. Left out: from now on.",
    )
    ticket: Text | None = Field(
        None,
        max_length=100,
        description="A one-time ticket in the place of the Authorization header.",
    )


class FeedTicket(Shape):
    """Opens one live feed."""

    ticket: str = Field(description="Good for one request.")
    expires_in: int = Field(description="Seconds in which it must be used.", examples=[60])


class Typing(Shape):
    """Whether someone is writing."""

    model_config = example(is_typing=True)

    is_typing: bool = Field(True, description="False takes it back; it also ends after 10 s.")
