"""The shapes of the languages that bots are offered in."""

import unicodedata
from collections.abc import Iterable
from typing import Self

from django.utils.translation import get_language_info
from pydantic import Field

from chatplatform.api.shapes import Shape


class BotLanguage(Shape):
    """One language that a bot is offered in."""

    code: str = Field(description="BCP 47 code.", examples=["vi"])
    name: str = Field(description="Its name in English; the code if unknown.")
    native_name: str = Field(description="Its name in the language itself; the code if unknown.")
    is_default: bool = Field(description="Whether it is used if a customer chooses no other.")

    @classmethod
    def from_code(cls, code: str, *, is_default: bool) -> Self:
        try:
            info = get_language_info(code.lower())
        except KeyError:
            return cls(code=code, name=code, native_name=code, is_default=is_default)
        # Django spells some names with combining marks; composed, they compare and sort right.
        native_name = unicodedata.normalize("NFC", info["name_local"])
        return cls(code=code, name=info["name"], native_name=native_name, is_default=is_default)


class BotLanguageConfigDto(Shape):
    """The languages of one bot, or of all bots of a client."""

    default_language: str = Field(
        description="BCP 47 code of the language that is used if a customer chooses no other."
    )
    languages: list[BotLanguage] = Field(description="The default first, the others by code.")

    @classmethod
    def from_codes(cls, codes: Iterable[str], *, default: str) -> Self:
        ordered = [default, *sorted(set(codes) - {default})]
        return cls(
            default_language=default,
            languages=[BotLanguage.from_code(code, is_default=code == default) for code in ordered],
        )
