"""The settings of the site's theme; `settings.py` imports them."""

from typing import Any

from django.templatetags.static import static
from django.urls import reverse_lazy
from django.utils.translation import gettext_lazy

UNFOLD: dict[str, Any] = {
    "ACCOUNT": {
        "navigation": [
            {
                "title": gettext_lazy("Change password"),
                "link": reverse_lazy("admin:password_change"),
            },
            {"title": gettext_lazy("Second factor"), "link": reverse_lazy("admin:second_factor")},
            {
                "title": gettext_lazy("Where you are signed in"),
                "link": reverse_lazy("admin:sign_ins"),
            },
        ]
    },
    "DASHBOARD_CALLBACK": "reports.views.home.add_figures",
    "SIDEBAR": {
        "navigation": "chatplatform.navigation.for_viewer",
        "show_search": True,
        "command_search": True,
    },
    "STYLES": [lambda request: static("chatplatform/site.css")],
    "SCRIPTS": [lambda request: static("chatplatform/autofocus.js")],
    "SITE_TITLE": "Chatbot Platform",
    "SITE_HEADER": "Chatbot Platform",
    "SITE_FAVICONS": [{"rel": "icon", "href": lambda request: static("chatplatform/icon.svg")}],
}
