"""The shapes of a widget: welcome message, questions, customer fields, banner."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from bots.models import Bot, SampleQuestion
from bots.shapes.bot import BotStyle, Greeting, Languages
from bots.shapes.train import Upload
from chatplatform.api.shapes import (
    MAX_ID,
    NOT_BLANK,
    Language,
    Moment,
    Shape,
    Text,
    example,
    read_only,
)
from identity.shapes.configs import BusinessHours, Holiday

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
        min_length=1, max_length=100, pattern=NOT_BLANK, description="The text that is shown."
    )
    value: Text = Field(
        min_length=1, max_length=100, pattern=NOT_BLANK, description="The value that is stored."
    )


Label = Annotated[Text, Field(min_length=1, max_length=100, pattern=NOT_BLANK)]
Question = Annotated[Text, Field(min_length=1, max_length=300, pattern=NOT_BLANK)]
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
    question: dict[Language, Question] = Field(
        default_factory=dict,
        max_length=50,
        description="How the bot asks for it in a chat, by language. Left out: a sentence of the"
        " platform's with the label.",
    )
    options: list[Option] = Field(
        default_factory=list,
        max_length=MAX_OPTIONS,
        description=f"The answers of a `select`, 1..{MAX_OPTIONS}; empty for all other types.",
    )
    ask_before_chat: bool = Field(
        False,
        description="Whether it is asked in a form before the first message. If not, and where"
        " there is no form, the bot asks for it in the chat.",
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

    id: int | None = read_only("Its id; null if it was taken from the documents.")
    question: Text = Field(
        min_length=1, max_length=300, pattern=NOT_BLANK, description="The text of the question."
    )
    language: Language | None = Field(
        None, description="Its language; left out of a request: the bot's default."
    )
    position: int | None = read_only("Its position from 0: a request's order counts.")

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


Link = Annotated[Text, Field(max_length=500, pattern=r"^(https?://[^\s/]+(/\S*)?)?$")]
Alt = Annotated[Text, Field(max_length=200)]


class ShownBetween(Shape):
    """When a banner is shown."""

    valid_from: Moment | None = Field(
        None,
        description="Widgets show it from this time on; null: at once.",
        examples=["2026-12-01T00:00:00Z"],
    )
    valid_to: Moment | None = Field(
        None,
        description="Widgets show it until this time, which lies after `valid_from`; null: without"
        " end.",
        examples=["2026-12-24T12:00:00Z"],
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.valid_from and self.valid_to and self.valid_from >= self.valid_to:
            raise ValueError("valid_to must lie after valid_from")
        return self


# The name is the specification's.
class Body_upload_banner_image_route_ai__bot_id__upload_banner_image_post(ShownBetween):
    """A banner: a picture, its link, its alternative text, and when it is shown."""

    file: Upload = Field(
        description=f"PNG, JPEG or WebP; at most {MAX_BANNER_BYTES:,} bytes and"
        f" {MAX_BANNER_PIXELS:,} pixels. Re-encoded without metadata."
    )
    link: Link = Field("", description="Target of a click, http or https; empty: none.")
    alt: Alt = Field("", description="Alternative text for screen readers, up to 200 characters.")


class BannerUploadResponseDto(Shape):
    """The stored banner."""

    url: str = Field(description="Public URL of the picture; a new picture gets a new URL.")
    mime_type: str = Field(description="`image/png`, `image/jpeg` or `image/webp`.")
    width: int = Field(description="Width in pixels.")
    height: int = Field(description="Height in pixels.")
    size_bytes: int = Field(description="Size of the stored file in bytes.")


class BotBannerDto(ShownBetween):
    """The banner above the chat. A change names what it changes."""

    bot_id: int | None = read_only("The bot whose banner it is.", path="bot_id")
    url: str | None = read_only("Public URL of the picture; null: there is none to show.")
    link: Link | None = Field(
        None, description="Target of a click, http or https; null or empty: none."
    )
    alt: Alt | None = Field(
        None, description="Alternative text, at most 200 characters; null or empty: none."
    )


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


class BotIdentitySecret(Shape):
    """A bot's identity secret."""

    secret: str = Field(
        description="The key of the HMAC-SHA256 that makes an `identity_signature`. Only your"
        " server may know it."
    )


class UploadLimits(Shape):
    """What a customer may attach to a message."""

    max_files: int = Field(description="Files of a message at most.")
    max_file_bytes: int = Field(description="Bytes of a file at most.")
    max_request_bytes: int = Field(description="Bytes of all files of a message at most.")


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
    bot_question: str | None = Field(
        description="The question to show where the customer writes; null: none."
    )
    engaging_message: str | None = Field(
        description="What to say to a visitor beside the closed widget; null: nothing."
    )
    is_open: bool = Field(description="Whether it is within the business hours now.")
    opens_at: Moment | None = Field(
        description="When it opens next; null: it is open, or does not open within a year."
    )
    timezone: str = Field(description="IANA time zone of the hours below.")
    business_hours: list[BusinessHours] = Field(
        description="When people are there, by weekday; empty: always."
    )
    holidays: list[Holiday] = Field(description="Dates with other hours, from today on.")
    out_of_hours_message: str | None = Field(
        description="What to say while it is closed; null: nothing of its own."
    )
    agents_online: int = Field(
        description="How many of the client's people are online now, who may answer."
    )
    banner: BotBannerDto | None = Field(
        description="The banner above the chat, if it is shown now; null: none."
    )
    sample_questions: list[SampleQuestionDto] = Field(description="Questions to offer, in order.")
    attach_enabled: bool = Field(description="Customers may attach files.")
    upload_limits: UploadLimits = Field(description="How many files, and how large.")
    export_enabled: bool = Field(description="Customers may take a transcript along.")
    auto_pop_up: bool = Field(description="The widget opens by itself.")
    is_fullscreen: bool = Field(description="The widget fills the page.")
    is_visible: bool = Field(description="false: the widget must not show at all.")
    customer_info_fields: list[ConfigField] = Field(
        description="The fields to ask the customer for."
    )
