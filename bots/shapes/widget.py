"""The shapes of what a widget shows: welcome, questions, fields of the customer, banner."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from bots.models import Bot, SampleQuestion
from bots.shapes.bot import BotStyle, Greeting, Languages
from bots.shapes.train import Upload
from chatplatform.api.shapes import MAX_ID, Language, Shape, Text, example

MAX_FIELDS, MAX_OPTIONS, MAX_QUESTIONS = 30, 50, 20
MAX_BANNER_BYTES, MAX_BANNER_PIXELS = 5_000_000, 16_000_000


class LanguageQuery(Shape):
    """Query parameter of what is shown in one language."""

    language: Language | None = Field(
        None, description="The language asked for; left out: the bot's default."
    )


class KeyBotQuery(Shape):
    """Query parameter of what a key asks about its bot."""

    bot_id: int | None = Field(
        None, ge=1, le=MAX_ID,
        description="The bot, where the key serves several.",
    )  # fmt: skip


class WidgetQuery(KeyBotQuery, LanguageQuery):
    """Query parameters of what a key's widget shows in one language."""


# --- what the bot asks a customer for -----------------------------------------------------------


class Option(Shape):
    """One of several answers."""

    label: Text = Field(min_length=1, max_length=100, pattern=r"\S", description="What is shown.")
    value: Text = Field(min_length=1, max_length=100, pattern=r"\S", description="What is stored.")


Label = Annotated[Text, Field(min_length=1, max_length=100, pattern=r"\S")]
FieldName = Annotated[
    str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$", examples=["order_number", "city"])
]
FieldType = Literal["text", "email", "phone", "number", "date", "select"]


class CustomerInfoField(Shape):
    """One thing that the bot asks a customer for; the answer is an attribute of the customer."""

    name: FieldName = Field(
        description="Names the attribute: a small letter, then small letters, digits and `_`."
    )
    label: dict[Language, Label] = Field(
        min_length=1, max_length=50, description="Language to what is asked, at least one."
    )
    type: FieldType = Field(
        description="What an answer must be: `text` (at most 500 characters), `email`, `phone`,"
        " `number`, `date` (as 2026-11-21) or `select` (one of `options`)."
    )
    required: bool = Field(False, description="Must be answered.")
    options: list[Option] = Field(
        default_factory=list,
        max_length=MAX_OPTIONS,
        description=f"The answers of a `select`, 1..{MAX_OPTIONS}; empty for all other types.",
    )
    ask_before_chat: bool = Field(False, description="Asked in a form before the first message.")

    @model_validator(mode="after")
    def _options_for_select(self) -> Self:
        if bool(self.options) != (self.type == "select"):
            raise ValueError("options are for type select, and needed there")
        values = [option.value for option in self.options]
        if len(set(values)) != len(values):
            raise ValueError("options must not hold a value twice")
        return self


class CustomerInfoFields(Shape):
    """What the bot asks a customer for, in this order."""

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
        fields = [_stored_field(one) for one in bot.customer_info_fields]
        return cls.model_construct(fields=fields)


def _stored_field(stored: dict[str, object]) -> CustomerInfoField:
    options = stored.get("options") or []
    assert isinstance(options, list)
    made = [Option.model_construct(**option) for option in options]
    return CustomerInfoField.model_construct(**{**stored, "options": made})  # type: ignore[arg-type]


# --- what the bot says first --------------------------------------------------------------------


class WelcomeMessages(Shape):
    """The bot's first words, by language."""

    model_config = example(messages={"en": "Hello! How can I help you?", "vi": "Xin chào!"})

    messages: dict[Language, Greeting] = Field(
        max_length=50,
        description="Language to first words, at most 2,000 characters each; one of the bot's"
        " languages where it has any.",
    )


class SampleQuestionDto(Shape):
    """A question that the widget offers."""

    id: int | None = Field(
        None,
        ge=0,
        le=MAX_ID,
        description="Its id; null where it was taken from the documents. Ignored in requests.",
    )
    question: Text = Field(
        min_length=1, max_length=300, pattern=r"\S", description="The question, as shown."
    )
    language: Language | None = Field(
        None, description="Its language; left out of a request: the bot's default."
    )
    position: int | None = Field(
        None,
        ge=0,
        le=2**31 - 1,
        description="Its place from 0. Ignored in requests: the order of the list counts.",
    )

    @classmethod
    def from_row(cls, row: SampleQuestion) -> "SampleQuestionDto":
        return cls.model_construct(
            id=row.pk, question=row.question, language=row.language, position=row.position
        )


class SampleQuestions(Shape):
    """The questions that the widget offers, in this order; replaces those before."""

    model_config = example(questions=[{"question": "When do you open?", "language": "en"}])

    questions: list[SampleQuestionDto] = Field(
        max_length=MAX_QUESTIONS,
        description=f"At most {MAX_QUESTIONS}; empty: taken from what the bot is trained on.",
    )


class SampleQuestionsResponse(Shape):
    """All questions in their order."""

    items: list[SampleQuestionDto] = Field(description="The questions, in their order.")
    next_cursor: str | None = Field(None, description="Always null: this is all of them.")


# --- the picture above the chat -----------------------------------------------------------------


# The name is the specification's.
class Body_upload_banner_image_route_ai__bot_id__upload_banner_image_post(Shape):
    """A picture, where it leads and what it says."""

    file: Upload = Field(
        description=f"PNG, JPEG or WebP; at most {MAX_BANNER_BYTES:,} bytes and"
        f" {MAX_BANNER_PIXELS:,} pixels. Stored anew, without anything but the picture."
    )
    link: Text = Field(
        "", max_length=500, pattern=r"^(https?://[^\s/]+(/\S*)?)?$",
        description="Where a click on it leads, http or https; empty: nowhere.",
    )  # fmt: skip
    alt: Text = Field("", max_length=200, description="What it says, for those who cannot see it.")


class BannerUploadResponseDto(Shape):
    """The picture as it is stored."""

    url: str = Field(description="Where it is served, to anyone; a new picture gets a new one.")
    mime_type: str = Field(description="`image/png`, `image/jpeg` or `image/webp`.")
    width: int = Field(description="Pixels across.")
    height: int = Field(description="Pixels down.")
    size_bytes: int = Field(description="Size of the stored file in bytes.")


class BotBannerDto(Shape):
    """The picture above the chat."""

    bot_id: int = Field(description="The bot whose banner it is.")
    url: str | None = Field(description="Where it is served; null: the bot has none.")
    link: str | None = Field(description="Where a click on it leads; null: nowhere.")
    alt: str | None = Field(description="What it says; null: nothing was given.")


# --- all of it ----------------------------------------------------------------------------------


class ConfigField(Shape):
    """A field of the customer, labelled in one language."""

    name: str = Field(description="Names the attribute of the customer.")
    label: str = Field(description="What is asked, in the language of this configuration.")
    type: FieldType = Field(description="What an answer must be.")
    required: bool = Field(description="Must be answered.")
    options: list[Option] = Field(description="The answers of a `select`; else empty.")
    ask_before_chat: bool = Field(description="Asked in a form before the first message.")


class BotConfigDto(Shape):
    """What a widget needs to draw itself, in one language. Anyone with the page's key reads it."""

    id: int = Field(description="The bot's id.")
    bot_name: str = Field(description="What customers see as its name.")
    bot_icon: str | None = Field(description="URL of its picture; null: the platform's own.")
    primary_color: str = Field(description="Main colour, `#rrggbb`.")
    secondary_color: str = Field(description="Second colour, `#rrggbb`.")
    style: BotStyle = Field(description="How the widget looks on the page.")
    language: Language = Field(description="The language that the texts below were chosen for.")
    default_language: Language = Field(description="Used where a text is missing in `language`.")
    languages: Languages = Field(description="Languages it is offered in; empty: any.")
    welcome_message: str | None = Field(description="First words; null: none were written.")
    terms: str | None = Field(description="Terms to agree to before a chat; null: none.")
    banner: BotBannerDto | None = Field(description="The picture above the chat; null: none.")
    sample_questions: list[SampleQuestionDto] = Field(description="Questions to offer, in order.")
    attach_enabled: bool = Field(description="Customers may attach files.")
    auto_pop_up: bool = Field(description="The widget opens by itself.")
    is_fullscreen: bool = Field(description="The widget fills the page.")
    is_visible: bool = Field(description="false: the widget must not show at all.")
    customer_info_fields: list[ConfigField] = Field(description="What to ask the customer for.")
