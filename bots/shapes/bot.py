"""The shapes of bots."""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from bots.models import Bot
from chatplatform.api.shapes import MAX_ID, Language, Moment, Shape, Text, example, read_only

# One label of a host name (RFC 1123), in the ASCII form that browsers send as Origin.
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
MAX_HOST_CHARACTERS = 253


def _host(given: str) -> str:
    """One host name or `*.` wildcard, in lower case and ASCII."""
    name = given.strip().lower()
    bare = name.removeprefix("*.")
    try:
        ascii_name = bare.encode("idna").decode()
    except UnicodeError as exc:
        raise ValueError(f"{given.strip()[:60]!r} is not a host name") from exc
    labels = ascii_name.split(".")
    if len(ascii_name) > MAX_HOST_CHARACTERS or not all(map(_LABEL.fullmatch, labels)):
        raise ValueError(f"{given.strip()[:60]!r} is not a host name: no scheme, port or path")
    if bare == name:
        return ascii_name
    if len(labels) < 2:
        raise ValueError("a wildcard needs a domain below it: *.example.com")
    return f"*.{ascii_name}"


def _hosts(given: str) -> str:
    """Host names once each, comma-separated without spaces."""
    if not given.strip():
        return ""
    return ",".join(dict.fromkeys(_host(part) for part in given.split(",")))


def _once(codes: list[str]) -> list[str]:
    if len(set(codes)) != len(codes):
        raise ValueError("must not name a language twice")
    return codes


def _no_default(schema: dict[str, Any]) -> None:
    """Needed to create, left out to keep: neither is a default."""
    schema.pop("default", None)


Color = Annotated[str, Field(pattern=r"^#[0-9a-fA-F]{6}$", examples=["#2563eb"])]
Hosts = Annotated[Text, AfterValidator(_hosts)]
Languages = Annotated[list[Language], AfterValidator(_once)]
Greeting = Annotated[Text, Field(max_length=2_000)]
Terms = Annotated[Text, Field(max_length=10_000)]


class BotStyle(Shape):
    """How the widget is drawn."""

    position: Literal["bottom-right", "bottom-left", "top-right", "top-left"] = Field(
        "bottom-right", description="The corner of the page where the widget sits."
    )
    width: int = Field(380, ge=240, le=1200, description="Width when open, in CSS pixels.")
    height: int = Field(600, ge=320, le=1600, description="Height when open, in CSS pixels.")
    font: Text = Field(
        "", max_length=100, description="CSS font family; empty: the page's own.",
        pattern=r"^[\w ,'-]*$",
    )  # fmt: skip
    radius: int = Field(12, ge=0, le=48, description="Radius of the corners, in CSS pixels.")
    dark_mode: bool = Field(False, description="Light text on a dark ground.")


class BotDto(Shape):
    """A bot: its look, its languages and where it may be shown."""

    id: int | None = Field(
        None,
        ge=1,
        le=MAX_ID,
        description="The bot's id. An update may repeat it: another than the path's is a 422.",
    )
    api_key: Text | None = Field(
        None,
        max_length=200,
        description="Masked: the prefix of the bot's newest live key, null without one. A given"
        " value changes nothing.",
    )
    bot_name: Text = Field(
        "",
        min_length=1,
        max_length=100,
        pattern=r"\S",
        description="What customers see as its name. Needed to create a bot.",
        json_schema_extra=_no_default,
    )
    description: Text = Field("", max_length=500, description="What it is for; for staff.")
    bot_icon: Text | None = Field(
        None,
        max_length=500,
        pattern=r"^https?://[^\s/]+(/\S*)?$",
        description="URL (http or https) of its picture; null: the platform's own.",
    )
    primary_color: Color = Field("#2563eb", description="Main colour of the widget, `#rrggbb`.")
    secondary_color: Color = Field("#f1f5f9", description="Second colour, `#rrggbb`.")
    allowed_domain: Hosts = Field(
        "",
        max_length=2_000,
        description="Comma-separated host names of the pages that may use a public key, `*.` for"
        " all names below one, without scheme, port or path. Empty: none may.",
        examples=["example.com,*.example.com"],
    )
    languages: Languages = Field(
        default_factory=list,
        max_length=50,
        description="Languages it is offered in; empty: it answers in the customer's.",
    )
    default_language: Language = Field(
        "en",
        description="Used where a customer's language is unknown; one of `languages` where those"
        " are given. Left out of a new bot: the client's, else the first of `languages`.",
    )
    style: BotStyle = Field(
        default_factory=lambda: BotStyle(),
        description="How the widget is drawn; replaced as a whole.",
    )
    welcome_message: dict[Language, Greeting] = Field(
        default_factory=dict,
        max_length=50,
        description="Language to first words, at most 2,000 characters each.",
    )
    terms: dict[Language, Terms] = Field(
        default_factory=dict,
        max_length=50,
        description="Language to the terms shown before a chat, at most 10,000 characters each.",
    )
    attach_enabled: bool = Field(True, description="Customers may attach files.")
    auto_pop_up: bool = Field(False, description="The widget opens by itself.")
    is_fullscreen: bool = Field(False, description="The widget fills the page.")
    is_visible: bool = Field(True, description="The widget shows at all.")
    allow_preview: bool = Field(True, description="Staff may try the bot in a preview.")
    agent_reply: bool = Field(
        False, description="People answer, not the bot: new chats go to the queue."
    )
    delete_available: bool = Field(True, description="The bot may be deleted.")
    chatbot_setup: bool | None = read_only("There is a welcome message in the default language.")
    prompt_setup: bool | None = read_only("There is a prompt.")
    file_setup: bool | None = read_only("At least one file is trained.")
    url_setup: bool | None = read_only("At least one web page is trained.")
    client_id: int | None = read_only("The client it belongs to.")
    is_disabled: bool | None = read_only("Switched off: it answers nobody.")
    created_at: Moment | None = read_only("When it was made.")
    updated_at: Moment | None = read_only("When it was changed last.")

    @classmethod
    def from_row(cls, bot: Bot) -> "BotDto":
        """The shape of a row of `bots.services.bots.with_derived_fields`.

        Not validated: rows that an older version stored must stay readable.
        """
        derived: Any = bot
        copied = {name: getattr(bot, name) for name in STORED}
        return cls.model_construct(
            **copied,
            bot_icon=bot.bot_icon or None,
            style=BotStyle.model_construct(**bot.style),
            api_key=f"{derived.key_prefix}.****" if derived.key_prefix else None,
            chatbot_setup=bool(bot.welcome_message.get(bot.default_language)),
            prompt_setup=derived.prompt_setup,
            file_setup=derived.file_setup,
            url_setup=derived.url_setup,
        )


# Fields that stand in the row as they stand in the shape.
STORED = (
    "id", "bot_name", "description", "primary_color", "secondary_color", "allowed_domain",
    "languages", "default_language", "welcome_message", "terms", "attach_enabled", "auto_pop_up",
    "is_fullscreen", "is_visible", "allow_preview", "agent_reply", "delete_available", "client_id",
    "is_disabled", "created_at", "updated_at",
)  # fmt: skip


class ToggleDisableBotDto(Shape):
    """Whether a bot answers."""

    model_config = example(is_disabled=True)

    is_disabled: bool = Field(
        description="true: it answers nobody, and its chats go to the queue for a person; false: it"
        " answers again."
    )


class BotsResponse(Shape):
    """A page of bots, oldest first."""

    items: list[BotDto] = Field(description="The bots of this page.")
    next_cursor: str | None = Field(description="Asks for the next page; null on the last.")
