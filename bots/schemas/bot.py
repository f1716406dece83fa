"""Request and response schemas of bots and of the languages that they support."""

import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Annotated, Any, Literal, Self

from django.utils.translation import get_language_info, gettext
from pydantic import (
    AfterValidator,
    Discriminator,
    Field,
    PlainSerializer,
    Tag,
    WithJsonSchema,
    model_validator,
)

from bots.models import Bot
from chatplatform.api.pagination import ListPage
from chatplatform.api.schemas import (
    NOT_BLANK,
    InRequest,
    Language,
    Moment,
    Schema,
    Text,
    example,
    read_only,
    without_default,
)
from identity.schemas.configs import Holidays, WeekHours, stored_holidays, stored_hours

# One label of a host name (RFC 1123), in the ASCII form that browsers send as Origin.
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
MAX_HOST_CHARACTERS = 253


def _host(text: str) -> str:
    """One host name or `*.` wildcard, in lower case and ASCII."""
    name = text.strip().lower()
    bare = name.removeprefix("*.")
    try:
        ascii_name = bare.encode("idna").decode()
    except UnicodeError as exc:
        message = gettext("“%(text)s” isn't a valid host name")
        raise ValueError(message % {"text": text.strip()[:60]}) from exc
    labels = ascii_name.split(".")
    if len(ascii_name) > MAX_HOST_CHARACTERS or not all(map(_LABEL.fullmatch, labels)):
        message = gettext(
            "“%(text)s” isn't a valid host name; leave out the scheme, port, and path"
        )
        raise ValueError(message % {"text": text.strip()[:60]})
    if bare == name:
        return ascii_name
    if len(labels) < 2:
        raise ValueError(gettext("a wildcard needs a domain after it: *.example.com"))
    return f"*.{ascii_name}"


def _hosts(text: str) -> str:
    """The distinct host names, comma-separated without spaces."""
    if not text.strip():
        return ""
    return ",".join(dict.fromkeys(_host(part) for part in text.split(",")))


def _distinct(codes: list[str]) -> list[str]:
    if len(set(codes)) != len(codes):
        raise ValueError(gettext("must not list the same language twice"))
    return codes


Color = Annotated[str, Field(pattern=r"^#[0-9a-fA-F]{6}$", examples=["#2563eb"])]
Hosts = Annotated[Text, AfterValidator(_hosts)]
Languages = Annotated[list[Language], AfterValidator(_distinct)]
Greeting = Annotated[Text, Field(max_length=2_000)]
Greetings = Annotated[dict[Language, Greeting], Field(max_length=50)]
# A request may send a plain string, the text in the default language.
GreetingOrGreetings = Annotated[
    Annotated[Greeting, Tag("text")] | Annotated[Greetings, Tag("by_language")],
    Discriminator(lambda value: "text" if isinstance(value, str) else "by_language"),
    PlainSerializer(lambda value: value, return_type=Greetings, when_used="json"),
]
Terms = Annotated[Text, Field(max_length=10_000)]
Engaging = Annotated[Text, Field(max_length=300)]
EngagingSeconds = Annotated[
    int,
    Field(
        description="How many seconds a visitor must be on a page before the widget shows"
        " `engaging_message` or, if `auto_pop_up` is true, opens automatically."
    ),
]
EngagingPages = Annotated[
    Text,
    Field(
        description="The pages on which the widget shows `engaging_message` or opens automatically:"
        " comma-separated paths; `*` stands for any text. Empty: all pages."
    ),
]
EngagingVisitors = Annotated[
    Literal["all", "new", "returning"],
    Field(
        description="The visitors to whom the widget shows `engaging_message` or opens"
        " automatically: `all`, `new` ones, or those `returning` after half an hour or more."
    ),
]
SETUP_STEPS = ("chatbot_setup", "prompt_setup", "file_setup", "url_setup")


_REPLACES_ALL = InRequest("A request replaces the texts of all languages.")
# Whether a step of the set-up checklist is done.
SetUpStep = Annotated[bool | None, InRequest("Set it to null to make it automatic again.")]


# An enum and no `const`, which openapi-python-client cannot read beside a boolean.
_System = Annotated[Literal["system"], WithJsonSchema({"type": "string", "enum": ["system"]})]


class BotStyle(Schema):
    """The position, size, corners and font of the widget."""

    position: Literal["bottom-right", "bottom-left", "top-right", "top-left"] = Field(
        "bottom-right", description="The corner of the browser window that shows the widget."
    )
    width: int = Field(380, ge=240, le=1200, description="Width when open, in CSS pixels.")
    height: int = Field(600, ge=320, le=1600, description="Height when open, in CSS pixels.")
    font: Text = Field(
        "", max_length=100, description="CSS font family; empty: the visitor's system font.",
        pattern=r"^[^\t-\r!-&(-+./:-@\[-^`{-~]*$",
    )  # fmt: skip
    radius: int = Field(12, ge=0, le=48, description="Radius of the corners, in CSS pixels.")
    dark_mode: bool | _System = Field(
        False,
        description="Whether the widget has light text on a dark background; `system`: if the"
        " visitor's system or browser does.",
    )


class BotDto(Schema):
    """A bot: its appearance, languages and behavior, and where it may be shown."""

    keeps_values = True
    id: int = read_only("The bot's id.", path="bot_id")
    api_key: str | None = read_only(
        "The bot's newest active API key, masked: only its prefix is shown. Null: it has none."
    )
    bot_name: Annotated[
        Text, InRequest("Required to create a bot.", is_required_to_create=True)
    ] = Field(
        "",
        min_length=1,
        max_length=100,
        pattern=NOT_BLANK,
        description="The bot's name as customers see it.",
        json_schema_extra=without_default,
    )
    description: Text = Field(
        "",
        max_length=500,
        description="A note for your team about what the bot is for.",
    )
    bot_icon: Text | None = Field(
        None,
        max_length=500,
        pattern=r"^(https?://[^\s/]+(/\S*)?)?$",
        description="URL (http or https) of the bot's picture; null or empty: the platform's"
        " default.",
    )
    primary_color: Color = Field("#2563eb", description="Main color of the widget, `#rrggbb`.")
    secondary_color: Color = Field(
        "#f1f5f9", description="Secondary color of the widget, `#rrggbb`."
    )
    allowed_domain: Hosts = Field(
        "",
        max_length=2_000,
        description="Comma-separated host names of the sites that may use the bot's public key,"
        " without scheme, port or path. `*.example.com` stands for all subdomains of `example.com`,"
        " but not for `example.com`. Empty: none.",
        examples=["example.com,*.example.com"],
    )
    languages: Languages = Field(
        default_factory=list,
        max_length=50,
        description="The languages that the bot answers in, as BCP 47 codes. Empty: it answers in"
        " each customer's own language. A bot that is created without this field gets your"
        " company's languages, if *Update Client Config Languages* has set them.",
    )
    default_language: Language = Field(
        "en",
        json_schema_extra=without_default,
        description="The bot's language, as a BCP 47 code, if a customer's is unknown; one of"
        " `languages`, unless that list is empty. `welcome_message`, `terms` and `engaging_message`"
        " are shown in this language if they have no text in the customer's. A bot that is created"
        " without this field gets your company's default language or, if that is not one of"
        " `languages`, the first of them.",
    )
    style: Annotated[BotStyle, InRequest("A change replaces the whole object.")] = Field(
        default_factory=lambda: BotStyle(), description="How the widget looks."
    )
    welcome_message: Annotated[
        GreetingOrGreetings,
        InRequest(
            "An object replaces the texts of all languages. A request may send a string instead,"
            " which sets the text in the default language and keeps the others."
        ),
    ] = Field(
        default_factory=dict,
        description="Welcome messages by language, at most 2,000 characters each; 422 for a new"
        " text in a language that is not in `languages`, unless that list is empty.",
        examples=[{"en": "Hello! How can I help you?"}],
    )
    terms: Annotated[dict[Language, Terms], _REPLACES_ALL] = Field(
        default_factory=dict,
        max_length=50,
        description="Terms shown before a conversation, by language, at most 10,000 characters"
        " each.",
    )
    terms_default: Terms = Field(
        "",
        description="The text of `terms` in the default language, at most 10,000 characters; empty:"
        " none. Change it here or in `terms`; 422 if a request sets two different texts.",
    )
    bot_question: Text = Field(
        "",
        max_length=300,
        description="The placeholder in the widget's input field, at most 300 characters; empty:"
        " the widget's own text.",
        examples=["What can I do for you?"],
    )
    engaging_message: Annotated[dict[Language, Engaging], _REPLACES_ALL] = Field(
        default_factory=dict,
        max_length=50,
        description="The text beside the closed widget, by language, at most 300 characters each.",
    )
    engaging_message_default: Engaging = Field(
        "",
        description="The text of `engaging_message` in the default language; works like"
        " `terms_default`.",
    )
    engaging_seconds: EngagingSeconds = Field(0, ge=0, le=3600)
    engaging_pages: EngagingPages = Field("", max_length=500, examples=["/prices, /shop/*"])
    engaging_visitors: EngagingVisitors = "all"
    attach_enabled: bool = Field(True, description="Whether customers may attach files.")
    export_enabled: bool = Field(
        False, description="Whether customers may export a transcript of their conversation."
    )
    mail_answers: bool = Field(
        True,
        description="Whether a visitor of the website whose email address is known gets an agent's"
        " reply by email if it has not arrived after three minutes.",
    )
    auto_pop_up: bool = Field(False, description="Whether the widget opens automatically.")
    is_fullscreen: bool = Field(False, description="Whether the open widget fills the window.")
    is_visible: bool = Field(True, description="Whether websites show the widget at all.")
    allow_preview: bool = Field(
        True, description="Whether your team may try the bot in a test conversation (preview)."
    )
    hold_back_worse: bool = Field(
        False,
        description="Whether changes are tested before they go live: new, changed and deleted"
        " documents and, if a language model answers, new instructions. A golden run asks the bot"
        " its golden questions with and without the change; a model's tokens are charged. A change"
        " that makes a question fail is held back until someone publishes it. Has no effect without"
        " golden questions.",
    )
    agent_reply: bool = Field(
        False,
        description="Whether people answer instead of the bot: new and reopened conversations, and"
        " those that an agent gives back with *Chat Unassign*, go to the queue; the bot keeps those"
        " that it already has.",
    )
    delete_available: bool = Field(
        True,
        description="Whether the bot may be deleted; if false, *Delete Bot* responds with 409"
        " `delete_not_available`.",
    )
    business_hours: WeekHours | None = Field(
        None,
        description="The bot's own business hours, in your company's time zone. Empty: always"
        " open. Null: your company's business hours apply.",
    )
    holidays: Holidays | None = Field(
        None,
        description="The bot's own holidays. Empty: none. Null: your company's holidays apply.",
    )
    chatbot_setup: SetUpStep = Field(
        None,
        description="Whether the appearance step of the set-up checklist is done; unless you set"
        " it, true once there is a welcome message in the default language. Never null in a"
        " response.",
    )
    prompt_setup: SetUpStep = Field(
        None,
        description="Whether the instructions step of the set-up checklist is done; unless you set"
        " it, true once the bot has instructions. Never null in a response.",
    )
    file_setup: SetUpStep = Field(
        None,
        description="Whether the files and texts step of the set-up checklist is done; unless you"
        " set it, true once a file, text or answer has been read. Never null in a response.",
    )
    url_setup: SetUpStep = Field(
        None,
        description="Whether the websites step of the set-up checklist is done; unless you set it,"
        " true once a crawled page has been read. Never null in a response.",
    )
    client_id: int = read_only("The id of your company.")
    has_model: bool = read_only(
        "Whether the bot has a language model: for its replies to customers, and for texts for your"
        " team.",
    )
    is_disabled: bool = read_only(
        "Whether the bot is disabled with *Toggle Disable Bot*: it answers nothing, and its"
        " conversations go to the queue when the customer next writes, even those that"
        " `agent_reply` would leave to it.",
    )
    created_at: Moment = read_only("When the bot was created.")
    updated_at: Moment = read_only("When the bot was last changed.")

    @classmethod
    def from_row(cls, bot: Bot) -> "BotDto":
        """An instance from a row annotated by `bots.services.bots.with_derived_fields`."""
        derived: Any = bot
        return cls.copy_from(
            bot,
            bot_icon=bot.picture_url or None,
            style=BotStyle.model_construct(**bot.style),
            api_key=f"{derived.key_prefix}.****" if derived.key_prefix else None,
            terms_default=bot.terms.get(bot.default_language, ""),
            engaging_message_default=bot.engaging_message.get(bot.default_language, ""),
            business_hours=_or_null(stored_hours, bot.business_hours),
            holidays=_or_null(stored_holidays, bot.holidays),
            **detected_setup(bot) | bot.setup_overrides,
        )


def detected_setup(bot: Bot) -> dict[str, bool]:
    """Which `SETUP_STEPS` are done, according to the bot's data; at most the first if unsaved."""
    return {
        "chatbot_setup": bool(bot.welcome_message.get(bot.default_language)),
        "prompt_setup": getattr(bot, "has_prompt", False),
        "file_setup": getattr(bot, "has_file", False),
        "url_setup": getattr(bot, "has_page", False),
    }


def _or_null(convert: Callable[[Any], Any], entries: Any) -> Any:
    return None if entries is None else convert(entries)


class ToggleDisableBotDto(Schema):
    """Whether a bot is disabled."""

    model_config = example(is_disabled=True)

    is_disabled: bool = Field(
        description="true: the bot stops answering, and each of its conversations goes to the queue"
        " when the customer next writes; false: it answers again, but not in conversations that are"
        " in the queue."
    )


class BotsResponse(ListPage[BotDto]):
    """One page of the list of bots, oldest first."""


class BotLanguage(Schema):
    """One supported language."""

    code: Language = Field(description="The language as a BCP 47 code, such as `en` or `pt-BR`.")
    name: str = read_only("The language's name in English; the code if unknown.")
    native_name: str = read_only(
        "The language's name in the language itself; the code if unknown.",
    )
    is_default: bool = read_only(
        "Whether this language is used if a customer chooses no other.",
    )

    @classmethod
    def from_code(cls, code: str, *, is_default: bool) -> Self:
        try:
            info = get_language_info(code.lower())
        except KeyError:
            info = {"name": code, "name_local": code}
        # Django writes some names with combining marks; composed names compare and sort correctly.
        native_name = unicodedata.normalize("NFC", info["name_local"])  # noqa: TID251 - short text
        return cls.copy_from(
            None, code=code, name=info["name"], native_name=native_name, is_default=is_default
        )


class BotLanguageConfigDto(Schema):
    """The languages of one bot, or of all bots of your company."""

    model_config = example(default_language="vi", languages=[{"code": "vi"}, {"code": "en"}])

    default_language: Language = Field(
        description="BCP 47 code of the language that is used if a customer chooses no other; one"
        " of `languages`, unless that list is empty."
    )
    languages: list[BotLanguage] = Field(
        max_length=50,
        description="The languages, the default one first, then the others by code.",
    )

    @model_validator(mode="after")
    def _default_among_them(self) -> Self:
        codes = [language.code for language in self.languages]
        _distinct(codes)
        if codes and self.default_language not in codes:
            raise ValueError("default_language must be one of languages")
        return self

    @classmethod
    def from_codes(cls, codes: Iterable[str], *, default: str) -> Self:
        ordered = [default, *sorted(set(codes) - {default})]
        return cls.copy_from(
            None,
            default_language=default,
            languages=[BotLanguage.from_code(code, is_default=code == default) for code in ordered],
        )
