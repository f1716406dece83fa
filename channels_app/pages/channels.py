"""The site's pages on which people connect accounts at messaging providers, and disconnect them."""

import json
from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any, cast
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Q
from django.db.models.functions import TruncDate
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy, gettext_noop

from bots.models import Bot
from bots.services import bots
from channels_app.forms import AccountForm, ConsentForm, CostsForm, taken_account_label
from channels_app.models import (
    LIVE,
    SENDING,
    ChannelConnection,
    ConnectionStatus,
    OutboundSend,
    SendState,
)
from channels_app.providers import PROVIDERS
from channels_app.providers.errors import Kind, ProviderError
from channels_app.schemas.connection import (
    AccountsQuery,
    ChatappConnectDto,
    PhotoappConnectDto,
    TokenConnectDto,
)
from channels_app.services import (
    account_notices,
    connections,
    number_signup,
    oauth_authorizations,
    photoapp_sign_in,
)
from chatplatform.admin_base import TenantAdmin, viewer
from chatplatform.api.errors import ApiError
from chatplatform.api.outgoing_call_limits import always_calls_out, calls_out
from chatplatform.channel_names import MessagingChannel
from chatplatform.templatetags.codes import humanize_code, stored_text
from chatplatform.templatetags.dates import short_day
from identity.models import Client

_MAX_ACCOUNTS = 100
_CHART_DAYS = 14
# What the chart of sends counts: its label, and how its line is drawn. The charged ones are mostly
# all that were sent, so their line is dashed and lies above.
_SENDS: dict[str, tuple[str, dict[str, Any]]] = {
    "sent": (gettext_noop("Sent"), {"borderColor": "#2563eb"}),
    "refused": (gettext_noop("Rejected"), {"borderColor": "#dc2626", "borderDash": [2, 2]}),
    "charged": (
        gettext_noop("Charged by the provider"),
        {"borderColor": "#d97706", "borderDash": [8, 6], "borderWidth": 3, "order": -1},
    ),
}
_CHART_OPTIONS = {
    "animation": False, "maintainAspectRatio": False,
    # The numbers of the day under the pointer.
    "interaction": {"mode": "index", "intersect": False}, "elements": {"point": {"radius": 0}},
    "plugins": {
        "legend": {"align": "end", "labels": {"usePointStyle": True, "pointStyle": "line"}},
    },
    "scales": {"x": {}, "y": {"beginAtZero": True, "ticks": {"precision": 0}}},
}  # fmt: skip


@dataclass(frozen=True)
class Card:
    """How the site presents a channel."""

    channel: MessagingChannel
    icon: str
    text: Promise
    # What the channel calls an account.
    noun: Promise
    # Where people get the account's token; empty for channels that are connected by a consent.
    token_from: str = ""

    @property
    def name(self) -> str:
        return self.channel.title()

    @property
    def is_offered(self) -> bool:
        """Whether accounts can be connected; most channels first need our app at the provider."""
        return PROVIDERS[self.channel].is_offered


CARDS = {
    card.channel: card
    for card in (
        Card("socialnet", "forum", gettext_lazy("Messages to your page"), gettext_lazy("page")),
        Card("photoapp", "photo_camera",
             gettext_lazy("Direct messages to your professional account"), gettext_lazy("account")),
        Card("chatapp", "call",
             gettext_lazy("Messages to your business phone number"), gettext_lazy("number")),
        Card("localapp", "chat",
             gettext_lazy("Messages to your Official Account"), gettext_lazy("account")),
        Card("telegram", "send", gettext_lazy("Messages to your Telegram bot"), gettext_lazy("bot"),
             token_from="@BotFather"),
    )
}  # fmt: skip
# For each status: its label, the label's color, and what the status means for conversations.
STATES: dict[str, tuple[Promise, str, Promise]] = {
    ConnectionStatus.CONNECTED: (
        gettext_lazy("Connected"), "success", gettext_lazy("The bot answers incoming messages."),
    ),
    ConnectionStatus.EXPIRED: (
        gettext_lazy("Connection lost"), "danger", gettext_lazy(
            "The provider no longer gives us access. Messages can't be sent or received."
        ),
    ),
    ConnectionStatus.ERROR: (
        gettext_lazy("Needs attention"), "warning",
        gettext_lazy("The provider is rejecting some requests. We still try to deliver messages."),
    ),
    ConnectionStatus.DISCONNECTED: (
        gettext_lazy("Disconnected"), "", gettext_lazy("Messages are no longer received."),
    ),
    ConnectionStatus.PENDING: (
        gettext_lazy("Setup incomplete"), "info", gettext_lazy("Choose an account to finish."),
    ),
}  # fmt: skip


def _state(row: ChannelConnection) -> tuple[Promise, str, Promise | str]:
    """The entry of `STATES` for a connection. A connected account that lacks a permission gets the
    label and the color of an error, but no meaning."""
    if row.status == ConnectionStatus.CONNECTED and row.missing_permissions:
        return (*STATES[ConnectionStatus.ERROR][:2], "")
    return STATES[row.status]


class ChannelPages(TenantAdmin):
    """The pages of connections, which replace the admin's list: the overview, connecting, choosing
    an account, and one account."""

    def overview(self, request: HttpRequest) -> HttpResponse:
        """All channels with each bot's account, also if it is disconnected: its page connects it
        again. Platform staff, who have no client, get the admin's list instead."""
        client = viewer(request).client
        if client is None:
            return redirect("admin:channels_app_channelconnection_changelist")
        rows: dict[str, list[Any]] = {name: [] for name in CARDS}
        known = ChannelConnection.objects.for_client(client).exclude(
            status=ConnectionStatus.PENDING
        )
        ordered = known.select_related("bot").order_by("bot__bot_name", "bot_id", "channel", "-id")
        for (_, channel), of_bot in groupby(ordered, key=attrgetter("bot_id", "channel")):
            row = connections.current_of(list(of_bot))
            rows[channel].append((row, *_state(row)))
        live = Counter(name for name in rows for row, *_ in rows[name] if row.status in LIVE)
        names = bots.names(client)
        cards = [
            (card, rows[name], live[name], live[name] < len(names)) for name, card in CARDS.items()
        ]
        return self._page(
            request, "overview", gettext("Channels"),
            cards=cards, websites=_websites(client),
            may_connect=self.has_create_permission(request),
        )  # fmt: skip

    @calls_out
    def connect(self, request: HttpRequest, channel: str) -> HttpResponse:
        """Choose the bot; then continue to the provider's consent page, or connect with a token."""
        card, by = self._card(request, channel), viewer(request)
        is_direct_offered = channel == "photoapp" and bool(settings.PHOTOAPP_DIRECT_APP_ID)

        def act(data: dict[str, Any]) -> HttpResponse:
            bot = bots.get(by.client, data["bot_id"])
            if card.token_from:
                body = TokenConnectDto(token=data["token"].strip())
                connections.connect_with_token(bot, PROVIDERS[channel], body.token, by=by)
                return redirect("channel_account", channel, bot.pk)
            is_direct = data.get("login") == "direct"
            return redirect(self._begin_consent(request, bot, channel, is_direct=is_direct))

        live = ChannelConnection.objects.for_client(by.client).filter(status__in=SENDING)
        taken = set(live.filter(channel=channel).values_list("bot_id", flat=True))
        form = ConsentForm(
            request.POST or None, initial={"login": "page", **request.GET.dict()},
            client=by.client, taken=taken, offers_direct=is_direct_offered,
            token_from=card.token_from,
        )  # fmt: skip
        title = gettext("Connect %(channel)s") % {"channel": card.name}
        template = "admin/channels_app/connect.html"
        return self.form_page(request, form, act, template=template, title=title, card=card)

    @always_calls_out
    def callback(self, request: HttpRequest, channel: str) -> HttpResponse:
        """Complete a consent when the person returns from the provider's page.

        Redirects to the account, or to the choice among the accounts.
        """
        card = self._card(request, channel)
        try:
            bot = self._consented_bot(request, channel)
            if channel != "localapp":
                self._end_consent(request, bot, channel)
            elif request.GET.get("status") != ConnectionStatus.CONNECTED:
                row = connections.current(bot, card.channel)
                raise connections.ConsentRefused(row.last_error if row else None)
        except ApiError as exc:
            messages.error(request, _refusal_text(exc))
            return redirect("channels")
        row = connections.current(bot, card.channel)
        is_connected = row is not None and (
            row.status == ConnectionStatus.CONNECTED
            or (row.status in LIVE and self._reconnect(request, row))
        )
        page = "channel_account" if is_connected else "channel_accounts"
        return redirect(page, channel, bot.pk)

    @always_calls_out
    def accounts(self, request: HttpRequest, channel: str, bot_id: int) -> HttpResponse:
        """Choose one of the accounts to which the person gave access."""
        card, by = self._card(request, channel), viewer(request)
        bot = get_object_or_404(Bot, pk=bot_id, client=by.client)
        try:
            free, others = _offered_accounts(bot, card.channel)
        except ApiError as exc:
            messages.error(request, _refusal_text(exc))
            return redirect("channels")

        def act(data: dict[str, Any]) -> HttpResponse:
            _connect(bot, channel, data["account_id"], pin=data.get("pin") or None, by=by)
            return redirect("channel_account", channel, bot.pk)

        form = AccountForm(request.POST or None, accounts=free, has_pin=channel == "chatapp")
        done = form.carry_out(act) if form.is_bound else None
        form.hide_pin()
        title = gettext("Choose your %(noun)s") % {"noun": card.noun}
        return done or self._page(
            request, "accounts", title, card=card, form=form, bot=bot, free=free, others=others
        )

    @calls_out
    def account(self, request: HttpRequest, channel: str, bot_id: int) -> HttpResponse:
        """A bot's account on a channel: its state, notices, sends and costs.

        A POST saves the costs, or reconnects or disconnects the account.
        """
        card = self._known(request, channel)
        rows = self.get_queryset(request).filter(channel=channel, bot=bot_id)
        if not rows.exists():
            raise Http404
        bot = Bot.objects.select_related("client").get(pk=bot_id)
        may_connect = self.has_create_permission(request)
        data = request.POST if request.POST.get("form") == "costs" and may_connect else None
        if request.method == "POST" and data is None:
            return self._change(request, bot, card)
        costs = CostsForm(data, config=bot.client.config, channel=card.channel)
        saved = costs.carry_out(partial(costs.save, by=viewer(request))) if data else None
        if saved:
            messages.success(request, gettext("Saved."))
            return redirect("channel_account", card.channel, bot.pk)
        row = cast("ChannelConnection", connections.current(bot, card.channel))
        text, color, meaning = _state(row)
        began = row.connected_at
        has_received_event = bool(row.last_event_at and began and row.last_event_at >= began)
        return self._page(
            request, "account", f"{card.name} · {bot.bot_name}",
            card=card, bot=bot, row=row, state=text, color=color, meaning=meaning,
            may_connect=may_connect, has_received_event=has_received_event, costs=costs,
            costs_report=_costs(card), place=f"#{card.channel}/{row.account_id}",
            notices=[
                (item, account_notices.text_of(item)) for item in connections.latest_notices(row)
            ],
            is_connected=row.status == ConnectionStatus.CONNECTED,
            is_failing=row.status in {ConnectionStatus.EXPIRED, ConnectionStatus.ERROR},
            is_live=row.status in LIVE, sends=_sends_by_day(row), limit=_limit(row),
        )  # fmt: skip

    def _change(self, request: HttpRequest, bot: Bot, card: Card) -> HttpResponse:
        """Disconnect or reconnect the account."""
        if not self.has_create_permission(request):
            raise PermissionDenied
        by, chosen = viewer(request), request.POST.get("form")
        row = connections.current(bot, card.channel)
        try:
            if chosen == "disconnect":
                connections.disconnect(bot, card.channel, by=by)
                messages.success(
                    request, gettext("%(channel)s disconnected.") % {"channel": card.name}
                )
            elif chosen == "again" and card.token_from:
                page = reverse("channel_connect", args=[card.channel])
                return redirect(f"{page}?bot_id={bot.pk}")
            elif chosen == "again" and row and self._reconnect(request, row):
                messages.success(request, gettext("Reconnected."))
            elif chosen == "again":
                return redirect(self._begin_consent(request, bot, card.channel))
        except ApiError as exc:
            messages.error(request, _refusal_text(exc))
        return redirect("channel_account", card.channel, bot.pk)

    def _reconnect(self, request: HttpRequest, row: ChannelConnection) -> bool:
        """Reconnect an account with its stored token; False if the person must consent again."""
        # The stored token does not have the missing permissions.
        if row.channel == "localapp" or not row.account_id or row.missing_permissions:
            return False
        try:
            _connect(row.bot, row.channel, row.account_id, pin=None, by=viewer(request))
        except connections.TokenMissing:
            return False
        except ProviderError as exc:
            if exc.kind in {Kind.TOKEN, Kind.PERMISSION, Kind.REQUEST}:
                return False
            raise
        return True

    def _begin_consent(
        self, request: HttpRequest, bot: Bot, channel: str, *, is_direct: bool = False
    ) -> str:
        """Begin a consent, and return the URL of the provider's page, which leads to `callback`."""
        by = viewer(request)
        back = _redirect_uri(request, channel, is_direct=is_direct)
        if is_direct:
            body = PhotoappConnectDto(redirect_uri=back, login="direct")
            begun = photoapp_sign_in.sign_in(bot, body, by=by)
        else:
            begun = connections.begin_consent(bot, PROVIDERS[channel], redirect_uri=back, by=by)
        return str(begun.consent_url)

    def _consented_bot(self, request: HttpRequest, channel: str) -> Bot:
        """The bot of the viewer's client for which the consent was begun."""
        client = viewer(request).client
        if channel == "localapp":
            # Our own callback completed the consent and added the bot's id to the URL.
            given = request.GET.get("bot_id", "")
            return bots.get(client, int(given) if given.isdecimal() else 0)
        consent = oauth_authorizations.find(request.GET.get("state", ""))
        if consent.connection.client_id != client.pk or consent.connection.channel != channel:
            raise oauth_authorizations.InvalidState
        return bots.get(client, consent.connection.bot_id)

    def _end_consent(self, request: HttpRequest, bot: Bot, channel: str) -> None:
        """Exchange the code in the URL for a token, and store the token.

        A direct login also connects the account.
        """
        if "code" not in request.GET:
            raise connections.ConsentRefused
        code, state = request.GET["code"], request.GET.get("state", "")
        back, by = request.build_absolute_uri(request.path), viewer(request)
        if request.path == reverse("channel_back_direct", args=[channel]):
            body = PhotoappConnectDto(redirect_uri=back, login="direct", code=code, state=state)
            photoapp_sign_in.sign_in(bot, body, by=by)
            return
        connections.consent(
            bot, PROVIDERS[channel], redirect_uri=back, code=code, state=state, by=by
        )

    def _known(self, request: HttpRequest, channel: str) -> Card:
        if channel not in CARDS:
            raise Http404
        if not self.has_view_permission(request):
            raise PermissionDenied
        return CARDS[channel]

    def _card(self, request: HttpRequest, channel: str) -> Card:
        """The card of a channel that the viewer may connect."""
        card = self._known(request, channel)
        if not self.has_create_permission(request):
            raise PermissionDenied
        if not card.is_offered:
            raise Http404
        return card

    def _page(self, request: HttpRequest, template: str, title: str, **more: Any) -> HttpResponse:
        return self.page(request, f"admin/channels_app/{template}.html", title, **more)


def _redirect_uri(request: HttpRequest, channel: str, *, is_direct: bool) -> str:
    """The URL to which the provider redirects the person; it must be the same at the beginning of
    a consent and when its code is redeemed."""
    name = "channel_back_direct" if is_direct else "channel_back"
    return request.build_absolute_uri(reverse(name, args=[channel]))


def _connect(bot: Bot, channel: str, account_id: str, *, pin: str | None, by: Any) -> None:
    """Connect an account with the person's stored token."""
    if channel == "chatapp":
        phone = {"phone_number_id": account_id, "pin": pin}
        number_signup.connect(bot, ChatappConnectDto.model_validate({"phone": phone}), by=by)
    else:
        connections.connect(bot, PROVIDERS[channel], account_id, by=by)


def _offered_accounts(
    bot: Bot, channel: MessagingChannel
) -> tuple[list[tuple[str, str]], list[str]]:
    """The accounts to choose from, as (id, name), and the labels of those that other bots use."""
    names = bots.names(bot.client)
    free, others, cursor = list[tuple[str, str]](), list[str](), None
    while len(free) + len(others) < _MAX_ACCOUNTS:
        found = connections.list_accounts(bot, PROVIDERS[channel], AccountsQuery(cursor=cursor))
        for item in found.items:
            if item.bot_id in {None, bot.pk}:
                free.append((item.id, item.name))
            else:
                others.append(taken_account_label(item.name, names.get(item.bot_id or 0, "")))
        cursor = found.next_cursor
        if cursor is None:
            break
    return free, others


def _refusal_text(exc: ApiError) -> str:
    """A sentence that tells an owner why connecting failed."""
    sentences: dict[type[ApiError], str] = {
        connections.ConsentRefused: gettext("You didn't grant access, so nothing was connected."),
        connections.TokenMissing: gettext("The authorization has expired. Connect again."),
        connections.AccountTaken: gettext(
            "Another bot is using this account. Disconnect it there first."
        ),
        connections.BotHasAccount: gettext(
            "This bot already has an account. Disconnect it first."
        ),
        oauth_authorizations.InvalidState: gettext(
            "This authorization has expired or was already used. Connect again."
        ),
    }  # fmt: skip
    return sentences.get(type(exc)) or stored_text(str(exc))


def _costs(card: Card) -> str:
    """The URL of the report of charged messages; empty if the provider does not report charges."""
    if card.channel != "chatapp":
        return ""
    query = {
        "channels": card.channel, "group_by": ["month", "price_category"],
        "metrics": ["charged_messages", "message_cost"],
    }  # fmt: skip
    return f"{reverse('reports_adhoc')}?{urlencode(query, doseq=True)}"


def _websites(client: Client) -> list[tuple[str, str, str]]:
    """For each bot: its name, the domains on which it may run, and the URL of its page with
    instructions for installing it."""
    return [
        (
            bot.bot_name,
            bot.allowed_domain.replace(",", ", "),
            reverse("admin:bots_bot_install", args=[bot.pk]),
        )
        for bot in Bot.objects.for_client(client).order_by("bot_name")
    ]


def _limit(row: ChannelConnection) -> str:
    """The account's sending limit in words."""
    limit = row.sending_limit
    return number_format(limit, force_grouping=True) if limit.isdecimal() else humanize_code(limit)


def _sends_by_day(row: ChannelConnection) -> dict[str, Any] | None:
    """How many sends were accepted, refused and charged for on each of the last 14 days, as a chart
    and as a table; None if there were no sends."""
    today = timezone.localdate()
    days = [today - timedelta(days=back) for back in reversed(range(_CHART_DAYS))]
    rows = OutboundSend.objects.filter(connection=row, created_at__date__gte=days[0])
    counted = rows.values(day=TruncDate("created_at")).annotate(
        sent=Count("pk", filter=Q(state=SendState.SENT)),
        refused=Count("pk", filter=Q(state=SendState.FAILED)),
        charged=Count("pk", filter=Q(is_charged=True)),
    )
    counts: dict[Any, dict[str, Any]] = {item["day"]: dict(item) for item in counted}
    if not counts:
        return None
    is_charged = any(item["charged"] for item in counts.values())
    lines = {
        name: [counts[day][name] if day in counts else 0 for day in days]
        for name in ("sent", "refused", *(["charged"] if is_charged else []))
    }
    labels = [gettext(_SENDS[name][0]) for name in lines]
    totals = [f"{label}: {sum(line)}" for label, line in zip(labels, lines.values(), strict=True)]
    names = [short_day(day) for day in days]
    return {
        "chart": json.dumps({"labels": names, "datasets": [
            {"label": label, "data": line, **_SENDS[name][1]}
            for label, (name, line) in zip(labels, lines.items(), strict=True)
        ]}),
        "options": json.dumps(_CHART_OPTIONS),
        "total": ", ".join(totals),
        "labels": labels,
        "rows": list(zip(names, zip(*lines.values(), strict=True), strict=True)),
    }  # fmt: skip
