"""Shapes of password resets."""

from typing import Annotated

from pydantic import Field

from chatplatform.api.shapes import Shape, Text, example
from identity.shapes.fields import Email, NewPassword

ResetToken = Annotated[Text, Field(min_length=1, max_length=200)]


class ForgotPasswordRequest(Shape):
    """The account whose password was forgotten."""

    email: Email = Field(
        description="The person's e-mail address; at most 254 characters.",
        examples=["ben@acme.example"],
    )


class VerifyResetTokenRequest(Shape):
    """The token of a reset link, to be checked before a form is shown."""

    model_config = example(token="J2cXWmS0sD6mVqA3bqS1gk2Qw8x9mZt4yFhPzRvLuEo")

    token: ResetToken = Field(description="The text after `#token=` in the mailed link.")


class ResetPasswordRequest(Shape):
    """The token of a reset link, and the new password."""

    token: ResetToken = Field(
        description="The text after `#token=` in the mailed link. Works once, for an hour (three"
        " days in an invitation)."
    )
    new_password: NewPassword = Field(
        description="10..128 characters, not a common password and not only digits."
    )
