"""What a provider reported about an account, in the reader's words."""

from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy

from channels_app.models import AccountNotice, NoticeKind
from chatplatform.templatetags.codes import humanize_code

_WORDS: dict[str, Promise] = {
    NoticeKind.TEMPLATE_STATUS: gettext_lazy("Template %(template)s: %(value)s"),
    NoticeKind.TEMPLATE_QUALITY: gettext_lazy("Quality of template %(template)s: %(value)s"),
    NoticeKind.TEMPLATE_CATEGORY: gettext_lazy("Category of template %(template)s: %(value)s"),
    NoticeKind.QUALITY: gettext_lazy("Quality of the account: %(value)s"),
    NoticeKind.SENDING_LIMIT: gettext_lazy("Customers you can message first per day: %(value)s"),
    NoticeKind.NAME: gettext_lazy("Display name: %(value)s"),
    NoticeKind.REVIEW: gettext_lazy("Account review: %(value)s"),
    NoticeKind.ALERT: gettext_lazy("Alert: %(value)s"),
}


def words_of(notice: AccountNotice) -> str:
    """A notice as a line."""
    template = f"{notice.template} ({notice.language})" if notice.language else notice.template
    words = str(_WORDS[notice.kind]) % {"template": template, "value": humanize_code(notice.value)}
    if notice.previous:
        before = gettext("was {value}").format(value=humanize_code(notice.previous))
        words = f"{words} ({before})"
    if notice.reason == "announced":
        return f"{words} · {gettext('within a day')}"
    return f"{words} · {notice.reason}" if notice.reason else words
