"""Functions and MCP servers that bots may call, and the log of their calls."""

from django.db import models
from django.db.models.functions import Now

from bots.models.bot import Bot
from chatplatform.crypto import EncryptedTextField
from chatplatform.ids import uuid7
from chatplatform.templatetags.codes import humanize_code
from identity.models import TenantModel, User


class FunctionCalling(TenantModel):
    """Whether a bot may call functions, and how often per reply; at most one row per bot."""

    bot = models.OneToOneField(Bot, on_delete=models.CASCADE, related_name="function_calling")
    is_enabled = models.BooleanField("enabled", default=False)
    max_calls_per_reply = models.PositiveSmallIntegerField(default=5)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name, verbose_name_plural = "function settings", "function settings"

    def __str__(self) -> str:
        return f"function calling of bot {self.bot_id}"


class Approval(models.TextChoices):
    """Who must approve a call before it is made."""

    NONE = "none"
    AGENT = "agent"
    CUSTOMER = "customer"


class McpServer(TenantModel):
    """A Model Context Protocol (MCP) server whose tools the client may let a bot use."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="mcp_servers")
    name = models.CharField(max_length=60)
    url = models.CharField(max_length=2000)
    # It can only be decrypted in its own row: the encryption is bound to the row's UUID.
    token = EncryptedTextField(default="", blank=True)
    is_enabled = models.BooleanField("enabled", default=True)
    # The tools that the server last offered: for each its name, description, parameters, version,
    # and the problem that keeps bots from calling it, if any.
    tools = models.JSONField(default=list)
    listed_at = models.DateTimeField(auto_now_add=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name, verbose_name_plural = "MCP server", "MCP servers"
        constraints = [models.UniqueConstraint(fields=["bot", "name"], name="mcp_server_name")]

    def __str__(self) -> str:
        return self.name


class Function(TenantModel):
    """A function that a bot may call: an HTTP request that the client defined, or a tool of an MCP
    server, whose `method` and `url` are empty."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="functions")
    name = models.CharField(max_length=64)
    description = models.CharField(max_length=1000)
    # JSON Schema 2020-12 of the arguments.
    parameters = models.JSONField()
    method = models.CharField(max_length=6)
    url = models.CharField(max_length=2000)
    headers = models.JSONField(default=dict)
    # JSON object of header names and values. Like a server's token, it can only be decrypted in its
    # own row.
    secret_headers = EncryptedTextField(default="{}")
    timeout_seconds = models.PositiveSmallIntegerField(default=10)
    body_template = models.TextField(default="", blank=True)
    requires_approval = models.CharField(max_length=8, choices=Approval, default=Approval.NONE)
    position = models.PositiveSmallIntegerField(default=0)
    mcp_server = models.ForeignKey(
        McpServer, on_delete=models.CASCADE, null=True, related_name="functions"
    )
    # The tool's name on its server, and its version when a person allowed it.
    tool = models.CharField(max_length=200, db_default="", default="", blank=True)
    tool_version = models.CharField(max_length=64, db_default="", default="", blank=True)
    # Whether the tool has changed since it was allowed. Until allowed again, bots cannot call it.
    needs_review = models.BooleanField(db_default=False, default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["bot", "name"], name="function_name")]

    def __str__(self) -> str:
        return self.name


class CallStatus(models.TextChoices):
    """The state of a requested call."""

    WAITING = "waiting"  # an agent or customer must approve it
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"  # the server or the network failed, or the outcome is unknown
    REFUSED = "refused"  # our checks refused it: unknown function, wrong arguments, limit, ...
    REJECTED = "rejected"  # an agent or the customer rejected it, or nobody approved it in time


class FunctionCall(TenantModel):
    """The log entry of one requested call, whether the call was made or not."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="function_calls")
    # Ids instead of foreign keys, since conversations belong to a higher app.
    conversation_id = models.UUIDField(null=True)
    message_id = models.UUIDField(null=True)
    function_name = models.CharField(max_length=200)
    arguments = models.JSONField(default=dict)
    # Hash of the function's name and arguments. Empty for trial calls, calls of unknown functions,
    # calls with wrong arguments and calls beyond the limit.
    fingerprint = models.CharField(max_length=64, default="", blank=True)
    status = models.CharField(max_length=10, choices=CallStatus)
    http_status = models.PositiveSmallIntegerField(null=True)
    result_excerpt = models.TextField(default="", blank=True)
    duration_ms = models.PositiveIntegerField(null=True)
    error = models.CharField(max_length=500, default="", blank=True)
    requires_approval = models.CharField(max_length=8, choices=Approval, default=Approval.NONE)
    # Hash of the function's definition when approval was requested; if the definition has changed
    # since, the call is not made.
    definition = models.CharField(max_length=64, db_default="", default="", blank=True)
    decided_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True)
    decided_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            # A message has one row per function and arguments, even if the reply's job is retried.
            models.UniqueConstraint(
                fields=["message_id", "fingerprint"],
                condition=~models.Q(fingerprint=""),
                name="function_call_unique",
            )
        ]
        indexes = [
            models.Index(fields=["bot", "-id"], name="function_call_log"),
            # Finds the calls of a conversation that wait for approval.
            models.Index(fields=["conversation_id", "status"], name="function_call_waiting"),
            # Finds the calls that have waited for approval for too long.
            models.Index(
                fields=["created_at"],
                condition=models.Q(status="waiting"),
                name="function_call_expiry",
            ),
        ]

    def __str__(self) -> str:
        return humanize_code(self.function_name)
