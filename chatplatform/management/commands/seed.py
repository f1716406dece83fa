"""`manage.py seed`: a demo client with a trained bot and a month of chats, made once.

Its logins are printed.
"""

import secrets
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.management.base import BaseCommand
from django.db import transaction

from bots.models import Bot
from bots.services import bots, documents, prompts
from bots.shapes.bot import BotDto
from bots.shapes.train import PromptDto
from chatplatform.management import demo_chats
from identity.models import Client, KeyScope, User
from identity.services import api_keys, clients
from identity.shapes.clients import RegisterTrialDto

SAMPLES = Path(__file__).resolve().parent.parent / "samples"
OWNER, ADMIN = "owner@demo.example", "admin@demo.example"
PROMPT = "You are the help desk of a small online shop. Answer briefly and politely."


class Command(BaseCommand):
    help = "Make the demo client once, and print how to log in."

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.DEVELOPMENT:
            self.stdout.write("No demo client: DEBUG is off.")
            return
        password = _kept("demo_password", secrets.token_urlsafe(12))
        if not User.objects.filter(email=OWNER).exists():
            with transaction.atomic():
                made_bot, key = _make(password)
            _kept("demo_api_key", key)
            self.stdout.write(f"Made the demo client and bot {made_bot.pk}; it is being trained.")
        bot = Bot.objects.filter(client=User.objects.get(email=OWNER).client).order_by("id")[0]
        made = demo_chats.make(bot, password=password)
        if made:
            self.stdout.write(f"Made {made} chats of the last month.")
        self._say(password)

    def _say(self, password: str) -> None:
        key = settings.DATA_DIR / "keys" / "demo_api_key"
        self.stdout.write(f"  API login     {OWNER}  {password}")
        for email, _ in demo_chats.AGENTS:
            self.stdout.write(f"  Agent login   {email}  {password}")
        self.stdout.write(f"  Admin login   {ADMIN}  {password}")
        if key.exists():
            self.stdout.write(f"  API-KEY       {key.read_text()}")


def _kept(name: str, made: str) -> str:
    """A secret of the demo, made by chance and kept in DATA_DIR with mode 0600."""
    path: Path = settings.DATA_DIR / "keys" / name
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600)
        path.write_text(made)
    return path.read_text()


def _make(password: str) -> tuple[Bot, str]:
    """The client, its owner, its bot with documents, and a secret key; one transaction."""
    client: Client = clients.register_trial(
        RegisterTrialDto(
            company_name="Demo Shop",
            full_name="Dana Demo",
            email=OWNER,
            password=password,
            language="en",
            timezone="UTC",
        )
    )
    User.objects.create_superuser(ADMIN, password, full_name="Platform Admin")
    made = bots.create(
        client,
        given=BotDto(
            bot_name="Shop helper",
            languages=["en", "vi"],
            default_language="en",
            welcome_message={
                "en": "Hello! Ask me about orders, delivery and returns.",
                "vi": "Xin chào! Bạn cần hỏi gì về đơn hàng, giao hàng hay đổi trả?",
            },
        ),
    )
    assert made.id
    bot = bots.get(client, made.id)
    prompts.create(bot, given=PromptDto(content=PROMPT, language="en"), by=None)
    opened = [(path, path.open("rb")) for path in sorted(SAMPLES.glob("*.md"))]
    try:
        documents.upload(
            bot,
            files=[
                UploadedFile(file, name=path.name, size=path.stat().st_size)
                for path, file in opened
            ],
        )
    finally:
        for _, file in opened:
            file.close()
    _, key = api_keys.create(client, name="Demo key", scope=KeyScope.SECRET, bot_id=bot.pk)
    return bot, key
