"""The apps and accounts that a simulator starts with, and the platform's settings for them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

VERSION = "v26.0"
OA_SECRET_KEY = "oa-secret-key-of-the-simulator"
PERSON_ID = "5000000000000001"


@dataclass(frozen=True)
class Bases:
    """The path prefixes that stand for the hosts of providers, and for a company's own server."""

    graph: str = "/graph"
    dialog: str = "/www"
    direct: str = "/direct"
    direct_auth: str = "/direct-auth"
    localapp: str = "/localapp"
    localapp_oauth: str = "/localapp-oauth"
    telegram: str = "/telegram"
    media: str = "/media"
    lookaside: str = "/lookaside"
    server: str = "/server"


@dataclass(frozen=True)
class DemoApp:
    """An app in the provider's console. Its webhook is set up for these `objects`."""

    key: str
    id: str
    secret: str
    verify_token: str
    callback_path: str
    objects: tuple[str, ...]


APPS = (
    DemoApp(
        "socialnet", "900000001", "socialnet-app-secret", "socialnet-verify-token",
        "/socialnet/webhook", ("page",),
    ),
    DemoApp(
        "photoapp", "900000002", "photoapp-app-secret", "photoapp-verify-token",
        "/photoapp/webhook", ("instagram",),
    ),
    DemoApp(
        "photoapp_direct", "900000003", "photoapp-direct-app-secret", "photoapp-verify-token",
        "/photoapp/webhook", ("instagram",),
    ),
    DemoApp(
        "chatapp", "900000004", "chatapp-app-secret", "chatapp-verify-token",
        "/chatapp/webhook", ("whatsapp_business_account",),
    ),
    DemoApp(
        "localapp", "2553900000000000001", "localapp-app-secret", "", "/localapp/callback", (),
    ),
)  # fmt: skip


@dataclass(frozen=True)
class DemoAccount:
    """An account. `parent` is a photoapp account's page, or a number's business account."""

    id: str
    kind: str
    name: str
    parent: str = ""
    username: str = ""
    tasks: tuple[str, ...] = ()


_ALL_TASKS = ("MANAGE", "CREATE_CONTENT", "MODERATE", "MESSAGING", "ANALYZE")
ACCOUNTS = (
    DemoAccount("1048576000001", "page", "Blue Shop", tasks=_ALL_TASKS),
    DemoAccount("1048576000002", "page", "Green Garden", tasks=_ALL_TASKS),
    DemoAccount("1048576000003", "page", "Red Bakery", tasks=("MODERATE", "MESSAGING")),
    DemoAccount("17840000000000001", "photo", "Blue Shop", "1048576000001", "blue.shop"),
    DemoAccount("17840000000000002", "photo", "Green Garden", "1048576000002", "green.garden"),
    DemoAccount("102290129340398", "waba", "Blue Shop"),
    DemoAccount("102290129340399", "waba", "Green Garden"),
    DemoAccount("1122334455667", "number", "Blue Shop", "102290129340398", "842855550001"),
    DemoAccount("1122334455668", "number", "Blue Shop 2", "102290129340398", "842855550002"),
    DemoAccount("1122334455669", "number", "Green Garden", "102290129340399", "842855550003"),
    DemoAccount("3662000000000000001", "oa", "Blue Shop"),
    DemoAccount("7100000001", "bot", "Blue Shop", username="blue_shop_bot"),
    DemoAccount("7100000002", "bot", "Green Garden", username="green_garden_bot"),
)


@dataclass(frozen=True)
class DemoCustomer:
    key: str
    name: str
    phone: str
    hides_number: bool = False


CUSTOMERS = (
    DemoCustomer("an", "An Tran", "84901234567"),
    DemoCustomer("binh", "Bình Nguyễn", "84901234568"),
    DemoCustomer("chris", "Chris Miller", "4915112345678"),
    DemoCustomer("hidden", "Dana Hidden", "84901234570", hides_number=True),
)


@dataclass(frozen=True)
class Settings:
    """A simulator's settings; `callback_base` is the platform's base URL."""

    callback_base: str = "http://127.0.0.1:8000"
    # The seed for message ids, tokens and shuffling; None for a new seed at each start.
    seed: int | None = None
    # The Unix time at which the clock stands still; None for the real time.
    now: float | None = None
    bases: Bases = field(default_factory=Bases)
    apps: tuple[DemoApp, ...] = APPS
    oa_secret_key: str = OA_SECRET_KEY


def app(key: str) -> DemoApp:
    return next(item for item in APPS if item.key == key)


def settings_from(environ: Mapping[str, str], settings: Settings) -> Settings:
    """The settings, with the apps' ids, secrets and verify tokens and the OA's key replaced by
    those that the environment sets."""
    apps = []
    for item in settings.apps:
        values = {
            name: environ.get(variable) or getattr(item, name)
            for name, variable in _variables(item).items()
        }
        token = values.get("verify_token", "")
        apps.append(replace(item, id=values["id"], secret=values["secret"], verify_token=token))
    key = environ.get("LOCALAPP_OA_SECRET_KEY") or settings.oa_secret_key
    return replace(settings, apps=tuple(apps), oa_secret_key=key)


def _variables(each: DemoApp) -> dict[str, str]:
    """The names of an app's environment variables, by the field that each sets."""
    prefix = each.key.upper()
    names = {"id": f"{prefix}_APP_ID", "secret": f"{prefix}_APP_SECRET"}
    return names | ({"verify_token": f"{prefix}_VERIFY_TOKEN"} if each.verify_token else {})


def environment(origin: str, settings: Settings | None = None) -> dict[str, str]:
    """The environment variables that point a platform at a simulator on `origin`."""
    settings = settings or Settings()
    bases = settings.bases
    graph, dialog = f"{origin}{bases.graph}/{VERSION}", f"{origin}{bases.dialog}/{VERSION}"
    values = {
        "SOCIALNET_API_URL": graph,
        "SOCIALNET_DIALOG_URL": f"{dialog}/dialog/oauth",
        "PHOTOAPP_API_URL": graph,
        "PHOTOAPP_DIRECT_URL": f"{origin}{bases.direct}",
        "PHOTOAPP_DIRECT_AUTH_URL": f"{origin}{bases.direct_auth}/oauth",
        "CHATAPP_API_URL": graph,
        "LOCALAPP_API_URL": f"{origin}{bases.localapp}",
        "LOCALAPP_OAUTH_URL": f"{origin}{bases.localapp_oauth}",
        "LOCALAPP_OA_SECRET_KEY": settings.oa_secret_key,
        "TELEGRAM_API_URL": f"{origin}{bases.telegram}",
        "SIMULATOR_URL": origin,
    }
    for item in settings.apps:
        for name, variable in _variables(item).items():
            values[variable] = getattr(item, name)
    for channel in ("SOCIALNET", "PHOTOAPP", "CHATAPP", "LOCALAPP"):
        values[f"{channel}_MEDIA_HOSTS"] = origin.partition("://")[2]
    return values


def fill_unset(
    environ: Mapping[str, str], origin: str, settings: Settings | None = None
) -> dict[str, str]:
    """The variables to add to an environment: those that it does not set, and EGRESS_ALLOW with the
    simulator added."""
    added = {
        name: value
        for name, value in environment(origin, settings).items()
        if not environ.get(name)
    }
    allowed = [entry for entry in environ.get("EGRESS_ALLOW", "").split(",") if entry]
    return added | {"EGRESS_ALLOW": ",".join([*allowed, origin.partition("://")[2]])}
