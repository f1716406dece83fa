"""Stores and announces what providers report about accounts and templates; mails bad ones."""

from collections.abc import Sequence
from datetime import timedelta

from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy, override

from channels_app.models import AccountNotice, ChannelConnection, NoticeKind
from channels_app.providers.events import ProviderNotice
from channels_app.schemas import connection as connection_schemas
from channels_app.services import connections
from chatplatform.templatetags.codes import humanize_code
from identity.services import mails
from webhooks.services import announce

_LIFETIME = timedelta(days=365)
_TEXTS: dict[str, Promise] = {
    NoticeKind.TEMPLATE_STATUS: gettext_lazy("Template %(template)s: %(value)s"),
    NoticeKind.TEMPLATE_QUALITY: gettext_lazy("Quality of template %(template)s: %(value)s"),
    NoticeKind.TEMPLATE_CATEGORY: gettext_lazy("Category of template %(template)s: %(value)s"),
    NoticeKind.QUALITY: gettext_lazy("Quality of the account: %(value)s"),
    NoticeKind.SENDING_LIMIT: gettext_lazy(
        "Customers you can start a conversation with per day: %(value)s"
    ),
    NoticeKind.NAME: gettext_lazy("Display name: %(value)s"),
    NoticeKind.REVIEW: gettext_lazy("Account review: %(value)s"),
    NoticeKind.ALERT: gettext_lazy("Alert: %(value)s"),
}
_BAD: dict[str, set[str]] = {
    NoticeKind.TEMPLATE_STATUS: {
        "rejected", "paused", "disabled", "flagged", "limit_exceeded", "locked",
    },
    NoticeKind.TEMPLATE_QUALITY: {"red"},
    # The most expensive category.
    NoticeKind.TEMPLATE_CATEGORY: {"marketing"},
    NoticeKind.QUALITY: {"red"},
    NoticeKind.NAME: {"rejected", "declined"},
    NoticeKind.REVIEW: {"rejected"},
}  # fmt: skip


def store(connection: ChannelConnection, item: ProviderNotice) -> None:
    """Store and announce what a provider reported about an account or a template, and mail it if
    it is bad. A notice that repeats an account's state is ignored."""
    previous = item.previous or _stored_value(connection, item)
    if previous == item.value and not item.template:
        return
    notice = AccountNotice.objects.create(
        client_id=connection.client_id, connection=connection, kind=item.kind, value=item.value,
        previous=previous, template=item.template, language=item.language, reason=item.reason,
        is_bad=_is_bad(item, previous), at=min(item.at, timezone.now()),
    )  # fmt: skip
    if item.kind in {NoticeKind.QUALITY, NoticeKind.SENDING_LIMIT}:
        setattr(connection, item.kind, item.value[:20])
        connection.save(update_fields=[item.kind])
    shown = connection_schemas.ChannelConnection.from_row(connection)
    shown_notice = connection_schemas.ChannelNotice.copy_from(notice)
    data = {
        "connection": shown.model_dump(mode="json"),
        "notice": shown_notice.model_dump(mode="json"),
    }
    announce(connection.client_id, "channel.notified", data)
    if notice.is_bad:
        with override(connection.client.default_language):
            context = {"notice": text_of(notice)}
        context |= {"channel": connection.channel, "account": connection.account_name}
        mails.notify(connection.client_id, "channel_notice", context)


def concerned(connection: ChannelConnection, item: ProviderNotice) -> Sequence[ChannelConnection]:
    """The live connections that an item is about: the connection of the number that it names, or
    those of all numbers of the business account. A sending limit applies to all numbers, even if
    the item names one."""
    rows = connections.concerned(connection.channel, item.account_id)
    if not item.number or item.kind == "sending_limit":
        return rows
    return [row for row in rows if _digits(row.account_name).endswith(item.number)]


def text_of(notice: AccountNotice) -> str:
    """A notice as a line of text, in the active language."""
    template = f"{notice.template} ({notice.language})" if notice.language else notice.template
    text = str(_TEXTS[notice.kind]) % {"template": template, "value": humanize_code(notice.value)}
    if notice.previous:
        before = gettext("was {value}").format(value=humanize_code(notice.previous))
        text = f"{text} ({before})"
    if notice.reason == "announced":
        within_a_day = gettext("within a day")
        return f"{text} · {within_a_day}"
    return f"{text} · {notice.reason}" if notice.reason else text


def delete_old() -> None:
    """Delete notices older than a year."""
    AccountNotice.objects.filter(at__lt=timezone.now() - _LIFETIME).delete()


def _stored_value(connection: ChannelConnection, item: ProviderNotice) -> str:
    if item.kind in {NoticeKind.QUALITY, NoticeKind.SENDING_LIMIT}:
        return str(getattr(connection, item.kind))
    return ""


def _is_bad(item: ProviderNotice, previous: str) -> bool:
    if item.kind == "sending_limit":
        return _limit_value(item.value) < _limit_value(previous) if previous else False
    if item.kind == "alert":
        return not item.is_harmless
    return item.value in _BAD[item.kind]


def _limit_value(limit: str) -> float:
    return float(limit) if limit.isdecimal() else float("inf")


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))
