"""Customers' actions on all channels, for the control API and the customers' page."""

from simulator import chatapp_inbound, localapp_inbound, messenger_inbound, telegram_inbound
from simulator.messenger_inbound import BadAction
from simulator.state import Simulator
from simulator.world import Account, Json, Message

_ACTS = {
    "socialnet": messenger_inbound.act,
    "photoapp": messenger_inbound.act,
    "chatapp": chatapp_inbound.act,
    "localapp": localapp_inbound.act,
    "telegram": telegram_inbound.act,
}
KINDS = {
    "socialnet": sorted([*messenger_inbound.MESSAGES, *messenger_inbound.OTHERS]),
    "photoapp": sorted([*messenger_inbound.MESSAGES, *messenger_inbound.OTHERS]),
    "chatapp": sorted([*chatapp_inbound.MESSAGES, *chatapp_inbound.OTHERS]),
    "localapp": sorted([*localapp_inbound.MESSAGES, *localapp_inbound.OTHERS]),
    "telegram": sorted([*telegram_inbound.MESSAGES, *telegram_inbound.OTHERS]),
}


def account_of(sim: Simulator, account_id: str, channel: str = "") -> Account:
    """The account with this id; raises BadAction if customers cannot write to it."""
    account = sim.world.accounts.get(account_id)
    if account is None or account.kind == "waba" or channel not in ("", account.channel):
        raise BadAction(f"no account {account_id!r} that customers of {channel or 'any'} write to")
    return account


def act(sim: Simulator, account: Account, user: str, kind: str, values: Json) -> Message | None:
    """Perform a customer's action: one of the channel's KINDS, or, on any channel, `gone` or
    `back`. Returns the message if one was written."""
    thread = sim.world.thread(account, sim.world.customer(user))
    if kind in {"gone", "back"}:
        thread.is_gone = kind == "gone"
        if account.channel == "telegram":
            telegram_inbound.block(sim, thread)
        return None
    return _ACTS[account.channel](sim, thread, kind, values)
