"""Clients' accounts at messaging providers, their inbound callbacks and outbound sends."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from bots.models import Bot
from chatplatform.channel_names import messaging_choices
from chatplatform.crypto import EncryptedTextField
from chatplatform.ids import uuid7
from chats.models import Conversation, Customer, Message
from identity.models import TenantModel, User


class ConnectionStatus(models.TextChoices):
    # Not connected yet: a person must still consent, or choose an account.
    PENDING = "pending"
    CONNECTED = "connected"
    DISCONNECTED = "disconnected"
    # The provider no longer accepts the token: a person must consent again.
    EXPIRED = "expired"
    # The provider accepts the token but refuses a request; `last_error` says why.
    ERROR = "error"


# The statuses in which the bot has the account, so that no other bot may connect it.
LIVE = (ConnectionStatus.CONNECTED, ConnectionStatus.EXPIRED, ConnectionStatus.ERROR)
# The statuses in which messages may be sent. The first send that succeeds clears an error.
SENDING = (ConnectionStatus.CONNECTED, ConnectionStatus.ERROR)


class ChannelConnection(TenantModel):
    """A bot's account at a messaging provider, such as a page or a number.

    A bot has at most one live account per channel. A disconnected row stays, without its tokens,
    so that its chats continue if the account is connected again.
    """

    # Set before the insert, since the encryption binds the tokens to the row's id.
    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="channel_connections")
    channel = models.CharField(max_length=10, choices=messaging_choices)
    # The account's id in callbacks; empty until an account is chosen.
    account_id = models.CharField(max_length=100, default="", blank=True)
    account_name = models.CharField(max_length=200, default="", blank=True)
    # Other values that calls to the provider need, such as the id of a linked page.
    details = models.JSONField(default=dict)
    status = models.CharField(
        max_length=12, choices=ConnectionStatus, default=ConnectionStatus.PENDING
    )
    last_error = models.CharField(max_length=500, default="", blank=True)
    # When the connection began to fail; null while it works.
    failing_since = models.DateTimeField(null=True)
    access_token = EncryptedTextField(default="")
    refresh_token = EncryptedTextField(default="")
    # Authenticates the account's callbacks, if the provider uses a secret per account.
    secret = EncryptedTextField(default="")
    token_expires_at = models.DateTimeField(null=True)
    # Nothing is sent before this time, because of the provider's rate limit.
    paused_until = models.DateTimeField(null=True)
    last_event_at = models.DateTimeField(null=True)
    # The needed permissions that the person did not grant, by the provider's names.
    missing_permissions = ArrayField(models.CharField(max_length=100), default=list)
    # The provider's rating of the account: green, yellow or red; empty if unknown.
    quality = models.CharField(max_length=20, default="", blank=True)
    # The number of customers whom the account may message first per day, or `unlimited`; empty if
    # unknown.
    sending_limit = models.CharField(max_length=20, default="", blank=True)
    connected_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True)
    connected_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            # A callback identifies only the account, so at most one bot may have the account.
            models.UniqueConstraint(
                fields=["channel", "account_id"],
                condition=models.Q(status__in=["connected", "expired", "error"]),
                name="channel_account_live_unique",
            ),
            models.UniqueConstraint(
                fields=["bot", "channel"],
                condition=models.Q(status__in=["connected", "expired", "error"]),
                name="channel_of_bot_live_unique",
            ),
            models.UniqueConstraint(
                fields=["bot", "channel", "account_id"], name="channel_account_of_bot_unique"
            ),
        ]
        indexes = [
            # For the periodic job that refreshes tokens.
            models.Index(
                fields=["token_expires_at"],
                condition=models.Q(status__in=["connected", "error"]),
                name="channel_token_expiry",
            )
        ]

    def __str__(self) -> str:
        return f"{self.channel} {self.account_name or self.account_id or self.status}"


class OAuthAuthorization(TenantModel):
    """One person's visit to a provider's consent page; the `state` parameter identifies the row.

    It can be used once, before `expires_at`, by the same person for the same bot.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    connection = models.ForeignKey(ChannelConnection, on_delete=models.CASCADE)
    user = models.ForeignKey(User, on_delete=models.CASCADE)
    # The account to connect, if it is known beforehand.
    account_id = models.CharField(max_length=100, default="", blank=True)
    # The redirect URI that was sent to the provider: redeeming the code must repeat it exactly. At
    # providers that redirect people to our own callback, the URL to which the callback sends them.
    redirect_uri = models.CharField(max_length=2000)
    # The PKCE code verifier, for providers that use PKCE.
    code_verifier = EncryptedTextField(default="")
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [models.Index(fields=["expires_at"], name="oauth_authorization_age")]

    def __str__(self) -> str:
        return f"authorization by {self.user_id} for {self.connection_id}"


class CustomerIdentity(TenantModel):
    """The one or two ids of a customer at a provider's account; they are valid only there.

    Both ids are empty if the customer's only id was a number that now belongs to somebody else.
    """

    customer = models.ForeignKey(
        Customer, on_delete=models.CASCADE, related_name="channel_identities"
    )
    channel = models.CharField(max_length=10, choices=messaging_choices)
    account_id = models.CharField(max_length=100)
    provider_user_id = models.CharField(max_length=300, blank=True)
    # A second id of the same customer at the account, such as a phone number. If there is one,
    # messages are sent to it.
    alternate_user_id = models.CharField(max_length=300, default="", blank=True)
    # When we first saw the customer at the account, by the provider's clock.
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["client", "channel", "account_id", "provider_user_id"],
                condition=~models.Q(provider_user_id=""),
                name="customer_identity_unique",
            ),
            models.UniqueConstraint(
                fields=["client", "channel", "account_id", "alternate_user_id"],
                condition=~models.Q(alternate_user_id=""),
                name="customer_alternate_id_unique",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.provider_user_id} at {self.channel} {self.account_id}"

    @property
    def address(self) -> str:
        """The id that messages are sent to."""
        return self.alternate_user_id or self.provider_user_id


class FormerId(TenantModel):
    """An id that a customer had at the account before `until`, by the provider's clock.

    An item from before that time belongs to this customer, however late it arrives. A number may
    belong to somebody else afterwards; the provider never reassigns any other kind of id.
    """

    identity = models.ForeignKey(
        CustomerIdentity, on_delete=models.CASCADE, related_name="former_ids"
    )
    provider_user_id = models.CharField(max_length=300)
    until = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["identity", "provider_user_id"], name="former_id_unique"
            ),
        ]
        indexes = [
            models.Index(fields=["client", "provider_user_id"], name="former_id_of_customer")
        ]

    def __str__(self) -> str:
        return f"{self.provider_user_id} until {self.until}"


class ChannelChat(TenantModel):
    """The identity under which a chat's customer writes; merging customers does not change it."""

    conversation = models.OneToOneField(
        Conversation, on_delete=models.CASCADE, primary_key=True, related_name="channel_chat"
    )
    identity = models.ForeignKey(CustomerIdentity, on_delete=models.CASCADE, related_name="chats")
    survey_sent_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"chat {self.conversation_id} of {self.identity_id}"


class NoticeKind(models.TextChoices):
    TEMPLATE_STATUS = "template_status"
    TEMPLATE_QUALITY = "template_quality"
    TEMPLATE_CATEGORY = "template_category"
    QUALITY = "quality"
    SENDING_LIMIT = "sending_limit"
    NAME = "name"
    REVIEW = "review"
    ALERT = "alert"


class AccountNotice(TenantModel):
    """Something that a provider reported about an account or one of its templates."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    connection = models.ForeignKey(
        ChannelConnection, on_delete=models.CASCADE, related_name="notices"
    )
    kind = models.CharField(max_length=20, choices=NoticeKind)
    # The template and its language, if the notice is about a template.
    template = models.CharField(max_length=512, default="", blank=True)
    language = models.CharField(max_length=20, default="", blank=True)
    # The new and the previous value, in the provider's words, in lower case.
    value = models.CharField(max_length=60)
    previous = models.CharField(max_length=60, default="", blank=True)
    reason = models.CharField(max_length=500, default="", blank=True)
    # Whether a person should look at it.
    is_bad = models.BooleanField()
    # When it happened, by the provider's clock.
    at = models.DateTimeField()

    class Meta:
        indexes = [
            # For an account's page: its notices, newest first.
            models.Index(fields=["connection", "-at"], name="notice_of_account"),
            # For the warning about bad notices.
            models.Index(
                fields=["client", "at"],
                condition=models.Q(is_bad=True),
                name="notice_bad",
            ),
        ]

    def __str__(self) -> str:
        about = f"{self.template} ({self.language})" if self.template else str(self.connection)
        return f"{about}: {self.kind} {self.value}"


class InboundCallback(models.Model):
    """A callback as it was received, stored before we respond to it.

    It may concern accounts of several clients, or of none.
    """

    id = models.BigAutoField(primary_key=True)
    channel = models.CharField(max_length=10, choices=messaging_choices)
    # The URL's path and query, as requested. Some providers put the account's id into them.
    path = models.TextField(db_default="", blank=True)
    query = models.TextField(db_default="", blank=True)
    # The raw bytes that the provider signed. Body and query are emptied when a customer whose ids
    # they contain is erased.
    body = models.BinaryField()
    # The number of items in the body; each has an `InboundItem`.
    item_count = models.PositiveIntegerField(default=0)
    # Why the body is unreadable; empty if it was read.
    error = models.CharField(max_length=200, default="", blank=True)
    received_at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [models.Index(fields=["received_at"], name="callback_age")]

    def __str__(self) -> str:
        return f"{self.channel} callback {self.pk}"


class Outcome(models.TextChoices):
    WAITING = "waiting"
    PROCESSED = "processed"
    DUPLICATE = "duplicate"
    # An unknown kind, or one that chats do not show.
    UNSUPPORTED = "unsupported"
    # No bot had the account when the item arrived.
    UNKNOWN_ACCOUNT = "unknown_account"


class InboundItem(models.Model):
    """One item of a callback, and its outcome.

    An item is processed once, however often the provider sends it. A customer's items are
    processed in the order of the rows' ids.
    """

    id = models.BigAutoField(primary_key=True)
    callback = models.ForeignKey(InboundCallback, on_delete=models.CASCADE, related_name="items")
    # The item's position in the callback, from 0.
    position = models.PositiveIntegerField()
    channel = models.CharField(max_length=10, choices=messaging_choices)
    account_id = models.CharField(max_length=100)
    # The item's kind and the values that identify the item, hashed if they are too long.
    key = models.CharField(max_length=120)
    outcome = models.CharField(max_length=15, choices=Outcome)
    # The kind of an unsupported item.
    kind = models.CharField(max_length=60, default="", blank=True)
    # The provider's id of the message that the item changes, if that message has not arrived yet.
    # For a change of a customer's ids: the item's own `customer_key`, if no customer with the old
    # ids is known yet.
    awaited_message_id = models.CharField(max_length=300, default="", blank=True)
    # The `ChannelConnection` that received the item. Once it is deleted, the item is not processed.
    connection_id = models.UUIDField(null=True)
    # The customer's ordering key, from `identities.customer_key`.
    customer_key = models.CharField(max_length=80, db_default="", blank=True)
    # Whether the account's job processes the item, instead of a job for its customer.
    is_batched = models.BooleanField(db_default=False)
    attempts = models.PositiveSmallIntegerField(db_default=0)
    # Set after a crash, for one item at a time, before the item is processed again: if the process
    # crashes again, that item is the cause.
    is_suspect = models.BooleanField(db_default=False)
    # Whether the item failed too often: a separate job then retries it, and later items do not wait
    # for it.
    is_parked = models.BooleanField(db_default=False)
    error = models.CharField(max_length=500, db_default="", blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["callback", "position"], name="inbound_item_position_unique"
            ),
            # A repeated item is stored as a duplicate, even if it arrives at another connection.
            models.UniqueConstraint(
                fields=["channel", "account_id", "key"],
                condition=models.Q(outcome__in=["waiting", "processed"]),
                name="inbound_item_unique",
            ),
        ]
        indexes = [
            # For a new message: the changes to it that arrived earlier.
            models.Index(
                fields=["channel", "account_id", "awaited_message_id"],
                condition=~models.Q(awaited_message_id=""),
                name="inbound_item_waiting",
            ),
            # The waiting items of a customer, and of an account.
            models.Index(
                fields=["customer_key", "id"],
                condition=models.Q(outcome="waiting"),
                name="inbound_waiting_of_customer",
            ),
            models.Index(
                fields=["connection_id", "id"],
                condition=models.Q(outcome="waiting"),
                name="inbound_waiting_of_account",
            ),
        ]

    def __str__(self) -> str:
        return self.key


class SendState(models.TextChoices):
    QUEUED = "queued"
    # The call is in progress, or its process crashed during the call.
    SENDING = "sending"
    SENT = "sent"
    FAILED = "failed"
    # The call failed, but the provider may have accepted it. It is never repeated; an echo may
    # confirm it.
    UNCERTAIN = "uncertain"


class OutboundSend(TenantModel):
    """One call that sends a message, or one of its parts if the channel needs several.

    The row is written before the call. The call carries the row's id if the provider supports that
    and returns it in echoes.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="outbound_sends")
    connection = models.ForeignKey(ChannelConnection, on_delete=models.CASCADE)
    part = models.PositiveSmallIntegerField()
    # Whether this is the last part: the message is delivered when its last part is.
    is_last = models.BooleanField()
    recipient_id = models.CharField(max_length=300)
    # The text of the part, to match an echo that lacks our id.
    text = models.TextField(default="", blank=True)
    state = models.CharField(max_length=9, choices=SendState, default=SendState.QUEUED)
    provider_message_id = models.CharField(max_length=300, null=True)
    error = models.CharField(max_length=500, default="", blank=True)
    # Whether the provider charges for the send; null if unknown.
    is_charged = models.BooleanField(null=True)
    # How often the provider refused the call temporarily.
    refusals = models.PositiveSmallIntegerField(default=0)
    # When the call began; after an echo, the provider's own time.
    sent_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name, verbose_name_plural = "sent message", "sent messages"
        constraints = [
            models.UniqueConstraint(fields=["message", "part"], name="outbound_part_unique"),
            models.UniqueConstraint(
                fields=["connection", "provider_message_id"], name="outbound_provider_id_unique"
            ),
        ]
        indexes = [
            # To match echoes, and receipts that cover everything up to a time.
            models.Index(
                fields=["connection", "recipient_id", "sent_at"], name="outbound_receipts"
            ),
            # A client's recent failures, for the page of failures.
            models.Index(
                fields=["client", "created_at"],
                condition=models.Q(state__in=["failed", "uncertain"]),
                name="outbound_failed",
            ),
            # For the chart of an account's sends per day.
            models.Index(fields=["connection", "created_at"], name="outbound_by_day"),
        ]

    def __str__(self) -> str:
        return f"part {self.part} of {self.message_id}"
