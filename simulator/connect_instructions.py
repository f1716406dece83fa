"""How a person connects an account to the platform: the commands to paste, and the way back."""

import json
import shlex
from dataclasses import dataclass

from simulator.state import Simulator
from simulator.world import Account, Json

# The client, the bot and the owner that `make run` makes.
_CLIENT, _BOT, _OWNER = 1, 1, "owner@demo.example"
_SHOWN = "| python3 -m json.tool"


@dataclass(frozen=True)
class Landing:
    """What a person reads after a consent; `command` is what to paste next."""

    title: str
    hint: str
    account_id: str = ""
    command: str = ""


REFUSED = Landing("Not connected", "You refused. To try again, open the signup once more.")


def steps(sim: Simulator, account: Account) -> list[Json]:
    """What to do until the demo shop's bot has this account: words, and a command or a link."""
    sign_in = {
        "text": "In the platform's folder, sign in as the owner of the demo shop:",
        "command": _sign_in(sim),
    }
    if account.channel == "chatapp":
        app_id = sim.world.app_by_key("chatapp").id
        return [
            sign_in,
            {
                "text": "Open the provider's signup and allow. It then shows the command that"
                " connects the number, with a code that is good for 30 seconds.",
                "link": f"{sim.settings.bases.dialog}/dialog/oauth?client_id={app_id}",
            },
        ]
    begin = _call(account.channel, "connect", {"redirect_uri": back_address(sim, account.channel)})
    return [
        sign_in,
        {"text": "In the same terminal, begin a consent:", "command": begin},
        {"text": "Open the consent_url of the answer in this browser, and allow."},
    ]


def back_address(sim: Simulator, channel: str) -> str:
    """The page here to which a person comes after a consent."""
    return f"{sim.origin}/back/{channel}"


def came_back(sim: Simulator, channel: str, query: dict[str, str]) -> Landing:
    """What became of a consent."""
    if query.get("error"):
        why = query.get("error_description") or query["error"]
        return Landing("Not connected", f"{why}. To try again, begin another consent.")
    if query.get("status") == "connected":
        return Landing("Connected", "The bot has this account now.", query.get("account_id", ""))
    code = sim.world.codes.get(query.get("code", ""))
    if code is None or code.is_used or not code.targets:
        return Landing("Nothing to do here", "This address has no code that is still good.")
    body = {
        "redirect_uri": back_address(sim, channel),
        "code": code.value,
        "state": query.get("state", ""),
    }
    target = code.targets[0]
    both = _call(channel, "connect", body), _call(channel, "connect_page", {"page_id": target})
    return Landing(
        "Allowed; one step is left",
        "Hand the code to the platform and connect the account, in the same terminal:",
        _written_to(sim, channel, target),
        "\n".join(both),
    )


def after_signup(sim: Simulator, number: Account, code: str) -> str:
    """The command that connects a number with the code of the signup."""
    body = {
        "code": code,
        "business_account_id": number.parent,
        "phone": {"phone_number_id": number.id},
    }
    return _call("chatapp", "connect", body)


def _written_to(sim: Simulator, channel: str, account_id: str) -> str:
    """The account that customers write to: a consent of photoapp may name its page."""
    for account in sim.world.accounts.values():
        if account.channel == channel and account_id in (account.id, account.parent):
            return account.id
    return ""


def _sign_in(sim: Simulator) -> str:
    return (
        f"API={sim.settings.callback_base}\n"
        f"TOKEN=$(curl -s $API/identity/token2 -d username={_OWNER}"
        ' --data-urlencode "password=$(cat "${DATA_DIR:-var}/keys/demo_password")"'
        " | python3 -c 'import json, sys; print(json.load(sys.stdin)[\"access_token\"])')"
    )


def _call(channel: str, operation: str, body: Json) -> str:
    return (
        f"curl -s $API/{channel}/{_CLIENT}/{operation}/{_BOT}"
        ' -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json"'
        f" -d {shlex.quote(json.dumps(body))} {_SHOWN}"
    )
