"""What happens on the demo client's first day.

It calls the services, so events, jobs and credits are real, and the workers do the rest once they
run.
"""

from urllib.parse import urlsplit

from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction

from bots.models import Bot
from bots.schemas.written import QuestionAnswerDto
from bots.services import documents, written_sources
from chatplatform import egress
from chats.schemas.conversation import ChatCreation
from chats.schemas.desk import SavedReplyDto
from chats.services.desk import saved_replies
from chats.services.reply import incoming
from commands.demo_chats import SCRIPT
from identity.auth import Principal
from identity.models import ApiKey, User
from webhooks.models import WebhookConfig
from webhooks.schemas import webhook as webhook_schemas
from webhooks.services import endpoints

# Cut off in the middle, as after a broken download.
BROKEN_PDF = b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n<< /Type /Pa"
# The number of each customer who writes, and the kind of line: the bot has no answer and asks the
# customer to rephrase, or the customer asks for a person and the bot hands over.
WRITERS = (
    (1, "unknown"), (5, "person"), (11, "unknown"), (25, "person"), (29, "unknown"),
    (3, "person"), (9, "person"), (30, "person"),
)  # fmt: skip


@transaction.atomic
def begin(bot: Bot, key: ApiKey, *, owner: User) -> None:
    """Add saved replies, a failing webhook endpoint, an unreadable document, answers to the month's
    unanswered questions, and customers who wait."""
    for reply in SCRIPT["saved_replies"]:
        saved_replies.create(owner, SavedReplyDto(**reply, is_shared=True))
    _add_endpoint(owner)
    files = [SimpleUploadedFile("price-list.pdf", BROKEN_PDF)]
    documents.upload(bot, files=files, by=owner)
    for pair in SCRIPT["learned_today"]:
        written_sources.create(bot, body=QuestionAnswerDto(**pair), by=owner)
    for number, (customer, line) in enumerate(WRITERS):
        name = SCRIPT["customers"][customer - 1]
        language = "vi" if name in SCRIPT["vietnamese"] else "en"
        lines = SCRIPT["lines"][line][language]
        person = {"external_id": f"shop-{1000 + customer}", "name": name}
        message = lines[number % len(lines)]
        creation = ChatCreation(customer=person, language=language, message=message, channel="web")
        incoming.open_chat(Principal(key.client, key=key), creation)


def _add_endpoint(owner: User) -> WebhookConfig | None:
    """Add a webhook at a simulated provider, which does not know the path: every delivery fails,
    and nothing leaves this machine. None without a simulated provider, since the demo must not call
    other hosts."""
    provider = urlsplit(settings.SOCIALNET_API_URL).netloc
    if provider not in egress.allowed_for("webhook") or owner.client is None:
        return None
    url = f"http://{provider}/the-shops-old-server"
    body = webhook_schemas.WebhookConfig(
        url=url, description="The shop's old server; it fails on purpose."
    )
    return endpoints.create(owner.client, body, by=owner)
