"""`manage.py make_admin EMAIL`: creates or restores an account of the platform's staff."""

import secrets
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.core.validators import validate_email

from identity.services import users


class Command(BaseCommand):
    help = "Make a superuser, or give an existing one a new password; prints the password once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email", help="the address to sign in with")

    def handle(self, *args: Any, **options: Any) -> None:
        email, password = options["email"], secrets.token_urlsafe(12)
        try:
            validate_email(email)
            users.make_staff(email=email, password=password)
        except ValidationError as exc:
            raise CommandError("Say which address: make admin EMAIL=you@example.com") from exc
        except users.EmailTaken as exc:
            raise CommandError("This address belongs to a person of a client.") from exc
        self.stdout.write(f"Sign in at {settings.PUBLIC_URL}/admin/ and change the password there:")
        self.stdout.write(f"  {email}  {password}")
