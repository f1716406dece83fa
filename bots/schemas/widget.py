"""Request and response schemas of a widget: welcome message, sample questions, fields, banner."""

from typing import Annotated, Literal, Self

from django.utils.translation import gettext
from pydantic import Field, model_validator

from bots.models import Bot, SampleQuestion
from bots.schemas.bot import (
    BotStyle,
    EngagingPages,
    EngagingSeconds,
    EngagingVisitors,
    Greeting,
    Languages,
)
from bots.schemas.document import Upload
from chatplatform.api.pagination import ListPage
from chatplatform.api.schemas import (
    MAX_ID,
    NOT_BLANK,
    Language,
    Moment,
    Schema,
    Text,
    Uri,
    example,
    read_only,
)
from identity.schemas.configs import BusinessHours, Holiday

MAX_FIELDS, MAX_OPTIONS, MAX_QUESTIONS = 30, 50, 20
MAX_BANNER_BYTES, MAX_BANNER_PIXELS = 5_000_000, 16_000_000


class SampleQuestionsQuery(Schema):
    """Query parameter for the sample questions."""

    language: Language | None = Field(
        None,
        description="Only questions in this language, as a BCP 47 code; all languages if left out.",
    )


class KeyBotQuery(Schema):
    """Query parameter for operations that are called with an API key."""

    bot_id: int | None = Field(
        None, ge=1, le=MAX_ID,
        description="The bot's id; required if the key serves several bots.",
    )  # fmt: skip


class WidgetQuery(KeyBotQuery):
    """Query parameters for a widget's configuration."""

    language: Language | None = Field(
        None,
        description="The language of the texts, as a BCP 47 code; the bot's default language if"
        " left out.",
    )


class Option(Schema):
    """One option of a `select` field."""

    label: Text = Field(
        min_length=1,
        max_length=100,
        pattern=NOT_BLANK,
        description="The text that the customer sees.",
    )
    value: Text = Field(
        min_length=1,
        max_length=100,
        pattern=NOT_BLANK,
        description="The value that is stored for the customer.",
    )


Label = Annotated[Text, Field(min_length=1, max_length=100, pattern=NOT_BLANK)]
Question = Annotated[Text, Field(min_length=1, max_length=300, pattern=NOT_BLANK)]
FieldName = Annotated[
    str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$", examples=["order_number", "city"])
]
FieldType = Literal["text", "email", "phone", "number", "date", "select"]


class CustomerInfoField(Schema):
    """A field that the bot asks a customer for; the answer becomes a customer attribute."""

    name: FieldName = Field(
        description="The name of the customer attribute: a lower-case letter, then up to 39"
        " lower-case letters, digits or `_`."
    )
    label: dict[Language, Label] = Field(
        min_length=1,
        max_length=50,
        description="The field's name as customers see it, by language; at least one. Customers"
        " whose language has no entry see the one in the bot's default language, else any. Only the"
        " bot's languages are allowed, unless its list of languages is empty.",
    )
    type: FieldType = Field(
        description="The type of the answer: `text` (at most 500 characters), `email`, `phone`,"
        " `number`, `date` (as 2026-11-21) or `select` (one of `options`)."
    )
    required: bool = Field(
        False,
        description="Whether the value is required: with `ask_before_chat`, *Create new chat"
        " conversation* is refused without it (422), and so is a request that makes it empty. When"
        " the bot asks for it in the conversation, the customer may still decline.",
    )
    question: dict[Language, Question] = Field(
        default_factory=dict,
        max_length=50,
        description="The question that the bot asks for the value in a conversation, by language."
        " If left out, the platform builds one from the label. Only the bot's languages are"
        " allowed, unless its list of languages is empty.",
    )
    options: list[Option] = Field(
        default_factory=list,
        max_length=MAX_OPTIONS,
        description=f"The options of a `select`, 1..{MAX_OPTIONS} with distinct values; empty for"
        " all other types.",
    )
    ask_before_chat: bool = Field(
        False,
        description="Whether a form asks for the value before the first message. If false, or if"
        " the channel has no form, the bot asks for it in the conversation: one field at a time,"
        " after an answer or a handover, and not again if the customer declines.",
    )
    ask_before_person: bool = Field(
        False,
        description="Whether the bot asks for the value only before it hands the conversation over"
        " to a person, because the customer asked for one, the bot had no answer or a procedure"
        " says so. If the customer declines or writes something else, it asks once more for a"
        " required value and then hands over, as it does if they do not answer within two"
        " minutes. Not allowed with `ask_before_chat`.",
    )

    @model_validator(mode="after")
    def _is_asked_for_once(self) -> Self:
        if self.ask_before_chat and self.ask_before_person:
            raise ValueError(gettext("ask_before_chat and ask_before_person must not both be true"))
        return self

    @model_validator(mode="after")
    def _options_for_select(self) -> Self:
        if bool(self.options) != (self.type == "select"):
            raise ValueError(
                gettext("options are required for type select and not allowed for other types")
            )
        values = [option.value for option in self.options]
        if len(set(values)) != len(values):
            raise ValueError(gettext("options must not contain the same value twice"))
        return self


class CustomerInfoFields(Schema):
    """The fields that the bot asks a customer for, in the order in which it asks."""

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
        max_length=MAX_FIELDS, description=f"At most {MAX_FIELDS} fields with distinct names."
    )

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = [field.name for field in self.fields]
        if len(set(names)) != len(names):
            raise ValueError(gettext("fields must not contain the same name twice"))
        return self

    @classmethod
    def from_bot(cls, bot: Bot) -> "CustomerInfoFields":
        fields = [_stored_field(field) for field in bot.customer_info_fields]
        return cls.model_construct(fields=fields)


def _stored_field(stored: dict[str, object]) -> CustomerInfoField:
    options = stored.get("options") or []
    assert isinstance(options, list)
    choices = [Option.model_construct(**option) for option in options]
    return CustomerInfoField.model_construct(**{**stored, "options": choices})  # type: ignore[arg-type]


class WelcomeMessages(Schema):
    """The bot's welcome message, by language."""

    model_config = example(messages={"en": "Hello! How can I help you?", "vi": "Xin chào!"})

    messages: dict[Language, Greeting] = Field(
        max_length=50,
        description="Welcome messages by language, at most 2,000 characters each. Only the bot's"
        " languages are allowed, unless its list of languages is empty. Codes are returned as BCP"
        " 47 spells them: `en_us` as `en-US`, not as `en`. A conversation begins with the message"
        " in its language, of any region, else with the one in the bot's default language, else"
        " with none.",
    )


class SampleQuestionDto(Schema):
    """A question that the widget suggests to customers."""

    id: int | None = read_only("The question's id; null if it was found in the documents.")
    question: Text = Field(
        min_length=1, max_length=300, pattern=NOT_BLANK, description="The text of the question."
    )
    language: Language | None = Field(
        None,
        description="The question's language, as a BCP 47 code; in a request, null means the bot's"
        " default language.",
    )
    position: int = read_only("The question's position in the list, from 0.")

    @classmethod
    def from_row(cls, row: SampleQuestion) -> "SampleQuestionDto":
        return cls.copy_from(row)


class SampleQuestions(Schema):
    """The questions that the widget suggests, in order."""

    model_config = example(questions=[{"question": "When do you open?", "language": "en"}])

    questions: list[SampleQuestionDto] = Field(
        max_length=MAX_QUESTIONS,
        description=f"At most {MAX_QUESTIONS} questions, in the order in which they are shown. A"
        " question without a `language` gets the bot's default language. Empty: the widget suggests"
        " questions from the documents.",
    )


class SampleQuestionsResponse(ListPage[SampleQuestionDto]):
    """All sample questions on one page, in the order in which the widget shows them."""


Link = Annotated[Text, Field(max_length=500, pattern=r"^(https?://[^\s/]+(/\S*)?)?$")]
Alt = Annotated[Text, Field(max_length=200)]


class ShownBetween(Schema):
    """The period in which a banner is shown."""

    valid_from: Moment | None = Field(
        None,
        description="Widgets show the banner from this time on; null: immediately.",
        examples=["2026-12-01T00:00:00Z"],
    )
    valid_to: Moment | None = Field(
        None,
        description="Widgets show the banner until this time, which must be later than"
        " `valid_from`; null: indefinitely.",
        examples=["2026-12-24T12:00:00Z"],
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.valid_from and self.valid_to and self.valid_from >= self.valid_to:
            raise ValueError(gettext("valid_to must be after valid_from"))
        return self


# The specification defines this name.
class Body_upload_banner_image_route_ai__bot_id__upload_banner_image_post(ShownBetween):
    """A banner: a picture with its link, alternative text and period."""

    file: Upload = Field(
        description=f"A PNG, JPEG or WebP image of at most {MAX_BANNER_BYTES:,} bytes and"
        f" {MAX_BANNER_PIXELS:,} pixels. It is re-encoded without metadata."
    )
    link: Link = Field("", description="The http or https URL that a click opens; empty: none.")
    alt: Alt = Field("", description="Alternative text for screen readers, at most 200 characters.")


class BannerUploadResponseDto(Schema):
    """The stored banner."""

    url: Uri = Field(description="Public URL of the picture; a new picture gets a new URL.")
    mime_type: str = Field(description="`image/png`, `image/jpeg` or `image/webp`.")
    width: int = Field(description="Width in pixels.")
    height: int = Field(description="Height in pixels.")
    size_bytes: int = Field(description="Size of the stored file in bytes.")


class BotBannerDto(ShownBetween):
    """The banner above the chat."""

    bot_id: int = read_only("The id of the bot whose banner this is.", path="bot_id")
    url: Uri | None = read_only("Public URL of the picture; null: there is none to show.")
    link: Link | None = Field(
        None, description="The http or https URL that a click opens; null or empty: none."
    )
    alt: Alt | None = Field(
        None, description="Alternative text, at most 200 characters; null or empty: none."
    )


class ConfigField(Schema):
    """A customer-info field with its label in one language."""

    name: str = Field(description="The name of the customer attribute.")
    label: str = Field(description="The label in the language of this configuration.")
    type: FieldType = Field(
        description="The type of the answer: `text` (at most 500 characters), `email`, `phone`,"
        " `number`, `date` (as 2026-11-21) or `select` (one of `options`)."
    )
    required: bool = Field(description="Whether an answer is required.")
    options: list[Option] = Field(description="The options of a `select`; else empty.")
    ask_before_chat: bool = Field(
        description="Whether a form asks for the field before the first message."
    )
    ask_before_person: bool = Field(
        description="Whether the bot asks for the field before it hands over to a person."
    )


class BotIdentitySecret(Schema):
    """The secret with which your server signs customers' ids."""

    secret: str = Field(
        description="The secret with which your server signs an `external_id` (HMAC-SHA256) for"
        " `identity_signature`. Only your server may know it."
    )


class UploadLimits(Schema):
    """What a customer may attach to a message."""

    max_files: int = Field(description="The maximum number of files per message.")
    max_file_bytes: int = Field(description="The maximum size of a file, in bytes.")
    max_request_bytes: int = Field(
        description="The maximum total size of a message's files, in bytes."
    )


class BotConfigDto(Schema):
    """The configuration of a widget in one language; anyone with the public key can read it."""

    id: int = Field(description="The bot's id.")
    bot_name: str = Field(description="The bot's name as customers see it.")
    bot_icon: str | None = Field(
        description="URL of the bot's picture; null: the platform's default.",
    )
    primary_color: str = Field(description="Main color of the widget, `#rrggbb`.")
    secondary_color: str = Field(description="Secondary color of the widget, `#rrggbb`.")
    style: BotStyle = Field(description="How the widget looks.")
    language: Language = Field(
        description="The language of the texts in this configuration: the requested one, else the"
        " bot's default language."
    )
    default_language: Language = Field(
        description="The bot's default language, used for texts that are missing in `language`.",
    )
    languages: Languages = Field(
        description="The languages that visitors can choose, as BCP 47 codes; empty: any.",
    )
    welcome_message: str | None = Field(description="Welcome message; null: none.")
    terms: str | None = Field(description="Terms to accept before a conversation; null: none.")
    bot_question: str | None = Field(
        description="The placeholder to show in the input field; null: the widget's own text."
    )
    engaging_message: str | None = Field(
        description="The text to show beside the closed widget; null: none."
    )
    engaging_seconds: EngagingSeconds
    engaging_pages: EngagingPages
    engaging_visitors: EngagingVisitors
    is_open: bool = Field(description="Whether the business is open now.")
    opens_at: Moment | None = Field(
        description="When the business next opens; null: it is open now, or does not open for over"
        " a year."
    )
    timezone: str = Field(description="IANA time zone of `business_hours` and `holidays`.")
    business_hours: list[BusinessHours] = Field(
        description="When people are available, by weekday; empty: always."
    )
    holidays: list[Holiday] = Field(description="Dates with different hours, from today on.")
    out_of_hours_message: str | None = Field(
        description="The text to show outside the business hours; null: none."
    )
    person_button: str | None = Field(
        description="The label of a button that asks for a person, and the message that it sends;"
        " null: `handoff_on_request` is off."
    )
    agents_online: int = Field(
        description="The number of your company's people who are online now and not away."
    )
    usual_wait_minutes: int | None = Field(
        description="How many minutes an agent usually takes to answer: the median of the last 30"
        " days, computed at most ten minutes ago; null: too few conversations were answered."
    )
    answers_by_mail: bool = Field(
        description="Whether a visitor whose email address is known gets an agent's reply by email"
        " if it has not arrived after three minutes: true if the bot's `mail_answers` is true and"
        " the platform sends email."
    )
    banner: BotBannerDto | None = Field(
        description="The banner to show above the chat now; null: none."
    )
    sample_questions: list[SampleQuestionDto] = Field(
        description="The questions to suggest, in order."
    )
    attach_enabled: bool = Field(description="Whether customers may attach files.")
    upload_limits: UploadLimits = Field(
        description="The limits on the files of a message.",
    )
    export_enabled: bool = Field(
        description="Whether customers may export a transcript of their conversation.",
    )
    auto_pop_up: bool = Field(description="Whether the widget opens automatically.")
    is_fullscreen: bool = Field(description="Whether the open widget fills the window.")
    is_visible: bool = Field(
        description="Whether the widget is shown at all; false: it must stay hidden.",
    )
    customer_info_fields: list[ConfigField] = Field(
        description="The fields to ask the customer for."
    )
