"""A person consents that we message for their pages."""

from django.conf import settings

from channels_app.providers.graph import consent
from channels_app.providers.socialnet.accounts import APP
from channels_app.providers.types import Tokens

SCOPES = (
    "pages_show_list", "pages_messaging", "pages_manage_metadata", "pages_read_engagement",
    "business_management",
)  # fmt: skip


def url(*, redirect_uri: str, state: str) -> str:
    """The provider's page on which the person agrees."""
    return consent.url(
        APP, settings.SOCIALNET_DIALOG_URL, scopes=SCOPES, redirect_uri=redirect_uri, state=state
    )


def redeem(code: str, *, redirect_uri: str) -> Tokens:
    """The person's token, good for about 60 days."""
    return consent.redeem(APP, code, redirect_uri=redirect_uri)
