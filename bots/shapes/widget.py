"""The shapes of a widget: welcome message, questions, customer fields, banner."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from bots.models import Bot, SampleQuestion
from bots.shapes.bot import BotStyle, Greeting, Languages
from bots.shapes.train import Upload
from chatplatform.api.shapes import MAX_ID, Language, Shape, Text, example

MAX_FIELDS, MAX_OPTIONS, MAX_QUESTIONS = 30, 50, 20
MAX_BANNER_BYTES, MAX_BANNER_PIXELS = 5_000_000, 16_000_000


class LanguageQuery(Shape):
    """Query parameter of operations that answer in one language."""

    language: Language | None = Field(
        None, description="The language of the texts; left out: the bot's default."
    )


class KeyBotQuery(Shape):
    """Query parameter of operations on the bot of a key."""

    bot_id: int | None = Field(
        None, ge=1, le=MAX_ID,
        description="The bot; required if the key serves several.",
    )  # fmt: skip


class WidgetQuery(KeyBotQuery, LanguageQuery):
    """Query parameters of a widget's configuration."""


class Option(Shape):
    """One possible answer of a `select`."""

    label: Text = Field(
        min_length=1, max_length=100, pattern=r"\S", description="The text that is shown."
    )
    value: Text = Field(
        min_length=1, max_length=100, pattern=r"\S", description="The value that is stored."
    )


Label = Annotated[Text, Field(min_length=1, max_length=100, pattern=r"\S")]
FieldName = Annotated[
    str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$", examples=["order_number", "city"])
]
FieldType = Literal["text", "email", "phone", "number", "date", "select"]


class CustomerInfoField(Shape):
    """A field that the bot asks a customer for; the answer is an attribute of the customer."""

    name: FieldName = Field(
        description="Name of the attribute: a lower-case letter, then lower-case letters, digits"
        " and `_`."
    )
    label: dict[Language, Label] = Field(
        min_length=1, max_length=50, description="Label by language, at least one."
    )
    type: FieldType = Field(
        description="Type of the answer: `text` (at most 500 characters), `email`, `phone`,"
        " `number`, `date` (as 2026-11-21) or `select` (one of `options`)."
    )
    required: bool = Field(False, description="Whether an answer is required.")
    options: list[Option] = Field(
        default_factory=list,
        max_length=MAX_OPTIONS,
        description=f"The answers of a `select`, 1..{MAX_OPTIONS}; empty for all other types.",
    )
    ask_before_chat: bool = Field(
        False, description="Whether it is asked in a form before the first message."
    )

    @model_validator(mode="after")
    def _options_for_select(self) -> Self:
        if bool(self.options) != (self.type == "select"):
            raise ValueError("options are for type select, and needed there")
        values = [option.value for option in self.options]
        if len(set(values)) != len(values):
            raise ValueError("options must not hold a value twice")
        return self


class CustomerInfoFields(Shape):
    """The fields that the bot asks a customer for, in this order."""

    model_config = example(
        fields=[
            {"name": "order", "label": {"en": "Order number"}, "type": "text", "required": True},
            {
                "name": "size",
                "label": {"en": "Size", "vi": "Cỡ"},
                "type": "select",
                "options": [{"label": "Small", "value": "s"}, {"label": "Large", "value": "l"}],
            },
        ]
    )

    fields: list[CustomerInfoField] = Field(
        max_length=MAX_FIELDS, description=f"At most {MAX_FIELDS}; their names differ."
    )

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = [field.name for field in self.fields]
        if len(set(names)) != len(names):
            raise ValueError("fields must not hold a name twice")
        return self

    @classmethod
    def from_bot(cls, bot: Bot) -> "CustomerInfoFields":
        fields = [_stored_field(field) for field in bot.customer_info_fields]
        return cls.model_construct(fields=fields)


def _stored_field(stored: dict[str, object]) -> CustomerInfoField:
    options = stored.get("options") or []
    assert isinstance(options, list)
    shapes = [Option.model_construct(**option) for option in options]
    return CustomerInfoField.model_construct(**{**stored, "options": shapes})  # type: ignore[arg-type]


class WelcomeMessages(Shape):
    """The bot's welcome message, by language."""

    model_config = example(messages={"en": "Hello! How can I help you?", "vi": "Xin chào!"})

    messages: dict[Language, Greeting] = Field(
        max_length=50,
        description="Welcome message by language, at most 2,000 characters each; only the bot's"
        " languages unless it has none.",
    )


class SampleQuestionDto(Shape):
    """A question that the widget offers."""

    id: int | None = Field(
        None,
        ge=0,
        le=MAX_ID,
        description="Its id; null if it was taken from the documents. Ignored in requests.",
    )
    question: Text = Field(
        min_length=1, max_length=300, pattern=r"\S", description="The text of the question."
    )
    language: Language | None = Field(
        None, description="Its language; left out of a request: the bot's default."
    )
    position: int | None = Field(
        None,
        ge=0,
        le=2**31 - 1,
        description="Its position from 0. Ignored in requests: the order of the list counts.",
    )

    @classmethod
    def from_row(cls, row: SampleQuestion) -> "SampleQuestionDto":
        return cls.copy_from(row)


class SampleQuestions(Shape):
    """The questions that the widget offers, in this order."""

    model_config = example(questions=[{"question": "When do you open?", "language": "en"}])

    questions: list[SampleQuestionDto] = Field(
        max_length=MAX_QUESTIONS,
        description=f"At most {MAX_QUESTIONS}; empty: questions come from the bot's documents.",
    )


class SampleQuestionsResponse(Shape):
    """All questions, in their order."""

    items: list[SampleQuestionDto] = Field(description="The questions, in their order.")
    next_cursor: str | None = Field(None, description="Always null: there is only one page.")


# The name is the specification's.
class Body_upload_banner_image_route_ai__bot_id__upload_banner_image_post(Shape):
    """A banner: a picture, its link and its alternative text."""

    file: Upload = Field(
        description=f"PNG, JPEG or WebP; at most {MAX_BANNER_BYTES:,} bytes and"
        f" {MAX_BANNER_PIXELS:,} pixels. Re-encoded without metadata."
    )
    link: Text = Field(
        "", max_length=500, pattern=r"^(https?://[^\s/]+(/\S*)?)?$",
        description="Target of a click, http or https; empty: none.",
    )  # fmt: skip
    alt: Text = Field("", max_length=200, description="Alternative text for screen readers.")


class BannerUploadResponseDto(Shape):
    """The stored banner."""

    url: str = Field(description="Public URL of the picture; a new picture gets a new URL.")
    mime_type: str = Field(description="`image/png`, `image/jpeg` or `image/webp`.")
    width: int = Field(description="Width in pixels.")
    height: int = Field(description="Height in pixels.")
    size_bytes: int = Field(description="Size of the stored file in bytes.")


class BotBannerDto(Shape):
    """The banner above the chat."""

    bot_id: int = Field(description="The bot whose banner it is.")
    url: str | None = Field(description="Public URL of the picture; null: the bot has no banner.")
    link: str | None = Field(description="Target of a click; null: none.")
    alt: str | None = Field(description="Alternative text; null: none.")


class ConfigField(Shape):
    """A customer-info field, labelled in one language."""

    name: str = Field(description="Name of the customer's attribute.")
    label: str = Field(description="Label in the language of this configuration.")
    type: FieldType = Field(description="Type of the answer.")
    required: bool = Field(description="Whether an answer is required.")
    options: list[Option] = Field(description="The answers of a `select`; else empty.")
    ask_before_chat: bool = Field(
        description="Whether it is asked in a form before the first message."
    )


class BotConfigDto(Shape):
    """The configuration of a widget in one language; anyone with the page's key can read it."""

    id: int = Field(description="The bot's id.")
    bot_name: str = Field(description="Its name, as customers see it.")
    bot_icon: str | None = Field(description="URL of its picture; null: the platform's default.")
    primary_color: str = Field(description="Main colour, `#rrggbb`.")
    secondary_color: str = Field(description="Second colour, `#rrggbb`.")
    style: BotStyle = Field(description="How the widget looks on the page.")
    language: Language = Field(description="The language that the texts below were chosen for.")
    default_language: Language = Field(description="Used if a text is missing in `language`.")
    languages: Languages = Field(description="Languages it is offered in; empty: any.")
    welcome_message: str | None = Field(description="Welcome message; null: none.")
    terms: str | None = Field(description="Terms to agree to before a chat; null: none.")
    banner: BotBannerDto | None = Field(description="The banner above the chat; null: none.")
    sample_questions: list[SampleQuestionDto] = Field(description="Questions to offer, in order.")
    attach_enabled: bool = Field(description="Customers may attach files.")
    auto_pop_up: bool = Field(description="The widget opens by itself.")
    is_fullscreen: bool = Field(description="The widget fills the page.")
    is_visible: bool = Field(description="false: the widget must not show at all.")
    customer_info_fields: list[ConfigField] = Field(
        description="The fields to ask the customer for."
    )
