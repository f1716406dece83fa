"""The settings of the site's theme; `settings.py` imports them."""

from typing import Any

from django.templatetags.static import static
from django.urls import reverse_lazy
from django.utils.translation import gettext_lazy

# The neutral and accent colors of the theme, lightest first; common/tokens.css has the same hues.
_SLATE = (
    "#f8fafc", "#f1f5f9", "#e2e8f0", "#cbd5e1", "#94a3b8", "#64748b", "#475569", "#334155",
    "#1e293b", "#0f172a", "#020617",
)  # fmt: skip
_INDIGO = (
    "#eef2ff", "#e0e7ff", "#c7d2fe", "#a5b4fc", "#818cf8", "#6366f1", "#4f46e5", "#4338ca",
    "#3730a3", "#312e81", "#1e1b4b",
)  # fmt: skip
_WEIGHTS = ("50", *(str(weight) for weight in range(100, 1000, 100)), "950")

UNFOLD: dict[str, Any] = {
    "ACCOUNT": {
        "navigation": [{"title": gettext_lazy("Profile"), "link": reverse_lazy("admin:profile")}]
    },
    "BORDER_RADIUS": "8px",
    "COLORS": {
        "base": dict(zip(_WEIGHTS, _SLATE, strict=True)),
        "primary": dict(zip(_WEIGHTS, _INDIGO, strict=True)),
    },
    "DASHBOARD_CALLBACK": "reports.views.home.add_figures",
    "SIDEBAR": {
        "navigation": "chatplatform.navigation.sidebar",
        "show_search": True,
        "command_search": True,
    },
    "STYLES": [
        lambda request: static("common/tokens.css"),
        lambda request: static("chatplatform/site.css"),
    ],
    "SCRIPTS": [
        lambda request: static("chatplatform/page_start.js"),
        lambda request: static("chatplatform/sending.js"),
    ],
    "SITE_TITLE": "Chatbot Platform",
    "SITE_HEADER": "Chatbot Platform",
    "SITE_ICON": lambda request: static("chatplatform/icon.svg"),
    "SITE_FAVICONS": [{"rel": "icon", "href": lambda request: static("chatplatform/icon.svg")}],
}
