"""Field types that several schemas of this app share."""

import zoneinfo
from functools import cache
from typing import Annotated

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils.translation import gettext
from pydantic import AfterValidator, Field

from chatplatform.api.schemas import Text


def _email(text: str) -> str:
    try:
        validate_email(text)
    except ValidationError as exc:
        raise ValueError(gettext("must be an email address")) from exc
    return text.lower()


@cache
def time_zones() -> frozenset[str]:
    """The names of all IANA time zones. Reading them opens 600 files, so this is done once."""
    # "localtime" is a file of this machine, not a zone.
    return frozenset(zoneinfo.available_timezones() - {"localtime"})


def _timezone(name: str) -> str:
    if name not in time_zones():
        raise ValueError(gettext("must be a time zone from the IANA database"))
    return name


def _not_blank(text: str) -> str:
    text = text.strip()
    if not text:
        raise ValueError(gettext("must not be blank"))
    return text


Email = Annotated[
    Text, Field(max_length=254, json_schema_extra={"format": "email"}), AfterValidator(_email)
]
TimeZone = Annotated[str, Field(max_length=64), AfterValidator(_timezone)]
PictureUrl = Annotated[Text, Field(max_length=500, pattern=r"^(https?://[^\s/]+(/\S*)?)?$")]
Name = Annotated[Text, AfterValidator(_not_blank), Field(min_length=1, max_length=200)]
KeyName = Annotated[Text, AfterValidator(_not_blank), Field(min_length=1, max_length=100)]
PASSWORD_RULE = "10..128 characters, not a common password and not only digits."
NewPassword = Annotated[
    Text,
    Field(
        min_length=settings.MIN_PASSWORD,
        max_length=128,
        description=PASSWORD_RULE,
        examples=["correct-horse-battery"],
    ),
]
