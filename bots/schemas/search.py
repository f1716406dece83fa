"""Request and response schemas of the search in a bot's content."""

from pydantic import Field

from chatplatform.api.schemas import NOT_BLANK, Language, Schema, Text


class ContentQuery(Schema):
    """What to search for."""

    q: Text = Field(
        min_length=1,
        max_length=1000,
        pattern=NOT_BLANK,
        description="What to search for: a question, or words.",
    )
    language: Language | None = Field(
        None,
        description="The question's language as a BCP 47 code; detected if left out.",
    )
    limit: int = Field(5, ge=1, le=20, description="The maximum number of passages, 1..20.")


class FoundPassage(Schema):
    """A passage of the bot's content that the search found."""

    document_id: int = Field(
        description="The id of the document that contains the passage, for *Get Document By Id*."
    )
    title: str = Field(description="The document's title.")
    url: str | None = Field(description="The URL of a crawled page; null for other documents.")
    page: int | None = Field(
        description="The page in the document, from 1; null if it has no pages.",
    )
    section: str | None = Field(description="The heading above the passage; null if there is none.")
    text: str = Field(description="The passage's text.")
    score: float = Field(
        description="How well the passage fits: higher is better; comparable within this search"
        " only.",
    )


CONFIDENCE = "The search's confidence, 0..1: how probable it is that the passages have the answer"


class FoundContent(Schema):
    """The passages that answer a question best."""

    passages: list[FoundPassage] = Field(description="The passages, the best first.")
    confidence: float = Field(description=f"{CONFIDENCE}.")
