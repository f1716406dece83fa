"""Request and response shapes of the search in a bot's content."""

from pydantic import Field

from chatplatform.api.shapes import NOT_BLANK, Language, Shape, Text


class ContentQuery(Shape):
    """What to look for."""

    q: Text = Field(
        min_length=1, max_length=1000, pattern=NOT_BLANK, description="The question, or words."
    )
    language: Language | None = Field(None, description="Its language; detected if left out.")
    limit: int = Field(5, ge=1, le=20, description="The most passages, 1..20.")


class FoundPassage(Shape):
    """A passage of the bot's content that the search found."""

    document_id: int = Field(description="The document that contains it.")
    title: str = Field(description="The document's title.")
    url: str | None = Field(description="Its web address, if it has one.")
    page: int | None = Field(description="Its page in the document, from 1; null if it has none.")
    section: str | None = Field(description="The heading of its section; null if it has none.")
    text: str = Field(description="The passage.")
    score: float = Field(
        description="How well the passage fits; comparable within this search only.",
    )


class FoundContent(Shape):
    """The passages that answer a question best."""

    passages: list[FoundPassage] = Field(description="The passages, the best first.")
    confidence: float = Field(
        description="How sure the search is of the best passage, from 0 to 1.",
    )
