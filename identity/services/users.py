"""People: added, and what a password must be."""

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from chatplatform.errors import ApiError, Invalid
from identity.models import Client, User


class EmailTaken(ApiError):
    code, status = "email_taken", 409
    detail = "Someone with this e-mail address is here already; sign in or use another."


def create(
    client: Client, *, email: str, full_name: str, role: str, language: str, password: str
) -> User:
    """A new person of `client`; 409 `email_taken` where the address is known."""
    check_password_rules(password)
    # Asked first, so that a known address does not cost a password hash.
    if User.objects.filter(email=email.lower()).exists():
        raise EmailTaken
    try:
        with transaction.atomic():
            user = User.objects.create_user(
                email, password, client=client, full_name=full_name, role=role, language=language
            )
    except IntegrityError as exc:
        if "user_email" in str(exc):
            raise EmailTaken from exc
        raise
    user.refresh_from_db(fields=["created_at"])
    return user


def check_password_rules(password: str, *, where: str = "password") -> None:
    """422 for a password that is too short, too common or only digits."""
    try:
        validate_password(password)
    except ValidationError as exc:
        raise Invalid.field("body", where, msg=" ".join(exc.messages)) from exc
