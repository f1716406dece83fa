"""Accounts of clients at messaging providers, and what comes from them and goes to them."""

from django.db import models
from django.db.models.functions import Now

from bots.models import Bot
from chatplatform.crypto import EncryptedTextField
from chatplatform.customer_channels import MESSAGING_CHANNELS
from chatplatform.ids import uuid7
from chats.models import Conversation, Customer, Message
from identity.models import TenantModel, User

CHANNELS = [(name, name.title()) for name in sorted(MESSAGING_CHANNELS)]


class ConnectionStatus(models.TextChoices):
    # A person was sent to the provider, or has yet to choose an account.
    PENDING = "pending"
    CONNECTED = "connected"
    DISCONNECTED = "disconnected"
    # The token is no longer accepted: a person must consent again.
    EXPIRED = "expired"
    # The provider refuses what we ask, though it knows us; `last_error` says what.
    ERROR = "error"


# The account is the bot's: its messages are taken, and no other bot may have it.
LIVE = (ConnectionStatus.CONNECTED, ConnectionStatus.EXPIRED, ConnectionStatus.ERROR)
# Messages may be sent. After an error the next message shows whether it has passed.
SENDING = (ConnectionStatus.CONNECTED, ConnectionStatus.ERROR)


class ChannelConnection(TenantModel):
    """A bot's account at a messaging provider: a page, a number. A bot has one a channel.

    Kept when it is disconnected, without its tokens: the chats go on if it is connected again.
    """

    # Known before the insert, since the encryption binds the tokens to the row.
    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="channel_connections")
    channel = models.CharField(max_length=10, choices=CHANNELS)
    # The id that callbacks name; empty until an account is chosen.
    account_id = models.CharField(max_length=100, default="", blank=True)
    account_name = models.CharField(max_length=200, default="", blank=True)
    # What else the provider needs to be told, such as the page of a linked account.
    details = models.JSONField(default=dict)
    status = models.CharField(
        max_length=12, choices=ConnectionStatus, default=ConnectionStatus.PENDING
    )
    last_error = models.CharField(max_length=500, default="", blank=True)
    # Since when it has failed; null: it does not.
    failing_since = models.DateTimeField(null=True)
    access_token = EncryptedTextField(default="")
    refresh_token = EncryptedTextField(default="")
    token_expires_at = models.DateTimeField(null=True)
    # Until then nothing is sent: the provider limits the rate of this account.
    paused_until = models.DateTimeField(null=True)
    last_event_at = models.DateTimeField(null=True)
    connected_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True)
    connected_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            # Callbacks name the account alone: it belongs to one bot of one client.
            models.UniqueConstraint(
                fields=["channel", "account_id"],
                condition=models.Q(status__in=["connected", "expired", "error"]),
                name="channel_account_live_once",
            ),
            models.UniqueConstraint(
                fields=["bot", "channel"],
                condition=models.Q(status__in=["connected", "expired", "error"]),
                name="channel_of_bot_live_once",
            ),
            models.UniqueConstraint(
                fields=["bot", "channel", "account_id"], name="channel_account_of_bot_once"
            ),
        ]
        indexes = [
            # The schedule that refreshes tokens.
            models.Index(
                fields=["token_expires_at"],
                condition=models.Q(status__in=["connected", "error"]),
                name="channel_token_expiry",
            )
        ]

    def __str__(self) -> str:
        return f"{self.channel} {self.account_name or self.account_id or self.status}"


class Consent(TenantModel):
    """A person who was sent to a provider to consent; the state that comes back names this row.

    It is used once, by the same person, for the same bot, within its time.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    connection = models.ForeignKey(ChannelConnection, on_delete=models.CASCADE)
    user = models.ForeignKey(User, on_delete=models.CASCADE)
    # The account that is to be connected, if it is known before.
    account_id = models.CharField(max_length=100, default="", blank=True)
    # As it was sent to the provider: the exchange of the code must name the same. Where the
    # provider sends people to our own callback, the page to which that sends them on.
    redirect_uri = models.CharField(max_length=2000)
    # PKCE, for providers that ask for it.
    verifier = EncryptedTextField(default="")
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [models.Index(fields=["expires_at"], name="consent_age")]

    def __str__(self) -> str:
        return f"consent of {self.user_id} for {self.connection_id}"


class CustomerIdentity(TenantModel):
    """A customer's id at an account of a provider, which names them only there."""

    customer = models.ForeignKey(
        Customer, on_delete=models.CASCADE, related_name="channel_identities"
    )
    channel = models.CharField(max_length=10, choices=CHANNELS)
    account_id = models.CharField(max_length=100)
    provider_user_id = models.CharField(max_length=300)
    # Another id of the same customer there, such as a telephone number: messages go to it.
    second_user_id = models.CharField(max_length=300, default="", blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["client", "channel", "account_id", "provider_user_id"],
                name="customer_identity_once",
            ),
            models.UniqueConstraint(
                fields=["client", "channel", "account_id", "second_user_id"],
                condition=~models.Q(second_user_id=""),
                name="customer_second_id_once",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.provider_user_id} at {self.channel} {self.account_id}"

    @property
    def address(self) -> str:
        """The id that messages are sent to."""
        return self.second_user_id or self.provider_user_id


class ChannelChat(TenantModel):
    """The identity through which a chat's customer writes, also if the customer is merged."""

    conversation = models.OneToOneField(
        Conversation, on_delete=models.CASCADE, primary_key=True, related_name="channel_chat"
    )
    identity = models.ForeignKey(CustomerIdentity, on_delete=models.CASCADE, related_name="chats")
    survey_sent_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"chat {self.conversation_id} of {self.identity_id}"


class InboundCallback(models.Model):
    """A callback as it came, stored before it is answered. It may concern accounts of several
    clients, or none.
    """

    id = models.BigAutoField(primary_key=True)
    channel = models.CharField(max_length=10, choices=CHANNELS)
    # The raw bytes, which are what the provider signed.
    body = models.BinaryField()
    # How many items it holds; an `InboundItem` of each says what became of it.
    item_count = models.PositiveIntegerField(default=0)
    # Why nothing of it can be read, if so.
    problem = models.CharField(max_length=200, default="", blank=True)
    received_at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [models.Index(fields=["received_at"], name="callback_age")]

    def __str__(self) -> str:
        return f"{self.channel} callback {self.pk}"


class Outcome(models.TextChoices):
    WAITING = "waiting"
    PROCESSED = "processed"
    DUPLICATE = "duplicate"
    # Of a kind that is not known, or that chats do not show.
    UNSUPPORTED = "unsupported"
    # Of an account that no bot had when it came.
    UNKNOWN_ACCOUNT = "unknown_account"


class InboundItem(models.Model):
    """One item of a callback, and what became of it. Each is processed once, however often it
    comes.

    The items of a customer are processed in the order of their ids.
    """

    id = models.BigAutoField(primary_key=True)
    callback = models.ForeignKey(InboundCallback, on_delete=models.CASCADE, related_name="items")
    # Place in the callback, from 0.
    position = models.PositiveIntegerField()
    channel = models.CharField(max_length=10, choices=CHANNELS)
    account_id = models.CharField(max_length=100)
    # The provider's id of the item and its kind, or a hash of what identifies it.
    key = models.CharField(max_length=120)
    outcome = models.CharField(max_length=15, choices=Outcome)
    # Of what kind, if it is unsupported.
    kind = models.CharField(max_length=60, default="", blank=True)
    # The message that it changes, if that has not come yet.
    waits_for = models.CharField(max_length=300, default="", blank=True)
    # The `ChannelConnection` that received it. If that is erased, the item is not processed.
    connection_id = models.UUIDField(null=True)
    # The customer, as `inbound_order.customer_key` names them.
    customer_key = models.CharField(max_length=80, db_default="", blank=True)
    # Processed by the job of its account, not by one of its customer.
    is_batched = models.BooleanField(db_default=False)
    attempts = models.PositiveSmallIntegerField(db_default=0)
    # Set before it is processed by a job whose process has died before.
    is_in_hand = models.BooleanField(db_default=False)
    # It could not be processed: it is tried by a job of its own, and later ones do not wait for it.
    is_aside = models.BooleanField(db_default=False)
    error = models.CharField(max_length=500, db_default="", blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["callback", "position"], name="inbound_item_counted"),
            models.UniqueConstraint(
                fields=["channel", "account_id", "key"],
                condition=models.Q(outcome="processed"),
                name="inbound_item_once",
            ),
        ]
        indexes = [
            # A message comes: is there a change of it already?
            models.Index(
                fields=["channel", "account_id", "waits_for"],
                condition=~models.Q(waits_for=""),
                name="inbound_item_waiting",
            ),
            # Waiting items of a customer, and of an account.
            models.Index(
                fields=["customer_key", "id"],
                condition=models.Q(outcome="waiting"),
                name="inbound_waits_of_customer",
            ),
            models.Index(
                fields=["connection_id", "id"],
                condition=models.Q(outcome="waiting"),
                name="inbound_waits_of_account",
            ),
        ]

    def __str__(self) -> str:
        return self.key


class SendState(models.TextChoices):
    QUEUED = "queued"
    # The call is under way, or its worker died in it.
    SENDING = "sending"
    SENT = "sent"
    FAILED = "failed"
    # The call broke after the provider may have accepted it: its echo tells. Never sent again.
    UNCERTAIN = "uncertain"


class OutboundSend(TenantModel):
    """One call that sends a message, or a part of one that the channel takes in several.

    The row is written before the call. Its id travels with the call where the provider returns it.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="outbound_sends")
    connection = models.ForeignKey(ChannelConnection, on_delete=models.CASCADE)
    part = models.PositiveSmallIntegerField()
    # A message has arrived when its last part has.
    is_last = models.BooleanField()
    recipient_id = models.CharField(max_length=300)
    # The text of the part: an echo without our id is matched by it.
    text = models.TextField(default="", blank=True)
    state = models.CharField(max_length=9, choices=SendState, default=SendState.QUEUED)
    provider_message_id = models.CharField(max_length=300, null=True)
    error = models.CharField(max_length=500, default="", blank=True)
    # How often the provider said "not now".
    refusals = models.PositiveSmallIntegerField(default=0)
    # When the call began, then the provider's own time if it tells one.
    sent_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name, verbose_name_plural = "sent message", "sent messages"
        constraints = [
            models.UniqueConstraint(fields=["message", "part"], name="outbound_part_once"),
            models.UniqueConstraint(
                fields=["connection", "provider_message_id"], name="outbound_provider_id_once"
            ),
        ]
        indexes = [
            # Echoes to match, and receipts up to a moment.
            models.Index(
                fields=["connection", "recipient_id", "sent_at"], name="outbound_receipts"
            ),
            # What was refused lately, for the page of failures.
            models.Index(
                fields=["created_at"],
                condition=models.Q(state="failed"),
                name="outbound_failed",
            ),
            # How an account did, day by day.
            models.Index(fields=["connection", "created_at"], name="outbound_by_day"),
        ]

    def __str__(self) -> str:
        return f"part {self.part} of {self.message_id}"
