"""The settings of the messaging channels; `settings.py` takes them all."""

import environ

env = environ.Env()  # type: ignore[no-untyped-call]
# An address holds the provider's version where it has one. Without an app's secret its callbacks
# are refused, since nobody could tell who sent them.
SOCIALNET_API_URL = env.str("SOCIALNET_API_URL", default="https://graph.facebook.com/v26.0")
SOCIALNET_DIALOG_URL = env.str(
    "SOCIALNET_DIALOG_URL", default="https://www.facebook.com/v26.0/dialog/oauth"
)
SOCIALNET_APP_ID = env.str("SOCIALNET_APP_ID", default="")
SOCIALNET_APP_SECRET = env.str("SOCIALNET_APP_SECRET", default="")
SOCIALNET_VERIFY_TOKEN = env.str("SOCIALNET_VERIFY_TOKEN", default="")
# Hosts that customers' files are fetched from, a dot before a name for all below it. The provider
# does not list them; these were seen.
SOCIALNET_MEDIA_HOSTS = env.list("SOCIALNET_MEDIA_HOSTS", default=[".fbcdn.net", ".fbsbx.com"])
# Accounts that are linked to a page; their dialog is SOCIALNET_DIALOG_URL.
PHOTOAPP_API_URL = env.str("PHOTOAPP_API_URL", default="https://graph.facebook.com/v26.0")
PHOTOAPP_APP_ID = env.str("PHOTOAPP_APP_ID", default="")
PHOTOAPP_APP_SECRET = env.str("PHOTOAPP_APP_SECRET", default="")
# The direct login: another app, with another host for its calls and one for its consent.
PHOTOAPP_DIRECT_URL = env.str("PHOTOAPP_DIRECT_URL", default="https://graph.instagram.com/v26.0")
PHOTOAPP_DIRECT_AUTH_URL = env.str(
    "PHOTOAPP_DIRECT_AUTH_URL", default="https://api.instagram.com/oauth"
)
PHOTOAPP_DIRECT_APP_ID = env.str("PHOTOAPP_DIRECT_APP_ID", default="")
PHOTOAPP_DIRECT_APP_SECRET = env.str("PHOTOAPP_DIRECT_APP_SECRET", default="")
PHOTOAPP_VERIFY_TOKEN = env.str("PHOTOAPP_VERIFY_TOKEN", default="")
# Not listed by the provider either.
PHOTOAPP_MEDIA_HOSTS = env.list(
    "PHOTOAPP_MEDIA_HOSTS", default=[".cdninstagram.com", ".fbcdn.net", ".fbsbx.com"]
)
LOCALAPP_API_URL = env.str("LOCALAPP_API_URL", default="https://openapi.zalo.me")
LOCALAPP_OAUTH_URL = env.str("LOCALAPP_OAUTH_URL", default="https://oauth.zaloapp.com")
LOCALAPP_APP_ID = env.str("LOCALAPP_APP_ID", default="")
LOCALAPP_APP_SECRET = env.str("LOCALAPP_APP_SECRET", default="")
# Of the provider's webhook page; it signs callbacks, and is not the app's secret.
LOCALAPP_OA_SECRET_KEY = env.str("LOCALAPP_OA_SECRET_KEY", default="")
LOCALAPP_MEDIA_HOSTS = env.list("LOCALAPP_MEDIA_HOSTS", default=[".zdn.vn", ".zadn.vn"])
# Numbers of business accounts.
CHATAPP_API_URL = env.str("CHATAPP_API_URL", default="https://graph.facebook.com/v26.0")
CHATAPP_APP_ID = env.str("CHATAPP_APP_ID", default="")
CHATAPP_APP_SECRET = env.str("CHATAPP_APP_SECRET", default="")
CHATAPP_VERIFY_TOKEN = env.str("CHATAPP_VERIFY_TOKEN", default="")
# The host of files' addresses, which get the token; seen, not listed by the provider.
CHATAPP_MEDIA_HOSTS = env.list("CHATAPP_MEDIA_HOSTS", default=["lookaside.fbsbx.com"])
# Seconds for one call of a provider.
CHANNEL_TIMEOUT_SECONDS = env.float("CHANNEL_TIMEOUT_SECONDS", default=12)
# Days for which callbacks are kept as they came.
CALLBACK_RETENTION_DAYS = env.int("CALLBACK_RETENTION_DAYS", default=30)
