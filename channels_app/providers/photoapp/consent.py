"""A person consents that we message for the accounts of their pages."""

from django.conf import settings

from channels_app.providers.graph import consent
from channels_app.providers.photoapp.accounts import APP
from channels_app.providers.types import Tokens

SCOPES = (
    "instagram_basic", "instagram_manage_messages", "pages_manage_metadata", "pages_show_list",
    "pages_messaging", "business_management",
)  # fmt: skip


def url(*, redirect_uri: str, state: str) -> str:
    """The provider's page on which the person agrees: the dialog is socialnet's."""
    return consent.url(
        APP, settings.SOCIALNET_DIALOG_URL, scopes=SCOPES, redirect_uri=redirect_uri, state=state
    )


def redeem(code: str, *, redirect_uri: str) -> Tokens:
    """The person's token, good for about 60 days."""
    return consent.redeem(APP, code, redirect_uri=redirect_uri)
