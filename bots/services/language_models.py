"""Set, remove and test the language models and encoders that clients connect."""

import time

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext_noop

from bots.engine import request_templates, text_tasks
from bots.engine.types import EngineError, Usage
from bots.language.embedding import EncoderDown
from bots.models import Bot, LanguageModel, ModelPurpose
from bots.schemas.language_model import LanguageModelDto, LanguageModelTest, Purpose
from bots.services import bots, encoders, engines
from chatplatform import egress
from chatplatform.api.errors import Invalid, first_or_404, require_address
from identity.models import Client, User
from identity.services import audit

_TEST_SECONDS = 20
_WRITABLE = (
    "base_url", "model", "reads_pictures", "transcription_model", "credits_per_1000_tokens",
)  # fmt: skip


def list_for_client(client: Client) -> QuerySet[LanguageModel]:
    """The models that the client has connected for itself and its bots, unordered."""
    return LanguageModel.objects.for_client(client)


def get(client: Client, bot: Bot | None, *, purpose: Purpose = "chat") -> LanguageModel:
    """The model of the bot or, if `bot` is None, of the whole client; 404 if there is none."""
    return first_or_404(_of(client, bot, purpose))


def store(
    client: Client,
    bot: Bot | None,
    *,
    body: LanguageModelDto,
    by: User,
    purpose: Purpose = "chat",
) -> LanguageModel:
    """Set the model of a bot or of the whole client, or the client's encoder.

    A stored key is kept if the body leaves it out. 422 if that key would be sent to another origin,
    if the body's bot or purpose differs from the arguments, if an encoder is for a single bot, or
    if the URL or the price is not allowed.
    """
    for name, expected in (("bot_id", bot and bot.pk), ("purpose", purpose)):
        if name in body.model_fields_set and getattr(body, name) != expected:
            raise Invalid.field("body", name, msg="Differs from the value in the query.")
    if bot and purpose == "embeddings":
        raise Invalid.field("query", "bot_id", msg="An encoder serves all bots.")
    # Resolve the host name before the transaction, since that may take seconds.
    require_address(body.base_url, "base_url", purpose="model")
    with transaction.atomic():
        # Locked, so that concurrent requests do not both insert.
        Client.objects.select_for_update(no_key=True).get(pk=client.pk)
        row = _of(client, bot, purpose).first() or LanguageModel(
            client=client, bot=bot, purpose=purpose
        )
        before = row.base_url, row.model
        _check_price(row, body, by)
        row.api_key = _merged_key(row, body)
        # An existing model keeps the settings that the request leaves out.
        for name in {*_WRITABLE} if row._state.adding else body.model_fields_set & {*_WRITABLE}:
            setattr(row, name, getattr(body, name))
        if purpose == "embeddings":
            if (row.base_url, row.model) != before:
                row.gate, row.indexed_percent = None, 0
            bots.rebuild_indexes(client.pk)
            encoders.enqueue_reindex(client.pk)
        row.save()
        changes = {name: getattr(row, name) for name in _WRITABLE}
        _record(row, "language_model.set", by, key_replaced=body.api_key is not None, **changes)
    return row


def remove(client: Client, bot: Bot | None, *, by: User, purpose: Purpose = "chat") -> None:
    """Remove a model and its key, if there is one; bots then use the next available model."""
    with transaction.atomic():
        row = _of(client, bot, purpose).select_for_update(of=("self",)).first()
        if row is None:
            return
        _record(row, "language_model.removed", by, base_url=row.base_url, model=row.model)
        row.delete()
        if purpose == "embeddings":
            bots.rebuild_indexes(client.pk)
            encoders.enqueue_reindex(client.pk)


def test(row: LanguageModel) -> LanguageModelTest:
    """Ask a model to translate one word, or an encoder for the vectors of two words.

    Costs no credits; the result says whether it failed.
    """
    if row.purpose == ModelPurpose.EMBEDDINGS:
        return _test_encoder(row)
    engine, started = engines.own_engine(row), time.monotonic()
    usage: Usage | None = None
    error = answered_by = None
    try:
        written = engine.complete(
            text_tasks.translate("Hello", to="vi"), deadline_seconds=_TEST_SECONDS
        )
        usage, answered_by = written.usage, written.model
    except EngineError as exc:
        usage, error = exc.usage, str(exc)
    return LanguageModelTest(
        is_working=error is None,
        error=error,
        answered_by=answered_by,
        tokens=usage.prompt_tokens + usage.completion_tokens if usage else 0,
        duration_ms=round((time.monotonic() - started) * 1000),
    )


def _test_encoder(row: LanguageModel) -> LanguageModelTest:
    started, error = time.monotonic(), None
    try:
        encoders.of_row(row).queries(["Hello", "Goodbye"])
    except EncoderDown as exc:
        error = str(exc)
    return LanguageModelTest(
        is_working=error is None,
        error=error,
        answered_by=None if error else row.model,
        tokens=0,
        duration_ms=round((time.monotonic() - started) * 1000),
    )


def _of(client: Client, bot: Bot | None, purpose: str = "chat") -> QuerySet[LanguageModel]:
    """The model of the bot or, if `bot` is None, of the whole client: at most one row."""
    return LanguageModel.objects.for_client(client).filter(bot=bot, purpose=purpose)


def _merged_key(row: LanguageModel, body: LanguageModelDto) -> str:
    """The key to store; 422 if a stored key would be sent to another origin, or any key would be
    sent unencrypted."""
    key = row.api_key if body.api_key is None else body.api_key
    is_moved = request_templates.origin(row.base_url) != request_templates.origin(body.base_url)
    if key and body.api_key is None and is_moved:
        raise Invalid.field(
            "body",
            "api_key",
            msg=gettext_noop("The address has a new host. Enter the key again, or remove it."),
        )
    if key and not egress.keeps_secrets(body.base_url, purpose="model"):
        raise Invalid.field("body", "api_key", msg=gettext_noop("A key requires an https address."))
    return key


def _check_price(row: LanguageModel, body: LanguageModelDto, by: User) -> None:
    price = body.credits_per_1000_tokens
    # A price of 0 that the platform's staff has set may be sent again.
    if price < 1 and not by.is_superuser and (row._state.adding or row.credits_per_1000_tokens):
        raise Invalid.field(
            "body",
            "credits_per_1000_tokens",
            msg=gettext_noop("Only platform staff can set less than 1."),
        )


def _record(row: LanguageModel, action: str, by: User, **changes: object) -> None:
    audit.record(
        row.client_id,
        action,
        by=by,
        subject=f"language_model:{row.pk}",
        changes={"bot_id": row.bot_id, "purpose": row.purpose, **changes},
    )
