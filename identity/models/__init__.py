"""Clients, their people, keys, settings and credits."""

from identity.models.api_key import ApiKey, KeyScope
from identity.models.audit import AuditAnchor, AuditEvent, AuditLink
from identity.models.channel_access_token import ChannelAccessToken
from identity.models.client import Client, TenantModel
from identity.models.client_config import AssignStrategy, ClientConfig, EmailNotification
from identity.models.credit import (
    CreditEntry,
    CreditOrder,
    EntryKind,
    OrderStatus,
    Plan,
    Subscription,
)
from identity.models.registration import Registration
from identity.models.sign_in import (
    Attempt,
    AttemptKind,
    Impersonation,
    PasswordReset,
    ProviderAccount,
    RefreshToken,
    SecondFactor,
    SignInProvider,
    SiteSession,
)
from identity.models.user import Role, SavedView, User

__all__ = [
    "ApiKey",
    "AssignStrategy",
    "Attempt",
    "AttemptKind",
    "AuditAnchor",
    "AuditEvent",
    "AuditLink",
    "ChannelAccessToken",
    "Client",
    "ClientConfig",
    "CreditEntry",
    "CreditOrder",
    "EmailNotification",
    "EntryKind",
    "Impersonation",
    "KeyScope",
    "OrderStatus",
    "PasswordReset",
    "Plan",
    "ProviderAccount",
    "RefreshToken",
    "Registration",
    "Role",
    "SavedView",
    "SecondFactor",
    "SignInProvider",
    "SiteSession",
    "Subscription",
    "TenantModel",
    "User",
]
