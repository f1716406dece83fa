"""Schemas of the reset of a forgotten password."""

from typing import Annotated

from pydantic import Field

from chatplatform.api.schemas import Schema, Text, example
from identity.schemas.fields import Email, NewPassword

ResetToken = Annotated[Text, Field(min_length=1, max_length=200)]


class ForgotPasswordRequest(Schema):
    """The account with the forgotten password."""

    email: Email = Field(
        description="The person's email address; at most 254 characters.",
        examples=["ben@acme.example"],
    )


class VerifyResetTokenRequest(Schema):
    """The token of a reset link, to check before a form is shown."""

    model_config = example(token="J2cXWmS0sD6mVqA3bqS1gk2Qw8x9mZt4yFhPzRvLuEo")

    token: ResetToken = Field(description="The text after `#token=` in the mailed link.")


class ResetPasswordRequest(Schema):
    """The token of a reset link, and the new password."""

    token: ResetToken = Field(
        description="The text after `#token=` in the mailed link. Works once, within an hour (three"
        " days for an invitation)."
    )
    new_password: NewPassword
