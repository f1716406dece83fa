"""The settings of the messaging channels; `settings.py` imports them."""

from chatplatform.environment import env

#: ## Messaging channels
#: Seconds for one call to a provider.
CHANNEL_TIMEOUT_SECONDS = env.decimal("CHANNEL_TIMEOUT_SECONDS", default=12, least=1)
#: Days for which callbacks are kept as received; repeated callbacks are harmless for that long.
CALLBACK_RETENTION_DAYS = env.integer("CALLBACK_RETENTION_DAYS", default=30, least=1)

# Without an app's secret its callbacks are refused, since their sender cannot be verified.
#: The app at the provider of [socialnet](channels.md), and the verify token entered next to the
#: callback URL. Without the secret every callback is refused.
SOCIALNET_APP_ID = env.text("SOCIALNET_APP_ID", default="")
SOCIALNET_APP_SECRET = env.text("SOCIALNET_APP_SECRET", default="")
SOCIALNET_VERIFY_TOKEN = env.text("SOCIALNET_VERIFY_TOKEN", default="")
#: The provider's URLs, with the version of its API.
SOCIALNET_API_URL = env.url("SOCIALNET_API_URL", default="https://graph.facebook.com/v26.0")
SOCIALNET_DIALOG_URL = env.url(
    "SOCIALNET_DIALOG_URL", default="https://www.facebook.com/v26.0/dialog/oauth"
)
#: Hosts from which customers' files are fetched; `.name` stands for all subdomains of `name`. The
#: provider publishes no list; the default has the hosts seen so far.
SOCIALNET_MEDIA_HOSTS = env.entries("SOCIALNET_MEDIA_HOSTS", default=[".fbcdn.net", ".fbsbx.com"])

#: The app of photoapp, for accounts that are linked to a page. Its dialog is
#: `SOCIALNET_DIALOG_URL`.
PHOTOAPP_APP_ID = env.text("PHOTOAPP_APP_ID", default="")
PHOTOAPP_APP_SECRET = env.text("PHOTOAPP_APP_SECRET", default="")
PHOTOAPP_VERIFY_TOKEN = env.text("PHOTOAPP_VERIFY_TOKEN", default="")
#: The provider's URL.
PHOTOAPP_API_URL = env.url("PHOTOAPP_API_URL", default="https://graph.facebook.com/v26.0")
#: The app of photoapp's direct login, for accounts without a page.
PHOTOAPP_DIRECT_APP_ID = env.text("PHOTOAPP_DIRECT_APP_ID", default="")
PHOTOAPP_DIRECT_APP_SECRET = env.text("PHOTOAPP_DIRECT_APP_SECRET", default="")
#: The URLs of the direct login, for calls and for consent.
PHOTOAPP_DIRECT_URL = env.url("PHOTOAPP_DIRECT_URL", default="https://graph.instagram.com/v26.0")
PHOTOAPP_DIRECT_AUTH_URL = env.url(
    "PHOTOAPP_DIRECT_AUTH_URL", default="https://api.instagram.com/oauth"
)
#: Hosts from which customers' files are fetched, written as for socialnet.
PHOTOAPP_MEDIA_HOSTS = env.entries(
    "PHOTOAPP_MEDIA_HOSTS", default=[".cdninstagram.com", ".fbcdn.net", ".fbsbx.com"]
)

#: The app of localapp, and the key of its webhook page, which signs callbacks and is not the app's
#: secret.
LOCALAPP_APP_ID = env.text("LOCALAPP_APP_ID", default="")
LOCALAPP_APP_SECRET = env.text("LOCALAPP_APP_SECRET", default="")
LOCALAPP_OA_SECRET_KEY = env.text("LOCALAPP_OA_SECRET_KEY", default="")
#: The provider's URLs.
LOCALAPP_API_URL = env.url("LOCALAPP_API_URL", default="https://openapi.zalo.me")
LOCALAPP_OAUTH_URL = env.url("LOCALAPP_OAUTH_URL", default="https://oauth.zaloapp.com")
#: Hosts from which customers' files are fetched, written as for socialnet.
LOCALAPP_MEDIA_HOSTS = env.entries("LOCALAPP_MEDIA_HOSTS", default=[".zdn.vn", ".zadn.vn"])

#: The app of chatapp, for numbers of business accounts; the same settings as for socialnet.
CHATAPP_APP_ID = env.text("CHATAPP_APP_ID", default="")
CHATAPP_APP_SECRET = env.text("CHATAPP_APP_SECRET", default="")
CHATAPP_VERIFY_TOKEN = env.text("CHATAPP_VERIFY_TOKEN", default="")
#: The app's login configuration for the signup, whose dialog is `SOCIALNET_DIALOG_URL`.
CHATAPP_CONFIG_ID = env.text("CHATAPP_CONFIG_ID", default="")
#: The provider's URL.
CHATAPP_API_URL = env.url("CHATAPP_API_URL", default="https://graph.facebook.com/v26.0")
#: Hosts from which customers' files are fetched, with the account's token.
CHATAPP_MEDIA_HOSTS = env.entries("CHATAPP_MEDIA_HOSTS", default=["lookaside.fbsbx.com"])

#: The URL of the Bot API, for telegram, which needs no app: each bot has a token of its own.
TELEGRAM_API_URL = env.url("TELEGRAM_API_URL", default="https://api.telegram.org")
