"""`manage.py seed`: creates a demo client with a trained bot and a month of chats, once.

It prints the demo's logins each time.
"""

import json
import secrets
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management.base import BaseCommand
from django.db import transaction

from bots.models import Bot, Document, DocumentStatus
from bots.schemas.bot import BotDto
from bots.schemas.procedure import Procedures
from bots.schemas.prompt import PromptDto
from bots.services import (
    bots,
    document_embedding,
    documents,
    procedures,
    prompt_versions,
    training,
)
from chatplatform.settings import stored_secret
from commands import demo_activity, demo_chats
from identity.models import ApiKey, Client, KeyScope, User
from identity.schemas.clients import RegisterTrialDto
from identity.services import api_keys, clients, credit_orders

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
DEMO_CREDITS = 10_000
OWNER, ADMIN = "owner@demo.example", "admin@demo.example"


class Command(BaseCommand):
    help = "Create the demo client once, and print its logins."

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.DEVELOPMENT:
            self.stdout.write("No demo client: DEBUG is off.")
            return
        password = stored_secret("demo_password", secrets.token_urlsafe(12))
        if not User.objects.filter(email=OWNER).exists():
            with transaction.atomic():
                new_bot, key = _create_client(password)
            stored_secret("demo_api_key", key)
            self.stdout.write(f"Made the demo client and bot {new_bot.pk}.")
        owner = User.objects.get(email=OWNER)
        # The month of chats quotes the documents.
        _train(owner.client)
        bot = Bot.objects.filter(client=owner.client).order_by("id")[0]
        _make_public_key(bot)
        with transaction.atomic():
            count = demo_chats.create(bot, password=password)
            if count:
                keys = ApiKey.objects.filter(client=bot.client, scope=KeyScope.SECRET)
                demo_activity.begin(bot, keys.order_by("id")[0], owner=owner)
                self.stdout.write(f"Made {count} chats of the last month; some customers wait.")
        _train(owner.client)
        self._print_logins(password)

    def _print_logins(self, password: str) -> None:
        """Print the logins, and store them for the start page and the last lines of `make run`."""
        people = [("Owner", OWNER), *(("Agent", email) for email, _ in demo_chats.AGENTS),
                  ("Platform staff", ADMIN)]  # fmt: skip
        logins = [{"role": role, "email": email, "password": password} for role, email in people]
        keys = settings.DATA_DIR / "keys"
        (keys / "demo_logins").write_text(json.dumps(logins))
        for login in logins:
            self.stdout.write(f"  {login['role']:<14}  {login['email']}  {password}")
        if (keys / "demo_api_key").exists():
            self.stdout.write(f"  API-KEY         {(keys / 'demo_api_key').read_text()}")


def _train(client: Client | None) -> None:
    """Train the waiting documents, so that the first question already gets an answer."""
    waiting = Document.objects.filter(client=client, status=DocumentStatus.QUEUED)
    for document_id in waiting.order_by("id").values_list("id", flat=True):
        training.train(document_id)
        document_embedding.encode_all(document_id)


def _make_public_key(bot: Bot) -> None:
    """Create the public key of the demo shop's website, once."""
    if not (settings.DATA_DIR / "keys" / "demo_page_key").exists():
        _, key = api_keys.create(
            bot.client, name="Demo shop's page", scope=KeyScope.PUBLIC, bot_id=bot.pk
        )
        stored_secret("demo_page_key", key)


def _create_client(password: str) -> tuple[Bot, str]:
    """Create the client with owner, credits, key, and a bot with documents; in a transaction."""
    shop = json.loads((SAMPLES / "shop.json").read_text(encoding="utf-8"))
    owner = RegisterTrialDto(email=OWNER, password=password, **shop["client"])
    client: Client = clients.register(owner, password=owner.password)
    User.objects.create_superuser(ADMIN, password, full_name="Platform Admin")
    bot_dto = bots.create(client, body=BotDto(**shop["bot"]), by=None)
    assert bot_dto.id
    bot = bots.get(client, bot_dto.id)
    prompt_versions.create(bot, body=PromptDto(**shop["prompt"]), by=None)
    steps = [row | {"steps": "\n".join(row["steps"])} for row in shop["procedures"]]
    by = User.objects.get(email=OWNER)
    procedures.update(bot, body=Procedures.model_validate({"procedures": steps}), by=by)
    samples = sorted(SAMPLES.glob("*.md"))
    files = [SimpleUploadedFile(path.name, path.read_bytes()) for path in samples]
    documents.upload(bot, files=files, by=None)
    order = credit_orders.create(client, amount=DEMO_CREDITS, reference="demo", by=None)
    credit_orders.pay(order, by=None)
    _, key = api_keys.create(client, name="Demo key", scope=KeyScope.SECRET, bot_id=bot.pk)
    return bot, key
